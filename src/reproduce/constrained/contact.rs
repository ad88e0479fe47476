//! Bodies that bounce, collide and hang over a bar: Figures 7, 8 and 9.

use super::super::{Axis, Bound, Claim, Curve, Figure, Motion, Panel, Strip, Study, Watched};
use crate::ledger::Row;
use crate::step::parts::conservation::body::Rigid;
use crate::{Result, Simulation, Vec3};
use std::ops::Range;

pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "fig-7",
        place: "Figure 7",
        says: "A ball that falls on the floor recovers its first height even after several bounces; Projective Dynamics alone damps it excessively.",
        runs: "`bouncing-ball`, a ball of 821 vertices that falls 0.6 m, for 10 s: with energy and momenta held, and with nothing held.",
        caveat: "Eight steps a frame instead of one: at 1/30 s the impact is shorter than a step.",
        study: ball,
        ..Claim::PHYSICS
    },
    Claim {
        id: "fig-8",
        place: "Figure 8",
        says: "Two bears that collide begin to spin, and the sum of their angular momenta stays what the collision has made it; Projective Dynamics alone loses it.",
        runs: "`colliding-bears`, 1,944 vertices, for 3.7 s: held, and with nothing held; that also at the paper's step of 1/30 s, and there also with bears twice as fast. |L| of each bear about its own centre, summed.",
        caveat: "Eight steps a frame instead of one. With nothing held the collision makes less spin, at 1/30 s less than half; once apart backward Euler takes ω²h of it a second: some hundredths of what our bears have, and more where they are twice as fast (the paper's speeds and sizes are not given).",
        study: bears,
        ..Claim::PHYSICS
    },
    Claim {
        id: "fig-9",
        place: "Figure 9",
        says: "A strip that hangs over a bar falls, touches itself, and plays on vividly.",
        runs: "`strip`, 738 vertices, its middle fixed to the bar, for 5 s: held, and with nothing held; and held on the bar by friction of 1 alone.",
        caveat: "The paper does not say how the strip is held on the bar; two steps a frame instead of one.",
        study: strip,
        ..Claim::PHYSICS
    },
];

/// Plain Projective Dynamics with backward Euler.
pub(super) const NOTHING_HELD: &str = "conservation.method=none";

/// A part of what a run kept, less of it if the run failed before.
pub(super) fn part<T>(values: &[T], range: Range<usize>) -> &[T] {
    let end = range.end.min(values.len());
    &values[range.start.min(end.saturating_sub(1))..end]
}

/// Turning points of the centre's height: (frame, height).
pub(super) fn turning_points(rows: &[Row]) -> Vec<(usize, f64)> {
    let height = |row: &Row| row.centre[1];
    let turns = |w: &&[Row]| (height(&w[1]) - height(&w[0])) * (height(&w[2]) - height(&w[1])) <= 0.0;
    rows.windows(3).filter(turns).map(|w| (w[1].frame, height(&w[1]))).collect()
}

/// The highest turning points: those above the mean height.
pub(super) fn peaks(rows: &[Row]) -> Vec<f64> {
    let mean = rows.iter().map(|row| row.centre[1]).sum::<f64>() / rows.len() as f64;
    turning_points(rows).into_iter().map(|(_, height)| height).filter(|height| *height > mean).collect()
}

/// Heights of the centre over time of two runs.
pub(super) fn heights(held: &Motion, plain: &Motion) -> Panel {
    let curve = |name: &str, motion: &Motion| Curve::new(name, motion.over_time(|row| row.centre[1]));
    let curves = vec![curve("held", held), curve("nothing held", plain).dashed()];
    Panel::over_time("Height of the centre", Axis::linear("height (m)"), curves)
}

/// All energies of a run over time.
fn energies(title: &str, motion: &Motion) -> Panel {
    let curves = vec![
        Curve::new("kinetic", motion.over_time(|row| row.kinetic)),
        Curve::new("elastic", motion.over_time(|row| row.elastic)),
        Curve::new("total", motion.over_time(|row| row.total)),
    ];
    Panel::over_time(title, Axis::linear("energy (J)"), curves)
}

