// What the body does beyond its rigid motion as known so far: slots 0 to 5 inertia xx, yy, zz, yz, xz, xy about the centre
// (kg m^2), 6 to 8 m r x u, 9 to 11 m u, 12 to 14 m r, with r from the centre and u the velocity beyond the rigid motion.
//
// The first time that is all of the spin. A second time it is what rounding left, which reduce_spin takes off: a rotation
// that goes on for long is then not driven by an error that is the same in every step.
//use shared/reduce.wgsl
//use shared/rigid.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
@group(0) @binding(3) var<storage, read> rigids: array<Rigid>;
@group(0) @binding(4) var<storage, read_write> partials: array<array<f32, SLOTS>>;

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
        let mass = vertices[i].mass;
        let r = arm(body, vertices[i]);
        let velocity = beyond_rigid(body, r, motions[i].velocity);
        let weighted = mass * r;
        let squares = weighted * r;
        let products = -weighted.yxx * r.zzy;
        let inertia = vec3(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y);
        let angular = cross(weighted, velocity);
        let linear = mass * velocity;
        for (var axis = 0u; axis < 3u; axis++) {
            slots[axis] += inertia[axis];
            slots[3u + axis] += products[axis];
            slots[6u + axis] += angular[axis];
            slots[9u + axis] += linear[axis];
            slots[12u + axis] += weighted[axis];
        }
    }
    combine(lane, slots);
    if lane < SLOTS {
        partials[number][lane] = lanes[0][lane];
    }
}
