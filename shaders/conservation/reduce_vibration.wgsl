// How much of its motion a body has to give away where the iterations were used up and have left it far too much energy: first of
// what is not rigid, then, if something holds it, of all (src/step/parts/conservation/rebound.rs).
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> segments: array<Segment>;
@group(0) @binding(1) var<storage, read> conservation_partials: array<array<f32, SLOTS>>;
@group(0) @binding(2) var<storage, read_write> aims: array<BodyAim>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&aims) {
        return;
    }
    let segment = segments[number];
    var slots = empty();
    for (var k = segment.first + lane; k < segment.end; k += LANES) {
        slots[0] += conservation_partials[2u * k][0];
    }
    combine(lane, slots);
    if lane == 0u {
        let vibration = lanes[0][0];
        let too_much = aims[number].too_much;
        let taken = min(too_much, vibration);
        var shrink = 0.0;
        if taken > 0.0 {
            shrink = 1.0 - sqrt((vibration - taken) / vibration);
        }
        var brake = 0.0;
        let left = aims[number].end_kinetic - taken;
        let most = max(aims[number].end_kinetic - too_much, 0.0);
        if (aims[number].flags & FREE) == 0u && too_much > 0.0 && left > most {
            brake = 1.0 - sqrt(most / left);
        }
        aims[number].shrink = shrink;
        aims[number].brake = brake;
    }
}