fn ball(study: &mut Study) -> Result<()> {
    let frames = 300;
    let held = study.run("bouncing-ball", &[], frames)?;
    let plain = study.run("bouncing-ball", &[NOTHING_HELD], frames.min(60))?;
    // of the lowest point above the floor
    let radius = 0.3;
    let fell = held.rows[0].centre[1] - radius;
    let bounce = |motion: &Motion, number: fn(&[f64]) -> Option<f64>| {
        number(&peaks(&motion.rows)).map_or(0.0, |height| (height - radius) / fell)
    };
    let bounces = peaks(&held.rows).len() as f64;
    let last = bounce(&held, |peaks| peaks.last().copied());
    study.measure("bounces", "several", bounces, "", Bound::Above(2.5));
    study.measure("last bounce", "the first height", last, "of the first height", Bound::Between(0.95, 1.0));
    let damped = bounce(&plain, |peaks| peaks.first().copied());
    study.measure("first bounce, nothing held", "damped", damped, "of the first height", Bound::Below(0.5));
    study.plot("heights", "Heights of the bouncing ball.", &Figure::new(vec![heights(&held, &plain)]))?;
    let frames = &[0, 12, 23, 34, 46];
    let strip = |caption, settings| Strip { caption, scene: "bouncing-ball", settings, frames, text: None };
    study.film("film", "At the turning points.", &[strip("held", &[]), strip("PD", &[NOTHING_HELD])])
}

/// Σ |L| of all bodies, each about its own centre (kg m²/s).
fn spins(simulation: &Simulation) -> f64 {
    let (model, x, v) = (simulation.model(), simulation.positions(), simulation.velocities());
    let spin = |range: Range<usize>| {
        let mass: f64 = model.mass[range.clone()].iter().sum();
        let centre = range.clone().map(|i| x[i] * model.mass[i]).sum::<Vec3>() / mass;
        range.map(|i| (x[i] - centre).cross(&(v[i] * model.mass[i]))).sum::<Vec3>().norm()
    };
    model.bodies.iter().map(|body| spin(body.vertices.clone())).sum()
}

/// The share of its bodies' spins that backward Euler takes in a time (s) at steps of h (s), if they only turn: L falls by ω²h of itself
/// a second.
fn taken_by_turning(simulation: &Simulation, time: f64, h: f64) -> f64 {
    let (model, x, v) = (simulation.model(), simulation.positions(), simulation.velocities());
    let bodies = model.bodies.iter().map(|body| Rigid::of(body.vertices.clone(), &model.mass, x, v));
    let [all, lost] = bodies.fold([0.0; 2], |[all, lost], body| {
        let spin = body.spin.norm();
        let rate = 2.0 * body.least_kinetic(Vec3::zeros(), body.spin) / spin.max(f64::MIN_POSITIVE);
        [all + spin, lost + spin * (1.0 - (-rate * rate * h * time).exp())]
    });
    lost / all
}

/// Frame after which the bodies stay apart.
fn apart(motion: &Motion) -> usize {
    1 + motion.rows.iter().rposition(|row| row.contact > 0.0).unwrap_or(0)
}

/// Bears that meet at twice the scene's speed.
const FAST: [&str; 2] = ["body.left.velocity=[1.4,0,0]", "body.right.velocity=[-1.4,0,0]"];

