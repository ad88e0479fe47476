// Springs: ||d|/r - 1|, the energy, and the power a2 k |v_i - v_j|^2. A joint, r = 0, strains nothing.
//use render/quantities.wgsl
//use shared/direction.wgsl

@group(0) @binding(0) var<uniform> measure: QuantityParams;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
@group(0) @binding(3) var<storage, read> springs: array<Spring>;
@group(0) @binding(4) var<storage, read> matter: array<vec2<f32>>;
@group(0) @binding(5) var<storage, read_write> rows: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat(workgroup, workgroups, lane);
    if i >= measure.springs {
        return;
    }
    let e = springs[i];
    let d = difference(vertices[e.vertices.x], vertices[e.vertices.y]);
    let extension = polar(d, e.rest_direction).length - e.length;
    let rate = motions[e.vertices.x].velocity - motions[e.vertices.y].velocity;
    let share = 0.5 * matter[e.vertices.x].y;
    let energy = 0.5 * e.stiffness * extension * extension;
    let power = measure.stiffness_damping * e.stiffness * dot(rate, rate);
    rows[measure.spring_rows + i] = vec4(select(abs(extension), 0.0, e.length == 0.0), e.length, share * energy, share * power);
}
