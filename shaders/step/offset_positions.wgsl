// Moves every vertex by what stands in the iterate (m).
//use shared/vertex.wgsl
//use shared/place.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> vertices: array<Vertex>;

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
    vertices[i] = moved_by(vertices[i], iterate[i].xyz);
}
