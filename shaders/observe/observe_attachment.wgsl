// Energy of the attachments (J): k/2 |x - T|^2, T where they hold at the end of the step.
//use shared/energy.wgsl
//use shared/point.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> attachments: array<Attachment>;
@group(0) @binding(3) var<storage, read> points: array<Point>;
@group(0) @binding(4) var<storage, read_write> partials: array<array<f32, SLOTS>>;

fn elements() -> Elements {
    return Elements(sizes.attachments, sizes.attachment_partials);
}

// their stiffness does not change
fn stiffening_gain(_index: u32) -> f32 {
    return 0.0;
}

fn energy(index: u32) -> f32 {
    let attachment = attachments[index];
    let pull = from_point(vertices[attachment.vertex], points[index]) - points[index].travel;
    return 0.5 * attachment.stiffness * dot(pull, pull);
}
