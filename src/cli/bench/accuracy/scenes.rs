//! The scenes of the comparison: no damping, so that what is lost is the method's.

use crate::Result;
use crate::cli::bench::cases::{BarSize, ROOFLINE_CASES, bar};
use crate::scene::LoadedScene;
use crate::setup::{self, build};

/// A scene of the comparison.
pub struct Scene {
    pub name: &'static str,
    pub vertices: usize,
    pub elements: usize,
    from: From,
}

enum From {
    /// A bar of this many cells, held at one end.
    Bar([usize; 3]),
    Builtin(&'static str, &'static [&'static str]),
}

/// A soft rubber bar that falls and swings.
const SOFT: &str =
    r#"body.0.material={ model = "corotated", young_modulus = 5e5, poisson_ratio = 0.3, density = 1000.0 }"#;

/// Scenes besides the bars.
#[rustfmt::skip] // a table
const BODIES: &[(&str, &str, &[&str])] = &[
    // stretched, spins and pulsates, free of all forces
    ("free cube", "conserved-cube", &["conservation.method=none"]),
    // held by two corners, swings down and folds
    ("cloth", "cloth", &["body.0.mesh={ generate = \"cloth\", cells = [29, 29], size = [1.0, 1.0] }"]),
];

/// All scenes: the bars asked for, and the bodies.
pub fn all(bars: &[BarSize]) -> Result<Vec<Scene>> {
    let names = ["bar S", "bar M", "bar L", "bar XL"];
    let bars = ROOFLINE_CASES.iter().zip(names).filter(|((size, _), _)| bars.contains(size));
    let bars = bars.map(|((_, cells), name)| (name, From::Bar(*cells)));
    let bodies = BODIES.iter().map(|(name, scene, settings)| (*name, From::Builtin(scene, settings)));
    bars.chain(bodies)
        .map(|(name, from)| {
            let mut scene = Scene { name, vertices: 0, elements: 0, from };
            let model = build(&scene.load(&[])?)?.model;
            (scene.vertices, scene.elements) = (model.vertex_count(), model.element_count());
            Ok(scene)
        })
        .collect()
}

impl Scene {
    /// The scene in frames of 1/30 s, undamped, with these settings.
    pub fn load(&self, settings: &[String]) -> Result<LoadedScene> {
        let own: &[&str] = match self.from {
            From::Bar(_) => &[SOFT],
            From::Builtin(_, settings) => settings,
        };
        let fixed = ["damping.model=none".to_string(), format!("time.step={}", super::motion::FRAME)];
        let all: Vec<String> = fixed
            .into_iter()
            .chain(own.iter().map(|s| s.to_string()))
            .chain(settings.iter().cloned())
            .collect();
        match self.from {
            From::Bar(cells) => bar(cells, &all.iter().map(String::as_str).collect::<Vec<_>>()),
            From::Builtin(name, _) => setup::load(name, &all),
        }
    }
}
