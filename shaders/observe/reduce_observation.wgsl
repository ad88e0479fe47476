// Sums the partial sums of a segment (a body or a kind of element) for the ledger.
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> segments: array<Segment>;
@group(0) @binding(1) var<storage, read> partials: array<array<f32, SLOTS>>;
@group(0) @binding(2) var<storage, read_write> report: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&segments) {
        return;
    }
    let segment = segments[number];
    var slots = empty();
    for (var k = segment.first + lane; k < segment.end; k += LANES) {
        for (var slot = 0u; slot < SLOTS; slot++) {
            slots[slot] = joined(slot, slots[slot], partials[k][slot]);
        }
    }
    combine(lane, slots);
    if lane < SLOTS {
        report[SLOTS * (1u + number) + lane] = lanes[0][lane];
    }
}
