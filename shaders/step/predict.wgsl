// The inertial target and the first guess, as displacements from x_n:
//   d = y - x_n,  target = d - dissipation (a1 v'(y) + a2/m viscosity L(known part of v'))
//use shared/vertex.wgsl
//use shared/free_velocity.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> laplacian_starts: array<u32>;
@group(0) @binding(5) var<storage, read> laplacian_entries: array<Entry>;
@group(0) @binding(6) var<storage, read_write> iterate: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> inertial_target: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> target_offset: array<vec4<f32>>;
@group(0) @binding(9) var<storage, read> viscosity: array<f32>;

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
    let m = motions[i];
    let d = step.target_displacement * m.last_displacement + step.target_velocity * m.velocity
        + step.target_velocity_before * m.velocity_before + step.target_acceleration * step.gravity;
    var force = vec3<f32>();
    if step.mass_damping != 0.0 {
        force += step.mass_damping * free_velocity(m);
    }
    if step.stiffness_damping != 0.0 {
        force += (step.stiffness_damping * viscosity[i] / vertices[i].mass) * known(i);
    }
    iterate[i] = vec4(d, 0.0);
    target_offset[i] = vec4<f32>();
    inertial_target[i] = vec4(d - step.dissipation * force, 0.0);
}

// Row i of L(known_displacement last_displacement + known_velocity v), from differences.
fn known(i: u32) -> vec3<f32> {
    let here = motions[i];
    var sum = vec3<f32>();
    for (var k = laplacian_starts[i]; k < laplacian_starts[i + 1u]; k++) {
        let entry = laplacian_entries[k];
        let there = motions[entry.index];
        sum += entry.value * (step.known_displacement * (there.last_displacement - here.last_displacement)
            + step.known_velocity * (there.velocity - here.velocity));
    }
    return sum;
}
