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
        simulation.add_part(Box::new(Wind { air, rate })).unwrap();
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
        own.add_part(Box::new(OwnDrag(0.01))).unwrap();
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
        simulation.add_part(Box::new(Watch { moments: Arc::clone(&moments), ends_after })).unwrap();
        let row = simulation.frame().unwrap();
        assert_eq!(row.iterations, ends_after, "twenty are regular, fifty the most");
        let expected = ["before step", "predicted", "solved", "advanced", "after step"];
        assert_eq!(*moments.lock().unwrap(), expected);
    }
}

/// A part that only watches, with as many iterations allowed as it likes.
struct Patient;

impl Part for Patient {
    fn name(&self) -> &'static str {
        "patient"
    }

    fn predicted(&mut self, _: &Stage, cx: &mut StepContext) -> Result<()> {
        cx.shared.limits.most = 50;
        Ok(())
    }
}

/// Iterations beyond the regular ones are made only where a part insists.
#[test]
fn a_part_that_does_not_insist_costs_no_iterations() {
    let mut simulation = simulation(&["body.0.stretch=[1.2,1,1]"]);
    simulation.add_part(Box::new(Patient)).unwrap();
    assert_eq!(simulation.frame().unwrap().iterations, 20);
}

/// Looks into a step without having said so.
struct Peeping;

impl Part for Peeping {
    fn name(&self) -> &'static str {
        "peeping"
    }

    fn begin(&mut self, _: &Stage, cx: &mut StepContext) -> Result<()> {
        cx.backend.host().map(|_| ())
    }
}

/// What a simulation cannot take is told with its cause, and nothing goes on from half a step.
#[test]
fn wrong_parts_are_refused_with_a_reason() {
    let mut own = simulation(&[]);
    own.add_part(Box::new(OwnDrag(0.1))).unwrap();
    let twice = own.add_part(Box::new(OwnDrag(0.2))).unwrap_err().to_string();
    assert!(twice.contains("`own drag`") && twice.contains("another name"), "{twice}");
    own.frame().unwrap();
    let late = own.add_part(Box::new(Patient)).unwrap_err().to_string();
    assert!(late.contains("before the first step"), "{late}");

    let mut peeping = simulation(&[]);
    peeping.add_part(Box::new(Peeping)).unwrap();
    let first = peeping.frame().unwrap_err().to_string();
    assert!(first.contains("Part::needs"), "{first}");
    assert_eq!(peeping.frame().unwrap_err().to_string(), first);
}

/// Energy that a part stores is there from the first row on: none of it looks as if the integrator had made it.
#[test]
fn energy_that_a_part_stores_is_not_numerical() {
    struct Spring;
    impl Part for Spring {
        fn name(&self) -> &'static str {
            "loaded spring"
        }
        fn stored_energy(&mut self, _: &mut StepContext) -> Result<f64> {
            Ok(3.0)
        }
    }
    let mut simulation = simulation(&[]);
    simulation.add_part(Box::new(Spring)).unwrap();
    let row = simulation.frame().unwrap();
    assert!(row.contact == 3.0 && row.numerical.abs() < 1e-12, "{row:?}");
}

/// A part's filter of one's own on a device, where the host has to see the velocities that the device has made.
#[test]
fn a_filter_of_ones_own_works_on_a_device() {
    let Some(context) = crate::common::context() else { return };
    for kind in ["backward-euler", "symplectic-euler"] {
        let kind = format!("integrator.kind=\"{kind}\"");
        let fields =
            ["body.0.stretch=[1.2,1,1]", "body.0.angular_velocity=[0,3,1]", "time.substeps=20", &kind];
        let mut expected = simulation(&fields);
        let mut own = crate::common::simulate_on_gpu(&context, CUBE, &fields);
        for of in [&mut expected, &mut own] {
            of.add_part(Box::new(OwnDrag(0.01))).unwrap();
        }
        let (mut last, mut mine) = (expected.last_row(), own.last_row());
        for _ in 0..5 {
            (last, mine) = (expected.frame().unwrap(), own.frame().unwrap());
        }
        // a hundred steps in single precision; velocities of the step before would be off by a hundredth
        assert!((mine.damped / last.damped - 1.0).abs() < 1e-3, "{kind}: {} of {}", mine.damped, last.damped);
        let off = distance(expected.positions(), own.positions());
        assert!(off < 1e-5, "{kind}: {off:e} m");
    }
}
