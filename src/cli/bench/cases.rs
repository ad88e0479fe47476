//! The cases: which scenes, and how large.

use super::Suite;
use crate::scene::LoadedScene;
use crate::{Result, setup};

/// A row of the Laplacian paper's Table 1 and the scene of ours that stands for it.
pub struct PaperCase {
    /// What the paper calls it.
    pub name: &'static str,
    pub vertices: usize,
    pub elements: usize,
    /// The paper's time of a frame without and with damping (ms).
    pub paper_ms: [f64; 2],
    /// The built-in scene.
    pub ours: &'static str,
}

const fn case(
    name: &'static str,
    [vertices, elements]: [usize; 2],
    paper_ms: [f64; 2],
    ours: &'static str,
) -> PaperCase {
    PaperCase { name, vertices, elements, paper_ms, ours }
}

/// Laplacian paper, Table 1. The Constrained paper's has a table of its own: [`super::conserving`].
pub const PAPER_CASES: &[PaperCase] = &[
    case("ribbon", [549, 728], [10.0, 10.0], "ribbon"),
    case("bar", [738, 1920], [40.0, 43.0], "sheet"),
    case("penguin", [1979, 6915], [151.0, 151.0], "penguin"),
    case("dummy", [4492, 16890], [670.0, 674.0], "dummy"),
    case("pig", [5122, 16505], [477.0, 486.0], "pig"),
    case("hair", [1900, 600], [42.0, 43.0], "hair"),
];

impl PaperCase {
    /// Our scene with the paper's ten iterations and Laplacian damping, one step a frame, and what is overridden on top.
    pub fn load(&self, overrides: &[&str]) -> Result<LoadedScene> {
        let fixed = ["time.iterations=10", "time.tolerance=0", "time.substeps=1", "damping.model=laplacian"];
        let overrides: Vec<String> = fixed.iter().chain(overrides).map(|s| s.to_string()).collect();
        setup::load(self.ours, &overrides)
    }
}

/// The bar that speed is measured on: ARAP, cubes of 2.5 cm, held at one end, ten iterations of a frame of 1/30 s.
pub fn bar(cells: [usize; 3], overrides: &[&str]) -> Result<LoadedScene> {
    let size = cells.map(|n| 0.025 * n as f64);
    let text = format!(
        r#"
        time = {{ step = 0.0333333333, iterations = 10 }}
        integrator = {{ kind = "implicit-midpoint" }}
        damping = {{ model = "laplacian", stiffness = 1e-3 }}
        [[body]]
        name = "bar"
        mesh = {{ generate = "box", cells = {cells:?}, size = {size:?} }}
        material = {{ model = "arap", mu = 200000.0, density = 1000.0 }}
        [[body.attach]]
        select = {{ min = [-0.001, -1e3, -1e3], max = [0.001, 1e3, 1e3] }}
        "#
    );
    let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
    setup::load_text("bar", &text, &overrides)
}

/// Bars from 1k to 1M tetrahedra; M, L and XL are the sizes that other programs were measured at.
pub const SCALE_CASES: &[(&str, [usize; 3])] = &[
    ("1k", [11, 4, 4]),
    ("4k", [26, 5, 5]),
    ("12k", [56, 6, 6]),
    ("M", [62, 8, 8]),
    ("68k", [79, 12, 12]),
    ("L", [120, 16, 16]),
    ("450k", [130, 24, 24]),
    ("XL", [184, 32, 32]),
];

/// The bars that the adapter's figures are compared with, by size.
pub const ROOFLINE_CASES: &[(BarSize, [usize; 3])] = &[
    (BarSize::S, [30, 4, 4]),
    (BarSize::M, [62, 8, 8]),
    (BarSize::L, [120, 16, 16]),
    (BarSize::XL, [184, 32, 32]),
];

/// A size of the bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[value(rename_all = "verbatim")]
pub enum BarSize {
    /// 775 vertices
    S,
    /// 5,103 vertices
    M,
    /// 34,969 vertices
    L,
    /// 201,465 vertices
    XL,
}

impl BarSize {
    pub fn name(self) -> &'static str {
        match self {
            BarSize::S => "S",
            BarSize::M => "M",
            BarSize::L => "L",
            BarSize::XL => "XL",
        }
    }
}

/// Tetrahedra of a box.
pub fn tets(cells: &[usize; 3]) -> usize {
    6 * cells.iter().product::<usize>()
}

/// Frames of a case of this many tetrahedra: large ones are long enough to need fewer.
pub fn frames_of(tets: usize, frames: usize) -> usize {
    frames.min((20_000_000 / tets).max(5))
}

/// Elements of the smallest case of a suite.
pub fn least_elements(suite: Suite) -> usize {
    let least = match suite {
        Suite::Papers => PAPER_CASES.iter().map(|case| case.elements).min(),
        Suite::Scale => SCALE_CASES.iter().map(|(_, cells)| tets(cells)).min(),
        Suite::Kernels => kernel_cases(usize::MAX).map(|(_, cells)| tets(cells)).min(),
        Suite::Damping | Suite::Solvers | Suite::Examples | Suite::Roofline => None,
    };
    least.unwrap_or(0)
}

/// The two sizes that single kernels are measured at.
pub fn kernel_cases(largest: usize) -> impl Iterator<Item = &'static (&'static str, [usize; 3])> {
    SCALE_CASES.iter().filter(move |(name, cells)| ["M", "L"].contains(name) && tets(cells) <= largest)
}

/// All kinds of elements that the bar has not, in about its number, volume and PBD damping included.
pub fn mixed(cells: [usize; 3]) -> Result<LoadedScene> {
    let box_cells = [cells[0] / 2, cells[1], cells[2]];
    let size = box_cells.map(|n| 0.025 * n as f64);
    // half as many tetrahedra as the bar, as many triangles and about as many springs as that
    let side = ((tets(&box_cells) / 2) as f64).sqrt() as usize;
    let cloth = ((tets(&box_cells) / 6) as f64).sqrt() as usize;
    let text = format!(
        r#"
        time = {{ step = 0.0333333333, iterations = 1 }}
        damping = {{ model = "pbd", coefficient = 0.1 }}
        [[body]]
        name = "box"
        mesh = {{ generate = "box", cells = {box_cells:?}, size = {size:?} }}
        material = {{ model = "corotated", young_modulus = 2e5, poisson_ratio = 0.3, density = 1000.0 }}
        [[body]]
        name = "sheet"
        mesh = {{ generate = "ribbon", cells = [{side}, {side}], size = [1.0, 1.0] }}
        material = {{ model = "arap", mu = 2.5e5, mass = 0.2, thickness = 2e-4, bending = 5e-6 }}
        [[body.attach]]
        select = {{ min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }}
        [[body]]
        name = "cloth"
        mesh = {{ generate = "cloth", cells = [{cloth}, {cloth}], size = [1.0, 1.0] }}
        material = {{ model = "spring", stiffness = 200.0, shear_stiffness = 100.0, bending_stiffness = 1.0, mass = 0.2 }}
        "#
    );
    setup::load_text("mixed", &text, &[])
}
