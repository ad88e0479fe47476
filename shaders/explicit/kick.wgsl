// The force at the end of an explicit step changes the velocity but not the position: target_offset -= target_acceleration
// g/m, for v' = v'(y) + slope target_offset.
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> gradient: array<f32>;
@group(0) @binding(4) var<storage, read_write> target_offset: array<vec4<f32>>;

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
    target_offset[i] = vec4(target_offset[i].xyz - (step.target_acceleration / vertices[i].mass) * g, 0.0);
}
