// Rows c_k w (b (|K| - K_0) K/|K| + viscous (K - K_n)) of a bending stencil (N), K = sum of c_k x_k its curvature at x_e (1/m).
// Each corner also has an equal part of the energy (J).
//use shared/direction.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> bendings: array<Bending>;
@group(0) @binding(5) var<storage, read> corners: array<Entry>;
@group(0) @binding(6) var<storage, read_write> rows: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read> state: IterationState;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat(workgroup, workgroups, lane);
    if index >= sizes.bendings || state.done != 0u {
        return;
    }
    let bending = bendings[index];
    let centre = corners[bending.first].index;
    let centre_moved = iterate[centre].xyz;
    var curvature = vec3(0.0);
    var change = vec3(0.0);
    for (var k = bending.first + 1u; k < bending.end; k++) {
        let corner = corners[k];
        let moved = step.share * (iterate[corner.index].xyz - centre_moved);
        curvature += corner.value * (difference(vertices[corner.index], vertices[centre]) + moved);
        change += corner.value * moved;
    }
    let bend = polar(curvature, bending.rest_direction);
    let excess = bend.length - bending.rest_curvature;
    let stress = bending.weight * (step.projection * excess * bend.direction + step.viscous * change);
    let part = 0.5 * bending.weight * excess * excess / f32(bending.end - bending.first);
    // the centre balances the others: the coefficients sum to zero only up to rounding
    var others = vec3(0.0);
    for (var k = bending.first + 1u; k < bending.end; k++) {
        let row = corners[k].value * stress;
        others += row;
        rows[sizes.bending_rows + k] = vec4(row, part);
    }
    rows[sizes.bending_rows + bending.first] = vec4(-others, part);
}
