// Quantities of a vertex: strain, energy density (J/m^3), speed (m/s), damping power density (W/m^3), from the rows of
// its elements in ascending order.
//use render/quantities.wgsl
//use shared/rigid.wgsl

@group(0) @binding(0) var<uniform> measure: QuantityParams;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
@group(0) @binding(3) var<storage, read> own: array<u32>; // where each vertex' rows begin, then the rows
@group(0) @binding(4) var<storage, read> rows: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> matter: array<vec2<f32>>; // volume (m^3), stiffness of the body
@group(0) @binding(6) var<storage, read> owners: array<u32>;
@group(0) @binding(7) var<storage, read> rigids: array<Rigid>;
@group(0) @binding(8) var<storage, read_write> values: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat(workgroup, workgroups, lane);
    if i >= measure.vertices {
        return;
    }
    var sum = vec4(0.0);
    for (var k = own[i]; k < own[i + 1u]; k++) {
        sum += rows[own[measure.vertices + 1u + k]];
    }
    let v = motions[i].velocity;
    let mass = vertices[i].mass;
    var power = sum.w + measure.mass_damping * mass * dot(v, v);
    if measure.filter_kind == 1u {
        power += measure.filter_rate * mass * dot(v, v);
    } else if measure.filter_kind == 2u {
        let rigid = rigids[owners[i]];
        let u = beyond_rigid(rigid, arm(rigid, vertices[i]), v);
        power += measure.filter_rate * mass * dot(u, u);
    } else if measure.filter_kind >= 3u {
        // power of the change, relative to a motion that it does not affect: a body's flight has no power
        let change = vec3(motions[i].filtered_x, motions[i].filtered_y, motions[i].filtered_z);
        let rigid = rigids[owners[i]];
        var u = (v - rigid.base) - rigid.drift;
        if measure.filter_kind == 3u {
            u -= cross(rigid.spin, arm(rigid, vertices[i]));
        }
        power -= measure.filter_rate * mass * dot(change, u - 0.5 * change);
    }
    let volume = max(matter[i].x, 1e-30);
    values[i] = vec4(sum.x / max(sum.y, 1e-30), sum.z / volume, length(v), power / volume);
}
