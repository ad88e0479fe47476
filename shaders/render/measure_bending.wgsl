// Bending stencils: energy, and the power a2 w |G v|^2. They have no strain.
//use render/quantities.wgsl
//use shared/direction.wgsl

@group(0) @binding(0) var<uniform> measure: QuantityParams;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
@group(0) @binding(3) var<storage, read> bendings: array<Bending>;
@group(0) @binding(4) var<storage, read> corners: array<Entry>;
@group(0) @binding(5) var<storage, read> matter: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> rows: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat(workgroup, workgroups, lane);
    if i >= measure.bendings {
        return;
    }
    let e = bendings[i];
    let first = corners[e.first].index;
    var curvature = vec3(0.0);
    var rate = vec3(0.0);
    for (var k = e.first + 1u; k < e.end; k++) {
        let corner = corners[k];
        curvature += corner.value * difference(vertices[corner.index], vertices[first]);
        rate += corner.value * (motions[corner.index].velocity - motions[first].velocity);
    }
    let excess = polar(curvature, e.rest_direction).length - e.rest_curvature;
    let share = matter[first].y / f32(e.end - e.first);
    let energy = 0.5 * e.weight * excess * excess;
    let power = measure.stiffness_damping * e.weight * dot(rate, rate);
    rows[measure.bending_rows + i] = vec4(0.0, 0.0, share * energy, share * power);
}
