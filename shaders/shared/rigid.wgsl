// The rigid motion of a body, and a vertex's motion relative to it.
//use shared/layout.wgsl

// From the body's centre to the vertex (m)
fn arm(body: Rigid, x: Vertex) -> vec3<f32> {
    return (x.position - body.origin) + (x.low - body.centre);
}

// Velocity relative to the rigid motion (m/s)
fn beyond_rigid(body: Rigid, r: vec3<f32>, velocity: vec3<f32>) -> vec3<f32> {
    return ((velocity - body.base) - body.drift) - cross(body.spin, r);
}
