// How much of each shape there is in the deformation u = T^T (x - c) - (X - c0), or in the velocity without the rigid motion that shapes
// follow, as its curve asks.
//use shared/along.wgsl
//use shared/rotation.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<ExampleChunk>;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
@group(0) @binding(3) var<storage, read> rests: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> measures: array<f32>;
@group(0) @binding(5) var<storage, read> states: array<ExampleState>;
@group(0) @binding(6) var<storage, read_write> partials: array<array<f32, 32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&chunks) {
        return;
    }
    let chunk = chunks[number];
    let state = states[chunk.group];
    let turn = rotation_of(state.turn);
    let origin = vertices[chunk.origin];
    let base = motions[chunk.origin].velocity;
    var sums: array<f32, SHAPES>;
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let r = difference(vertices[i], origin) - state.centre;
        let velocity = (motions[i].velocity - base) - state.drift;
        // a vector times a matrix is the transpose of the matrix times the vector
        let deformed = r * turn - rests[i].xyz;
        let moving = (velocity - cross(state.spin, r)) * turn;
        for (var shape = 0u; shape < min(chunk.shapes, SHAPES); shape++) {
            let at = column_at(chunk, shape, i);
            let y = select(deformed, moving, ((chunk.velocities >> shape) & 1u) == 1u);
            sums[shape] += dot(vec3(measures[at], measures[at + 1u], measures[at + 2u]), y);
        }
    }
    add_up(lane, sums);
    if lane < SHAPES {
        partials[number][lane] = shape_sums[lane];
    }
}
