//! The colours of bodies.

/// Colours of bodies (sRGB), of much the same lightness; bodies beyond the last begin again.
pub const PALETTE: [[u8; 3]; 8] = [
    [232, 132, 74],
    [74, 144, 196],
    [122, 178, 92],
    [198, 98, 122],
    [226, 184, 84],
    [128, 116, 190],
    [84, 176, 168],
    [172, 128, 100],
];

/// The colour of a body (sRGB).
pub fn body_colour(body: usize) -> [u8; 3] {
    PALETTE[body % PALETTE.len()]
}

/// The linear light of an sRGB value.
pub fn to_linear(srgb: f32) -> f32 {
    if srgb <= 0.040_45 { srgb / 12.92 } else { ((srgb + 0.055) / 1.055).powf(2.4) }
}
