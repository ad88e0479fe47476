// Adds to Q what attachments pull, -s h^2 b k (T - pivot), and writes Q and c as right-hand sides of solves.
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(3) var<storage, read> starts: array<u32>;
@group(0) @binding(4) var<storage, read> own: array<u32>;
@group(0) @binding(5) var<storage, read> attachment_aims: array<AttachmentAim>;
@group(0) @binding(6) var<storage, read> aims: array<BodyAim>;
@group(0) @binding(7) var<storage, read_write> conserved: array<ConservedVertex>;
@group(0) @binding(8) var<storage, read_write> turn_gradient: array<f32>;
@group(0) @binding(9) var<storage, read_write> drive_gradient: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&chunks) {
        return;
    }
    let chunk = chunks[number];
    let pivot = aims[chunk.body].pivot;
    // rows are numbered four a tetrahedron, then the others'
    let first_row = 4u * sizes.tets + sizes.attachment_rows - sizes.triangle_rows;
    let factor = step.slope * step.h * step.h * step.projection;
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let arm = conserved[i].arm;
        var turn = conserved[i].turn;
        for (var k = starts[i]; k < starts[i + 1u]; k++) {
            if own[k] >= first_row {
                let held = attachment_aims[own[k] - first_row];
                turn -= (factor * held.stiffness) * ((arm - pivot) + (held.travel - held.pull));
            }
        }
        conserved[i].turn = turn;
        let drive = conserved[i].drive;
        for (var axis = 0u; axis < 3u; axis++) {
            turn_gradient[3u * i + axis] = turn[axis];
            drive_gradient[3u * i + axis] = drive[axis];
        }
    }
}
