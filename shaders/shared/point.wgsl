// Where attachments hold.
//use shared/layout.wgsl

// From where the attachment holds at the beginning of the step to the vertex (m)
fn from_point(x: Vertex, held: Point) -> vec3<f32> {
    return (x.position - held.position) + (x.low - held.low);
}
