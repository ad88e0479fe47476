//! What the text says of the Laplacian as a filter, of definite matrices, and of other integrators.

use crate::damping::variational::Variational;
use crate::reproduce::{Axis, Bound, Claim, Curve, Figure, Motion, Panel, Study};
use crate::setup::build;
use crate::{Result, Vec3, damping, modes};

/// A slender bar that one end holds.
const BAR: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.005, frames = 100, iterations = 40 }
    integrator = { kind = "implicit-midpoint" }
    damping = { model = "none" }
    [[body]]
    name = "bar"
    mesh = { generate = "box", cells = [16, 3, 2], size = [1.6, 0.3, 0.2] }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3, density = 1000.0 }
    attach = [{ select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] }, stiffness = 1e6 }]
"#;

pub const HIGH_PASS: Claim = Claim {
    id: "high-pass",
    place: "Sections 1 and 3",
    says: "The Laplacian is a high-pass filter like the stiffness matrix K: its damping forces are the larger, the higher the frequency of a vibration.",
    runs: "The forty slowest modes φ of a clamped bar: the rate φᵀLφ with which α₂ = 1 damps each, over that of Rayleigh damping, φᵀKφ = ω².",
    quick: true,
    study: high_pass,
    ..Claim::PHYSICS
};

/// The correlation of the ranks of two lists (Spearman): 1 where one grows with the other.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        values.iter().map(|v| values.iter().filter(|other| *other < v).count() as f64).collect()
    };
    let n = a.len() as f64;
    let squares: f64 = ranks(a).iter().zip(ranks(b)).map(|(a, b)| (a - b).powi(2)).sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}

fn high_pass(study: &mut Study) -> Result<()> {
    let model = build(&study.load_text("bar", BAR, &[])?)?.model;
    let laplacian = model.laplacian()?;
    let modes = modes::modes(&model, 0, 40)?;
    let rate = |shape: &[Vec3]| -> f64 {
        let forces = (0..shape.len()).map(|i| damping::laplacian::resistance(&laplacian, i, shape));
        forces.zip(shape).map(|(force, u)| force.dot(u)).sum()
    };
    let frequencies: Vec<f64> = modes.iter().map(|mode| mode.omega).collect();
    let rates: Vec<f64> = modes.iter().map(|mode| rate(&mode.shape)).collect();
    let last = modes.len() - 1;
    study.measure(
        "frequency of mode 40 over that of mode 1",
        "",
        frequencies[last] / frequencies[0],
        "",
        Bound::Told,
    );
    study.measure(
        "damping of mode 40 over that of mode 1",
        "larger",
        rates[last] / rates[0],
        "",
        Bound::Told,
    );
    // 0.41 would happen by chance once in a hundred times; a filter that passes high frequencies orders nearly all
    let order = rank_correlation(&frequencies, &rates);
    study.measure(
        "correlation of the ranks of frequency and damping",
        "a high-pass filter",
        order,
        "",
        Bound::Above(0.8),
    );
    let over = |k: usize| rates[k] / frequencies[k].powi(2);
    study.measure("Laplacian over Rayleigh with the same α₂, mode 1 (bends)", "", over(0), "", Bound::Told);
    study.measure("the same, mode 40", "", over(last), "", Bound::Told);
    study.note(
        "That the two differ least where frequencies are high is why coefficients of different models are not comparable: L also resists that parts turn, \
         which is nearly all that the slow modes of a slender body do.",
    );
    let most = rates.iter().copied().fold(0.0, f64::max);
    let points = |of: &dyn Fn(usize) -> f64| (0..=last).map(|k| (frequencies[k], of(k))).collect();
    let curves = vec![
        Curve::new("Laplacian", points(&|k| rates[k])).marked(),
        Curve::new("Rayleigh: ω²", points(&|k| frequencies[k].powi(2))).dashed(),
    ];
    let panel = Panel {
        title: "Damping of the modes of a bar, α₂ = 1 s".into(),
        across: Axis::logarithmic("ω (rad/s)"),
        // with room for the legend above
        up: Axis::logarithmic("rate (1/s)").within(0.5 * frequencies[0].powi(2), 300.0 * most),
        curves,
    };
    study.plot("modes", "How strongly modes are damped by L and by K.", &Figure::new(vec![panel]))
}

pub const DEFINITE: Claim = Claim {
    id: "definite",
    place: "Sections 2 and 3",
    says: "The stiffness matrix of a deformed body may be indefinite, and damping with it speeds motion up unless its definiteness is fixed; the Laplacian is semi-definite \
           and needs no fix.",
    runs: "A box squeezed to seven tenths of its length, as it turns about an axis across: the power −vᵀDv of the damping force with D = L, with D = K by differences of the elastic \
           forces, and with K made definite element by element.",
    quick: true,
    study: definite,
    ..Claim::PHYSICS
};

