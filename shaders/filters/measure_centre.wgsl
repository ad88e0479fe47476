// Mass, centre and momentum of a chunk of a body, counted from its first vertex: slot 0 mass (kg), 1 to 3 m (x - x_0),
// 4 to 6 m (v - v_0), then x_0 rounded (m), v_0 (m/s), and what rounding left of x_0 (m). Relative to a vertex, a body far
// from the origin or at high speed has the sums of one at rest in the origin.
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
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
    let origin = vertices[chunk.first];
    let base = motions[chunk.first].velocity;
    var slots = empty();
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let mass = vertices[i].mass;
        let place = mass * difference(vertices[i], origin);
        let velocity = mass * (motions[i].velocity - base);
        slots[0] += mass;
        for (var axis = 0u; axis < 3u; axis++) {
            slots[1u + axis] += place[axis];
            slots[4u + axis] += velocity[axis];
        }
    }
    combine(lane, slots);
    if lane < 7u {
        partials[number][lane] = lanes[0][lane];
    }
    if lane < 3u {
        partials[number][7u + lane] = origin.position[lane];
        partials[number][10u + lane] = base[lane];
        partials[number][13u + lane] = origin.low[lane];
    }
}
