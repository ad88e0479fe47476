//! What the text says of momenta and integrators, and the limits of the method.

use crate::reproduce::{Axis, Bound, Claim, Curve, Figure, Motion, Panel, Study};
use crate::{Result, Simulation, Vec3, damping, ledger::Row};

/// A cube without gravity, at rest in its shape, that flies and spins about z.
const SPINNING: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.01, frames = 100, iterations = 10 }
    integrator = { kind = "implicit-midpoint" }
    damping = { model = "laplacian", stiffness = 1e-4 }
    [[body]]
    name = "cube"
    mesh = { generate = "box", cells = [6, 6, 6], size = [0.5, 0.5, 0.5] }
    material = { model = "arap", mu = 1e5, density = 1000.0 }
    velocity = [1.0, 2.0, 0.0]
    angular_velocity = [0.0, 0.0, 2.0]
"#;

fn momentum_of(row: &Row) -> Vec3 {
    row.momentum.into()
}

/// Angular momentum about the centre of mass (kg m²/s).
fn spin_of(row: &Row) -> Vec3 {
    Vec3::from(row.angular_momentum) - Vec3::from(row.centre).cross(&momentum_of(row))
}

pub const MOMENTUM: Claim = Claim {
    id: "momentum",
    place: "Section 4, Appendix B",
    says: "Laplacian damping conserves linear momentum exactly, since L · 1 = 0.",
    runs: "A stretched cube that flies and spins, `cube` at α₂ = 1 ms, for 5 s.",
    quick: true,
    study: momentum,
    ..Claim::PHYSICS
};

fn momentum(study: &mut Study) -> Result<()> {
    let settings = ["damping.stiffness=1e-3", "body.0.velocity=[1,2,0]", "gravity=[0,0,0]"];
    let motion = study.run("cube", &settings, 150)?;
    let start = momentum_of(&motion.rows[0]);
    let lost = (momentum_of(motion.last()) - start).norm() / start.norm();
    // rounding of 150 steps of some thousand additions
    study.measure("momentum lost", "0", lost, "of it", Bound::Below(1e-10));
    let damped = motion.last().damped / motion.rows[0].elastic;
    study.measure("taken by damping, of the elastic energy", "", damped, "", Bound::Above(0.1));
    let energies = vec![
        Curve::new("elastic", motion.over_time(|row| row.elastic)),
        Curve::new("taken by damping", motion.over_time(|row| row.damped)),
    ];
    let energies = Panel::over_time("Energies", Axis::linear("energy (J)"), energies);
    let away = motion.over_time(|row| (momentum_of(row) - start).norm() / start.norm() + 1e-17);
    let away = Panel::over_time("Momentum lost, of it", Axis::logarithmic(""), vec![Curve::new("", away)]);
    study.plot("energies", "Energies and momentum of the damped cube.", &Figure::new(vec![energies, away]))
}

pub const ANGULAR: Claim = Claim {
    id: "angular-momentum",
    place: "Section 5, limitations",
    says: "Laplacian damping does not conserve angular momentum exactly.",
    runs: "A cube that spins, unstretched, at α₂ = 0.1 ms: its spin against e^(−λt) with λ = 2 α₂ Σ x × (L (ω × x)) / (I ω), which follows \
           from Equation 15; and the same with its momenta held by `[conservation]`, which the paper leaves to the future.",
    quick: true,
    study: angular,
    ..Claim::PHYSICS
};

/// λ of a spin about z (1/s): 2 α₂ z·Σ x × (L (z × x)) / I, about the centre of mass; the 2 is that of the midpoint's Equation 15.
fn decay_of_spin(simulation: &Simulation, stiffness: f64) -> Result<f64> {
    let model = simulation.model();
    let laplacian = model.laplacian()?;
    let (x, centre) = (simulation.positions(), Vec3::from(simulation.last_row().centre));
    let arms: Vec<Vec3> = x.iter().map(|x| x - centre).collect();
    let turning: Vec<Vec3> = arms.iter().map(|r| Vec3::z().cross(r)).collect();
    let force = |i: usize| damping::laplacian::resistance(&laplacian, i, &turning);
    let torque: f64 = (0..arms.len()).map(|i| arms[i].cross(&force(i)).z).sum();
    let inertia: f64 = turning.iter().zip(&model.mass).map(|(u, m)| m * u.norm_squared()).sum();
    Ok(2.0 * stiffness * torque / inertia)
}

