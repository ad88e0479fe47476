// Adds the damping of an explicit step to its gradient: g += D u, D = a1 M + a2 viscosity L, u = known_velocity v_n +
// known_displacement d.
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> laplacian_starts: array<u32>;
@group(0) @binding(6) var<storage, read> laplacian_entries: array<Entry>;
@group(0) @binding(7) var<storage, read> viscosity: array<f32>;
@group(0) @binding(8) var<storage, read_write> gradient: array<f32>;

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
    let here = motions[i].velocity;
    let way = iterate[i].xyz;
    var force = (step.mass_damping * vertices[i].mass) * (step.known_velocity * here + step.known_displacement * way);
    if step.stiffness_damping != 0.0 {
        // from differences: a translation is not resisted
        var sum = vec3<f32>();
        for (var k = laplacian_starts[i]; k < laplacian_starts[i + 1u]; k++) {
            let entry = laplacian_entries[k];
            sum += entry.value * (step.known_velocity * (motions[entry.index].velocity - here)
                + step.known_displacement * (iterate[entry.index].xyz - way));
        }
        force += (step.stiffness_damping * viscosity[i]) * sum;
    }
    gradient[3u * i] += force.x;
    gradient[3u * i + 1u] += force.y;
    gradient[3u * i + 2u] += force.z;
}
