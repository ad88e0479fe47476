//! A bear that is pushed, a torus that stiffens, a T that turns over, bodies that swing: Figures 1, 3, 4 and 12.

use super::super::{Axis, Bound, Claim, Curve, Figure, Motion, Panel, Strip, Study};
use super::contact::{NOTHING_HELD, heights, part, peaks};
use crate::ledger::Row;
use crate::{Result, Simulation, Vec3};

pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "fig-1",
        place: "Figure 1",
        says: "Pushes set a bear moving with deforming motions, the second one increases its momentum; attached by its hand it rotates about it.",
        runs: "`bear`, 3,743 vertices, for 4 s: two pushes at its flank, then the left hand is held.",
        caveat: "Pushes follow a script instead of a user.",
        study: bear,
        ..Claim::PHYSICS
    },
    Claim {
        id: "fig-3",
        place: "Figure 3",
        says: "A spinning torus is stretched the more, the softer it is, and keeps its volume; hard enough, it turns like a rigid body.",
        runs: "`torus-stiffening` with energy and momenta held under backward Euler, for 7 s: eight times as stiff from 4 s on; at 1/120 s, once more at 1/30 s, as a fine explicit run (velocity Verlet, 1/1920 s), and once a hundred times as stiff.",
        caveat: "Four steps a frame instead of one. At 1/30 s the torus stays at its widest, 1.39 of its radius at rest, for two seconds; twice it then jumps in a single step so long that its volume is not kept. The explicit run, which breathes from the start, shows what the material itself does. Eight times as stiff our ring still breathes, since its energy is kept; a hundred times as stiff it hardly does. The paper's figures for its torus (μ up to 2·10³) come without its size, its spin and its λ.",
        study: super::torus::torus,
        ..Claim::PHYSICS
    },
    Claim {
        id: "fig-4",
        place: "Figure 4",
        says: "A T-pipe that spins about its intermediate axis turns over (Dzhanibekov), about its third axis it does not; angular momentum is conserved.",
        runs: "`t-pipe-middle` and `t-pipe-third`, 1,656 vertices, for 10 s.",
        quick: true,
        study: t_pipe,
        ..Claim::PHYSICS
    },
    Claim {
        id: "fig-12",
        place: "Figure 12",
        says: "A cloth and a pendulum keep swinging stably instead of slowing down and vanishing.",
        runs: "`pendulum` for 10 s and `hanging-cloth` for 5 s: held, and with nothing held.",
        study: swings,
        ..Claim::PHYSICS
    },
];

/// The vertex nearest to a point.
fn nearest(x: &[Vec3], point: Vec3) -> usize {
    let off = |i: &usize| (x[*i] - point).norm_squared();
    (0..x.len()).min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(0)
}

fn bear(study: &mut Study) -> Result<()> {
    let frames = 120;
    let mut simulation = study.simulate("bear", &[])?;
    let palm = nearest(simulation.positions(), Vec3::new(0.4, 0.4, 0.08));
    let mut hand = Vec::new();
    let motion = study.watch(&mut simulation, frames, |simulation| {
        hand.push(simulation.positions()[palm]);
        0.0
    })?;
    let motion = motion.motion;
    study.measure("frames made", "", (motion.rows.len() - 1) as f64, "", Bound::Above(frames as f64 - 0.5));
    if motion.failed.is_some() {
        return Ok(());
    }
    let p = |frame: usize| Vec3::from(motion.rows[frame].momentum);
    // pushes from 0.2 to 0.35 s and from 0.8 to 0.95 s, the hand from 1.4 s on
    let (first, before, second, free) = (12, 23, 30, 41);
    let deforms = motion.rows[first..=free].iter().map(|row| row.elastic / row.total).sum::<f64>();
    let deforms = deforms / (free - first + 1) as f64;
    study.measure("elastic energy in flight", "deforming", deforms, "of all", Bound::Above(0.05));
    let kept = (p(before) - p(first)).norm() / p(first).norm();
    study.measure("momentum lost between the pushes", "0", kept, "of it", Bound::Below(1e-6));
    study.measure(
        "momentum after the second push",
        "increased",
        p(second).x / p(first).x,
        "of the first",
        Bound::Above(1.0),
    );
    let gained = motion.rows.iter().map(|row| (row.total - row.work).abs() / row.total.max(1.0));
    study.measure(
        "energy beyond the pushes' work",
        "0",
        gained.fold(0.0, f64::max),
        "of all",
        Bound::Below(1e-3),
    );
    let arms: Vec<Vec3> =
        (free + 2..motion.rows.len()).map(|k| Vec3::from(motion.rows[k].centre) - hand[k]).collect();
    let swept = arms.iter().map(|arm| arm.angle(&arms[0]).to_degrees()).fold(0.0, f64::max);
    study.measure(
        "farthest that the centre has turned about the hand",
        "rotates",
        swept,
        "°",
        Bound::Above(90.0),
    );
    let strayed = (hand[motion.rows.len() - 1] - hand[free + 2]).norm();
    study.measure("way of the hand meanwhile", "held", strayed, "m", Bound::Below(0.05));
    let energies = vec![
        Curve::new("kinetic", motion.over_time(|row| row.kinetic)),
        Curve::new("elastic", motion.over_time(|row| row.elastic)),
        Curve::new("total", motion.over_time(|row| row.total)),
    ];
    let momenta = vec![
        Curve::new("x", motion.over_time(|row| row.momentum[0])),
        Curve::new("y", motion.over_time(|row| row.momentum[1])),
        Curve::new("z", motion.over_time(|row| row.momentum[2])),
    ];
    let panels = vec![
        Panel::over_time("Energies", Axis::linear("energy (J)"), energies),
        Panel::over_time("Momentum", Axis::linear("kg m/s"), momenta),
    ];
    study.plot("energies", "Energies and momentum of the bear.", &Figure::new(panels))?;
    let frames = &[0, 10, 20, 28, 44, 66, 88, 110];
    study.film("film", "Pushed twice, then held.", &[Strip { scene: "bear", frames, ..Strip::default() }])
}

