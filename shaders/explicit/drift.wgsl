// An explicit step as a displacement from x_n: d = target_velocity v + target_acceleration (gravity - g/m). The effect
// of the forces is target_offset, like that of a solve on a first guess.
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> gradient: array<f32>;
@group(0) @binding(5) var<storage, read_write> iterate: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> target_offset: array<vec4<f32>>;

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
    let g = vec3(gradient[3u * i], gradient[3u * i + 1u], gradient[3u * i + 2u]);
    let pushed = -(step.target_acceleration / vertices[i].mass) * g;
    let fall = step.target_velocity * motions[i].velocity + step.target_acceleration * step.gravity;
    iterate[i] = vec4(fall + pushed, 0.0);
    target_offset[i] = vec4(pushed, 0.0);
}
