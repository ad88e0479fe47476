//! How a scene is shown: the quantity behind the colours, and the colours themselves.

/// The quantity shown by a body's colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Colour {
    /// Each body its own colour
    #[default]
    Body,
    /// Largest deviation of a stretch from 1
    Strain,
    /// Elastic energy per volume (J/m³)
    Energy,
    /// Speed (m/s)
    Speed,
    /// Power that the damping model takes, per volume (W/m³)
    Damping,
}

impl Colour {
    /// All of them, in menu order.
    pub const ALL: [Colour; 5] =
        [Colour::Body, Colour::Strain, Colour::Energy, Colour::Speed, Colour::Damping];

    /// Its name, for a legend.
    pub fn name(self) -> &'static str {
        match self {
            Colour::Body => "body",
            Colour::Strain => "strain",
            Colour::Energy => "energy density",
            Colour::Speed => "speed",
            Colour::Damping => "damping power",
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Colour::Body => "",
            Colour::Strain => "1",
            Colour::Energy => "J/m³",
            Colour::Speed => "m/s",
            Colour::Damping => "W/m³",
        }
    }
}

/// The upper end of an automatic colour map: the largest value rounded up to 1, 2 or 5 times a power of ten, as in
/// `shaders/render/measure_range.wgsl`.
pub fn rounded_up(largest: f32) -> f32 {
    if largest < 1e-30 {
        return 1.0; // nothing to show
    }
    let power = 10f32.powf((largest.log10() + 1e-5).floor());
    let digits = largest / power;
    // tolerate values that rounding put slightly above 1, 2 or 5
    let ends = [(1.0001, 1.0), (2.0002, 2.0), (5.0005, 5.0)];
    power * ends.into_iter().find(|(most, _)| digits <= *most).map_or(10.0, |(_, end)| end)
}

/// Display options of a pane.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    pub colour: Colour,
    /// Ends of the colour map; `None`: from zero to the largest value so far, rounded up.
    pub range: Option<[f32; 2]>,
    /// Show the edges of the simulated meshes, instead of skins.
    pub wireframe: bool,
    /// Show bodies by their skins where available; otherwise by their simulated surface.
    pub skin: bool,
    /// The ground and its grid.
    pub ground: bool,
    pub attachments: bool,
    /// Show markers: contacts and grabs.
    pub markers: bool,
}

impl Look {
    pub fn shows_skins(&self) -> bool {
        self.skin && !self.wireframe
    }
}

impl Default for Look {
    fn default() -> Self {
        Look {
            colour: Colour::Body,
            range: None,
            wireframe: false,
            skin: true,
            ground: true,
            attachments: true,
            markers: true,
        }
    }
}

/// Body colours (sRGB) of similar lightness, repeated cyclically.
pub const MAP: [[f32; 3]; 6] = [
    [0.25, 0.045, -0.11],
    [0.38, 0.000, -0.125],
    [0.51, -0.055, -0.065],
    [0.64, -0.100, 0.030],
    [0.77, -0.090, 0.120],
    [0.93, -0.020, 0.175],
];

/// The colour map at `s` from 0 to 1, linear light.
pub fn map_linear(s: f32) -> [f32; 3] {
    let at = s.clamp(0.0, 1.0) * (MAP.len() - 1) as f32;
    let first = (at as usize).min(MAP.len() - 2);
    let share = at - first as f32;
    let [l, a, b]: [f32; 3] =
        std::array::from_fn(|k| MAP[first][k] + (MAP[first + 1][k] - MAP[first][k]) * share);
    let cube = |x: f32| x * x * x;
    let long = cube(l + 0.396_337_78 * a + 0.215_803_76 * b);
    let middle = cube(l - 0.105_561_346 * a - 0.063_854_17 * b);
    let short = cube(l - 0.089_484_18 * a - 1.291_485_5 * b);
    [
        4.076_741_7 * long - 3.307_711_6 * middle + 0.230_969_94 * short,
        -1.268_438 * long + 2.609_757_4 * middle - 0.341_319_38 * short,
        -0.004_196_086_3 * long - 0.703_418_6 * middle + 1.707_614_7 * short,
    ]
    .map(|c| c.clamp(0.0, 1.0))
}

/// The colour map at `s` from 0 to 1 (sRGB).
pub fn map(s: f32) -> [u8; 3] {
    map_linear(s).map(|c| (255.0 * to_srgb(c)).round() as u8)
}

/// The sRGB value of linear light, both 0 to 1.
pub fn to_srgb(linear: f32) -> f32 {
    if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::to_linear;

    /// Lightness L* of CIE from linear light.
    fn lightness([r, g, b]: [f32; 3]) -> f32 {
        let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        116.0 * y.cbrt() - 16.0
    }

    #[test]
    fn equal_steps_of_the_map_are_equal_steps_of_lightness() {
        let steps: Vec<f32> = (0..=20).map(|k| lightness(map_linear(k as f32 / 20.0))).collect();
        let rises: Vec<f32> = steps.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = (steps[20] - steps[0]) / 20.0;
        assert!(mean > 3.0, "from dark to light: {steps:?}");
        // Oklab's lightness and that of CIE differ by colour, up to some ten percent of a step
        assert!(rises.iter().all(|rise| (rise / mean - 1.0).abs() < 0.35), "{rises:?}");
    }

    #[test]
    fn the_end_of_a_map_is_a_round_number() {
        for (largest, end) in [
            (0.0, 1.0),
            (0.9, 1.0),
            (1.0, 1.0),
            (1.2, 2.0),
            (2.1, 5.0),
            (5.1, 10.0),
            (0.03, 0.05),
            (730.0, 1e3),
        ] {
            assert!((rounded_up(largest) / end - 1.0).abs() < 1e-5, "{largest}: {}", rounded_up(largest));
        }
    }

    #[test]
    fn srgb_there_and_back() {
        for k in 0..=255u8 {
            let value = f32::from(k) / 255.0;
            assert_eq!((255.0 * to_srgb(to_linear(value))).round() as u8, k);
        }
    }
}
