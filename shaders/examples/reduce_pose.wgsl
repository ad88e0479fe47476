// Where a group is and how it moves as a whole: T is the best rotation of what its shapes follow, c the centre of that, its velocity and
// spin what takes it along.
//use shared/along.wgsl
//use shared/inertia.wgsl
//use shared/rotation.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> groups: array<ExampleGroup>;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
@group(0) @binding(3) var<storage, read> partials: array<array<f32, 32>>;
@group(0) @binding(4) var<storage, read_write> states: array<ExampleState>;

var<workgroup> whole: array<f32, 32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&groups) {
        return;
    }
    let group = groups[number];
    var first: array<f32, SHAPES>;
    var second: array<f32, SHAPES>;
    for (var k = group.first_chunk + lane; k < group.end_chunk; k += LANES) {
        for (var slot = 0u; slot < SHAPES; slot++) {
            first[slot] += partials[k][slot];
            second[slot] += partials[k][SHAPES + slot];
        }
    }
    add_up(lane, first);
    if lane < SHAPES {
        whole[lane] = shape_sums[lane];
    }
    add_up(lane, second);
    if lane < SHAPES {
        whole[SHAPES + lane] = shape_sums[lane];
    }
    workgroupBarrier();
    if lane == 0u {
        states[number] = state_of(group);
    }
}

fn state_of(group: ExampleGroup) -> ExampleState {
    if group.followed == 0.0 {
        let origin = vertices[group.first];
        let centre = rounded(group.centre - origin.position, origin.mass) + (group.centre_low - origin.low);
        return ExampleState(vec4(1.0, 0.0, 0.0, 0.0), centre, -motions[group.first].velocity, vec3(0.0));
    }
    let mass = group.followed;
    let centre = triple(0u) / mass;
    let drift = triple(12u) / mass;
    let square = dot(centre, centre);
    let diagonal = triple(18u) - mass * (vec3(square) - centre * centre);
    let products = triple(21u) + mass * (centre.yxx * centre.zzy);
    let spin = spin_of(diagonal, products, triple(15u) - mass * cross(centre, drift));
    // row by row in the sums, column by column here
    let spread = transpose(mat3x3<f32>(triple(3u), triple(6u), triple(9u)));
    return ExampleState(closest_rotation(spread, vec4(1.0, 0.0, 0.0, 0.0)), centre, drift, spin);
}

fn triple(slot: u32) -> vec3<f32> {
    return vec3(whole[slot], whole[slot + 1u], whole[slot + 2u]);
}
