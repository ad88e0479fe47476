// Panels in single precision.

@group(0) @binding(2) var<storage, read> panels: array<vec4<f32>>;

// Four numbers of a row.
fn panel_quad(at: u32) -> vec4<f32> {
    return panels[at];
}

// What products of a task with D^-1 (x) and with U (y) are multiplied with.
fn panel_scale(task: u32) -> vec2<f32> {
    return vec2(1.0);
}
