// Where the watched vertices of an explicit step go, from x_n (m). Nothing is solved, so it stands twice, as in look_at_iterate.
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> watched: array<u32>;
@group(0) @binding(2) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> look: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = flat(workgroup, workgroups, lane);
    if k >= sizes.watched {
        return;
    }
    let d = iterate[watched[k]].xyz;
    for (var axis = 0u; axis < 3u; axis++) {
        look[3u * k + axis] = d[axis];
        look[3u * (sizes.watched + k) + axis] = d[axis];
    }
}
