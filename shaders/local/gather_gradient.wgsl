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
@group(0) @binding(7) var<storage, read> rows: array<f32>;
@group(0) @binding(8) var<storage, read_write> gradient: array<f32>;
@group(0) @binding(9) var<storage, read_write> energies: array<f32>;

// A row (N) and the corner's part of the energy (J). Rows are numbered: four a tetrahedron, then the others'.
fn row(number: u32) -> vec4<f32> {
    let of_tets = 4u * sizes.tets;
    if number < of_tets {
        return tet_row(TET_NUMBERS * (number / 4u), number % 4u);
    }
    let first = 4u * (sizes.triangle_rows + number - of_tets);
    return vec4<f32>(vector(first), rows[first + 3u]);
}

// Corner 0 has minus the sum of the others.
fn tet_row(first: u32, corner: u32) -> vec4<f32> {
    let part = 0.25 * rows[first + 9u];
    if corner == 0u {
        return vec4<f32>(-(vector(first) + vector(first + 3u) + vector(first + 6u)), part);
    }
    return vec4<f32>(vector(first + 3u * (corner - 1u)), part);
}

fn vector(first: u32) -> vec3<f32> {
    return vec3<f32>(rows[first], rows[first + 1u], rows[first + 2u]);
}

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
        gathered += row(own[k]);
    }
    let sum = gathered.xyz + (step.inertia * vertices[i].mass) * (iterate[i].xyz - inertial_target[i].xyz);
    gradient[3u * i] = sum.x;
    gradient[3u * i + 1u] = sum.y;
    gradient[3u * i + 2u] = sum.z;
    energies[i] = gathered.w;
}