const SQUEEZED: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    [[body]]
    mesh = { generate = "box", cells = [4, 2, 2], size = [0.8, 0.4, 0.4] }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [0.7, 1.0, 1.0]
"#;

fn definite(study: &mut Study) -> Result<()> {
    let model = build(&study.load_text("squeezed", SQUEEZED, &[])?)?.model;
    let (x, n) = (&model.initial_positions, model.vertex_count());
    let centre = x.iter().sum::<Vec3>() / n as f64;
    let v: Vec<Vec3> = x.iter().map(|x| Vec3::z().cross(&(x - centre))).collect();
    let power = |force: &[Vec3]| -> f64 { force.iter().zip(&v).map(|(f, v)| f.dot(v)).sum() };
    let laplacian = model.laplacian()?;
    let by_l: Vec<Vec3> = (0..n).map(|i| damping::laplacian::resistance(&laplacian, i, &v)).collect();
    let (fixed, _) = model.stiffness_at_start()?;
    let mut by_fixed = vec![Vec3::zeros(); n];
    fixed.mul(&v, &mut by_fixed);
    // the energy that variational damping makes of the elements, here at their own rest shape; a millionth of a radian: forces are linear to 1e-12 and known to 1e-16 of a thousandth of their size
    let (mut elastic, turn) = (Variational::new(&model, 1.0)?, 1e-6);
    let mut force =
        |turn: f64| elastic.energy(&x.iter().zip(&v).map(|(x, v)| x + v * turn).collect::<Vec<_>>()).1;
    let (ahead, behind) = (force(turn), force(-turn));
    let by_k: Vec<Vec3> = ahead.iter().zip(&behind).map(|(a, b)| (a - b) / (2.0 * turn)).collect();
    let [l, k, definite] = [&by_l, &by_k, &by_fixed].map(|force| -power(force));
    let unit = "of the Laplacian's";
    study.measure("K as it is", "speeds motion up", k / l.abs(), unit, Bound::Above(0.0));
    study.measure("K made definite", "slows it down", definite / l.abs(), unit, Bound::Below(1e-9));
    // it is semi-definite by construction; what counts is that K is not
    study.measure("L", "slows it down", l / l.abs(), unit, Bound::Told);
    Ok(())
}

pub const ANY_INTEGRATOR: Claim = Claim {
    id: "any-integrator",
    place: "Sections 3 and 6",
    says: "The damping energy goes with any implicit integrator whose velocity follows from its positions: backward Euler, implicit midpoint, BDF-2.",
    runs: "The clamped bar, struck so that it turns at 1 rad/s, for half a second with each, at α₂ = 1 ms and undamped: energy left, and what damping takes step by step.",
    quick: true,
    study: any_integrator,
    ..Claim::PHYSICS
};

/// The bar, struck, under this integrator and α₂ (s).
fn strike(study: &Study, kind: &str, stiffness: f64) -> Result<Motion> {
    let settings = [
        format!("integrator.kind={kind}"),
        "damping.model=laplacian".into(),
        format!("damping.stiffness={stiffness:e}"),
        "body.0.angular_velocity=[0,0,1]".into(),
    ];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    study.run_on(&mut study.start(&study.load_text("bar", BAR, &settings)?)?, 100)
}

fn any_integrator(study: &mut Study) -> Result<()> {
    let energy = |row: &crate::ledger::Row| row.kinetic + row.elastic + row.attachment;
    let (mut damped, mut free, mut first) = (Vec::new(), Vec::new(), 0.0);
    for (kind, name) in
        [("implicit-midpoint", "implicit midpoint"), ("backward-euler", "backward Euler"), ("bdf2", "BDF-2")]
    {
        let [with, without] = [1e-3, 0.0].map(|stiffness| strike(study, kind, stiffness));
        let (with, without) = (with?, without?);
        let left = |motion: &Motion| energy(motion.last()) / energy(&motion.rows[0]);
        let what = format!("{name}: energy left, over that without damping");
        study.measure(&what, "damped", left(&with) / left(&without), "", Bound::Below(0.5));
        // what damping takes is never negative: L is semi-definite
        let least =
            with.rows.windows(2).map(|pair| pair[1].damped - pair[0].damped).fold(f64::INFINITY, f64::min);
        let what = format!("{name}: least that a step's damping takes");
        study.measure(&what, "≥ 0", least / energy(&with.rows[0]), "of the energy", Bound::Above(-1e-12));
        first = energy(&with.rows[0]);
        damped.push(Curve::new(name, with.over_time(energy)));
        free.push(Curve::new(format!("{name}, none"), without.over_time(energy)).dashed());
    }
    let up = Axis::logarithmic("energy (J)").within(0.05 * first, 10.0 * first);
    let panel = Panel::over_time("A bar that was struck", up, [damped, free].concat());
    study.plot(
        "energy",
        "Energy under three integrators, with Laplacian damping and without.",
        &Figure::new(vec![panel]),
    )
}
