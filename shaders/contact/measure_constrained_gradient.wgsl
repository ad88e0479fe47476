// |g - F|^2 of a chunk of vertices, F the forces of contacts in the iteration before, in slot 0 of its partial sum.
//use shared/vertex.wgsl
//use shared/reduce.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> gradient: array<f32>;
@group(0) @binding(2) var<storage, read> contact_gradient: array<f32>;
@group(0) @binding(3) var<storage, read_write> partials: array<array<f32, SLOTS>>;

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
    var mine = empty();
    for (var k = 3u * chunk.first + lane; k < 3u * chunk.end; k += LANES) {
        let left = gradient[k] + contact_gradient[k];
        mine[0] += left * left;
    }
    combine(lane, mine);
    if lane == 0u {
        partials[number] = lanes[0];
    }
}
