//! A cube let go at rest, and momenta: Figure 13, and what the text says of P and L.

use super::super::{Axis, Bound, Claim, Curve, Figure, Panel, Strip, Study};
use super::energy::{FEPR_PRICE, elastic, energy_drift, spin, spin_drift};
use crate::{Result, Vec3};

pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "fig-13",
        place: "Figure 13",
        says: "A stretched cube at rest oscillates under CPD without rigid motion; with a smaller step the motion is similar, and each step needs fewer iterations.",
        runs: "`conserved-cube` without spin, 1/30, 1/60, 1/120, 1/300 and 1/600 s, for 2 s.",
        caveat: "The paper's cube has 792 vertices, ours 729.",
        study: at_rest,
        ..Claim::PHYSICS
    },
    Claim {
        id: "fig-13-b",
        place: "Figure 13 (b)",
        says: "Under PD + FEPR the cube let go at rest begins to turn, because the projection may give up momenta for the energy.",
        runs: "`conserved-cube` without spin under PD + FEPR, 1/30 s, for 4 s: with ε = 10⁻⁴ kg m² (`conservation.regularization`), far below h² times the energy, and with our own price of momenta, a thousand times h² times the energy.",
        caveat: "The paper does not say what its ε is. It decides: the cube turns wherever ε is far below h² times its energy, some 3 kg m²; at our own price, far above it, momenta stay and it does not turn.",
        study: at_rest_projected,
        ..Claim::PHYSICS
    },
    Claim {
        id: "momenta",
        place: "Sections 4.1 and 5",
        says: "Linear and angular momentum are linear constraints of the positions: they hold exactly after every solve, whatever the energy does.",
        runs: "`conserved-cube` flying at 3 m/s for 300 frames; with as few as one iteration a step.",
        quick: true,
        study: momenta,
        ..Claim::PHYSICS
    },
];

const STILL: &str = "body.0.angular_velocity=[0,0,0]";

fn at_rest(study: &mut Study) -> Result<()> {
    let (mut rows, mut curves, mut means, mut counts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for rate in [30, 60, 120, 300, 600] {
        let step = format!("time.step={:e}", 1.0 / f64::from(rate));
        let motion = study.run("conserved-cube", &[STILL, &step], 2 * rate as usize)?;
        let [mean, swing] = elastic(&motion, rate as usize / 2);
        let what = format!("1/{rate} s: energy off");
        study.measure(&what, "< 1e-4", energy_drift(&motion), "of it", Bound::Below(1.2e-4));
        let what = format!("1/{rate} s: oscillation of the elastic energy over its mean");
        study.measure(&what, "oscillates", swing / mean, "", Bound::Above(0.1));
        // of what the energy could give: rounding
        let turned = motion.rows.iter().map(|row| spin(row).norm() + Vec3::from(row.momentum).norm());
        let scale = motion.rows[0].elastic.sqrt() * 1000f64.sqrt();
        let most = turned.fold(0.0, f64::max) / scale;
        study.measure(
            &format!("1/{rate} s: momenta, of what the energy could give"),
            "0",
            most,
            "",
            Bound::Below(1e-9),
        );
        rows.push(vec![format!("1/{rate}"), format!("{:.2}", motion.iterations()), format!("{mean:.0}")]);
        curves.push(Curve::new(format!("1/{rate} s"), motion.over_time(|row| row.elastic)));
        means.push(mean);
        counts.push(motion.iterations());
    }
    let falls = counts.windows(2).all(|w| w[1] <= w[0] + 0.05);
    study.measure("iterations fall with the step", "yes", f64::from(u8::from(falls)), "", Bound::Above(0.5));
    let similar = means[0] / means[means.len() - 1];
    study.measure(
        "mean elastic energy at 1/30 s over that at 1/600 s",
        "similar",
        similar,
        "",
        Bound::Within { theirs: 1.0, share: 0.2 },
    );
    study.table("Steps", &["step (s)", "iterations", "mean elastic energy (J)"], rows);
    let panel = Panel::over_time("Elastic energy", Axis::linear("energy (J)"), curves);
    study.plot("steps", "The cube let go at rest, at five time steps (Figure 13).", &Figure::new(vec![panel]))
}

fn at_rest_projected(study: &mut Study) -> Result<()> {
    let frames = 120;
    let cheap = [STILL, "conservation.method=fepr", FEPR_PRICE];
    let dear = [STILL, "conservation.method=fepr"];
    let mut curves = Vec::new();
    for (name, settings) in [("ε = 10⁻⁴ kg m²", &cheap[..]), ("our price", &dear)] {
        let motion = study.run("conserved-cube", settings, frames)?;
        let what = format!("{name}: energy off");
        study.measure(&what, "< 1e-4", energy_drift(&motion), "of it", Bound::Below(1.2e-4));
        let turned = motion.rows.iter().map(|row| spin(row).norm()).fold(0.0, f64::max);
        let share = turned / (motion.rows[0].elastic.sqrt() * 1000f64.sqrt());
        // a turn that is seen within seconds: a hundredth of the spin that the energy could give
        let (theirs, bound) =
            if settings.len() == 3 { ("visible", Bound::Above(0.01)) } else { ("", Bound::Told) };
        let what = format!("{name}: angular momentum, of what the energy could give");
        study.measure(&what, theirs, share, "", bound);
        curves.push(Curve::new(name, motion.over_time(|row| spin(row).norm())));
    }
    let panel = Panel::over_time("Angular momentum", Axis::linear("|L| (kg m²/s)"), curves);
    study.plot("spin", "What PD + FEPR makes of a cube let go at rest.", &Figure::new(vec![panel]))?;
    let strip = |caption, settings| Strip {
        caption,
        scene: "conserved-cube",
        settings,
        frames: &[0, 20, 40, 60, 63, 66, 69],
        ..Strip::default()
    };
    let strips = [strip("CPD", &[STILL]), strip("PD + FEPR", &cheap)];
    study.film("film", "Let go at rest: the first two seconds, and a turn.", &strips)
}

fn momenta(study: &mut Study) -> Result<()> {
    let frames = 300;
    for (name, count) in
        [("to the tolerance", "conservation.iterations=30"), ("one", "conservation.iterations=1")]
    {
        let settings = ["body.0.velocity=[3,0,0]", count];
        let motion = study.run("conserved-cube", &settings, frames)?;
        let start = Vec3::from(motion.rows[0].momentum);
        let off = motion.rows.iter().map(|row| (Vec3::from(row.momentum) - start).norm() / start.norm());
        let off = off.fold(0.0, f64::max);
        // rounding of sums over 729 vertices, 300 times
        study.measure(&format!("{name}: momentum off"), "0", off, "of it", Bound::Below(1e-11));
        // about the centre of mass, which flies along x through the origin
        study.measure(
            &format!("{name}: angular momentum off"),
            "0",
            spin_drift(&motion),
            "of it",
            Bound::Below(1e-9),
        );
    }
    Ok(())
}
