// Energy of the attachments (J): k/2 |x - T|^2, T where they hold at the end of the step.
//use shared/reduce.wgsl
//use shared/point.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> attachments: array<Attachment>;
@group(0) @binding(3) var<storage, read> points: array<Point>;
@group(0) @binding(4) var<storage, read_write> partials: array<array<f32, SLOTS>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = flat_workgroup(workgroup, workgroups);
    if block * BLOCK >= sizes.attachments {
        return;
    }
    var slots = empty();
    let end = min(sizes.attachments, (block + 1u) * BLOCK);
    for (var index = block * BLOCK + lane; index < end; index += LANES) {
        slots[0] += energy(index);
    }
    combine(lane, slots);
    if lane < SLOTS {
        partials[sizes.attachment_partials + block][lane] = lanes[0][lane];
    }
}

fn energy(index: u32) -> f32 {
    let attachment = attachments[index];
    let pull = from_point(vertices[attachment.vertex], points[index]) - points[index].travel;
    return 0.5 * attachment.stiffness * dot(pull, pull);
}
