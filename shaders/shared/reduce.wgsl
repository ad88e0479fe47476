// Two-level sums in a fixed order: a workgroup adds up sixteen slots over its items, a second kernel adds the workgroups.
// Slots 0 to 14 are sums, slot 15 is a minimum.
//use shared/layout.wgsl

const SLOTS: u32 = 16u;
const LARGEST: f32 = 3.4e38;

var<workgroup> lanes: array<array<f32, SLOTS>, LANES>;

fn empty() -> array<f32, SLOTS> {
    var slots: array<f32, SLOTS>;
    slots[15] = LARGEST;
    return slots;
}

// Adds up what all threads give; the result is in `lanes[0]` for all of them.
fn combine(lane: u32, mine: array<f32, SLOTS>) {
    lanes[lane] = mine;
    for (var width = LANES / 2u; width > 0u; width >>= 1u) {
        workgroupBarrier();
        if lane < width {
            for (var slot = 0u; slot < 15u; slot++) {
                lanes[lane][slot] += lanes[lane + width][slot];
            }
            lanes[lane][15] = min(lanes[lane][15], lanes[lane + width][15]);
        }
    }
    workgroupBarrier();
}
