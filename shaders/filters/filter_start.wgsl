// The velocities that a step of non-oscillatory motion starts with, body by body: v <- factor (v - share u) + weight a, u the velocity
// beyond the rigid motion. Histories go along.
//use shared/rigid.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> rigids: array<Rigid>;
@group(0) @binding(4) var<storage, read> filters: array<StartFilter>;
@group(0) @binding(5) var<storage, read_write> motions: array<Motion>;

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
    let how = filters[chunk.body];
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let v = motions[i].velocity;
        let beyond = beyond_rigid(body, arm(body, vertices[i]), v);
        let change = how.weight * step.gravity - (how.share * beyond + how.loss * (v - how.share * beyond));
        motions[i].velocity = v + change;
        motions[i].velocity_before += change;
        motions[i].last_displacement += change * step.h;
    }
}
