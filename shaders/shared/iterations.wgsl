// When iterations end, for a kernel that declares rule, state and report.
//use shared/finite.wgsl
//use shared/layout.wgsl

// Takes note of |g|^2 where an iteration would begin: Report[4] at the first one, Report[5] at the last one. Whether it is zero or, after a
// direction, at most `tolerance` of the first one. (What is beyond single precision is not small.)
fn is_solved(squared: f32) -> bool {
    let gradient = sqrt(squared);
    if state.iterations == 0u {
        state.first = gradient;
        report[4] = squared;
    }
    report[5] = squared;
    if !is_finite(gradient) {
        return false;
    }
    return squared == 0.0 || (state.iterations > 0u && gradient <= rule.tolerance * state.first);
}

// One more iteration, of this stage and of the frame: Report[6].
fn count_iteration() {
    state.iterations += 1u;
    report[6] += 1.0;
}
