//! Claims of *Optimized Damping for Dynamic Simulations*: spring damping, once and in sweeps, and what the direct force promises.

use super::claim::Kind;
use super::laplacian::{in_turn, median};
use super::longest_step::{PRECISION, Trial, longest};
use super::optimized::BLOCK;
use super::optimized_rules::{CUBE, SMALL, changed};
use super::{Bound, Claim, Study};
use crate::Result;
use crate::scene::LoadedScene;

pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "spring-momentum",
        place: "Section 2",
        says: "Spring damping keeps linear momentum; angular momentum is kept only if forces are projected on the line between the two points.",
        runs: "A stretched cube that flies and spins for 50 steps of the implicit midpoint rule, spring damping with γ = 0.2, projected and not.",
        quick: true,
        study: momenta,
        ..Claim::PHYSICS
    },
    Claim {
        id: "iterated",
        place: "Section 3.1",
        says: "Iterating spring damping within a step improves the stability.",
        runs: "Longest stable steps, to 3 %: spring damping with γ = 0.9, once and in ten sweeps a step, not projected (as in Eq. 5) and projected; of the block of Figure 1, stretched by a fifth and let \
               fall, within 0.5 s, and of a small membrane onto which a ball falls, within 0.2 s.",
        shortfall: "For a block that falls freely ten sweeps are better. Where a ball hits a membrane they are worse: sweeps spread velocities over a body, and not the places to which a contact has \
                    moved its vertices, so that the impact at 1 ms leaves 8.9 J of deformation with ten unprojected sweeps and 0.7 J with one. Projected sweeps, which the paper does not use here, \
                    make the steps longer in both.",
        study: iterated,
        ..Claim::PHYSICS
    },
    Claim {
        id: "unconditional",
        place: "Section 4",
        says: "The direct forces of γ = 1, which take the whole relative motion, lead to an unconditionally stable simulation.",
        runs: "A block stretched by a fifth and let fall, symplectic Euler: direct damping of the whole body with γ = 1, torque not removed, for 200 steps of 10, 100 and 1000 times the \
               longest stable step without damping; spring damping with γ = 1 beside it.",
        quick: true,
        study: unconditional,
        ..Claim::PHYSICS
    },
    Claim {
        id: "slivers",
        place: "Abstract",
        says: "Badly shaped meshes with sharp angles can be handled if a proper damping is used.",
        runs: "The block of Figure 1 with tetrahedra 2.5 times as flat, then 25 times, stretched by a fifth: longest stable steps under symplectic Euler, γ = 0.9, over that without damping.",
        quick: true,
        caveat: "The paper shows no such mesh: flat boxes cut into tetrahedra, with angles down to 2°, stand for it.",
        study: slivers,
        ..Claim::PHYSICS
    },
    Claim {
        id: "cost",
        place: "Section 3.2",
        says: "The direct computation is much more efficient than the many sweeps whose limit it is.",
        runs: "`membrane`, symplectic Euler: frames of 20 steps with spring damping once, in 100 sweeps a step, and with direct damping of whole bodies, torque not removed, in turn, in one process.",
        kind: Kind::Timing,
        study: cost,
        ..Claim::PHYSICS
    },
    Claim::open(
        "prediction",
        "Section 2",
        "Spring damping is better if it damps the velocities predicted with the forces of the step.",
        "Filters always see the velocities that the step has made, predicted ones under explicit integration; there is none that sees those before it.",
    ),
    Claim::open(
        "projected-point",
        "Section 4",
        "Point damping gives reasonable forces, too, once its torque is removed by projection.",
        "Ways of removing torque belong to direct and spring damping; `point` has none.",
    ),
];

fn momenta(study: &mut Study) -> Result<()> {
    for (name, torque) in [("projected", "edges"), ("not projected", "none")] {
        let settings = ["damping.model=spring", "damping.gamma=0.2", &format!("damping.torque={torque}")];
        let motion = study.run_on(&mut study.start(&study.load_text("cube", CUBE, &settings)?)?, 50)?;
        let [p, l] = changed(&motion);
        // velocities are differences of places over the step: rounding of 1e-16 m over 10 ms in every step
        study.measure(&format!("{name}: momentum changed"), "0", p, "of it", Bound::Below(1e-10));
        let (theirs, bound) =
            if torque == "none" { ("not 0", Bound::Above(1e-3)) } else { ("0", Bound::Below(1e-10)) };
        study.measure(&format!("{name}: angular momentum changed"), theirs, l, "of it", bound);
    }
    Ok(())
}

