// Targets of attachments.
//use shared/vertex.wgsl

// From the attachment's target at the start of the step to the vertex (m)
fn from_point(x: Vertex, held: Point) -> vec3<f32> {
    return rounded(x.position - held.position, x.mass) + (x.low - held.low);
}
