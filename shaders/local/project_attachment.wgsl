// Row b k (x_e - T_e) of an attachment (N), T_e its target at x_e. No energy is written: that of attachments is not
// elastic energy of a body.
//use shared/point.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> attachments: array<Attachment>;
@group(0) @binding(5) var<storage, read> points: array<Point>;
@group(0) @binding(6) var<storage, read_write> rows: array<vec4<f32>>;

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
    let moved = iterate[attachment.vertex].xyz - held.travel;
    let pull = from_point(vertices[attachment.vertex], held) + step.share * moved;
    rows[sizes.attachment_rows + index] = vec4(step.projection * attachment.stiffness * pull, 0.0);
}