fn iterated(study: &mut Study) -> Result<()> {
    let mut rows = Vec::new();
    for (scene, duration) in [("block", 0.5), ("membrane and ball", 0.2)] {
        let step = |damping: &[&str], guess| -> Result<f64> {
            let loaded = match scene {
                "block" => block(study, damping)?,
                _ => study.load_text("small", SMALL, damping)?,
            };
            longest(loaded, duration, guess)
        };
        let none = step(&["damping.model=none"], None)?;
        let mut found = Vec::new();
        for (name, torque) in
            [("not projected", "damping.torque=none"), ("projected", "damping.torque=edges")]
        {
            let gain = |model: &[&str]| -> Result<f64> {
                Ok(step(&[model, &["damping.gamma=0.9", torque]].concat(), Some(none))? / none)
            };
            let once = gain(&["damping.model=spring"])?;
            let often = gain(&["damping.model=spring-iterated", "damping.sweeps=10"])?;
            rows.push(vec![format!("{scene}, {name}"), format!("{once:.3}"), format!("{often:.3}")]);
            found.push((name, often / once));
        }
        for (name, ratio) in found {
            // the paper's iteration is not projected
            let bound = if name == "not projected" { Bound::Above(PRECISION) } else { Bound::Told };
            study.measure(&format!("{scene}, {name}: ten sweeps over one"), "longer", ratio, "", bound);
        }
    }
    study.table(
        "Longest stable step over that without damping",
        &["forces", "one sweep", "ten sweeps"],
        rows,
    );
    study.note(
        "Sweeps spread velocities over a body, and not the places to which a contact has moved its vertices: at 1 ms the impact of the ball leaves 8.9 J of deformation with ten unprojected sweeps \
         and 0.7 J with one.",
    );
    Ok(())
}

/// What makes of the block one that is stretched and let go, to fall: energy that the fall can bring is what stability allows for.
const STRETCHED: [&str; 2] = ["body.0.attach=[]", "body.0.stretch=[1.2,1,1]"];

/// The block under this damping.
fn block(study: &Study, damping: &[&str]) -> Result<LoadedScene> {
    study.load_text("block", BLOCK, &[&STRETCHED[..], damping].concat())
}

fn unconditional(study: &mut Study) -> Result<()> {
    let undamped = longest(block(study, &["damping.model=none"])?, 0.5, None)?;
    study.measure("longest stable step without damping", "", 1e3 * undamped, "ms", Bound::Told);
    let direct = ["damping.model=direct", "damping.gamma=1", "damping.scope=global", "damping.torque=none"];
    for times in [10.0, 100.0, 1000.0] {
        let step = times * undamped;
        let holds = |study: &Study, damping: &[&str]| -> Result<f64> {
            Ok(f64::from(u8::from(Trial::new(block(study, damping)?, 200.0 * step)?.is_stable(step)?)))
        };
        let what = |name: &str| format!("{name} damping is stable at {times} times that");
        let stable = holds(study, &direct)?;
        study.measure(&what("direct"), "yes", stable, "(1: yes)", Bound::Above(0.5));
        let spring = holds(study, &["damping.model=spring", "damping.gamma=1"])?;
        study.measure(&what("spring"), "", spring, "(1: yes)", Bound::Told);
    }
    Ok(())
}

fn slivers(study: &mut Study) -> Result<()> {
    let mut rows = Vec::new();
    for thickness in [0.04, 0.004] {
        let mesh = format!("body.0.mesh.size=[0.3,0.1,{thickness}]");
        let step = |damping: &[&str], guess| -> Result<f64> {
            longest(
                study.load_text("block", BLOCK, &[&STRETCHED[..], &[&mesh], damping].concat())?,
                0.2,
                guess,
            )
        };
        let none = step(&["damping.model=none"], None)?;
        let mut row = vec![format!("{}", 1e3 * thickness), format!("{:.4}", 1e3 * none)];
        let dampings: [(&str, &[&str]); 3] = [
            ("spring", &["damping.model=spring", "damping.gamma=0.9"]),
            ("direct", &["damping.model=direct", "damping.gamma=0.9"]),
            (
                "direct, elements unprojected",
                &["damping.model=direct", "damping.gamma=0.9", "damping.local_torque=none"],
            ),
        ];
        let mut best: f64 = 0.0;
        for (_, damping) in dampings {
            let gain = step(damping, Some(none))? / none;
            best = best.max(gain);
            row.push(format!("{gain:.3}"));
        }
        // significantly, as for Figure 1
        let what =
            format!("{} mm thick: longest step with the best damping, over that without", 1e3 * thickness);
        study.measure(&what, "can be handled", best, "", Bound::Above(1.25));
        rows.push(row);
    }
    let heads = [
        "thickness (mm)",
        "longest step undamped (ms)",
        "spring: times that",
        "direct",
        "direct, elements unprojected",
    ];
    study.table("Flat tetrahedra", &heads, rows);
    Ok(())
}

fn cost(study: &mut Study) -> Result<()> {
    let sweeps = ["damping.model=spring-iterated", "damping.sweeps=100", "damping.torque=none"];
    let direct = ["damping.model=direct", "damping.scope=global", "damping.torque=none"];
    let mut all = Vec::new();
    for damping in
        [&["damping.model=none"][..], &["damping.model=spring", "damping.torque=none"], &direct, &sweeps]
    {
        all.push(study.start(&study.load("membrane", damping)?)?);
    }
    let (times, _) = in_turn(&mut all, 40);
    let ms: Vec<f64> = times.into_iter().map(median).collect();
    let names = ["none", "spring, once", "direct", "spring, 100 sweeps"];
    let rows = names.iter().zip(&ms).map(|(name, ms)| vec![name.to_string(), format!("{ms:.2}")]).collect();
    study.table("Median time of a frame of 20 steps", &["damping", "ms"], rows);
    study.measure("100 sweeps over direct", "much less efficient", ms[3] / ms[2], "times", Bound::Above(2.0));
    study.measure("direct over one sweep", "", ms[2] / ms[1], "times", Bound::Told);
    Ok(())
}