/// Cosine of the angle between an axis of the rest shape, as it stands in the body now, and the angular momentum, frame by frame.
fn cosines(study: &Study, scene: &str, axis: usize, frames: usize) -> Result<(Motion, Vec<f64>)> {
    let mut simulation = study.simulate(scene, &[])?;
    let start = simulation.positions().to_vec();
    let spin = Vec3::from(simulation.last_row().angular_momentum).normalize();
    let centre = start.iter().map(|x| x[axis]).sum::<f64>() / start.len() as f64;
    let cosine = |simulation: &Simulation| {
        let now = start.iter().zip(simulation.positions()).map(|(rest, x)| x * (rest[axis] - centre));
        now.sum::<Vec3>().normalize().dot(&spin)
    };
    let watched = study.watch(&mut simulation, frames, cosine)?;
    Ok((watched.motion, watched.values))
}

fn t_pipe(study: &mut Study) -> Result<()> {
    let frames = 300;
    let (middle, turning) = cosines(study, "t-pipe-middle", 0, frames)?;
    let (third, steady) = cosines(study, "t-pipe-third", 2, frames)?;
    let flips = turning.windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count() as f64;
    study.measure("turns over about the intermediate axis", "again and again", flips, "", Bound::Above(1.5));
    let off = steady.iter().map(|c| c.clamp(-1.0, 1.0).acos().to_degrees()).fold(0.0, f64::max);
    study.measure("largest lean about the third axis", "stable", off, "°", Bound::Below(5.0));
    for (name, motion) in [("intermediate", &middle), ("third", &third)] {
        let l = |row: &Row| Vec3::from(row.angular_momentum);
        let drift = (l(motion.last()) - l(&motion.rows[0])).norm() / l(&motion.rows[0]).norm();
        study.measure(&format!("change of L, {name} axis"), "0", drift, "of it", Bound::Below(1e-6));
    }
    let over = |name, motion: &Motion, values: &[f64]| {
        Curve::new(name, motion.rows.iter().map(|row| row.time).zip(values.iter().copied()).collect())
    };
    let curves = vec![over("intermediate", &middle, &turning), over("third", &third, &steady)];
    let panel = Panel::over_time("cos of axis and L", Axis::linear("").within(-1.1, 1.1), curves);
    study.plot("axes", "How the T's axis lies to its angular momentum.", &Figure::new(vec![panel]))?;
    let frames = &[0, 100, 120, 140, 160, 180];
    let strip = |caption, scene| Strip { caption, scene, frames, ..Strip::default() };
    study.film("film", "The T.", &[strip("intermediate", "t-pipe-middle"), strip("third", "t-pipe-third")])
}

fn swings(study: &mut Study) -> Result<()> {
    let mut panels = Vec::new();
    for (scene, frames) in [("pendulum", 300), ("hanging-cloth", 150)] {
        let held = study.run(scene, &[], frames)?;
        let plain = study.run(scene, &[NOTHING_HELD], frames)?;
        let start = held.rows[0].centre[1];
        let low = held.rows.iter().map(|row| row.centre[1]).fold(f64::INFINITY, f64::min);
        let high = |motion: &Motion| {
            let height = peaks(&motion.rows).last().copied().unwrap_or(low);
            (height - low) / (start - low)
        };
        if scene == "pendulum" {
            study.measure(
                "pendulum: last swing up",
                "its height",
                high(&held),
                "of the first height",
                Bound::Above(0.8),
            );
            study.measure("pendulum: the same with nothing held", "", high(&plain), "", Bound::Told);
        }
        let moves = held.rows.iter().map(|row| row.kinetic + row.elastic).fold(0.0, f64::max);
        let lost = (held.rows[0].total - held.last().total).abs() / moves;
        study.measure(&format!("{scene}: energy lost"), "0", lost, "of what moves", Bound::Below(1e-2));
        let gone = (plain.rows[0].total - plain.last().total) / moves;
        study.measure(
            &format!("{scene}: the same with nothing held"),
            "vanishes",
            gone,
            "",
            Bound::Above(0.5),
        );
        let third = |rows: &[Row]| rows.iter().map(|row| row.kinetic).sum::<f64>() / rows.len() as f64;
        let lively =
            third(part(&held.rows, frames - frames / 3..frames + 1)) / third(part(&held.rows, 0..frames / 3));
        study.measure(
            &format!("{scene}: mean kinetic energy, last third over first"),
            "swings on",
            lively,
            "",
            Bound::Above(0.5),
        );
        let mut panel = heights(&held, &plain);
        panel.title = format!("{scene}: height of the centre");
        panels.push(panel);
    }
    study.plot("heights", "Swings of the pendulum and the cloth.", &Figure::new(panels))?;
    let strip = |caption, scene, frames| Strip { caption, scene, frames, ..Strip::default() };
    let pendulum = strip("pendulum", "pendulum", &[0, 8, 17, 25, 33][..]);
    study.film(
        "film",
        "A swing of each.",
        &[pendulum, strip("cloth", "hanging-cloth", &[0, 7, 14, 22, 29][..])],
    )
}
