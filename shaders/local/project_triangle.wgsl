// Rows w G^T(b (F - P) + viscous (F - F_n)) of a triangle (N). P is the closest F whose stretches are within the limits, or what a law
// makes of F. Each corner also has a third of the energy (J).
//use shared/strain.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> triangles: array<Triangle>;
@group(0) @binding(5) var<storage, read_write> rows: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> curves: array<CurvePiece>;
@group(0) @binding(7) var<storage, read> state: IterationState;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat(workgroup, workgroups, lane);
    if index >= sizes.triangles || state.done != 0u {
        return;
    }
    let triangle = triangles[index];
    let f = deformation(
        edge(triangle.vertices.y, triangle.vertices.x),
        edge(triangle.vertices.z, triangle.vertices.x),
        triangle.inverse_rest,
    );
    let s = stretch(f);
    let response = strained(triangle, s.sigma);
    // F - P = U (sigma - clamp(sigma)) V^T: without a torque however small the excess is, and nothing within the limits
    let beyond = step.projection * response.excess;
    let moved = iterate[triangle.vertices.x].xyz;
    let edge_1 = iterate[triangle.vertices.y].xyz - moved;
    let edge_2 = iterate[triangle.vertices.z].xyz - moved;
    let change = deformation(edge_1, edge_2, triangle.inverse_rest);
    let viscous = step.viscous * step.share;
    let along = s.left[0] * beyond.x;
    let across = s.left[1] * beyond.y;
    let stress_0 = triangle.weight * (viscous * change[0] + along * s.turn.x - across * s.turn.y);
    let stress_1 = triangle.weight * (viscous * change[1] + along * s.turn.y + across * s.turn.x);
    let b = triangle.inverse_rest;
    let row_1 = stress_0 * b.x + stress_1 * b.y;
    let row_2 = stress_0 * b.z + stress_1 * b.w;
    let first = sizes.triangle_rows + 3u * index;
    let part = response.energy / 3.0;
    rows[first] = vec4(-(row_1 + row_2), part);
    rows[first + 1u] = vec4(row_1, part);
    rows[first + 2u] = vec4(row_2, part);
}

// x_e of a minus that of b (m)
fn edge(a: u32, b: u32) -> vec3<f32> {
    return difference(vertices[a], vertices[b]) + step.share * (iterate[a].xyz - iterate[b].xyz);
}
