// Surfaces of solids and cloth. A drawn vertex is a vertex on one side of a crease.
//use render/frame.wgsl
//use render/lighting.wgsl
//use render/vertex_colour.wgsl
//use shared/layout.wgsl

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> corners: array<vec2<u32>>; // vertex, body
@group(0) @binding(3) var<storage, read> normals: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> range: array<f32>;

struct Out {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) value: f32,
    @location(3) @interpolate(flat) body: u32,
}

@vertex
fn vertex(@builtin(vertex_index) k: u32) -> Out {
    let corner = corners[k];
    let place = vertices[corner.x].position;
    return Out(frame.clip * vec4(place, 1.0), place, normals[k].xyz, value_at(corner.x), corner.y);
}

@fragment
fn fragment(in: Out, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    // towards the eye: cloth has two sides
    let towards = frame.eye - in.place;
    let straight = normalize(in.normal + vec3(0.0, 1e-12, 0.0));
    let normal = select(-straight, straight, front);
    let bent = normal + normalize(towards) * max(-dot(normal, normalize(towards)), 0.0);
    let side = select(0.88, 1.0, front);
    return output(frame.encode, shaded(in.place, normalize(bent), colour_of(in.value, in.body) * side, 0.22), 1.0);
}

@vertex
fn shadow(@builtin(vertex_index) k: u32) -> @builtin(position) vec4<f32> {
    return frame.light_clip * vec4(vertices[corners[k].x].position, 1.0);
}
