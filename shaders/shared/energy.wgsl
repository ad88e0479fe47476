// The energy of all elements of a kind, in slot 0 of their blocks' partial sums, for a kernel that declares sizes,
// partials, the number of elements and the start of their partial sums (`elements`), the `energy` of one (J), and the
// fraction of it that the element `stiffening_gain` by the last stiffness change: their sum is in slot 2.
//use shared/reduce.wgsl
//use shared/vertex.wgsl

struct Elements {
    count: u32,
    first_partial: u32,
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let all = elements();
    let block = flat_workgroup(workgroup, workgroups);
    if block * BLOCK >= all.count {
        return;
    }
    var slots = empty();
    let end = min(all.count, (block + 1u) * BLOCK);
    for (var index = block * BLOCK + lane; index < end; index += LANES) {
        let stored = energy(index);
        slots[0] += stored;
        slots[2] += stiffening_gain(index) * stored;
    }
    combine(lane, slots);
    if lane < SLOTS {
        partials[all.first_partial + block][lane] = lanes[0][lane];
    }
}
