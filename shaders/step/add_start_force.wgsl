// An implicit step adds its share of the start force -g, after `predict`:
//   pushed = -target_force g/m,  kick = -velocity_force g/m,  v'(x) = v'(y) + slope (x - y) + kick
// First guess and target are displaced by pushed; pushed and kick count as target_offset, like the effect of a solve; damping
// includes both.
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> start_gradient: array<f32>;
@group(0) @binding(4) var<storage, read> laplacian_starts: array<u32>;
@group(0) @binding(5) var<storage, read> laplacian_entries: array<Entry>;
@group(0) @binding(6) var<storage, read> viscosity: array<f32>;
@group(0) @binding(7) var<storage, read_write> iterate: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> inertial_target: array<vec4<f32>>;
@group(0) @binding(9) var<storage, read_write> target_offset: array<vec4<f32>>;

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
    let here = acceleration(i);
    let pushed = step.target_force * here;
    let kick = step.velocity_force * here;
    var force = vec3<f32>();
    if step.mass_damping != 0.0 {
        force += step.mass_damping * (step.slope * pushed + kick);
    }
    if step.stiffness_damping != 0.0 && step.velocity_force != 0.0 {
        // from differences: a translation is not resisted
        var sum = vec3<f32>();
        for (var k = laplacian_starts[i]; k < laplacian_starts[i + 1u]; k++) {
            let entry = laplacian_entries[k];
            sum += entry.value * (acceleration(entry.index) - here);
        }
        force += (step.velocity_force * step.stiffness_damping * viscosity[i] / vertices[i].mass) * sum;
    }
    iterate[i] = vec4(iterate[i].xyz + pushed, 0.0);
    inertial_target[i] = vec4(inertial_target[i].xyz + (pushed - step.dissipation * force), 0.0);
    target_offset[i] = vec4(pushed + kick / step.slope, 0.0);
}

fn acceleration(i: u32) -> vec3<f32> {
    return -vec3(start_gradient[3u * i], start_gradient[3u * i + 1u], start_gradient[3u * i + 2u]) / vertices[i].mass;
}
