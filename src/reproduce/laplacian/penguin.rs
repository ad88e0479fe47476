//! Figure 1: a penguin that falls and bounces under implicit midpoint, damped by drag or by the Laplacian.

use crate::Result;
use crate::reproduce::{Axis, Bound, Claim, Curve, Figure, Motion, Panel, Strip, Study};

/// Frames of the scenes `penguin` and `penguin-drag` (4 s).
const FRAMES: usize = 120;
/// Energy of motion and deformation, as a share of all that there was before the fall, beyond which a run has exploded: more than there was,
/// and a twentieth for the time step's error.
const ALL_THERE_WAS: f64 = 1.05;
/// Coefficients searched: from none that is felt to one that leaves no motion.
const DAMPING: [f64; 2] = [1e-6, 1e-2];
const DRAG: [f64; 2] = [1e-3, 0.5];

pub const EXPLODES: Claim = Claim {
    id: "fig-1-undamped",
    place: "Figure 1, Section 4",
    says: "Without damping the falling penguin explodes under implicit midpoint; with enough of either damping it does not.",
    runs: "`penguin` without damping, and the least coefficients of both models that keep its energy below what there was, by bisection \
           to a tenth.",
    study: explodes,
    ..Claim::PHYSICS
};

/// The largest energy of motion and deformation of a run, of all that there was.
fn largest_energy(motion: &Motion) -> f64 {
    let size = motion.rows.iter().map(|row| row.kinetic + row.elastic).fold(0.0, f64::max);
    // a run that ended in numbers beyond all bounds
    let size = if motion.failed.is_some() || !size.is_finite() { f64::MAX } else { size };
    (size / motion.rows[0].total).min(1e9)
}

/// The least coefficient of a model with which the penguin does not explode, within a share.
fn least(study: &Study, model: &str, field: &str, [mut low, mut high]: [f64; 2], share: f64) -> Result<f64> {
    while high / low > 1.0 + share {
        let middle = (low * high).sqrt();
        let settings = [format!("damping.model={model}"), format!("damping.{field}={middle:e}")];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let motion = study.run("penguin", &settings, FRAMES)?;
        let stable = largest_energy(&motion) <= ALL_THERE_WAS;
        *(if stable { &mut high } else { &mut low }) = middle;
    }
    Ok(high)
}

fn explodes(study: &mut Study) -> Result<()> {
    let undamped = study.run("penguin", &["damping.model=none"], FRAMES)?;
    let share = if study.is_quick() { 1.0 } else { 0.1 };
    let damping = least(study, "laplacian", "stiffness", DAMPING, share)?;
    let drag = least(study, "ether-drag", "coefficient", DRAG, share)?;
    let energy = largest_energy(&undamped);
    study.measure("largest energy undamped, of all there was", "explodes", energy, "", Bound::Above(2.0));
    // ends of the search: damping within it was enough
    let [weakest, strongest] = DAMPING;
    study.measure("least α₂", "5e-6", damping, "s", Bound::Between(1.1 * weakest, 0.9 * strongest));
    let [weakest, strongest] = DRAG;
    study.measure("least drag", "5e-3", drag, "a step", Bound::Between(1.1 * weakest, 0.9 * strongest));
    study.measure("drag over α₂", "1000", drag / damping, "1/s", Bound::Told);
    study.note(
        "Least coefficients depend on step, stiffness and mass, which the paper does not give for its penguin: ours are told, not compared.",
    );
    let curves = vec![Curve::new("no damping", undamped.over_time(|row| row.kinetic + row.elastic))];
    let panel = Panel::over_time("Energy of motion and deformation", Axis::logarithmic("energy (J)"), curves);
    study.plot("energy", "The undamped penguin's energy.", &Figure::new(vec![panel]))
}

pub const FIGURE_1: Claim = Claim {
    id: "fig-1",
    place: "Figure 1",
    says: "With Laplacian damping the penguin falls as if undamped and keeps bouncing; with ether drag its fall is slowed and it stops earlier.",
    runs: "`penguin` and `penguin-drag`: implicit midpoint at 1/30 s, each with little more than the least damping that stabilises it.",
    quick: true,
    study: bounces,
    ..Claim::PHYSICS
};

