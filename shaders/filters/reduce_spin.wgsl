// Adds to a body's rigid motion the remainder found by measure_spin: omega = I^-1 L about the true centre, which is
// offset = sum of m r / M from the rounded one.
//use shared/inertia.wgsl
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
    var slots = empty();
    for (var k = segment.first + lane; k < segment.end; k += LANES) {
        for (var slot = 0u; slot < 15u; slot++) {
            slots[slot] += partials[k][slot];
        }
    }
    combine(lane, slots);
    if lane == 0u {
        let mass = rigids[number].mass;
        let momentum = total(9u);
        let offset = total(12u) / mass;
        let angular = total(6u) - cross(offset, momentum);
        let square = dot(offset, offset);
        let diagonal = total(0u) - mass * (vec3(square) - offset * offset);
        let products = total(3u) + mass * (offset.yxx * offset.zzy);
        let spin = spin_of(diagonal, products, angular);
        rigids[number].drift += momentum / mass - cross(spin, offset);
        rigids[number].spin += spin;
    }
}

fn total(slot: u32) -> vec3<f32> {
    return vec3(lanes[0][slot], lanes[0][slot + 1u], lanes[0][slot + 2u]);
}
