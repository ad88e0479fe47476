// Surface edges, one pixel wide.
//use render/frame.wgsl
//use shared/layout.wgsl

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;

@vertex
fn vertex(@builtin(vertex_index) k: u32) -> @builtin(position) vec4<f32> {
    let place = vertices[k].position;
    // drawn in front of the surface it lies on
    let nearer = place + (frame.eye - place) * 1.5e-3;
    return frame.clip * vec4(nearer, 1.0);
}

@fragment
fn fragment() -> @location(0) vec4<f32> {
    return output(frame.encode, vec3(0.02, 0.03, 0.05), 0.45);
}
