// The matrix P with det P = 1 closest to F: P = R V diag(p) V^T for R^T F = S = V diag(s) V^T, R the closest rotation.
//
// Its stretches p and those s of F satisfy p_i (s_i - p_i) = kappa, p1 p2 p3 = 1. With s3 the least of s, the stationary
// points lie on a path with p3 = t as parameter: kappa = t (s3 - t), and p1, p2 the larger roots of their quadratics.
// ln(p1 p2 p3) grows along it except perhaps for s3/3 < t < s3/2, where the s are nearly equal.
// Everything is told as F - P: near rest that is small, and keeps its digits.
//use shared/rotation.wgsl

// Turns of Jacobi's method, three a sweep.
const MOST_TURNS: u32 = 18u;
// Off-diagonal entries that vanish in the rounding of S, whose largest entry is of the order of 1.
const STRETCH_NEGLIGIBLE: f32 = 2e-8;
// Stretches enter the product up to this size, so that it does not overflow.
const LARGEST_STRETCH: f32 = 1e12;
const MOST_CROSSING_STEPS: u32 = 48u;
// Where ln(p1 p2 p3) may fall, it is looked at in as many places.
const PATH_SAMPLES: u32 = 32u;

struct Principal {
    stretches: vec3<f32>, // the least one last
    axes: mat3x3<f32>,
}

// Eigenvalues and eigenvectors of the symmetric part of S. Each turn makes the entry 01 zero, then the axes change their
// names: 1, 2, 0 become 0, 1, 2.
fn principal_stretches(s: mat3x3<f32>) -> Principal {
    var d = vec3<f32>(s[0][0], s[1][1], s[2][2]);
    var off = 0.5 * vec3<f32>(s[1][2] + s[2][1], s[2][0] + s[0][2], s[0][1] + s[1][0]);
    var axes = mat3x3<f32>(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0);
    for (var turn = 0u; turn < MOST_TURNS; turn++) {
        if all(abs(off) <= vec3<f32>(STRETCH_NEGLIGIBLE)) {
            break;
        }
        if abs(off.z) > STRETCH_NEGLIGIBLE {
            let tangent = jacobi_tangent(d.y - d.x, off.z);
            let cosine = inverseSqrt(1.0 + tangent * tangent);
            let sine = tangent * cosine;
            let shift = tangent * off.z;
            d = vec3<f32>(d.x - shift, d.y + shift, d.z);
            off = vec3<f32>(sine * off.y + cosine * off.x, cosine * off.y - sine * off.x, 0.0);
            axes = mat3x3<f32>(cosine * axes[0] - sine * axes[1], sine * axes[0] + cosine * axes[1], axes[2]);
        }
        d = d.yzx;
        off = off.yzx;
        axes = mat3x3<f32>(axes[1], axes[2], axes[0]);
    }
    if d.x < min(d.y, d.z) {
        return Principal(d.yzx, mat3x3<f32>(axes[1], axes[2], axes[0]));
    }
    if d.y < d.z {
        return Principal(d.zxy, mat3x3<f32>(axes[2], axes[0], axes[1]));
    }
    return Principal(d, axes);
}

// p1, p2 and t
fn on_path(s: vec3<f32>, t: f32) -> vec3<f32> {
    let roots = sqrt(max(s.xy * s.xy - vec2<f32>(4.0 * t * (s.z - t)), vec2<f32>(0.0)));
    return vec3<f32>(max(0.5 * (s.xy + roots), vec2<f32>(1e-18)), t);
}

fn product_of(p: vec3<f32>) -> f32 {
    return min(p.x, LARGEST_STRETCH) * (min(p.y, LARGEST_STRETCH) * p.z);
}

// s - p, from kappa and so without cancellation
fn excess_of(s: vec3<f32>, p: vec3<f32>) -> vec3<f32> {
    let least = s.z - p.z;
    return vec3<f32>(p.z * least / p.xy, least);
}

// The t between two ends at which p1 p2 p3 rises through 1: Newton's method for ln(p1 p2 p3) by ln t, and where it leaves
// what is left between the ends, their geometric mean.
fn crossing(s: vec3<f32>, from_t: f32, to_t: f32, guess: f32) -> f32 {
    var low = from_t;
    var high = to_t;
    var t = guess;
    for (var k = 0u; k < MOST_CROSSING_STEPS; k++) {
        t = select(sqrt(low) * sqrt(high), t, t > low && t < high);
        let p = on_path(s, t);
        let product = product_of(p);
        if product > 1.0 {
            high = t;
        } else {
            low = t;
        }
        let rates = 1.0 / (p.xy * max(2.0 * p.xy - s.xy, vec2<f32>(1e-18)));
        let slope = 1.0 + t * (2.0 * t - s.z) * (rates.x + rates.y);
        // ln, which the device may round coarsely near 1
        var logarithm = 2.0 * (product - 1.0) / (product + 1.0);
        if abs(logarithm) > 0.5 {
            logarithm = log(max(product, 1e-37));
        }
        let change = logarithm / max(slope, 0.1);
        if abs(change) < 1e-5 {
            // Newton's error is the square of that
            return t - t * change;
        }
        t = t * exp(-change);
    }
    return t;
}

// s - p of the closest p with p1 p2 p3 = 1
fn stretch_excess(s: vec3<f32>) -> vec3<f32> {
    // At t = |s3| + 1 or beyond, all three p are at least 1, and p1 <= s1 + t before.
    let high = abs(s.z) + 2.0;
    let low = max(0.5 / ((abs(s.x) + high) * (abs(s.y) + high)), 1e-30);
    let determinant = product_of(s);
    if determinant < 2.0 {
        // For t <= s3/2 the product is at most s1 s2 s3/2, so there is one solution, and beyond. To first order in the strain
        // it lies along the gradient of the determinant.
        let cofactors = s.yzx * s.zxy;
        let kappa = (determinant - 1.0) / max(dot(cofactors, cofactors), 1e-20);
        let t = crossing(s, max(low, 0.5 * s.z), high, s.z - kappa * cofactors.z);
        return excess_of(s, on_path(s, t));
    }
    var best = vec3<f32>(0.0);
    var least_distance = -1.0;
    var start = low;
    for (var k = 0u; k < PATH_SAMPLES + 2u; k++) {
        let sample = s.z * (1.0 / 3.0 + f32(k) / f32(6u * PATH_SAMPLES));
        let end = select(sample, high, k == PATH_SAMPLES + 1u);
        if product_of(on_path(s, start)) <= 1.0 && product_of(on_path(s, end)) > 1.0 {
            let excess = excess_of(s, on_path(s, crossing(s, start, end, 0.0)));
            let distance = dot(excess, excess);
            if least_distance < 0.0 || distance < least_distance {
                least_distance = distance;
                best = excess;
            }
        }
        start = end;
    }
    return best;
}

// F - P for F and its closest rotation. P = R where F vanishes.
fn volume_excess(f: mat3x3<f32>, rotation: mat3x3<f32>) -> mat3x3<f32> {
    let scale = scale_of(f);
    if scale == 0.0 {
        return f - rotation;
    }
    let principal = principal_stretches(transpose(rotation) * (scale * f));
    let excess = stretch_excess(principal.stretches / scale);
    let axes = principal.axes;
    let stretched = mat3x3<f32>(excess.x * axes[0], excess.y * axes[1], excess.z * axes[2]);
    return rotation * (stretched * transpose(axes));
}
