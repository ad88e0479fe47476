// Stores the start force of the next step, as -f, in place of this step's start force g:
//   f' = m (x - y)/(c1 h^2),   x - y = target_offset - pushed - kick/slope with pushed and kick of `add_start_force`
// projection is c1 c2, and c2 = 1 in all steps that store it.
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> target_offset: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> start_gradient: array<f32>;

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
    let mass = vertices[i].mass;
    let g = vec3(start_gradient[3u * i], start_gradient[3u * i + 1u], start_gradient[3u * i + 2u]);
    let moved = target_offset[i].xyz + ((step.target_force + step.velocity_force / step.slope) / mass) * g;
    let next = -(mass / (step.projection * step.h * step.h)) * moved;
    start_gradient[3u * i] = next.x;
    start_gradient[3u * i + 1u] = next.y;
    start_gradient[3u * i + 2u] = next.z;
}
