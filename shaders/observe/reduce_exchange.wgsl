// Adds the energy exchanged in a step to the report: damped, work, filtered (J).
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> exchange_partials: array<vec4<f32>>;
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
    var slots = empty();
    let end = sizes.chunks + (sizes.attachments + BLOCK - 1u) / BLOCK;
    for (var k = lane; k < end; k += LANES) {
        slots[0] += exchange_partials[k].x;
        slots[1] += exchange_partials[k].y;
        slots[2] += exchange_partials[k].z;
    }
    combine(lane, slots);
    if lane < 3u {
        report[lane] += lanes[0][lane];
    }
}
