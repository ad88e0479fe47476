// The ends of the colour map: as given, or from zero to the largest value so far, rounded up to 1, 2 or 5 times a power
// of ten. range: low, high, the largest value now, the largest so far.
//use render/quantities.wgsl

@group(0) @binding(0) var<uniform> measure: QuantityParams;
@group(0) @binding(1) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> range: array<f32>;

var<workgroup> given: array<f32, 64>;

fn rounded_up(x: f32) -> f32 {
    if x < 1e-30 {
        return 1.0; // nothing to show
    }
    let power = pow(10.0, floor(log(x) / log(10.0) + 1e-5));
    let digits = x / power;
    // tolerate values that rounding put slightly above 1, 2 or 5
    if digits <= 1.0001 {
        return power;
    }
    return power * select(select(10.0, 5.0, digits <= 5.0005), 2.0, digits <= 2.0002);
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    var largest = 0.0;
    for (var i = lane; i < measure.vertices; i += LANES) {
        largest = max(largest, values[i][measure.colour - 1u]);
    }
    given[lane] = largest;
    workgroupBarrier();
    if lane == 0u {
        for (var k = 1u; k < LANES; k++) {
            largest = max(largest, given[k]);
        }
        let before = select(range[3], 0.0, measure.reset == 1u);
        let so_far = max(before, largest);
        range[2] = largest;
        range[3] = so_far;
        range[0] = select(measure.low, 0.0, measure.automatic == 1u);
        range[1] = select(measure.high, rounded_up(so_far), measure.automatic == 1u);
    }
}
