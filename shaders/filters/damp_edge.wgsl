// The impulse that an edge gives to its first end, and its size (kg m/s): mu times the difference of its ends'
// changes, projected on the edge if requested. mu is the reduced mass, or that of masses shared among all edges of an
// end.
//use shared/direction.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> changes: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> edges: array<Edge>;
@group(0) @binding(5) var<storage, read_write> rows: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat(workgroup, workgroups, lane);
    if number >= sizes.edges {
        return;
    }
    let edge = edges[number];
    let a = vertices[edge.first];
    let b = vertices[edge.second];
    var p = changes[edge.first].xyz - changes[edge.second].xyz;
    if (step.filter_mode & PROJECTED) != 0u {
        let n = polar(difference(a, b), vec3(0.0)).direction;
        p = n * dot(p, n);
    }
    let scaled = (step.filter_mode & SCALED) != 0u;
    p *= select(edge.share, a.mass * (b.mass / (a.mass + b.mass)), scaled);
    rows[number] = vec4(p, polar(p, vec3(0.0)).length);
}
