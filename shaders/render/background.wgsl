// The background: one triangle over the whole picture.
//use render/frame.wgsl

@group(0) @binding(0) var<uniform> frame: Frame;

struct Out {
    @builtin(position) clip: vec4<f32>,
    @location(0) height: f32,
}

@vertex
fn vertex(@builtin(vertex_index) k: u32) -> Out {
    let corner = vec2(f32(k & 1u) * 4.0 - 1.0, f32(k >> 1u) * 4.0 - 1.0);
    return Out(vec4(corner, 1.0, 1.0), corner.y);
}

@fragment
fn fragment(in: Out) -> @location(0) vec4<f32> {
    return output(frame.encode, background(in.height), 1.0);
}
