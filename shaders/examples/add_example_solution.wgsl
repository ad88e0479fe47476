// s += T B c in the order of elimination: the direction of the matrix with the damping along shapes, from that without.
//use shared/along.wgsl
//use shared/rotation.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> stage: ExampleStage;
@group(0) @binding(1) var<storage, read> chunks: array<ExampleChunk>;
@group(0) @binding(2) var<storage, read> solutions: array<f32>;
@group(0) @binding(3) var<storage, read> states: array<ExampleState>;
@group(0) @binding(4) var<storage, read> shares: array<array<f32, 48>>;
@group(0) @binding(5) var<storage, read> position: array<u32>;
@group(0) @binding(6) var<storage, read_write> solution: array<f32>;

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
    let turn = rotation_of(states[chunk.group].turn);
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        var sum = vec3<f32>();
        for (var shape = 0u; shape < min(chunk.shapes, SHAPES); shape++) {
            let b = stage.solutions + column_at(chunk, shape, i);
            sum += shares[chunk.group][SHARES + shape] * vec3(solutions[b], solutions[b + 1u], solutions[b + 2u]);
        }
        let s = turn * sum;
        let at = 3u * position[i];
        solution[at] += s.x;
        solution[at + 1u] += s.y;
        solution[at + 2u] += s.z;
    }
}
