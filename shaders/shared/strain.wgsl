// What a triangle does to its stretches: within limits nothing, beyond them sigma - clamp(sigma); with Green's strain
// g = (sigma^2 - 1)/2 the stress sigma (lambda tr g + 2 mu g) over w.
//use shared/layout.wgsl
//use shared/stretch.wgsl

// dW/dsigma over w
fn excess(triangle: Triangle, sigma: vec2<f32>) -> vec2<f32> {
    if triangle.green > 0.5 {
        let g = green(sigma);
        return sigma * (triangle.limits.x * (g.x + g.y) + 2.0 * triangle.limits.y * g);
    }
    return sigma - clamp(sigma, vec2(triangle.limits.x), vec2(triangle.limits.y));
}

// W (J)
fn strain_energy(triangle: Triangle, sigma: vec2<f32>) -> f32 {
    if triangle.green > 0.5 {
        let g = green(sigma);
        let trace = g.x + g.y;
        return triangle.weight * (0.5 * triangle.limits.x * trace * trace + triangle.limits.y * dot(g, g));
    }
    let beyond = excess(triangle, sigma);
    return 0.5 * triangle.weight * dot(beyond, beyond);
}

fn green(sigma: vec2<f32>) -> vec2<f32> {
    return 0.5 * (sigma - 1.0) * (sigma + 1.0);
}