/// When the energy of motion was last above a share of its greatest (s).
fn rests(motion: &Motion, share: f64) -> f64 {
    let most = motion.rows.iter().map(|row| row.kinetic).fold(0.0, f64::max);
    motion.rows.iter().filter(|row| row.kinetic > share * most).map(|row| row.time).fold(0.0, f64::max)
}

/// How high the centre of mass rises again after it was lowest for the first time (m), and the frame of that lowest place.
fn first_bounce(motion: &Motion) -> (f64, usize) {
    let height = |k: usize| motion.rows[k].centre[1];
    let turns = |k: &usize| height(*k) < height(k - 1) && height(*k) <= height(k + 1);
    let last = motion.rows.len().saturating_sub(1);
    let Some(lowest) = (1..last).find(turns) else { return (0.0, 0) };
    let rise = (lowest..last).map(height).take_while(|y| y.is_finite());
    (rise.fold(0.0, f64::max) - height(lowest), lowest)
}

fn bounces(study: &mut Study) -> Result<()> {
    let ours = study.run("penguin", &[], FRAMES)?;
    let drag = study.run("penguin-drag", &[], FRAMES)?;
    // the last frame in which the penguin that falls freely has not touched the ground
    let flying = |motion: &Motion| motion.rows.iter().take_while(|row| row.contact == 0.0).count() - 1;
    let frame = flying(&ours).min(flying(&drag));
    let time = ours.rows[frame].time;
    let free = 9.81 * time;
    let missing = |motion: &Motion| {
        let row = &motion.rows[frame];
        1.0 - row.momentum[1] / (-free * mass(motion))
    };
    // rounding of some thousand additions a step
    let [slowed, dragged] = [&ours, &drag].map(missing);
    study.measure("fall slowed before the impact, Laplacian", "not", slowed.abs(), "", Bound::Below(1e-9));
    study.measure("fall slowed before the impact, drag", "slowed", dragged, "", Bound::Above(0.05));
    let [(high, _), (low, _)] = [&ours, &drag].map(first_bounce);
    study.measure("first bounce, Laplacian over drag", "higher", high / low, "", Bound::Above(1.0));
    // a hundredth of the energy: a tenth of the speed
    let [late, early] = [&ours, &drag].map(|motion| rests(motion, 0.01));
    study.measure(
        "still moves with a tenth of the impact's speed, Laplacian",
        "longer",
        late,
        "s",
        Bound::Told,
    );
    study.measure("longer than with drag by", "stops earlier", late / early, "times", Bound::Above(1.0));
    for (name, motion) in [("Laplacian", &ours), ("drag", &drag)] {
        let what = format!("largest energy of all there was, {name}");
        study.measure(&what, "stable", largest_energy(motion), "", Bound::Below(ALL_THERE_WAS));
    }
    let curves = |quantity: fn(&crate::ledger::Row) -> f64| {
        vec![
            Curve::new("Laplacian", ours.over_time(quantity)),
            Curve::new("ether drag", drag.over_time(quantity)),
        ]
    };
    let height = Panel::over_time("Centre of mass", Axis::linear("height (m)"), curves(|row| row.centre[1]));
    let energy = Panel::over_time("Energy of motion", Axis::linear("energy (J)"), curves(|row| row.kinetic));
    study.plot("bounces", "The bounces of both penguins.", &Figure::new(vec![height, energy]))?;
    let frames = [0, 12, 20, 28, 36, 60];
    let strips = [("Laplacian", "penguin"), ("drag", "penguin-drag")];
    let strips = strips.map(|(caption, scene)| Strip { caption, scene, frames: &frames, ..Strip::default() });
    study.film("film", "Laplacian damping above, ether drag below.", &strips)
}

/// The mass of all bodies (kg), from the potential of gravity.
fn mass(motion: &Motion) -> f64 {
    let start = &motion.rows[0];
    start.gravity / (9.81 * start.centre[1])
}
