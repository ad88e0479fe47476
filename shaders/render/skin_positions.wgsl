// Positions of skin vertices, interpolated in their tetrahedra, and their colour values.
//use render/embedded_vertex.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(1) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> embedded_vertices: array<EmbeddedVertex>;
@group(0) @binding(3) var<storage, read_write> places: array<Vertex>;
@group(0) @binding(4) var<storage, read_write> carried: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat(workgroup, workgroups, lane);
    if i >= arrayLength(&embedded_vertices) {
        return;
    }
    let v = embedded_vertices[i].vertices;
    let w = embedded_vertices[i].weights;
    // relative to one corner: a rigid motion stays rigid, although rounded weights do not exactly sum to one
    let origin = vertices[v.x];
    let offset = w.y * difference(vertices[v.y], origin) + w.z * difference(vertices[v.z], origin)
        + w.w * difference(vertices[v.w], origin);
    let place = rounded(origin.position + offset, origin.mass);
    let moved = rounded(place - origin.position, origin.mass);
    places[i] = Vertex(place, 0.0, origin.low + (offset - moved), 0.0);
    let a = values[v.x];
    let b = values[v.y];
    let c = values[v.z];
    let d = values[v.w];
    // no extrapolation beyond the corners' values
    carried[i] = clamp(w.x * a + w.y * b + w.z * c + w.w * d, min(min(a, b), min(c, d)), max(max(a, b), max(c, d)));
}
