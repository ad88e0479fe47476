// Response of a triangle to its stretches: zero within limits, sigma - clamp(sigma) beyond them; with a law, that of a
// solid in plane strain with constant thickness. For a kernel that declares `curves`.
//use shared/law.wgsl
//use shared/layout.wgsl
//use shared/stretch.wgsl

struct Strained {
    excess: vec2<f32>, // dW/dsigma over w
    energy: f32,       // W (J)
}

fn strained(triangle: Triangle, sigma: vec2<f32>) -> Strained {
    if triangle.law != PROJECTIVE {
        let response = respond(triangle.law, vec3(sigma - 1.0, 0.0), triangle.limits.y, triangle.limits.x);
        return Strained(response.stress.xy, triangle.weight * response.energy);
    }
    let beyond = sigma - clamp(sigma, vec2(triangle.limits.x), vec2(triangle.limits.y));
    return Strained(beyond, 0.5 * triangle.weight * dot(beyond, beyond));
}
