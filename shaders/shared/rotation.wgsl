// The rotation R closest to a deformation gradient F: it maximises tr(R^T F) over det R = +1.
//
// Turning R by the vector omega changes tr(R^T F) by g.omega - 1/2 omega.H omega, g the axial vector of A - A^T for
// A = R^T F, and H = tr(S) - S, S the symmetric part of A. A stationary point where H is positive definite is the global
// maximum, whatever the sign of det F: so Newton's method from the last rotation, and a check of H. Threads that fail it
// take the eigenvector of a 4 by 4 matrix. Quaternions are (w, x, y, z).

const MOST_STEPS: u32 = 8u;
// A step leaves at most 0.0023 |omega|^3 (tr H/lambda)^2, lambda a lower bound of the least eigenvalue of H
// (src/elastic/rotation.rs). This is the square of eps/0.0023.
const GOAL_SQUARED: f32 = 2.69e-9;
// The largest tr H/lambda at which a step is trusted: it magnifies the rounding of g.
const LARGEST_CONDITION: f32 = 1e2;
// F is scaled so that its largest entry is at least 1, and tr H = 2 (s1 + s2 + s3) >= 2 at the maximum.
const LEAST_TRACE: f32 = 0.1;
// Rounds of Jacobi's method for the 4 by 4 matrix, three a sweep; in single precision most are done in twelve, all in twenty.
const EIGEN_ROUNDS: u32 = 24u;
// Off-diagonal entries that vanish in the rounding of K, whose largest eigenvalue is s1 + s2 + s3 >= 1.
const EIGEN_NEGLIGIBLE: f32 = 1e-9;

struct Turned {
    q: vec4<f32>,
    definite: bool, // the step can be trusted
    last: bool,     // no other one is needed
}

fn magnitude_bits(v: vec3<f32>) -> vec3<u32> {
    return bitcast<vec3<u32>>(v) & vec3<u32>(0x7fffffffu);
}

// The power of two that brings the largest entry of F to [1, 2); 0 if F vanishes or is not finite. From the exponent's
// bits: compilers may assume that numbers are finite.
fn scale_of(f: mat3x3<f32>) -> f32 {
    let columns = max(max(magnitude_bits(f[0]), magnitude_bits(f[1])), magnitude_bits(f[2]));
    let exponent = max(max(columns.x, columns.y), columns.z) >> 23u;
    if exponent == 0u || exponent == 255u {
        return 0.0;
    }
    return bitcast<f32>((254u - min(exponent, 253u)) << 23u);
}

// R of a unit quaternion: I + 2 w [v] + 2 [v]^2
fn rotation_of(q: vec4<f32>) -> mat3x3<f32> {
    let v = q.yzw;
    let twice = 2.0 * v;
    let squares = twice * v;
    let mixed = twice * v.yzx; // 2xy, 2yz, 2zx
    let turn = twice * q.x;
    return mat3x3<f32>(
        vec3<f32>(1.0 - (squares.y + squares.z), mixed.x + turn.z, mixed.z - turn.y),
        vec3<f32>(mixed.x - turn.z, 1.0 - (squares.x + squares.z), mixed.y + turn.x),
        vec3<f32>(mixed.z + turn.y, mixed.y - turn.x, 1.0 - (squares.x + squares.y)),
    );
}

// One Newton step, along the arc: |omega| is the tangent of the angle, which is exact for S = s I.
fn newton_turn(f: mat3x3<f32>, q: vec4<f32>) -> Turned {
    let a = transpose(rotation_of(q)) * f;
    let gradient = vec3<f32>(a[1][2] - a[2][1], a[2][0] - a[0][2], a[0][1] - a[1][0]);
    let off = -0.5 * vec3<f32>(a[1][2] + a[2][1], a[2][0] + a[0][2], a[0][1] + a[1][0]);
    let h0 = vec3<f32>(a[1][1] + a[2][2], off.z, off.y);
    let h1 = vec3<f32>(off.z, a[0][0] + a[2][2], off.x);
    let h2 = vec3<f32>(off.y, off.x, a[0][0] + a[1][1]);
    let c0 = cross(h1, h2);
    let c1 = cross(h2, h0);
    let c2 = cross(h0, h1);
    let first = h0.x + h1.y + h2.z;
    let second = c0.x + c1.y + c2.z;
    let third = dot(h0, c0);
    let definite = first > LEAST_TRACE && second > 0.0 && third > 0.0 && first * second < LARGEST_CONDITION * third;
    if !definite {
        return Turned(q, false, false);
    }
    let omega = vec3<f32>(dot(c0, gradient), dot(c1, gradient), dot(c2, gradient)) / third;
    let turn = dot(omega, omega);
    let condition = first * second / third;
    let square = condition * condition;
    // q (1, u) with u the tangent of half the angle
    let u = omega / (1.0 + sqrt(1.0 + turn));
    let turned = vec4<f32>(q.x - dot(q.yzw, u), q.yzw + q.x * u + cross(q.yzw, u));
    return Turned(normalize(turned), true, turn * turn * turn * (square * square) < GOAL_SQUARED);
}

