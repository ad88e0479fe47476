// The rigid motion of each body, one workgroup per body: the part that PBD damping does not affect.
//use render/quantities.wgsl
//use shared/inertia.wgsl
//use shared/reduce.wgsl
//use shared/rigid.wgsl

@group(0) @binding(0) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(1) var<storage, read> motions: array<Motion>;
@group(0) @binding(2) var<storage, read> bodies: array<Segment>; // their vertices
@group(0) @binding(3) var<storage, read_write> rigids: array<Rigid>;

fn total(slot: u32) -> vec3<f32> {
    return vec3(lanes[0][slot], lanes[0][slot + 1u], lanes[0][slot + 2u]);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&bodies) {
        return;
    }
    let body = bodies[number];
    let first = vertices[body.first];
    let base = motions[body.first].velocity;
    var slots = empty();
    for (var i = body.first + lane; i < body.end; i += LANES) {
        let m = vertices[i].mass;
        let r = m * difference(vertices[i], first);
        let u = m * (motions[i].velocity - base);
        slots[0] += m;
        for (var axis = 0u; axis < 3u; axis++) {
            slots[1u + axis] += r[axis];
            slots[4u + axis] += u[axis];
        }
    }
    combine(lane, slots);
    let mass = max(lanes[0][0], 1e-30);
    let centre = total(1u) / mass;
    let drift = total(4u) / mass;
    workgroupBarrier();
    slots = empty();
    for (var i = body.first + lane; i < body.end; i += LANES) {
        let m = vertices[i].mass;
        let r = difference(vertices[i], first) - centre;
        let angular = m * cross(r, motions[i].velocity - base - drift);
        let square = dot(r, r);
        for (var axis = 0u; axis < 3u; axis++) {
            slots[axis] += m * (square - r[axis] * r[axis]);
            slots[6u + axis] += angular[axis];
        }
        slots[3] -= m * r.y * r.z;
        slots[4] -= m * r.x * r.z;
        slots[5] -= m * r.x * r.y;
    }
    combine(lane, slots);
    if lane == 0u {
        let spin = spin_of(total(0u), total(3u), total(6u));
        // `arm` in rigid.wgsl adds the low part of a vertex: count from both parts of the first one
        rigids[number] = Rigid(first.position, mass, centre + first.low, base, drift, spin);
    }
}
