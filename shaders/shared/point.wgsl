// Targets of attachments.
//use shared/layout.wgsl

// From the attachment's target at the start of the step to the vertex (m)
fn from_point(x: Vertex, held: Point) -> vec3<f32> {
    return (x.position - held.position) + (x.low - held.low);
}
