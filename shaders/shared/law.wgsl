// Laws of elasticity as functions of the principal strains e = sigma - 1: near rest only what is small is added up.
// For a kernel that declares `curves`.
//use shared/layout.wgsl

// dW/dsigma and W (J)
struct Response {
    stress: vec3<f32>,
    energy: f32,
}

// By the law's number, which is not PROJECTIVE; mu and lambda times a volume (J).
fn respond(law: u32, e: vec3<f32>, mu: f32, lambda: f32) -> Response {
    if law == ST_VENANT_KIRCHHOFF {
        // Green's strain
        let second = quadratic(e + 0.5 * e * e, mu, lambda);
        return Response((1.0 + e) * second.stress, second.energy);
    }
    if law == NEO_HOOKEAN {
        return neo_hookean(e, mu, lambda + mu);
    }
    if law == COROTATED_LINEAR {
        return quadratic(e, mu, lambda);
    }
    return valanis_landel(law - VALANIS_LANDEL, e, mu);
}

// mu |e|^2 + lambda/2 tr^2 e
fn quadratic(e: vec3<f32>, mu: f32, lambda: f32) -> Response {
    let trace = e.x + e.y + e.z;
    return Response(2.0 * mu * e + lambda * trace, mu * dot(e, e) + 0.5 * lambda * trace * trace);
}

// mu/2 (|sigma|^2 - 3) - mu (J - 1) + bulk/2 (J - 1)^2, J the product of sigma, bulk = lambda + mu
fn neo_hookean(e: vec3<f32>, mu: f32, bulk: f32) -> Response {
    let next = e.yzx;
    let last = e.zxy;
    let pairs = dot(e, next);
    let triple = e.x * e.y * e.z;
    let growth = e.x + e.y + e.z + pairs + triple; // J - 1
    let faces = (1.0 + next) * (1.0 + last);
    let unbalanced = e - next - last - next * last;
    return Response(
        mu * unbalanced + bulk * growth * faces,
        mu * (0.5 * dot(e, e) - pairs - triple) + 0.5 * bulk * growth * growth,
    );
}

// The curve whose first piece is `first`, at the stretch 1 + strain: its integral from 1 and its value, less that at 1.
fn curve_at(first: u32, strain: f32) -> vec2<f32> {
    let end = curves[first].end;
    var number = first;
    while number + 1u < end && curves[number + 1u].start <= strain {
        number += 1u;
    }
    let piece = curves[number];
    let c = piece.coefficients;
    let u = strain - piece.start;
    return vec2<f32>(
        piece.integral + u * (c.x + u * (0.5 * c.y + u * (c.z / 3.0 + u * (0.25 * c.w)))),
        c.x + u * (c.y + u * (c.z + u * c.w)),
    );
}

// mu (sum of f(sigma_i) + sum of g(sigma_i sigma_j) + h(J)); f' has its first piece at `f`, then follow g' and h'.
// What their values at 1 add is, since f' + 2g' + h' = 0 there, (g' + h') (e1e2 + e2e3 + e3e1) + h' e1e2e3.
fn valanis_landel(f: u32, e: vec3<f32>, mu: f32) -> Response {
    let g = curves[f].end;
    let h = curves[g].end;
    let third = curves[h].at_rest;
    let second = curves[g].at_rest + third;
    let next = e.yzx;
    let last = e.zxy;
    let pairs = dot(e, next);
    let triple = e.x * e.y * e.z;
    let volume = curve_at(h, e.x + e.y + e.z + pairs + triple);
    let face_strains = next + last + next * last;
    let along = array<vec2<f32>, 3>(curve_at(f, e.x), curve_at(f, e.y), curve_at(f, e.z));
    let face = array<vec2<f32>, 3>(
        curve_at(g, face_strains.x),
        curve_at(g, face_strains.y),
        curve_at(g, face_strains.z),
    );
    let lengths = vec3<f32>(along[0].y, along[1].y, along[2].y);
    // across axis i; those along it are the next and the last one
    let faces = vec3<f32>(face[0].y, face[1].y, face[2].y);
    let stress = lengths + volume.y * ((1.0 + next) * (1.0 + last)) + second * (next + last) + third * next * last
        + faces.yzx * (1.0 + last) + faces.zxy * (1.0 + next);
    let energy = second * pairs + third * triple + volume.x
        + (along[0].x + along[1].x + along[2].x) + (face[0].x + face[1].x + face[2].x);
    return Response(mu * stress, mu * energy);
}
