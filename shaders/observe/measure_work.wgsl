// Work done on the bodies by the points that hold them (J): k (T_e - x_e) . travel. The step has ended: vertices are at x',
// so that x_e = x' - (1 - share) moved.
//use shared/point.wgsl
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> attachments: array<Attachment>;
@group(0) @binding(5) var<storage, read> points: array<Point>;
@group(0) @binding(6) var<storage, read_write> exchange_partials: array<vec4<f32>>;

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
        let attachment = attachments[index];
        let held = points[index];
        let passed = step.share * held.travel + (1.0 - step.share) * motions[attachment.vertex].last_displacement;
        let pull = passed - from_point(vertices[attachment.vertex], held);
        slots[0] += attachment.stiffness * dot(pull, held.travel);
    }
    combine(lane, slots);
    if lane == 0u {
        exchange_partials[sizes.chunks + block] = vec4(0.0, lanes[0][0], 0.0, 0.0);
    }
}
