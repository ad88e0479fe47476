// The rigid motion of a body, and a vertex's motion relative to it.
//use shared/vertex.wgsl

// From the body's centre to the vertex (m)
fn arm(body: Rigid, x: Vertex) -> vec3<f32> {
    return rounded(x.position - body.origin, x.mass) + (x.low - body.centre);
}

// Velocity relative to the rigid motion (m/s)
fn beyond_rigid(body: Rigid, r: vec3<f32>, velocity: vec3<f32>) -> vec3<f32> {
    return rounded(beyond_drift(body, velocity), body.mass) - cross(body.spin, r);
}

// Velocity relative to the centre (m/s)
fn beyond_drift(body: Rigid, velocity: vec3<f32>) -> vec3<f32> {
    return rounded(velocity - body.base, body.mass) - body.drift;
}
