// Normals of drawn vertices: area-weighted over the triangles on the vertex's side of its creases, in ascending order.
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(1) var<storage, read> triangles: array<array<u32, 3>>;
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read> own: array<u32>;
@group(0) @binding(4) var<storage, read_write> normals: array<vec4<f32>>;

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
    var sum = vec3(0.0);
    for (var k = starts[i]; k < starts[i + 1u]; k++) {
        let t = triangles[own[k]];
        let a = vertices[t[0]];
        sum += cross(difference(vertices[t[1]], a), difference(vertices[t[2]], a));
    }
    // also for micrometre-sized triangles
    let scale = max(max(abs(sum.x), abs(sum.y)), max(abs(sum.z), 1e-37));
    normals[i] = vec4(normalize(sum / scale + vec3(0.0, 1e-12, 0.0)), 0.0);
}
