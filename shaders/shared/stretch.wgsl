// Singular values and vectors of the deformation of a triangle, F = U diag(sigma) V^T (3x2).
//use shared/direction.wgsl
//use shared/layout.wgsl

struct Stretch {
    turn: vec2<f32>,  // cos, sin: the columns of V are (cos, sin) and (-sin, cos)
    left: array<vec3<f32>, 2>, // the columns of U
    sigma: vec2<f32>, // the greater first
}

// F = [x1 - x0, x2 - x0] Dm^-1
fn deformation(edge_1: vec3<f32>, edge_2: vec3<f32>, inverse_rest: vec4<f32>) -> array<vec3<f32>, 2> {
    return array<vec3<f32>, 2>(
        edge_1 * inverse_rest.x + edge_2 * inverse_rest.z,
        edge_1 * inverse_rest.y + edge_2 * inverse_rest.w,
    );
}

// Rotates the columns of F until they are orthogonal. The first rotation diagonalises F^T F, which does not see a stretch
// below sqrt(epsilon) of the greater one; the second one works on the rotated columns, which do.
fn stretch(f: array<vec3<f32>, 2>) -> Stretch {
    let scale = max(largest(f[0]), largest(f[1]));
    if scale < NOTHING {
        // a point: no direction is closer than any other
        return Stretch(vec2(1.0, 0.0), array(vec3(1.0, 0.0, 0.0), vec3(0.0, 0.0, 1.0)), vec2(0.0));
    }
    var long = f[0] / scale;
    var short = f[1] / scale;
    var turn = vec2(1.0, 0.0);
    for (var rotation = 0; rotation < 2; rotation++) {
        let next = half_angle(2.0 * dot(long, short), dot(long, long) - dot(short, short));
        let rotated = long * next.x + short * next.y;
        short = short * next.x - long * next.y;
        long = rotated;
        turn = vec2(turn.x * next.x - turn.y * next.y, turn.y * next.x + turn.x * next.y);
    }
    let greater = sqrt(dot(long, long)); // at least 1: that of the longer column
    let first = long / greater;
    // an almost collapsed triangle's second direction is mostly rounding of the first
    let across = short - first * dot(first, short);
    let lesser = sqrt(dot(across, across));
    var second = orthogonal(first);
    if lesser > 1.2e-7 * greater {
        second = across / lesser;
    }
    return Stretch(turn, array(first, second), vec2(greater, lesser) * scale);
}

// cos and sin of half the angle of the vector (x, y), which lies in (-pi, pi].
fn half_angle(y: f32, x: f32) -> vec2<f32> {
    let radius = sqrt(x * x + y * y);
    if radius < NOTHING {
        return vec2(1.0, 0.0);
    }
    // the greater of the two by the root, the other one from sin of the whole angle: nothing cancels
    let greater = sqrt(0.5 + 0.5 * (abs(x) / radius));
    let lesser = 0.5 * (y / radius) / greater;
    if x >= 0.0 {
        return vec2(greater, lesser);
    }
    return vec2(abs(lesser), select(-greater, greater, y >= 0.0));
}

// Some unit vector orthogonal to the unit vector u, the same for the same u.
fn orthogonal(u: vec3<f32>) -> vec3<f32> {
    let axis = select(vec3(0.0, 1.0, 0.0), vec3(1.0, 0.0, 0.0), abs(u.x) < 0.9);
    let across = cross(u, axis);
    return across / sqrt(dot(across, across));
}
