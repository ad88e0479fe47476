// Normals of skins: rest normals mapped by the interpolated cof F. The skin itself has kinks where it crosses from one
// tetrahedron to the next; these normals do not, so the shading is smooth.
//use render/embedded_vertex.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> embedded_vertices: array<EmbeddedVertex>;
@group(0) @binding(1) var<storage, read> corners: array<vec2<u32>>; // vertex, body
@group(0) @binding(2) var<storage, read> rest: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> cofactors: array<Cofactor>;
@group(0) @binding(4) var<storage, read_write> normals: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat(workgroup, workgroups, lane);
    if i >= arrayLength(&corners) {
        return;
    }
    let embedded = embedded_vertices[corners[i].x];
    let normal = rest[i].xyz;
    var sum = vec3(0.0);
    for (var k = 0u; k < 4u; k++) {
        let turn = cofactors[embedded.vertices[k]];
        // no extrapolation: extrapolated normals could point anywhere
        let turned = turn.x.xyz * normal.x + turn.y.xyz * normal.y + turn.z.xyz * normal.z;
        sum += max(embedded.weights[k], 0.0) * turned;
    }
    let scale = max(max(abs(sum.x), abs(sum.y)), max(abs(sum.z), 1e-37));
    normals[i] = vec4(normalize(sum / scale + vec3(0.0, 1e-12, 0.0)), 0.0);
}
