// Two-level sums in a fixed order: a workgroup sums sixteen slots over its items, a second kernel sums the workgroups.
// Slots 0 to 14 are sums, slot 15 is a minimum.
//use shared/layout.wgsl

const SLOTS: u32 = 16u;
const LARGEST: f32 = 3.4e38;

// Contributions of the threads, slot by slot. Four words of padding between slots: neighbouring threads then write,
// and read while summing, in different banks.
const PITCH: u32 = 68u;
var<workgroup> given: array<f32, 1088>;

// Sums of quarters of the threads; then the total in `lanes[0]`.
var<workgroup> lanes: array<array<f32, SLOTS>, 4>;

fn empty() -> array<f32, SLOTS> {
    var slots: array<f32, SLOTS>;
    slots[15] = LARGEST;
    return slots;
}

// Sums the contributions of all threads; the result is in `lanes[0]` for all of them.
fn combine(lane: u32, mine: array<f32, SLOTS>) {
    var slots = mine;
    for (var slot = 0u; slot < SLOTS; slot++) {
        given[slot * PITCH + lane] = slots[slot];
    }
    workgroupBarrier();
    // four threads per slot, each takes every fourth thread's number
    let slot = lane / 4u;
    let quarter = lane % 4u;
    var whole = given[slot * PITCH + quarter];
    for (var k = 4u; k < LANES; k += 4u) {
        whole = joined(slot, whole, given[slot * PITCH + quarter + k]);
    }
    lanes[quarter][slot] = whole;
    workgroupBarrier();
    if lane < SLOTS {
        let near = joined(lane, lanes[0][lane], lanes[1][lane]);
        let far = joined(lane, lanes[2][lane], lanes[3][lane]);
        lanes[0][lane] = joined(lane, near, far);
    }
    workgroupBarrier();
}

fn joined(slot: u32, a: f32, b: f32) -> f32 {
    return select(a + b, min(a, b), slot == 15u);
}
