// g = inertia m (d - target) + the elements' gradients at this vertex, in ascending order of their rows.
// Also gathers the elements' energies, each vertex its share (J).
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> inertial_target: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> starts: array<u32>;
@group(0) @binding(6) var<storage, read> own: array<u32>;
@group(0) @binding(7) var<storage, read> rows: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> gradient: array<f32>;
@group(0) @binding(9) var<storage, read_write> energies: array<f32>;

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
    var gathered = vec4<f32>();
    for (var k = starts[i]; k < starts[i + 1u]; k++) {
        gathered += rows[own[k]];
    }
    let sum = gathered.xyz + (step.inertia * vertices[i].mass) * (iterate[i].xyz - inertial_target[i].xyz);
    gradient[3u * i] = sum.x;
    gradient[3u * i + 1u] = sum.y;
    gradient[3u * i + 2u] = sum.z;
    energies[i] = gathered.w;
}
