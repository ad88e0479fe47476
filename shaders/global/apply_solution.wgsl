// Global step by the factor: d <- d - s, s in the order of elimination. The target offset x - y takes the same steps from zero, as in
// apply_correction.
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> position: array<u32>;
@group(0) @binding(2) var<storage, read> solution: array<f32>;
@group(0) @binding(3) var<storage, read_write> iterate: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> target_offset: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> state: IterationState;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat(workgroup, workgroups, lane);
    if i >= sizes.vertices || state.done != 0u {
        return;
    }
    let at = 3u * position[i];
    let s = vec3(solution[at], solution[at + 1u], solution[at + 2u]);
    iterate[i] = vec4(iterate[i].xyz - s, 0.0);
    target_offset[i] = vec4(target_offset[i].xyz - s, 0.0);
}