/// How fast a quantity decays, as −ln of what is left over the time (1/s).
fn rate(motion: &Motion, quantity: impl Fn(&Row) -> f64) -> f64 {
    let (start, end) = (&motion.rows[0], motion.last());
    (quantity(start) / quantity(end)).ln() / (end.time - start.time)
}

fn angular(study: &mut Study) -> Result<()> {
    let mut simulation = study.start(&study.load_text("spinning", SPINNING, &[])?)?;
    let expected = decay_of_spin(&simulation, 1e-4)?;
    let motion = study.run_on(&mut simulation, 100)?;
    let measured = rate(&motion, |row| spin_of(row).norm());
    let left = spin_of(motion.last()).norm() / spin_of(&motion.rows[0]).norm();
    study.measure("spin left after 1 s", "less than all", left, "of it", Bound::Below(0.999));
    // steps of λh take (1 + λh/2)⁻² or so of the spin each: λh is 1e-2
    let near = Bound::Within { theirs: expected, share: 0.03 };
    study.measure("its decay against Equation 15's", "", measured, "1/s", near);
    let held = study.load_text("spinning", SPINNING, &["conservation.method=cpd"])?;
    let held = study.run_on(&mut study.start(&held)?, 100)?;
    let kept = (spin_of(held.last()) - spin_of(&held.rows[0])).norm() / spin_of(&held.rows[0]).norm();
    // the tolerance of what is held
    study.measure("spin lost with momenta held", "future work", kept, "of it", Bound::Below(1e-3));
    let curve = |name, motion: &Motion| Curve::new(name, motion.over_time(|row| spin_of(row).norm()));
    let law = |row: &Row| spin_of(&motion.rows[0]).norm() * (-expected * row.time).exp();
    let curves = vec![
        curve("Laplacian", &motion),
        Curve::new("Equation 15", motion.over_time(law)).dashed(),
        curve("momenta held", &held),
    ];
    let panel = Panel::over_time("Spin", Axis::linear("angular momentum (kg m²/s)"), curves);
    study.plot("spin", "A spinning cube.", &Figure::new(vec![panel]))
}

pub const FILTERS: Claim = Claim {
    id: "filters",
    place: "Sections 1 and 2",
    says: "Ether drag slows rigid motion, in linear and angular momentum; PBD damping keeps both; both are explicit and act after the step.",
    runs: "The spinning cube, stretched, under drag and PBD damping of 1 % a step, for 1 s.",
    quick: true,
    study: filters,
    ..Claim::PHYSICS
};

fn filters(study: &mut Study) -> Result<()> {
    let lost = |model: &str| -> Result<[f64; 2]> {
        let settings =
            [&format!("damping.model={model}"), "damping.coefficient=0.01", "body.0.stretch=[1.1,1,1]"];
        let loaded = study.load_text("spinning", SPINNING, &settings)?;
        let motion = study.run_on(&mut study.start(&loaded)?, 100)?;
        let share = |of: fn(&Row) -> Vec3| {
            let start = of(&motion.rows[0]);
            (of(motion.last()) - start).norm() / start.norm()
        };
        Ok([share(momentum_of), share(spin_of)])
    };
    let ([p, l], [p_kept, l_kept]) = (lost("ether-drag")?, lost("pbd")?);
    // (1 − k)ⁿ; ten iterations leave the rest of the step unsolved, which turns the body a little
    let left = 1.0 - 0.99f64.powi(100);
    study.measure("momentum lost to drag", "slowed", p, "of it", Bound::Within { theirs: left, share: 1e-6 });
    study.measure("spin lost to drag", "slowed", l, "of it", Bound::Within { theirs: left, share: 0.02 });
    // rounding; and what ten iterations leave unsolved of the midpoint's spin
    study.measure("momentum lost to PBD damping", "0", p_kept, "of it", Bound::Below(1e-10));
    study.measure("spin lost to PBD damping", "0", l_kept, "of it", Bound::Below(1e-3));
    Ok(())
}

