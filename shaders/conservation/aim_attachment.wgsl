// Attachments as conservation sees them: from the point to the vertex, the point's way, and where the vertex is in its body.
//use shared/point.wgsl
//use shared/rigid.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> attachments: array<Attachment>;
@group(0) @binding(3) var<storage, read> points: array<Point>;
@group(0) @binding(4) var<storage, read> rigids: array<Rigid>;
@group(0) @binding(5) var<storage, read_write> attachment_aims: array<AttachmentAim>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat(workgroup, workgroups, lane);
    if index >= sizes.attachments {
        return;
    }
    let attachment = attachments[index];
    let held = points[index];
    let x = vertices[attachment.vertex];
    let body = attachment_aims[index].body;
    let arm = arm(rigids[body], x);
    let pull = from_point(x, held);
    attachment_aims[index] = AttachmentAim(pull, attachment.stiffness, held.travel, attachment.vertex, arm, body);
}
