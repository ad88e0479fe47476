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

// factor v, exactly
fn multiplied(factor: f32, v: vec3<f32>) -> Pair {
    let product = opaque(factor * v);
    let a = halves(vec3(factor));
    let b = halves(v);
    let left = opaque(opaque(opaque(a.high * b.high) - product) + opaque(a.high * b.low)) + opaque(a.low * b.high);
    return Pair(product, left + a.low * b.low);
}

// v as a sum of two numbers of half as many digits
fn halves(v: vec3<f32>) -> Pair {
    let far = opaque(4097.0 * v);
    let high = opaque(far - opaque(far - v));
    return Pair(high, v - high);
}
