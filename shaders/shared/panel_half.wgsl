// Panels in half precision, for a kernel that declares stage: first an item for each task, its scales, then quads.

@group(0) @binding(2) var<storage, read> panels: array<vec2<u32>>;

// Four numbers of a row.
fn panel_quad(at: u32) -> vec4<f32> {
    let packed = panels[stage.tasks + at];
    return vec4(halves(packed.x), halves(packed.y));
}

// What products of a task with D^-1 (x) and with U (y) are multiplied with: their numbers have been scaled into the range of f16.
fn panel_scale(task: u32) -> vec2<f32> {
    return bitcast<vec2<f32>>(panels[task]);
}

// The two f16 of a word. Exponents of f32 are 112 more; a panel has no subnormal numbers, which a device may take for zeros. This is
// unpack2x16float, which not every Direct3D adapter has.
fn halves(word: u32) -> vec2<f32> {
    let bits = vec2(word << 16u, word);
    let sign = bits & vec2(0x80000000u);
    return 0x1p112f * bitcast<vec2<f32>>(sign | ((bits >> vec2(3u)) & vec2(0x0fffe000u)));
}
