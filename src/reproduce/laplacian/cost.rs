//! Table 1, Figures 4 and 6: what damping costs on this machine.

use crate::reproduce::claim::Kind;
use crate::reproduce::{Axis, Bound, Claim, Curve, Figure, Panel, Study};
use crate::scene::LoadedScene;
use crate::{Result, Simulation};
use std::time::Instant;

/// A row of Table 1.
struct Example {
    scene: &'static str,
    name: &'static str,
    /// Theirs.
    size: [usize; 2],
    without: f64,
    with: f64,
    overhead: &'static str,
}

const fn example(
    scene: &'static str,
    name: &'static str,
    size: [usize; 2],
    ms: [f64; 2],
    overhead: &'static str,
) -> Example {
    Example { scene, name, size, without: ms[0], with: ms[1], overhead }
}

const TABLE: [Example; 6] = [
    example("ribbon", "ribbon (Figure 2)", [549, 728], [10.0, 10.0], "< 1 ms"),
    example("sheet", "bar (Figure 8)", [738, 1920], [40.0, 43.0], "3 ms"),
    example("penguin", "penguin (Figure 1)", [1979, 6915], [151.0, 151.0], "< 1 ms"),
    example("dummy", "dummy (Figure 5)", [4492, 16890], [670.0, 674.0], "4 ms"),
    example("pig", "pig (Figure 3)", [5122, 16505], [477.0, 486.0], "9 ms"),
    example("hair", "hair (Figure 7)", [1900, 600], [42.0, 43.0], "1 ms"),
];

pub const TABLE_1: Claim = Claim {
    id: "table-1",
    place: "Table 1",
    says: "Laplacian damping adds hardly anything to a frame of ten iterations: 0 to 7.5 %.",
    runs: "Our six scenes at the paper's sizes, one step a frame, ten iterations: frames with damping and frames without, in turn, in one process, of \
           the same motion (α₂ = 10⁻¹² s against none).",
    kind: Kind::Timing,
    study: table,
    ..Claim::PHYSICS
};

/// A step a frame, of ten iterations, under implicit midpoint but for hair, as in the paper.
fn setting(study: &Study, example: &Example, damping: &[&str]) -> Result<LoadedScene> {
    let settings = [&["time.substeps=1", "time.iterations=10", "time.tolerance=0"][..], damping].concat();
    study.load(example.scene, &settings)
}

