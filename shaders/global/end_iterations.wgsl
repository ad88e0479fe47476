// Whether the iterations of a stage end here: |g| is zero, or after a direction at most `tolerance` of the first one. Otherwise one more
// is made. Report[4] and Report[5] are |g|^2 at the first and the last point, Report[6] counts the iterations of a frame.
//use shared/layout.wgsl
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
    let squared = lanes[0][0];
    let gradient = sqrt(squared);
    if state.iterations == 0u {
        state.first = gradient;
        report[4] = squared;
    }
    report[5] = squared;
    if squared == 0.0 || (state.iterations > 0u && gradient <= rule.tolerance * state.first) {
        state.done = 1u;
    } else {
        state.iterations += 1u;
        report[6] += 1.0;
    }
}
