//! The torus that stiffens: Figure 3.

use super::super::{Axis, Bound, Curve, Figure, Panel, Strip, Study, Watched};
use super::contact::part;
use crate::ledger::Row;
use crate::{Result, Simulation, Vec3};

/// The root of the mean square of the distance from the axis y through the centre of mass (m).
fn radius(simulation: &Simulation) -> f64 {
    let (mass, x) = (&simulation.model().mass, simulation.positions());
    let whole: f64 = mass.iter().sum();
    let centre = x.iter().zip(mass).map(|(x, m)| x * *m).sum::<Vec3>() / whole;
    let off = |x: &Vec3| (x.x - centre.x).powi(2) + (x.z - centre.z).powi(2);
    (x.iter().zip(mass).map(|(x, m)| off(x) * m).sum::<f64>() / whole).sqrt()
}

/// Volume of the first body (m³).
fn volume(simulation: &Simulation) -> f64 {
    let x = simulation.positions();
    let tets = &simulation.model().bodies[0].mesh.tets;
    let of = |[a, b, c, d]: [Vec3; 4]| (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0;
    tets.iter().map(|tet| of(tet.map(|v| x[v as usize]))).sum()
}

/// The largest less the least value, in their mean.
fn spread(values: &[f64]) -> f64 {
    let high = values.iter().copied().fold(0.0, f64::max);
    (high - values.iter().copied().fold(f64::INFINITY, f64::min)) / mean(values)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The torus held inside the solve, at 1/30 s.
const HELD: [&str; 3] = ["integrator.kind=backward-euler", "damping.model=none", "conservation.method=cpd"];

/// Hard enough to turn like a rigid body.
const HARD: &str = "body.0.material.keyframes.factors=[1.0,1.0,100.0]";

/// Its motion, its radii (m) and its volumes (m³).
fn breathing(study: &Study, settings: &[&str]) -> Result<(Watched, Vec<f64>)> {
    let mut volumes = Vec::new();
    let watched = study.watch(&mut study.simulate("torus-stiffening", settings)?, 210, |simulation| {
        volumes.push(volume(simulation));
        radius(simulation)
    })?;
    Ok((watched, volumes))
}

pub(super) fn torus(study: &mut Study) -> Result<()> {
    let settings = [HELD[0], HELD[1], HELD[2], "time.substeps=4"];
    let (motion, volumes) = breathing(study, &settings)?;
    let (coarse, coarse_volumes) = breathing(study, &HELD)?;
    let fine = ["integrator.kind=velocity-verlet", "damping.model=none", "time.substeps=64"];
    let (fine, fine_volumes) = breathing(study, &fine)?;
    let rest = motion.values[0];
    // soft for 2 s, without the first third of a second, which starts from its rest shape; stiff after 4 s
    let (soft, stiff) = (part(&motion.values, 10..60), part(&motion.values, 130..211));
    study.measure("radius while soft", "stretched", mean(soft) / rest, "of that at rest", Bound::Above(1.1));
    study.measure(
        "stretch while stiff",
        "less",
        (mean(stiff) - rest) / (mean(soft) - rest),
        "of that while soft",
        Bound::Below(0.5),
    );
    let swing = "swing of the radius while eight times as stiff";
    study.measure(swing, "", spread(stiff), "of it", Bound::Told);
    let hard = [&settings[..], &[HARD]].concat();
    let (hard, _) = breathing(study, &hard)?;
    let hardest = part(&hard.values, 130..211);
    let swing = "swing of the radius while a hundred times as stiff";
    study.measure(swing, "rigid", spread(hardest), "of it", Bound::Below(0.1));
    // ν = 0.4 lets a ring that is stretched by λ gain λ^(1 − 2ν), 7 % at 1.39, and lose a little where it is narrower than at rest
    let of_mean = "largest less least, of the mean";
    study.measure("volume", "conserved", spread(&volumes), of_mean, Bound::Below(0.1));
    study.measure("volume, explicit run", "", spread(&fine_volumes), of_mean, Bound::Told);
    study.measure("volume at 1/30 s", "conserved", spread(&coarse_volumes), of_mean, Bound::Told);
    // area of the tube: V/2πR
    let widest = (0..motion.values.len()).max_by(|a, b| motion.values[*a].total_cmp(&motion.values[*b]));
    let tube = |frame: usize| volumes[frame] / motion.values[frame];
    let thinned = tube(widest.unwrap_or(0)) / tube(0);
    let what = "area of the tube's section where the ring is widest";
    study.measure(what, "thinner", thinned, "of that at rest", Bound::Below(0.9));
    let spin = |row: &Row| Vec3::from(row.angular_momentum);
    let drift = (spin(motion.motion.last()) - spin(&motion.motion.rows[0])).norm()
        / spin(&motion.motion.rows[0]).norm();
    study.measure("change of the angular momentum", "0", drift, "of it", Bound::Below(1e-6));
    let radii = [("1/120 s", &motion), ("1/30 s", &coarse), ("explicit", &fine), ("1/120 s, hard", &hard)];
    let radii = radii.map(|(name, run)| Curve::new(name, run.over_time())).to_vec();
    let frames = motion.motion.rows.iter().map(|row| row.time);
    let over = |name, values: &[f64]| {
        let shares = values.iter().map(|volume| volume / values[0]);
        Curve::new(name, frames.clone().zip(shares).collect())
    };
    let curves =
        vec![over("1/120 s", &volumes), over("1/30 s", &coarse_volumes), over("explicit", &fine_volumes)];
    let panels = vec![
        Panel::over_time("Radius", Axis::linear("radius (m)"), radii),
        Panel::over_time("Volume", Axis::linear("of that at rest"), curves),
    ];
    let shows = "Radius and volume of the torus, which stiffens from 2 to 4 s.";
    study.plot("radius", shows, &Figure::new(panels))?;
    let strip = Strip {
        scene: "torus-stiffening",
        settings: &settings,
        frames: &[0, 9, 52, 90, 120, 180],
        ..Strip::default()
    };
    study.film("film", "The torus while it stiffens.", &[strip])
}
