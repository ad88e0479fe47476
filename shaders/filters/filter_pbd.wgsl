// PBD damping: v <- v + k (rigid motion of the body - v), and the kinetic energy removed (J).
//use shared/filter.wgsl
//use shared/rigid.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read_write> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> rigids: array<Rigid>;
@group(0) @binding(5) var<storage, read_write> exchange_partials: array<vec4<f32>>;

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
        let velocity = motions[i].velocity;
        let change = -step.filter_coefficient * beyond_rigid(body, arm(body, vertices[i]), velocity);
        let filtered = velocity + change;
        slots[0] += taken(vertices[i].mass, velocity, filtered);
        motions[i] = shifted(motions[i], filtered, change, step.h);
    }
    combine(lane, slots);
    if lane == 0u {
        exchange_partials[number].z += lanes[0][0];
    }
}