fn bears(study: &mut Study) -> Result<()> {
    let frames = 110;
    let run = |study: &Study, settings: &[&str]| -> Result<(Watched, Simulation)> {
        let mut simulation = study.simulate("colliding-bears", settings)?;
        Ok((study.watch(&mut simulation, frames, spins)?, simulation))
    };
    let held = run(study, &[])?.0;
    let (plain, left) = run(study, &[NOTHING_HELD])?;
    let coarse = run(study, &[NOTHING_HELD, "time.substeps=1"])?.0;
    let after = part(&held.values, apart(&held.motion)..frames + 1);
    let largest = after.iter().copied().fold(0.0, f64::max);
    let least = after.iter().copied().fold(f64::INFINITY, f64::min);
    study.measure(
        "spin before they touch",
        "0",
        held.values[1] / largest,
        "of that after",
        Bound::Below(1e-6),
    );
    // held to 1e-4 a step
    study.measure(
        "change of the spins once they are apart",
        "0",
        1.0 - least / largest,
        "",
        Bound::Below(1e-3),
    );
    let fast = run(study, &[NOTHING_HELD, "time.substeps=1", FAST[0], FAST[1]])?.0;
    let loss = |study: &mut Study, name: &str, run: &Watched, bound: Bound| {
        let since = part(&run.values, apart(&run.motion)..frames + 1);
        let lost = 1.0 - since.last().unwrap_or(&f64::NAN) / since.first().unwrap_or(&f64::NAN);
        study.measure(&format!("{name}: lost of them once apart"), "damped", lost, "", bound);
    };
    for (name, run) in [("nothing held, 1/240 s", &plain), ("nothing held, 1/30 s", &coarse)] {
        let of_held = run.values[run.values.len() - 1] / after[after.len() - 1];
        study.measure(&format!("{name}: spins in the end"), "", of_held, "of those held", Bound::Told);
        loss(study, name, run, Bound::Told);
    }
    // at the paper's step; 5 % are seen in a graph
    loss(study, "nothing held, 1/30 s, bears twice as fast", &fast, Bound::Above(0.05));
    let (time, h) = (frames.saturating_sub(apart(&plain.motion)) as f64 / 30.0, 1.0 / 240.0);
    let what = "the same of a rigid spin as fast at 1/240 s, ω²h a second";
    study.measure(what, "", taken_by_turning(&left, time, h), "", Bound::Told);
    let total = |row: &Row| Vec3::from(row.angular_momentum);
    let rows = &held.motion.rows;
    let drift = (total(held.motion.last()) - total(&rows[0])).norm() / largest;
    study.measure("change of the pair's angular momentum", "0", drift, "of the spins", Bound::Below(1e-6));
    let curves = vec![
        Curve::new("held", held.over_time()),
        Curve::new("nothing held", plain.over_time()).dashed(),
        Curve::new("nothing held, 1/30 s", coarse.over_time()).dashed(),
    ];
    let panel = Panel::over_time("Σ |L| of the bears", Axis::linear("kg m²/s"), curves);
    study.plot("spins", "Angular momenta of the bears.", &Figure::new(vec![panel]))?;
    let frames = &[0, 28, 33, 40, 60, 90];
    let strip = Strip { caption: "held", scene: "colliding-bears", settings: &[], frames, text: None };
    study.film("film", "The bears meet and part.", &[strip])
}

/// Friction instead of the attachment.
const BY_FRICTION: [&str; 3] = ["body.strip.attach=[]", "contact.friction=1.0", "time.step=0.0333333333"];

fn strip(study: &mut Study) -> Result<()> {
    let frames = 150;
    let held = study.run("strip", &[], frames)?;
    let plain = study.run("strip", &[NOTHING_HELD], frames)?;
    let friction = study.run("strip", &BY_FRICTION, frames.min(90))?;
    let mean = |rows: &[Row]| rows.iter().map(|row| row.kinetic).sum::<f64>() / rows.len().max(1) as f64;
    let [first, last] = [0..frames / 3, frames - frames / 3..frames + 1].map(|at| mean(part(&held.rows, at)));
    study.measure("mean kinetic energy, last third over first", "vivid", last / first, "", Bound::Above(0.5));
    let tired = mean(part(&plain.rows, frames - frames / 3..frames + 1));
    study.measure("the same with nothing held", "", tired / first, "", Bound::Told);
    let touching = held.rows.iter().filter(|row| row.contact > 1e-3).count() as f64 / frames as f64;
    study.measure(
        "frames in which contact stores more than 1 mJ",
        "self-collision",
        touching,
        "",
        Bound::Above(0.05),
    );
    let moves = held.rows.iter().map(|row| row.kinetic + row.elastic).fold(0.0, f64::max);
    let lost = (held.rows[0].total - held.last().total) / moves;
    study.measure("energy lost", "0", lost, "of what moves", Bound::Between(-1e-3, 1e-2));
    let low = friction.rows.iter().map(|row| row.gravity).fold(f64::INFINITY, f64::min);
    let taken = friction.last().contact_loss / (friction.rows[0].total - low);
    study.measure("on friction alone: taken by it", "", taken, "of what there was", Bound::Between(0.0, 1.0));
    let panels = vec![
        energies("Held", &held),
        energies("Nothing held", &plain),
        energies("On friction alone", &friction),
    ];
    study.plot("energies", "Energies of the strip.", &Figure::new(panels))?;
    let frames = &[0, 8, 14, 20, 40, 80, 140];
    let strip = |caption, settings| Strip { caption, scene: "strip", settings, frames, text: None };
    study.film("film", "The strip on its bar.", &[strip("held", &[]), strip("PD", &[NOTHING_HELD])])
}
