//! Claims of *Optimized Damping for Dynamic Simulations*: what direct damping is, keeps and takes.

use super::longest_step::{PRECISION, longest};
use super::{Axis, Bound, Claim, Curve, Figure, Motion, Panel, Study};
use crate::damping::{Neighbours, direct, spring};
use crate::scene::Torque;
use crate::setup::build;
use crate::{Result, Vec3};

pub const CLAIMS: &[Claim] = &[
    Claim {
        id: "theorem-1",
        place: "Theorem 1",
        says: "Spring damping, swept again and again, leads to the direct force: all relative motion vanishes, with any connectivity.",
        runs: "Random velocities of a box of 60 vertices: unprojected spring sweeps, γ = 1, against the direct force, along the edges of its \
               tetrahedra and along those of one vertex with all others.",
        quick: true,
        study: sweeps,
        ..Claim::PHYSICS
    },
    Claim {
        id: "momentum",
        place: "Section 3.3",
        says: "Linear momentum is conserved inherently; the torque, which is not zero, is removed by projection on the edges, on the radii, or by a linear program.",
        runs: "A stretched cube that flies and spins for 50 steps of the implicit midpoint rule, γ = 0.2, with each way, global and local.",
        quick: true,
        study: momenta,
        ..Claim::PHYSICS
    },
    Claim {
        id: "overshoot",
        place: "Section 3.2",
        says: "γ is always within 0 and 1, and the damping forces do not overshoot.",
        runs: "The same cube with γ of 0.05 and 1, 15 steps each: what a step of damping takes, at its least.",
        quick: true,
        caveat: "Eq. 10 alone can overshoot; our factor is also bounded by that which takes most energy.",
        study: overshoot,
        ..Claim::PHYSICS
    },
    Claim {
        id: "torque",
        place: "Section 4",
        says: "For global damping the projection on the edges works best and the linear program worst; for local damping the projection on radii is \
               proposed; omitting it improves stability greatly, and orientation is affected.",
        runs: "Longest stable steps of a small membrane and ball, γ = 0.9, by the way of removing torque, globally and locally; the spin that a turning \
               cube loses in one step.",
        shortfall: "Stability is what is compared here; the paper names no measure. Tried: all four ways, in the global and in the local part, on a small membrane and ball. That omitting the local projection improves it greatly is found; that \
                    edges are the best for a whole body, and the linear program worse than projections, is not.",
        study: ways,
        ..Claim::PHYSICS
    },
];

