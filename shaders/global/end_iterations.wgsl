// Whether the iterations of a stage end here, because |g| is small enough. Otherwise one more is made.
//use shared/iterations.wgsl
//use shared/reduce.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<uniform> rule: IterationRule;
@group(0) @binding(2) var<storage, read> partials: array<array<f32, SLOTS>>;
@group(0) @binding(3) var<storage, read_write> state: IterationState;
@group(0) @binding(4) var<storage, read_write> report: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    var mine = empty();
    for (var k = lane; k < sizes.chunks; k += LANES) {
        mine[0] += partials[k][0];
    }
    combine(lane, mine);
    if lane > 0u || state.done != 0u {
        return;
    }
    if is_solved(lanes[0][0]) {
        state.done = 1u;
    } else {
        count_iteration();
    }
}
