// Tetrahedra: the largest |sigma - 1|, the energy, and the power a2 w |G v|^2.
//use render/quantities.wgsl
//use shared/tet_law.wgsl

@group(0) @binding(0) var<uniform> measure: QuantityParams;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
@group(0) @binding(3) var<storage, read> tets: array<Tet>;
@group(0) @binding(4) var<storage, read> matter: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> rows: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> tet_laws: array<u32>;
@group(0) @binding(7) var<storage, read> curves: array<CurvePiece>;

fn edge(to: u32, origin: u32) -> vec3<f32> {
    return difference(vertices[to], vertices[origin]);
}

fn change(to: u32, origin: u32) -> vec3<f32> {
    return motions[to].velocity - motions[origin].velocity;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat(workgroup, workgroups, lane);
    if i >= measure.tets {
        return;
    }
    let e = tets[i];
    let v = e.vertices;
    let stiffness = matter[v.x].y;
    let f = deformation(e, mat3x3<f32>(edge(v.y, v.x), edge(v.z, v.x), edge(v.w, v.x)));
    let rotation = rotation_of(closest_rotation(f, vec4(1.0, 0.0, 0.0, 0.0)));
    let s = principal_stretches(transpose(rotation) * f).stretches;
    let strain = max(max(abs(s.x - 1.0), abs(s.y - 1.0)), abs(s.z - 1.0));
    let energy = loaded(tet_laws[i], e, f, rotation).energy;
    let rate = deformation(e, mat3x3<f32>(change(v.y, v.x), change(v.z, v.x), change(v.w, v.x)));
    let power = measure.stiffness_damping * (e.shape_weight + e.volume_weight) * norm_squared(rate);
    let volume = 1.0 / max(abs(6.0 * determinant(transposed_inverse_rest(e))), 1e-30);
    rows[i] = vec4(strain * volume, volume, 0.25 * stiffness * energy, 0.25 * stiffness * power);
}
