// Right-hand side of a solve for a few loads (N): each goes to its vertex, all others are zero before. The first item only says how many follow.
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> loads: array<Load>;
@group(0) @binding(1) var<storage, read_write> gradient: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = flat(workgroup, workgroups, lane) + 1u;
    if k > loads[0].vertex {
        return;
    }
    let load = loads[k];
    for (var axis = 0u; axis < 3u; axis++) {
        gradient[3u * load.vertex + axis] = load.force[axis];
    }
}
