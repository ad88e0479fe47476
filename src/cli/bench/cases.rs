//! The cases: which scenes, and how large.

use self::Ours::{Bar, Builtin};
use super::Suite;
use crate::scene::LoadedScene;
use crate::{Result, setup};

/// A case of the papers' tables and the scene of ours that stands for it.
pub struct PaperCase {
    pub paper: &'static str,
    /// What the paper calls it.
    pub name: &'static str,
    pub vertices: usize,
    pub elements: usize,
    /// A built-in scene, or a bar of this many cells where the papers have a character.
    pub ours: Ours,
}

pub enum Ours {
    Builtin(&'static str),
    /// A bar of this many cells.
    Bar([usize; 3]),
}

const fn case(
    paper: &'static str,
    name: &'static str,
    [vertices, elements]: [usize; 2],
    ours: Ours,
) -> PaperCase {
    PaperCase { paper, name, vertices, elements, ours }
}

/// Laplacian paper, Table 1, and Constrained paper, Table 1. Animals are bars of nearly the same size here.
pub const PAPER_CASES: &[PaperCase] = &[
    case("Laplacian", "ribbon", [549, 728], Builtin("ribbon")),
    case("Laplacian", "bar", [738, 1920], Builtin("sheet")),
    case("Laplacian", "penguin", [1979, 6915], Bar([22, 9, 7])),
    case("Laplacian", "dummy", [4492, 16890], Bar([43, 9, 9])),
    case("Laplacian", "pig", [5122, 16505], Bar([50, 9, 9])),
    case("Laplacian", "hair", [1900, 600], Builtin("hair")),
    case("Constrained", "cube", [792, 2911], Builtin("cube")),
    case("Constrained", "torus", [2096, 7311], Builtin("torus")),
    case("Constrained", "T-pipe", [1686, 5779], Builtin("t-pipe")),
    case("Constrained", "ball", [889, 1772], Builtin("ball")),
    case("Constrained", "trampoline", [3600, 10563], Builtin("trampoline")),
    case("Constrained", "cloth", [3600, 10563], Builtin("cloth")),
];

impl PaperCase {
    /// Our scene with the papers' ten iterations and Laplacian damping, and what is overridden on top.
    pub fn load(&self, overrides: &[&str]) -> Result<LoadedScene> {
        let fixed = ["time.iterations=10", "time.tolerance=0", "damping.model=laplacian"];
        let overrides = [&fixed[..], overrides].concat();
        match self.ours {
            Ours::Builtin(name) => {
                setup::load(name, &overrides.iter().map(|s| s.to_string()).collect::<Vec<_>>())
            }
            Ours::Bar(cells) => bar(cells, &overrides),
        }
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
        Suite::Damping | Suite::Solvers | Suite::Examples | Suite::Roofline | Suite::Accuracy => None,
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
