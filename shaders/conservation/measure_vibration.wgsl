// Kinetic energy of a chunk beyond that of its body's rigid motion (J), in slot 0.
//use shared/reduce.wgsl
//use shared/rigid.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
@group(0) @binding(3) var<storage, read> rigids: array<Rigid>;
@group(0) @binding(4) var<storage, read_write> conservation_partials: array<array<f32, SLOTS>>;

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
    let body = rigids[chunk.body];
    var slots = empty();
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let v = beyond_rigid(body, arm(body, vertices[i]), motions[i].velocity);
        slots[0] += 0.5 * vertices[i].mass * dot(v, v);
    }
    combine(lane, slots);
    if lane == 0u {
        conservation_partials[2u * number][0] = lanes[0][0];
    }
}
