// Energy of the attachments where the energies of a step are taken (J): k/2 |x_e - T_e|^2, in slot 0 of their partial sums.
//use shared/point.wgsl
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> attachments: array<Attachment>;
@group(0) @binding(5) var<storage, read> points: array<Point>;
@group(0) @binding(6) var<storage, read_write> partials: array<array<f32, SLOTS>>;

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
    var mine = empty();
    let end = min(sizes.attachments, (block + 1u) * BLOCK);
    for (var index = block * BLOCK + lane; index < end; index += LANES) {
        let attachment = attachments[index];
        let held = points[index];
        let moved = iterate[attachment.vertex].xyz - held.travel;
        let pull = from_point(vertices[attachment.vertex], held) + step.share * moved;
        mine[0] += 0.5 * attachment.stiffness * dot(pull, pull);
    }
    combine(lane, mine);
    if lane == 0u {
        partials[sizes.attachment_partials + block][0] = lanes[0][0];
    }
}
