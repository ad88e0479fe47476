// For each body: the mean of its changes (m/s), and their scale factor: one, or small enough that no impulse exceeds
// that before projection on edges, nor the one that removes most energy.
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> segments: array<Segment>;
@group(0) @binding(2) var<storage, read> partials: array<array<f32, SLOTS>>;
@group(0) @binding(3) var<storage, read> rigids: array<Rigid>;
@group(0) @binding(4) var<storage, read_write> balances: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&rigids) {
        return;
    }
    let segment = segments[number];
    var slots = empty();
    for (var k = segment.first + lane; k < segment.end; k += LANES) {
        for (var slot = 0u; slot < 5u; slot++) {
            slots[slot] += partials[k][slot];
        }
        slots[15] = min(slots[15], partials[k][15]);
    }
    combine(lane, slots);
    if lane == 0u {
        let mean = vec3(lanes[0][0], lanes[0][1], lanes[0][2]) / rigids[number].mass;
        var factor = 1.0;
        if (step.filter_mode & SCALED) != 0u {
            let given = lanes[0][3];
            let square = lanes[0][4];
            factor = 0.0;
            if square > 0.0 && given < 0.0 && lanes[0][15] < LARGEST {
                factor = min(lanes[0][15], -given / square);
            }
        }
        balances[number] = vec4(mean, factor);
    }
}