// tr(R(q)^T F) = q.K q, so q is the eigenvector of the largest eigenvalue of K: a rotation also for inverted, flat and
// needle-like F. By Jacobi's rotations, two of disjoint pairs at once: columns 0 and 1, 2 and 3. The turned columns change
// places, so that all six pairs have had their turn after three rounds. No index is a variable: all stays in registers.
fn best_quaternion(f: mat3x3<f32>) -> vec4<f32> {
    let w = vec3<f32>(f[1][2] - f[2][1], f[2][0] - f[0][2], f[0][1] - f[1][0]);
    let s = vec3<f32>(f[1][2] + f[2][1], f[2][0] + f[0][2], f[0][1] + f[1][0]);
    let d = vec3<f32>(f[0][0], f[1][1], f[2][2]);
    var k = mat4x4<f32>(
        vec4<f32>(d.x + d.y + d.z, w.x, w.y, w.z),
        vec4<f32>(w.x, d.x - d.y - d.z, s.z, s.y),
        vec4<f32>(w.y, s.z, d.y - d.x - d.z, s.x),
        vec4<f32>(w.z, s.y, s.x, d.z - d.x - d.y),
    );
    // the eigenvectors, as columns
    var vectors = mat4x4<f32>(
        vec4<f32>(1.0, 0.0, 0.0, 0.0),
        vec4<f32>(0.0, 1.0, 0.0, 0.0),
        vec4<f32>(0.0, 0.0, 1.0, 0.0),
        vec4<f32>(0.0, 0.0, 0.0, 1.0),
    );
    var settled = 0u;
    for (var round = 0u; round < EIGEN_ROUNDS && settled < 3u; round++) {
        let tangent = vec2<f32>(needed_tangent(k[1].y - k[0].x, k[0].y), needed_tangent(k[3].w - k[2].z, k[2].w));
        settled = select(0u, settled + 1u, all(tangent == vec2<f32>()));
        let cosine = inverseSqrt(vec2<f32>(1.0) + tangent * tangent);
        let sine = tangent * cosine;
        let turned = turn_columns(transpose(turn_columns(k, cosine, sine)), cosine, sine);
        // what the rotations make zero, exactly: columns 0 and 1 are 0 and 3 now, 2 and 3 are 1 and 2
        k = mat4x4<f32>(
            vec4<f32>(turned[0].xyz, 0.0),
            vec4<f32>(turned[1].xy, 0.0, turned[1].w),
            vec4<f32>(turned[2].x, 0.0, turned[2].zw),
            vec4<f32>(0.0, turned[3].yzw),
        );
        vectors = turn_columns(vectors, cosine, sine);
    }
    var best = vectors[0];
    var largest = k[0].x;
    if k[1].y > largest {
        largest = k[1].y;
        best = vectors[1];
    }
    if k[2].z > largest {
        largest = k[2].z;
        best = vectors[2];
    }
    if k[3].w > largest {
        best = vectors[3];
    }
    return normalize(best);
}

// Columns 0 and 1, and 2 and 3, turned into each other; then 1 goes behind the others.
fn turn_columns(m: mat4x4<f32>, cosine: vec2<f32>, sine: vec2<f32>) -> mat4x4<f32> {
    return mat4x4<f32>(
        cosine.x * m[0] - sine.x * m[1],
        cosine.y * m[2] - sine.y * m[3],
        sine.y * m[2] + cosine.y * m[3],
        sine.x * m[0] + cosine.x * m[1],
    );
}

// Tangent of the smaller angle that turns a symmetric 2 by 2 matrix diagonal; `gap` is the difference of its diagonal.
// Its off-diagonal entry must not vanish.
fn jacobi_tangent(gap: f32, off: f32) -> f32 {
    let root = sqrt(gap * gap + 4.0 * off * off);
    return 2.0 * off / select(gap - root, gap + root, gap >= 0.0);
}

// The same, and 0 where nothing is left to turn.
fn needed_tangent(gap: f32, off: f32) -> f32 {
    if abs(off) <= EIGEN_NEGLIGIBLE {
        return 0.0;
    }
    return jacobi_tangent(gap, off);
}

// The unit quaternion of R, found from `start`, on its side of the sphere (q and -q are one rotation).
// F = 0 and F that is not finite give the identity.
fn closest_rotation(f: mat3x3<f32>, start: vec4<f32>) -> vec4<f32> {
    let scale = scale_of(f);
    var q = vec4<f32>(1.0, 0.0, 0.0, 0.0);
    if scale > 0.0 {
        q = search_rotation(scale * f, start);
    }
    return select(-q, q, dot(q, start) >= 0.0);
}

fn search_rotation(f: mat3x3<f32>, start: vec4<f32>) -> vec4<f32> {
    var q = start;
    for (var k = 0u; k < MOST_STEPS; k++) {
        let turned = newton_turn(f, q);
        if !turned.definite {
            break;
        }
        q = turned.q;
        if turned.last {
            return q;
        }
    }
    // The step takes away what Jacobi's rotations have rounded.
    return newton_turn(f, best_quaternion(f)).q;
}
