// g += T U c: the damping along shapes, beyond that of all motion.
//use shared/along.wgsl
//use shared/rotation.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<ExampleChunk>;
@group(0) @binding(1) var<storage, read> forces: array<f32>;
@group(0) @binding(2) var<storage, read> states: array<ExampleState>;
@group(0) @binding(3) var<storage, read> shares: array<array<f32, 48>>;
@group(0) @binding(4) var<storage, read_write> gradient: array<f32>;

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
            let at = column_at(chunk, shape, i);
            sum += shares[chunk.group][FORCES + shape] * vec3(forces[at], forces[at + 1u], forces[at + 2u]);
        }
        let force = turn * sum;
        gradient[3u * i] += force.x;
        gradient[3u * i + 1u] += force.y;
        gradient[3u * i + 2u] += force.z;
    }
}
