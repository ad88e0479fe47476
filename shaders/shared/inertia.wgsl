// omega = I^-1 L. A body with collinear vertices has no inertia about their line, and no spin.
//use shared/direction.wgsl

// Least moment of inertia, relative to the greatest, about which a body can spin: sums in single precision are off by up
// to 2e-6 of the greatest.
const LEAST_INERTIA: f32 = 1e-5;

// diagonal: xx, yy, zz; products: yz, xz, xy (kg m^2)
fn spin_of(diagonal: vec3<f32>, products: vec3<f32>, angular_momentum: vec3<f32>) -> vec3<f32> {
    let scale = max(largest(diagonal), largest(products));
    if scale < 1e-36 {
        return vec3(0.0);
    }
    let d = diagonal / scale;
    let o = products / scale;
    var a = array<array<f32, 3>, 3>(
        array(d.x, o.z, o.y),
        array(o.z, d.y, o.x),
        array(o.y, o.x, d.z),
    );
    var axes = array<array<f32, 3>, 3>(array(1.0, 0.0, 0.0), array(0.0, 1.0, 0.0), array(0.0, 0.0, 1.0));
    // quadratic from the third sweep on: off-diagonal entries are then below the rounding of the diagonal
    for (var sweep = 0; sweep < 5; sweep++) {
        annihilate(&a, &axes, 0u, 1u);
        annihilate(&a, &axes, 0u, 2u);
        annihilate(&a, &axes, 1u, 2u);
    }
    let greatest = max(max(max(a[0][0], a[1][1]), a[2][2]), 0.0);
    let scaled = angular_momentum / scale;
    var spin = vec3(0.0);
    for (var k = 0u; k < 3u; k++) {
        if a[k][k] > LEAST_INERTIA * greatest {
            let axis = vec3(axes[k][0], axes[k][1], axes[k][2]);
            spin += axis * (dot(axis, scaled) / a[k][k]);
        }
    }
    return spin;
}

// The Jacobi rotation by less than pi/4 that makes a_pq zero; axes[k] is the k-th axis.
fn annihilate(
    a: ptr<function, array<array<f32, 3>, 3>>,
    axes: ptr<function, array<array<f32, 3>, 3>>,
    p: u32,
    q: u32,
) {
    let off = (*a)[p][q];
    let gap = (*a)[q][q] - (*a)[p][p];
    let root = abs(gap) + sqrt(gap * gap + 4.0 * off * off);
    if root < 1e-30 {
        return;
    }
    let tangent = select(-2.0, 2.0, gap >= 0.0) * off / root;
    let cosine = 1.0 / sqrt(1.0 + tangent * tangent);
    let sine = tangent * cosine;
    (*a)[p][p] -= tangent * off;
    (*a)[q][q] += tangent * off;
    (*a)[p][q] = 0.0;
    (*a)[q][p] = 0.0;
    let other = 3u - p - q;
    let to_p = (*a)[p][other];
    let to_q = (*a)[q][other];
    (*a)[p][other] = cosine * to_p - sine * to_q;
    (*a)[q][other] = sine * to_p + cosine * to_q;
    (*a)[other][p] = (*a)[p][other];
    (*a)[other][q] = (*a)[q][other];
    for (var axis = 0u; axis < 3u; axis++) {
        let along_p = (*axes)[p][axis];
        let along_q = (*axes)[q][axis];
        (*axes)[p][axis] = cosine * along_p - sine * along_q;
        (*axes)[q][axis] = sine * along_p + cosine * along_q;
    }
}