/// A cube that flies, spins and swings.
pub(super) const CUBE: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.01, frames = 100, iterations = 200, tolerance = 1e-14 }
    integrator = { kind = "implicit-midpoint" }
    damping = { model = "direct", gamma = 0.2 }
    [[body]]
    name = "cube"
    mesh = { generate = "box", cells = [3, 2, 2], size = [0.6, 0.4, 0.4] }
    material = { model = "corotated", young_modulus = 3e4, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [1.0, 1.1, 1.0]
    velocity = [0.5, 1.0, -2.0]
    angular_velocity = [0.5, 0.0, 3.0]
"#;

/// The ways of removing torque.
const WAYS: [&str; 4] = ["edges", "radial", "linear-program", "none"];

fn sweeps(study: &mut Study) -> Result<()> {
    let text = r#"
        [[body]]
        mesh = { generate = "box", cells = [4, 3, 2], size = [0.8, 0.6, 0.4] }
        material = { model = "arap", mu = 1e4, density = 1000.0 }
    "#;
    let model = build(&study.load_text("block", text, &[])?)?.model;
    let neighbours = Neighbours::new(&model);
    let (x, mass) = (&model.initial_positions, &model.mass);
    // no two alike, and nothing that the box could do as a whole
    let wild = |k: f64| Vec3::new((12.9 * k).sin(), (78.2 * k).sin(), (37.7 * k).sin());
    let start: Vec<Vec3> =
        (0..x.len()).map(|k| wild(k as f64 + 1.0) * 2.0 + Vec3::new(1.0, 2.0, 0.0)).collect();
    let mut limit = start.clone();
    direct::global(&model, &neighbours, x, &mut limit, 1.0, Torque::None);
    let size: f64 = start.iter().zip(&limit).map(|(a, b)| (a - b).norm_squared()).sum();
    let counts = [1, 3, 10, 30, 100, 300, 1000];
    let mut points = Vec::new();
    for count in counts {
        let mut v = start.clone();
        spring::filter(&neighbours, mass, x, &mut v, (1.0, count, false));
        let off: f64 = v.iter().zip(&limit).map(|(a, b)| (a - b).norm_squared()).sum();
        points.push((count as f64, (off / size).sqrt()));
    }
    let rises = points.windows(2).filter(|pair| pair[1].1 > pair[0].1.max(1e-13)).count();
    study.measure(
        "of the impulse, left to the direct force after 1000 sweeps",
        "→ 0",
        points[6].1,
        "",
        Bound::Below(1e-12),
    );
    study.measure("times that more sweeps are farther from it", "0", rises as f64, "", Bound::Below(0.5));
    let relative = limit.iter().map(|v| (v - limit[0]).norm()).fold(0.0, f64::max);
    study.measure(
        "relative velocity that the direct force leaves",
        "0",
        relative,
        "m/s",
        Bound::Below(1e-13),
    );
    let curve = Curve::new("", points.into_iter().map(|(n, off)| (n, off.max(1e-17))).collect()).marked();
    let panel = Panel {
        title: "Sweeps and the direct force".into(),
        across: Axis::logarithmic("sweeps"),
        up: Axis::logarithmic("left of the impulse"),
        curves: vec![curve],
    };
    study.plot(
        "sweeps",
        "What is left to the direct force after so many sweeps of spring damping.",
        &Figure::new(vec![panel]),
    )
}

/// By how much momentum and spin change at most, each over its first size.
pub(super) fn changed(motion: &Motion) -> [f64; 2] {
    let momentum = |row: &crate::ledger::Row| vector(row.momentum);
    let spin = |row: &crate::ledger::Row| {
        vector(row.angular_momentum) - vector(row.centre).cross(&vector(row.momentum))
    };
    let first = &motion.rows[0];
    let most = |of: &dyn Fn(&crate::ledger::Row) -> Vec3| {
        motion.rows.iter().map(|row| (of(row) - of(first)).norm()).fold(0.0, f64::max) / of(first).norm()
    };
    [most(&momentum), most(&spin)]
}

fn momenta(study: &mut Study) -> Result<()> {
    let mut rows = Vec::new();
    for scope in ["global", "local"] {
        for way in WAYS {
            let settings = [format!("damping.scope={scope}"), format!("damping.torque={way}")];
            let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
            let motion = study.run_on(&mut study.start(&study.load_text("cube", CUBE, &settings)?)?, 50)?;
            let [p, l] = changed(&motion);
            let name = format!("{scope}, {way}");
            // velocities are differences of places over the step: rounding of 1e-16 m over 10 ms in every step
            study.measure(&format!("{name}: momentum changed"), "0", p, "of it", Bound::Below(1e-10));
            let bound = if way == "none" { Bound::Above(1e-3) } else { Bound::Below(1e-10) };
            let theirs = if way == "none" { "not 0" } else { "0" };
            study.measure(&format!("{name}: angular momentum changed"), theirs, l, "of it", bound);
            let taken = motion.last().damped;
            rows.push(vec![name, format!("{p:.1e}"), format!("{l:.1e}"), format!("{taken:.3}")]);
        }
    }
    study.table("Momenta", &["scope, torque", "momentum", "angular momentum", "taken (J)"], rows);
    Ok(())
}

fn overshoot(study: &mut Study) -> Result<()> {
    for scope in ["global", "local", "both"] {
        for way in WAYS {
            let mut least = f64::INFINITY;
            for gamma in [0.05, 1.0] {
                let settings = [
                    format!("damping.scope={scope}"),
                    format!("damping.torque={way}"),
                    format!("damping.gamma={gamma}"),
                ];
                let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
                let motion =
                    study.run_on(&mut study.start(&study.load_text("cube", CUBE, &settings)?)?, 15)?;
                let size = motion.rows[0].total.abs();
                least = motion
                    .rows
                    .windows(2)
                    .map(|pair| (pair[1].damped - pair[0].damped) / size)
                    .fold(least, f64::min);
            }
            study.measure(
                &format!("{scope}, {way}: least that a step takes"),
                "≥ 0",
                least,
                "of the energy",
                Bound::Above(-1e-12),
            );
        }
    }
    Ok(())
}

fn vector(v: [f64; 3]) -> Vec3 {
    Vec3::from(v)
}

/// A small membrane and a ball: every way of removing torque in seconds.
pub(super) const SMALL: &str = r#"
    integrator = { kind = "symplectic-euler" }
    damping = { model = "direct", gamma = 0.9 }
    [[body]]
    name = "membrane"
    mesh = { generate = "sheet", cells = [4, 4], size = [0.4, 0.4], thickness = 0.04 }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3 }
    attach = [
        { select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] }, stiffness = 2e4 },
        { select = { min = [0.39, -1.0, -1.0], max = [0.41, 1.0, 1.0] }, stiffness = 2e4 },
    ]
    [[body]]
    name = "ball"
    mesh = { generate = "ball", radius = 0.08, cells = 3 }
    material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3, density = 500.0 }
    position = [0.2, 0.2, 0.2]