/// The time of a frame (ms); `None` if it failed.
fn frame(simulation: &mut Simulation) -> Option<f64> {
    let begun = Instant::now();
    simulation.frame().ok()?;
    Some(begun.elapsed().as_secs_f64() * 1e3)
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Times of frames of each of these (ms), made in turn, and the median ratio of the last to the first.
pub fn in_turn(simulations: &mut [Simulation], frames: usize) -> (Vec<Vec<f64>>, f64) {
    let mut times = vec![Vec::new(); simulations.len()];
    for _ in 0..frames {
        let made: Option<Vec<f64>> = simulations.iter_mut().map(frame).collect();
        let Some(made) = made else { break };
        times.iter_mut().zip(made).for_each(|(times, ms)| times.push(ms));
    }
    let ratios = times.first().into_iter().flatten().zip(times.last().into_iter().flatten());
    let ratio = median(ratios.map(|(first, last)| last / first).collect());
    (times, ratio)
}

fn table(study: &mut Study) -> Result<()> {
    let frames = 60;
    let (mut rows, mut most) = (Vec::new(), f64::NEG_INFINITY);
    for example in &TABLE {
        let damped = ["damping.model=laplacian", "damping.mass=0", "damping.stiffness=1e-12"];
        let variants = [&["damping.model=none"][..], &damped].map(|damping| setting(study, example, damping));
        let mut pair = Vec::new();
        for loaded in variants {
            pair.push(study.start(&loaded?)?);
        }
        let model = pair[0].model();
        let size = [model.vertex_count(), model.element_count()];
        let (times, ratio) = in_turn(&mut pair, frames);
        let ms: Vec<f64> = times.into_iter().map(median).collect();
        let overhead = ratio - 1.0;
        most = most.max(overhead);
        let Example { name, size: theirs, without, with, overhead: told, .. } = example;
        rows.push(vec![
            name.to_string(),
            format!("{} / {}", theirs[0], size[0]),
            format!("{} / {}", theirs[1], size[1]),
            format!("{without} / {:.2}", ms[0]),
            format!("{with} / {:.2}", ms[1]),
            format!("{told}, {:.1} % / {:.1} %", 100.0 * (with / without - 1.0), 100.0 * overhead),
        ]);
    }
    let heads = ["example", "vertices", "elements", "ms a frame without", "with damping", "overhead"];
    study.table("Table 1, theirs / ours", &heads, rows);
    // theirs at most; and what neighbouring frames differ by on a busy machine
    let weaker = Some(Bound::Below(10.0));
    study.measure_either("largest overhead", "7.5 % (bar)", 100.0 * most, "%", Bound::Below(7.5), weaker);
    study.note("Theirs: Intel Core i7-4910MQ. The elements of our ribbon are triangles and bending elements, those of our hair all springs.");
    Ok(())
}

/// Median frames of a scene without damping, with the Laplacian and with a rival, in turn.
fn rivals(study: &mut Study, scene: &str, own: &[&str], rival: [&str; 2], frames: usize) -> Result<()> {
    let iterations = ["time.substeps=1", "time.iterations=10", "time.tolerance=0"];
    let mut all = Vec::new();
    for damping in [&["damping.stiffness=1e-12"][..], own, &rival] {
        all.push(study.start(&study.load(scene, &[&iterations[..], damping].concat())?)?);
    }
    let (times, _) = in_turn(&mut all, frames);
    let ms: Vec<f64> = times.iter().cloned().map(median).collect();
    let name = rival[0].trim_start_matches("damping.model=");
    let names = ["no damping felt", "Laplacian", name];
    let rows = names.iter().zip(&ms).map(|(name, ms)| vec![name.to_string(), format!("{ms:.1}")]).collect();
    study.table("Median time of a frame", &["damping", "ms"], rows);
    study.measure("rival over Laplacian", "much slower", ms[2] / ms[1], "times", Bound::Above(2.0));
    let over_frames = |times: &[f64]| times.iter().enumerate().map(|(k, ms)| (k as f64 + 1.0, *ms)).collect();
    let panel = Panel {
        title: format!("Frames of `{scene}`"),
        across: Axis::linear("frame"),
        up: Axis::logarithmic("time (ms)"),
        curves: names.iter().zip(&times).map(|(name, times)| Curve::new(*name, over_frames(times))).collect(),
    };
    study.plot("times", "Computing time of each frame.", &Figure::new(vec![panel]))
}

pub const FIGURE_4: Claim = Claim {
    id: "fig-4",
    place: "Figure 4",
    says: "On the pig lagged Rayleigh damping, whose matrix is factored in every step, is much slower than Laplacian damping.",
    runs: "`pig` at the paper's size, α₂ of both such that it decays alike (Figure 3), ten iterations a frame of one step: frames of both, and of the Laplacian with α₂ = 10⁻¹² s, which is not felt, in turn, half a second.",
    kind: Kind::Timing,
    study: |study| {
        rivals(
            study,
            "pig",
            &["damping.stiffness=1e-3"],
            ["damping.model=rayleigh", "damping.stiffness=2.3e-2"],
            30,
        )
    },
    ..Claim::PHYSICS
};

pub const FIGURE_6: Claim = Claim {
    id: "fig-6",
    place: "Figure 6",
    says: "On the dummy variational damping, a separate step by Newton's method, is much slower than Laplacian damping.",
    runs: "`dummy` at the paper's size, ten iterations a frame of one step: α₂ = 5·10⁻⁵ s and the η of Figure 5: frames of both, and of the Laplacian with α₂ = 10⁻¹² s, which is not felt, in turn, half a second, in which the fist comes.",
    kind: Kind::Timing,
    study: |study| {
        rivals(
            study,
            "dummy",
            &["damping.stiffness=5e-5"],
            ["damping.model=variational", "damping.eta=0.15"],
            30,
        )
    },
    ..Claim::PHYSICS
};
