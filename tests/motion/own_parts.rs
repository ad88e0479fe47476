//! Parts of a user's own, added through the trait: wind, and a damping filter.

use crate::common::{distance, simulate};
use dashpot::step::host::HostNeeds;
use dashpot::step::{Part, Stage, StepContext};
use dashpot::{Result, Simulation, Vec3};

/// Air that moves at a speed (m/s) and carries all vertices along at a rate (1/s): v̇ = c (w − v), exact over a step.
struct Wind {
    air: Vec3,
    rate: f64,
}

impl Part for Wind {
    fn name(&self) -> &'static str {
        "wind"
    }

    fn begin(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        cx.fetch()?;
        let share = -(-self.rate * stage.coefficients.h).exp_m1();
        let velocities = cx.backend.fetched().velocities;
        let changes: Vec<Vec3> = velocities.iter().map(|v| (self.air - v) * share).collect();
        cx.apply_impulses(&changes)
    }
}

/// v ← (1 − k) v once a step.
struct OwnDrag(f64);

impl Part for OwnDrag {
    fn name(&self) -> &'static str {
        "own drag"
    }

    fn needs(&self) -> HostNeeds {
        HostNeeds::State
    }

    fn filters_velocities(&self) -> bool {
        true
    }

    fn filter_velocities(&mut self, _: &Stage, cx: &mut StepContext) -> Result<()> {
        let changes: Vec<Vec3> = cx.backend.host()?.v.iter().map(|v| v * -self.0).collect();
        cx.damp_velocities(&changes)
    }
}

const CUBE: &str = r#"
    gravity = [0, 0, 0]
    time = { step = 0.02, iterations = 20 }
    [[body]]
    name = "cube"
    mesh = { generate = "box", cells = [2, 2, 2], size = [0.2, 0.2, 0.2] }
    material = { model = "arap", mu = 1e5, density = 1000.0 }
"#;

fn simulation(overrides: &[&str]) -> Simulation {
    simulate(CUBE, overrides)
}

/// A free body in the wind moves as v = w (1 − e^(−c t)), and what it gains is work, whatever conserves its momentum meanwhile.
#[test]
fn wind_carries_a_body_along() {
    let (air, rate) = (Vec3::new(3.0, 0.0, -1.0), 0.7);
    for overrides in [&[][..], &["conservation.method=\"cpd\""], &["integrator.kind=\"bathe\""]] {
        let mut simulation = simulation(overrides);
        simulation.add_part(Box::new(Wind { air, rate }));
        let row = (0..40).map(|_| simulation.frame().unwrap()).last().unwrap();
        let mass: f64 = simulation.model().mass.iter().sum();
        let expected = air * (mass * -(-rate * row.time).exp_m1());
        // forty steps of rounding in sums over 27 vertices; with conservation, its tolerance of 1e-4
        let slack = if overrides.is_empty() { 1e-12 } else { 1e-4 };
        let off = (Vec3::from(row.momentum) - expected).norm() / expected.norm();
        assert!(off < slack, "{overrides:?}: momentum off by {off:e}");
        assert!((row.work / row.kinetic - 1.0).abs() < 10.0 * slack, "{overrides:?}: {row:?}");
        assert!(row.numerical.abs() < 10.0 * slack * row.work, "{overrides:?}: {row:?}");
    }
}

/// A filter of one's own does what the built-in one does, under integrators that filter after the step and before it.
#[test]
fn a_filter_of_ones_own_is_as_good_as_a_built_in_one() {
    for kind in
        ["backward-euler", "implicit-midpoint", "bdf2", "bathe", "symplectic-euler", "velocity-verlet"]
    {
        let kind = format!("integrator.kind=\"{kind}\"");
        let moving =
            ["body.0.stretch=[1.2,1,1]", "body.0.angular_velocity=[0,3,1]", "time.substeps=20", &kind];
        let built_in = ["damping.model=\"ether-drag\"", "damping.coefficient=0.01"];
        let mut expected = simulation(&[&moving[..], &built_in].concat());
        let mut own = simulation(&moving);
        own.add_part(Box::new(OwnDrag(0.01)));
        let (mut last, mut mine) = (expected.last_row(), own.last_row());
        for _ in 0..10 {
            (last, mine) = (expected.frame().unwrap(), own.frame().unwrap());
        }
        // v − k v and (1 − k) v differ by rounding, which two hundred steps of a stiff body carry on
        let off = distance(expected.positions(), own.positions());
        assert!(off < 1e-9, "{kind}: {off:e} m");
        assert!(
            last.damped > 1e-3 && (mine.damped / last.damped - 1.0).abs() < 1e-8,
            "{kind}: {mine:?} {last:?}"
        );
    }
}

/// A part sees every moment of a step in order, and may ask for more iterations, or end them.
#[test]
fn moments_come_in_order_and_verdicts_count() {
    use dashpot::step::parts::{Progress, Verdict};
    use std::sync::{Arc, Mutex};

    struct Watch {
        moments: Arc<Mutex<Vec<&'static str>>>,
        ends_after: usize,
    }

    impl Part for Watch {
        fn name(&self) -> &'static str {
            "watch"
        }
        fn before_step(&mut self, _: &mut StepContext) -> Result<()> {
            self.moments.lock().unwrap().push("before step");
            Ok(())
        }
        fn predicted(&mut self, _: &Stage, cx: &mut StepContext) -> Result<()> {
            self.moments.lock().unwrap().push("predicted");
            cx.shared.limits.most = 50;
            Ok(())
        }
        fn verdict(&mut self, _: &Stage, progress: Progress, _: &mut StepContext) -> Result<Verdict> {
            let enough = progress.iterations >= self.ends_after;
            Ok(if enough { Verdict::Satisfied } else { Verdict::Insist })
        }
        fn solved(&mut self, _: &Stage, _: Progress, _: &mut StepContext) -> Result<()> {
            self.moments.lock().unwrap().push("solved");
            Ok(())
        }
        fn advanced(&mut self, _: &Stage, _: &mut StepContext) -> Result<()> {
            self.moments.lock().unwrap().push("advanced");
            Ok(())
        }
        fn after_step(&mut self, _: &mut StepContext) -> Result<()> {
            self.moments.lock().unwrap().push("after step");
            Ok(())
        }
    }

    for ends_after in [3, 33] {
        let moments = Arc::default();
        let mut simulation = simulation(&["body.0.stretch=[1.2,1,1]"]);
        simulation.add_part(Box::new(Watch { moments: Arc::clone(&moments), ends_after }));
        let row = simulation.frame().unwrap();
        assert_eq!(row.iterations, ends_after, "twenty are regular, fifty the most");
        let expected = ["before step", "predicted", "solved", "advanced", "after step"];
        assert_eq!(*moments.lock().unwrap(), expected);
    }
}
