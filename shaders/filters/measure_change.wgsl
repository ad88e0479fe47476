// For a chunk of a body: slots 0 to 2 sum of m w (kg m/s), 3 and 4 sums of m w.u and m w.w (J), 15 the smallest ratio;
// w the change of a vertex's velocity and u its velocity relative to the centre.
//use shared/reduce.wgsl
//use shared/rigid.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
@group(0) @binding(3) var<storage, read> rigids: array<Rigid>;
@group(0) @binding(4) var<storage, read> changes: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> partials: array<array<f32, SLOTS>>;

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
        let change = changes[i].xyz;
        let p = vertices[i].mass * change;
        for (var axis = 0u; axis < 3u; axis++) {
            slots[axis] += p[axis];
        }
        slots[3] += dot(p, beyond_drift(body, motions[i].velocity));
        slots[4] += dot(p, change);
        slots[15] = min(slots[15], changes[i].w);
    }
    combine(lane, slots);
    if lane < SLOTS {
        partials[number][lane] = lanes[0][lane];
    }
}
