// The two loops of L-BFGS, in products alone: which shares of A^-1 y_i and s_i the direction A^-1 g - sum of a_i A^-1 y_i + sum of c_i s_i
// has. The newest pair counts if Phi curves upwards along it; where the direction leads uphill, no pair does.
//use shared/finite.wgsl
//use shared/pairs.wgsl
//use shared/reduce.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<uniform> rule: IterationRule;
@group(0) @binding(2) var<storage, read> partials: array<array<f32, SLOTS>>;
@group(0) @binding(3) var<storage, read_write> state: IterationState;
@group(0) @binding(4) var<storage, read_write> curvature: array<f32>;

// s . y below this share of |s| |y| is rounding.
const LEAST_CURVATURE: f32 = 1e-6;

// The products with pair j, as measure_pairs has them.
var<workgroup> products: array<array<f32, 8>, PAIRS>;

// Lets the newest pair count, if it can be trusted.
fn learn(count: u32) {
    let next = min(state.next_pair, count - 1u);
    let along = products[next][2];
    let trusted = LEAST_CURVATURE * (sqrt(products[next][5]) * sqrt(products[next][6]));
    if state.iterations < 2u || !is_finite(along) || along <= trusted {
        return;
    }
    for (var j = 0u; j < count; j++) {
        curvature[j * PAIRS + next] = products[j][2];
        curvature[next * PAIRS + j] = products[j][3];
        curvature[SOLVED_PRODUCTS + j * PAIRS + next] = products[j][4];
        curvature[SOLVED_PRODUCTS + next * PAIRS + j] = products[j][4];
    }
    state.pairs = min(state.pairs + 1u, count - 1u);
    state.next_pair = (next + 1u) % count;
}

// The pair before the newest by `age`.
fn pair_of(age: u32, count: u32) -> u32 {
    return (state.next_pair + 2u * count - 1u - age) % count;
}

// g . d of the direction that the shares give (J).
fn choose(count: u32) -> f32 {
    for (var age = 0u; age < state.pairs; age++) {
        let i = pair_of(age, count);
        var along = products[i][0];
        for (var newer = 0u; newer < age; newer++) {
            let j = pair_of(newer, count);
            along -= curvature[SOLVED_SHARES + j] * curvature[i * PAIRS + j];
        }
        curvature[SOLVED_SHARES + i] = along / curvature[i * PAIRS + i];
    }
    for (var k = state.pairs; k > 0u; k--) {
        let i = pair_of(k - 1u, count);
        var along = products[i][1];
        for (var age = 0u; age < state.pairs; age++) {
            let j = pair_of(age, count);
            along -= curvature[SOLVED_SHARES + j] * curvature[SOLVED_PRODUCTS + i * PAIRS + j];
            if age >= k {
                along += curvature[CHANGE_SHARES + j] * curvature[j * PAIRS + i];
            }
        }
        curvature[CHANGE_SHARES + i] = curvature[SOLVED_SHARES + i] - along / curvature[i * PAIRS + i];
    }
    var slope = products[0][7];
    for (var age = 0u; age < state.pairs; age++) {
        let i = pair_of(age, count);
        slope += curvature[CHANGE_SHARES + i] * products[i][0] - curvature[SOLVED_SHARES + i] * products[i][1];
    }
    return slope;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    let count = pair_count();
    for (var j = 0u; j < count; j++) {
        var mine = empty();
        for (var k = lane; k < sizes.chunks; k += LANES) {
            for (var slot = 0u; slot < 8u; slot++) {
                mine[slot] += partials[k * count + j][slot];
            }
        }
        combine(lane, mine);
        if lane < 8u {
            products[j][lane] = lanes[0][lane];
        }
    }
    workgroupBarrier();
    if lane > 0u || (state.done | state.rejected) != 0u {
        return;
    }
    learn(count);
    for (var i = 0u; i < count; i++) {
        curvature[SOLVED_SHARES + i] = 0.0;
        curvature[CHANGE_SHARES + i] = 0.0;
    }
    let slope = choose(count);
    if !is_finite(slope) || slope <= 0.0 {
        state.pairs = 0u;
        for (var i = 0u; i < count; i++) {
            curvature[SOLVED_SHARES + i] = 0.0;
            curvature[CHANGE_SHARES + i] = 0.0;
        }
    }
}
