// The line-search sums over all vertices: Report[8] to Report[13] are slots 0 to 5 of the chunks, Report[14] is the
// energy of the attachments.
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> partials: array<array<f32, SLOTS>>;
@group(0) @binding(2) var<storage, read_write> report: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    if flat_workgroup(workgroup, workgroups) > 0u {
        return;
    }
    var mine = empty();
    for (var k = lane; k < sizes.chunks; k += LANES) {
        for (var slot = 0u; slot < 6u; slot++) {
            mine[slot] += partials[k][slot];
        }
    }
    let end = sizes.attachment_partials + (sizes.attachments + BLOCK - 1u) / BLOCK;
    for (var k = sizes.attachment_partials + lane; k < end; k += LANES) {
        mine[6] += partials[k][0];
    }
    combine(lane, mine);
    if lane < 7u {
        report[8u + lane] = lanes[0][lane];
    }
}
