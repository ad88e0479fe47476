// cof F at the vertices of bodies with a skin: the volume-weighted mean over a vertex's tetrahedra, in ascending
// order. With the edges E_j of a tetrahedron at rest and e_j now, 6 V cof F is the sum of (e_{j+1} x e_{j+2}) E_j^T.
//use render/embedded_vertex.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(1) var<storage, read> rest: array<vec4<f32>>; // m
@group(0) @binding(2) var<storage, read> tets: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> starts: array<u32>;
@group(0) @binding(4) var<storage, read> own: array<u32>;
@group(0) @binding(5) var<storage, read_write> cofactors: array<Cofactor>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat(workgroup, workgroups, lane);
    if i + 1u >= arrayLength(&starts) {
        return;
    }
    var x = vec3(0.0);
    var y = vec3(0.0);
    var z = vec3(0.0);
    var volume = 0.0;
    for (var k = starts[i]; k < starts[i + 1u]; k++) {
        let v = tets[own[k]];
        let origin = vertices[v.x];
        let e0 = difference(vertices[v.y], origin);
        let e1 = difference(vertices[v.z], origin);
        let e2 = difference(vertices[v.w], origin);
        let r0 = rest[v.y].xyz - rest[v.x].xyz;
        let r1 = rest[v.z].xyz - rest[v.x].xyz;
        let r2 = rest[v.w].xyz - rest[v.x].xyz;
        let a0 = cross(e1, e2);
        let a1 = cross(e2, e0);
        let a2 = cross(e0, e1);
        x += a0 * r0.x + a1 * r1.x + a2 * r2.x;
        y += a0 * r0.y + a1 * r1.y + a2 * r2.y;
        z += a0 * r0.z + a1 * r1.z + a2 * r2.z;
        volume += dot(cross(r0, r1), r2);
    }
    let share = 1.0 / max(volume, 1e-37);
    cofactors[i] = Cofactor(vec4(x * share, 0.0), vec4(y * share, 0.0), vec4(z * share, 0.0));
}
