// Mass, centre and its velocity of a body from its chunks. The spin starts at zero: measure_spin finds it.
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> segments: array<Segment>;
@group(0) @binding(1) var<storage, read> partials: array<array<f32, SLOTS>>;
@group(0) @binding(2) var<storage, read_write> rigids: array<Rigid>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&rigids) {
        return;
    }
    let segment = segments[number];
    let origin = triple(segment.first, 7u);
    let base = triple(segment.first, 10u);
    let low = triple(segment.first, 13u);
    var slots = empty();
    for (var k = segment.first + lane; k < segment.end; k += LANES) {
        let mass = partials[k][0];
        let from_first = rounded(triple(k, 7u) - origin, mass) + (triple(k, 13u) - low);
        let place = triple(k, 1u) + mass * from_first;
        let velocity = triple(k, 4u) + mass * (triple(k, 10u) - base);
        slots[0] += mass;
        for (var axis = 0u; axis < 3u; axis++) {
            slots[1u + axis] += place[axis];
            slots[4u + axis] += velocity[axis];
        }
    }
    combine(lane, slots);
    if lane == 0u {
        let mass = lanes[0][0];
        var body: Rigid;
        body.origin = origin;
        body.mass = mass;
        body.centre = vec3(lanes[0][1], lanes[0][2], lanes[0][3]) / mass + low;
        body.base = base;
        body.drift = vec3(lanes[0][4], lanes[0][5], lanes[0][6]) / mass;
        rigids[number] = body;
    }
}

fn triple(partial: u32, slot: u32) -> vec3<f32> {
    return vec3(partials[partial][slot], partials[partial][slot + 1u], partials[partial][slot + 2u]);
}
