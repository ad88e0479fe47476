// Sums of two numbers, the second what rounding left of the first, for a kernel that declares step.
//use shared/place.wgsl

struct Pair {
    high: vec3<f32>,
    low: vec3<f32>,
}

// high + low + more
fn added(pair: Pair, more: vec3<f32>) -> Pair {
    let sum = opaque(pair.high + more);
    let taken = opaque(sum - pair.high);
    let left = opaque(pair.high - opaque(sum - taken)) + opaque(more - taken);
    let low = opaque(pair.low + left);
    let high = opaque(sum + low);
    return Pair(high, low - opaque(high - sum));
}