pub const INTEGRATORS: Claim = Claim {
    id: "integrators",
    place: "Section 1",
    says: "Backward Euler has much damping of its own, which the user cannot control; implicit midpoint has none.",
    runs: "A cube that is stretched and let go, undamped, for 2 s in steps of 10 ms, with as many iterations as a step needs: what is left of its energy.",
    quick: true,
    study: integrators,
    ..Claim::PHYSICS
};

fn integrators(study: &mut Study) -> Result<()> {
    let run = |kind: &str| -> Result<Motion> {
        let settings = [
            &format!("integrator.kind={kind}"),
            "damping.model=none",
            "body.0.stretch=[1.1,1,1]",
            "time.iterations=400",
            "time.tolerance=1e-8",
        ];
        let loaded = study.load_text("spinning", SPINNING, &settings)?;
        study.run_on(&mut study.start(&loaded)?, 200)
    };
    let motions = [run("implicit-midpoint")?, run("backward-euler")?, run("bdf2")?];
    // without that of the flight, which no integrator changes
    let own =
        |row: &Row, mass: f64| row.kinetic + row.elastic - momentum_of(row).norm_squared() / (2.0 * mass);
    let mass = 1000.0 * 0.5f64.powi(3);
    let [midpoint, euler, bdf2] =
        motions.each_ref().map(|motion| own(motion.last(), mass) / own(&motion.rows[0], mass));
    // the midpoint keeps no nonlinear energy exactly: it swings about it by a share of (ωh)²
    study.measure(
        "energy left, implicit midpoint",
        "non-dissipative",
        midpoint,
        "",
        Bound::Within { theirs: 1.0, share: 0.05 },
    );
    study.measure("energy left, backward Euler", "strongly dissipative", euler, "", Bound::Below(0.5));
    study.measure("energy left, BDF-2", "", bdf2, "", Bound::Told);
    let curve = |name: &str, motion: &Motion| Curve::new(name, motion.over_time(|row| own(row, mass)));
    let names = ["implicit midpoint", "backward Euler", "BDF-2"];
    let curves = names.iter().zip(&motions).map(|(name, motion)| curve(name, motion)).collect();
    let panel = Panel::over_time("Energy of an undamped cube", Axis::linear("energy (J)"), curves);
    study.plot("energy", "What integrators leave of an undamped vibration.", &Figure::new(vec![panel]))
}

pub const MASS: Claim = Claim {
    id: "mass-damping",
    place: "Section 4",
    says: "α₁ = 0 leaves global motion undamped, α₁ > 0 damps it where that is wanted.",
    runs: "The flying cube at α₁ = 0.5 per second: how fast its momentum decays, against 2 α₁, which follows from Equation 15.",
    quick: true,
    study: mass,
    ..Claim::PHYSICS
};

fn mass(study: &mut Study) -> Result<()> {
    let loaded = study.load_text("spinning", SPINNING, &["damping.mass=0.5"])?;
    let motion = study.run_on(&mut study.start(&loaded)?, 100)?;
    let measured = rate(&motion, |row| momentum_of(row).norm());
    // a step of Equation 15 leaves 1/(1 + 2 α₁ h): 0.5 % off e^(−2 α₁ h) in its rate
    let near = Bound::Within { theirs: 1.0, share: 0.01 };
    study.measure("decay of momentum", "2 α₁ = 1", measured, "1/s", near);
    study.note("Equation 14 damps by 2 D under implicit midpoint and by D under backward Euler: the same coefficient damps twice as much.");
    Ok(())
}
