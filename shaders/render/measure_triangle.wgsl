// Triangles: the larger |sigma - 1|, the energy, and the power a2 w |G v|^2.
//use render/quantities.wgsl
//use shared/strain.wgsl

@group(0) @binding(0) var<uniform> measure: QuantityParams;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
@group(0) @binding(3) var<storage, read> triangles: array<Triangle>;
@group(0) @binding(4) var<storage, read> matter: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> rows: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> curves: array<CurvePiece>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat(workgroup, workgroups, lane);
    if i >= measure.triangles {
        return;
    }
    let e = triangles[i];
    let v = e.vertices;
    let here = vertices[v.x];
    let sigma = stretch(deformation(difference(vertices[v.y], here), difference(vertices[v.z], here), e.inverse_rest)).sigma;
    let strain = max(abs(sigma.x - 1.0), abs(sigma.y - 1.0));
    let moving = motions[v.x].velocity;
    let rate = deformation(motions[v.y].velocity - moving, motions[v.z].velocity - moving, e.inverse_rest);
    let power = measure.stiffness_damping * e.weight * (dot(rate[0], rate[0]) + dot(rate[1], rate[1]));
    let energy = strained(e, sigma).energy;
    let b = e.inverse_rest;
    let area = 0.5 / max(abs(b.x * b.w - b.y * b.z), 1e-30);
    let share = matter[v.x].y / 3.0;
    rows[measure.triangle_rows + i] = vec4(strain * area, area, share * energy, share * power);
}
