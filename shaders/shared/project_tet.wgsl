// Shared parts of the tetrahedra's projections: bindings, F at x_e, and the rows they write.
//use shared/rotation.wgsl
//use shared/tet.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> tets: array<Tet>;
@group(0) @binding(5) var<storage, read_write> rotations: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> rows: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read> state: IterationState;

// An edge at x_e (m)
fn edge(to: u32, origin: u32) -> vec3<f32> {
    let displaced = iterate[to].xyz - iterate[origin].xyz;
    return difference(vertices[to], vertices[origin]) + step.share * displaced;
}

fn deformation_at_iterate(e: Tet) -> mat3x3<f32> {
    let v = e.vertices;
    return deformation(e, mat3x3<f32>(edge(v.y, v.x), edge(v.z, v.x), edge(v.w, v.x)));
}

// F - F_n, by which F changes from x_n to x_e
fn change_of_deformation(e: Tet) -> mat3x3<f32> {
    let v = e.vertices;
    let moved = iterate[v.x].xyz;
    let edges = mat3x3<f32>(iterate[v.y].xyz - moved, iterate[v.z].xyz - moved, iterate[v.w].xyz - moved);
    return step.share * deformation(e, edges);
}

// R of element `index`, remembered
fn rotation_from_last(index: u32, f: mat3x3<f32>) -> mat3x3<f32> {
    let q = closest_rotation(f, rotations[index]);
    rotations[index] = q;
    return rotation_of(q);
}

// G^T stress: stress Dm^-T for corners 1 to 3 (N). Corner 0 gets minus their sum, so that the element exerts no net
// force. Each corner also gets a quarter of the energy (J).
fn write_rows(index: u32, e: Tet, stress: mat3x3<f32>, energy: f32) {
    let forces = stress * transposed_inverse_rest(e);
    let part = 0.25 * energy;
    rows[4u * index] = vec4<f32>(-(forces[0] + forces[1] + forces[2]), part);
    rows[4u * index + 1u] = vec4<f32>(forces[0], part);
    rows[4u * index + 2u] = vec4<f32>(forces[1], part);
    rows[4u * index + 3u] = vec4<f32>(forces[2], part);
}
