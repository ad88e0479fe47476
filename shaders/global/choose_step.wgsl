// Whether the last step was short enough: Phi has fallen by a share of what its slope promised or, where that is below rounding, the slope
// has not turned round. If not, it is cut to where the line through both slopes is zero. Then whether the iterations end.
//use shared/finite.wgsl
//use shared/iterations.wgsl
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<uniform> rule: IterationRule;
@group(0) @binding(3) var<storage, read> partials: array<array<f32, SLOTS>>;
@group(0) @binding(4) var<storage, read> slopes: array<f32>;
@group(0) @binding(5) var<storage, read_write> state: IterationState;
@group(0) @binding(6) var<storage, read_write> report: array<f32>;

// As in src/step/minimise/line_search.rs and src/gpu/merit.rs.
const ARMIJO: f32 = 1e-4;
const TURNED: f32 = 0.5;
const MOST_CUTS: u32 = 20u;
const DIGITS: f32 = 1e-6;
// Cuts after which a learnt direction is given up.
const LEARNT_CUTS: u32 = 3u;

// Phi at the iterate in parts, and what is known of the slope.
struct Trial {
    inertia: f32,
    elastic: f32,
    strain: f32,
    noise: f32,
    slope: f32,
    first_slope: f32,
}

fn is_acceptable(trial: Trial) -> bool {
    if !is_finite(trial.first_slope) || trial.first_slope <= 0.0 {
        // nothing to compare with
        return true;
    }
    let change = 0.5 * step.inertia * (trial.inertia - state.inertia)
        + (step.projection / step.share) * (trial.elastic - state.elastic)
        + (0.5 * step.viscous / step.share) * (trial.strain - state.strain);
    if !is_finite(change) {
        return false;
    }
    let turned = !is_finite(trial.slope) || trial.slope < -TURNED * trial.first_slope;
    let falls = change <= -ARMIJO * state.share * trial.first_slope;
    return falls || (change <= max(trial.noise, state.noise) && !turned);
}

// Where the line through both slopes is zero, as a share of the step, between a tenth and half.
fn zero_of(trial: Trial) -> f32 {
    let fall = trial.first_slope - trial.slope;
    if !is_finite(fall) || fall < 0.0 {
        return 0.1;
    }
    // no division by zero
    return clamp(trial.first_slope / max(fall, trial.first_slope), 0.1, 0.5);
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    var mine = empty();
    for (var k = lane; k < sizes.chunks; k += LANES) {
        for (var slot = 0u; slot < 7u; slot++) {
            mine[slot] += partials[k][slot];
        }
    }
    for (var k = lane; k * BLOCK < sizes.attachments; k += LANES) {
        mine[7] += partials[sizes.attachment_partials + k][0];
    }
    for (var k = lane; k * BLOCK < sizes.vertices; k += LANES) {
        mine[8] += slopes[k];
    }
    combine(lane, mine);
    if lane > 0u || state.done != 0u {
        return;
    }
    let sums = lanes[0];
    let noise = DIGITS * (0.5 * step.inertia * sums[0] + (step.projection / step.share) * (sums[2] + sums[7])
        + (0.5 * step.viscous / step.share) * sums[5]);
    let trial = Trial(sums[0], sums[1] + sums[7], sums[4], noise, sums[3], sums[8]);
    state.evaluations += 1u;
    let is_last = state.evaluations >= rule.evaluations;
    if state.iterations > 0u && state.cuts < MOST_CUTS && !is_acceptable(trial) {
        var cut = state.share * zero_of(trial);
        if state.cuts >= LEARNT_CUTS && state.pairs > 0u {
            // pairs that rounding has made: back to where the step began, and on without them
            cut = 0.0;
            state.pairs = 0u;
        }
        state.way = state.share - cut;
        state.share = cut;
        state.cuts += 1u;
        state.rejected = 1u;
        state.done = select(0u, 1u, is_last);
        return;
    }
    state.rejected = 0u;
    if is_last || state.iterations >= rule.iterations || is_solved(sums[6]) {
        state.done = 1u;
        return;
    }
    count_iteration();
    state.taken = state.share;
    state.share = 1.0;
    state.cuts = 0u;
    state.inertia = trial.inertia;
    state.elastic = trial.elastic;
    state.strain = trial.strain;
    state.noise = trial.noise;
}
