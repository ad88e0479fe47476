// Changes every velocity (m/s), all along the history that an integrator keeps.
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> changes: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> motions: array<Motion>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat(workgroup, workgroups, lane);
    if i >= sizes.vertices {
        return;
    }
    let change = changes[i].xyz;
    motions[i].velocity += change;
    motions[i].velocity_before += change;
    motions[i].last_displacement += change * step.h;
}
