// The iterate becomes the new position, v' = v'(y) + slope (x - y) its velocity.
//use shared/vertex.wgsl
//use shared/free_velocity.wgsl
//use shared/place.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read_write> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read_write> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> target_offset: array<vec4<f32>>;

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
    let d = iterate[i].xyz;
    let m = motions[i];
    let v = free_velocity(m) + step.slope * target_offset[i].xyz;
    motions[i] = Motion(v, 0.0, m.velocity, 0.0, d, 0.0);
    vertices[i] = moved_by(vertices[i], d);
}