"#;

fn ways(study: &mut Study) -> Result<()> {
    let none = longest(study.load_text("small", SMALL, &["damping.model=none"])?, 0.2, None)?;
    let mut gains = [[0.0; 4]; 2];
    for (row, scope) in gains.iter_mut().zip(["global", "local"]) {
        for (gain, way) in row.iter_mut().zip(WAYS) {
            let settings = [format!("damping.scope={scope}"), format!("damping.torque={way}")];
            let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
            *gain = longest(study.load_text("small", SMALL, &settings)?, 0.2, Some(none))? / none;
        }
    }
    let rows = ["global", "local"].iter().zip(&gains).map(|(scope, row)| {
        std::iter::once(scope.to_string()).chain(row.iter().map(|gain| format!("{gain:.3}"))).collect()
    });
    let rows = rows.collect();
    study.table(
        "Longest stable step over that without damping",
        &["scope", "edges", "radial", "linear program", "none"],
        rows,
    );
    let [global, local] = gains;
    // one step of the search apart is no difference
    study.measure(
        "global: edges over radii",
        "≥ 1",
        global[0] / global[1],
        "",
        Bound::Above(1.0 / PRECISION),
    );
    study.measure(
        "global: edges over the linear program",
        "> 1",
        global[0] / global[2],
        "",
        Bound::Above(1.0 / PRECISION),
    );
    study.measure(
        "local: radii over the linear program",
        "> 1",
        local[1] / local[2],
        "",
        Bound::Above(1.0 / PRECISION),
    );
    study.measure(
        "local: unprojected over radii",
        "greatly longer",
        local[3] / local[1],
        "",
        Bound::Above(1.25),
    );
    let turning = [
        "damping.scope=local",
        "damping.gamma=0.9",
        "integrator.kind=symplectic-euler",
        "body.cube.stretch=[1,1,1]",
    ];
    for way in ["radial", "none"] {
        let way_setting = format!("damping.torque={way}");
        let settings = [&turning[..], &[way_setting.as_str()]].concat();
        let motion = study.run_on(&mut study.start(&study.load_text("cube", CUBE, &settings)?)?, 1)?;
        let (theirs, bound) =
            if way == "none" { ("affected", Bound::Above(1e-3)) } else { ("0", Bound::Below(1e-10)) };
        study.measure(
            &format!("local, {way}: spin lost in a step"),
            theirs,
            changed(&motion)[1],
            "of it",
            bound,
        );
    }
    Ok(())
}
