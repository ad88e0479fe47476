//! How a reduced body moves: like the whole one as long as it is little deformed, carried by what holds it, and damped by example.

use crate::common::held_bar::{load, reduce};
use crate::common::{distance, refused};
use dashpot::Error;
use dashpot::model::{ExampleShape, Model};
use dashpot::observe::MotionSource;
use dashpot::reduced::Reduced;
use dashpot::scene::{Curve, CurveKind, Example, LoadedScene, Over, Shape};
use dashpot::{Simulation, Vec3, cpu};
use nalgebra::DVector;
use std::sync::Arc;

/// The largest distance between reduced and whole body over some frames, as a share of the largest displacement.
fn difference(loaded: &LoadedScene, mut reduced: Reduced, frames: usize) -> f64 {
    let model =
        Arc::new(Model { initial_positions: reduced.positions().to_vec(), ..reduced.model().clone() });
    let backend = cpu::backend(model.clone(), &loaded.scene.solver).unwrap();
    let mut whole = Simulation::new(&loaded.scene, model, backend).unwrap();
    let (mut apart, mut moved): (f64, f64) = (0.0, 0.0);
    for _ in 0..frames {
        reduced.frame().unwrap();
        whole.frame().unwrap();
        whole.fetch().unwrap();
        apart = apart.max(distance(reduced.positions(), whole.positions()));
        moved = moved.max(distance(&reduced.undeformed(reduced.time()), whole.positions()));
    }
    apart / moved
}

#[test]
fn the_less_it_is_deformed_the_more_it_moves_like_the_whole_body() {
    let (loaded, model) = load(&[]);
    let share = |far: f64| {
        let mut reduced = reduce(&loaded, &model, 15);
        reduced.pluck(far);
        difference(&loaded, reduced, 40)
    };
    let shares = [0.1, 0.01, 0.001].map(share);
    println!("differences of 0.1, 0.01 and 0.001 m: {shares:?}");
    // linear modes are exact; the first error is of the deformation squared
    assert!(shares[1] < 0.2 * shares[0] && shares[2] < 0.2 * shares[1], "{shares:?}");
    // 2.7e-4 as measured: plucked in a mode alone it is stretched by the square of the amplitude, and swings along itself
    assert!(shares[2] < 5e-4, "{shares:?}");
}

/// The drag of L on a mode pushes others, by α₂ω of it, a tenth here: the response to it is among the shapes.
#[test]
fn laplacian_damping_couples_modes_as_in_the_whole_body() {
    let (loaded, model) = load(&["damping.model=none"]);
    let slowest = reduce(&loaded, &model, 15).potential(&DVector::zeros(15)).hessian[(0, 0)].sqrt();
    let stiffness = format!("damping.stiffness={}", 0.1 / slowest);
    let (loaded, model) = load(&["damping.model=laplacian", &stiffness]);
    let mut reduced = reduce(&loaded, &model, 15);
    reduced.pluck(0.001);
    let share = difference(&loaded, reduced, 40);
    println!("difference under Laplacian damping: {share:e}");
    // a hundredth; 3.9e-3 as measured: the responses of these modes are pushed by the drag on others in turn
    assert!(share < 1e-2, "{share:e}");
}

#[test]
fn weight_is_felt_as_by_the_whole_body() {
    let (loaded, model) = load(&["gravity=[0.0, -0.1, 0.0]"]);
    let share = difference(&loaded, reduce(&loaded, &model, 15), 60);
    println!("difference under a small weight: {share:e}");
    // how it hangs is one of its shapes; what is left are the modes beyond the fifth that a sudden weight excites
    assert!(share < 5e-3, "{share:e}");
}

/// Overdamped, it creeps under a sudden weight through shapes that no few modes hold; the response at one rate is enough of them.
#[test]
fn it_creeps_under_a_sudden_weight_as_the_whole_body_does() {
    let (loaded, model) =
        load(&["gravity=[0.0, -0.1, 0.0]", "damping.model=laplacian", "damping.stiffness=0.05"]);
    let share = difference(&loaded, reduce(&loaded, &model, 20), 60);
    println!("difference of an overdamped bar: {share:e}");
    // 4.9e-3 as measured; 0.11 without the response
    assert!(share < 2e-2, "{share:e}");
}

#[test]
fn damping_takes_energy_in_every_step() {
    for damping in ["laplacian", "rayleigh"] {
        let damping = format!("damping.model={damping}");
        let (loaded, model) =
            load(&[&damping, "damping.stiffness=2e-3", "damping.mass=0.1", "integrator.kind=backward-euler"]);
        let mut reduced = reduce(&loaded, &model, 15);
        reduced.pluck(0.5);
        let mut before = reduced.energy();
        let start = before;
        for step in 0..200 {
            reduced.step().unwrap();
            let now = reduced.energy();
            assert!(now <= before * (1.0 + 1e-12), "{damping}: {before} J to {now} J in step {step}");
            before = now;
        }
        assert!(before < 0.05 * start, "{damping}: {before} J of {start} J are left");
    }
}

/// The bar with its first mode as example, damped γ times as strongly.
fn designed(gamma: f64, curve: Option<Curve>) -> Reduced {
    let overrides =
        ["damping.model=rayleigh", "damping.stiffness=1e-3", "damping.mass=0.05", "time.step=0.002"];
    let (loaded, mut model) = load(&overrides);
    let shape = reduce(&loaded, &model, 15).shapes()[0].iter().map(|x| x * 0.1).collect();
    let mut scene = loaded.scene.clone();
    let shape_of = Shape { mode: Some(1), ..Shape::default() };
    scene.damping.examples.push(Example { name: "bend".into(), body: None, shape: shape_of, gamma, curve });
    model.examples = vec![ExampleShape { body: 0, displacement: shape }];
    Reduced::new(&scene, Arc::new(model), 15, |_| ()).unwrap()
}

/// The rate (1/s) at which the energy of a mode decays, over about a second; it starts with an excitation of 1e-3.
fn decay(mut reduced: Reduced, mode: usize) -> f64 {
    let zero = DVector::zeros(15);
    let q = DVector::from_fn(15, |a, _| if a == mode { 1e-4 } else { 0.0 });
    let omega = reduced.potential(&zero).hessian[(mode, mode)].sqrt();
    reduced.set_state(q, zero);
    let steps = ((omega / std::f64::consts::TAU).round().max(1.0) * std::f64::consts::TAU / omega / 0.002)
        .round() as usize;
    let start = reduced.energy();
    for _ in 0..steps {
        reduced.step().unwrap();
    }
    (start / reduced.energy()).ln() / (steps as f64 * 0.002)
}

#[test]
fn an_example_with_gamma_three_decays_three_times_as_fast_and_others_as_before() {
    for mode in 0..3 {
        let ratio = decay(designed(3.0, None), mode) / decay(designed(1.0, None), mode);
        let expected = if mode == 0 { 3.0 } else { 1.0 };
        // whole periods to half a step of 1/400 of one: the energy of a period falls unevenly, by its own share of that
        assert!((ratio / expected - 1.0).abs() < 0.01, "mode {mode}: {ratio} times as fast");
    }
}

#[test]
fn curves_are_read_where_the_motion_is() {
    let points = vec![[0.1, 0.0], [1.0, 1.0]];
    let curve = Curve { kind: CurveKind::Linear, over: Over::Deformation, points };
    let mut reduced = designed(1.0, Some(curve));
    // the example is 0.1 of the first shape
    for (q, gamma) in [(0.001, 1.0), (0.055, 10f64.powf(0.5)), (0.3, 10.0)] {
        reduced.set_state(DVector::from_fn(15, |a, _| if a == 0 { q } else { 0.0 }), DVector::zeros(15));
        assert!((reduced.excitations()[0] - q / 0.1).abs() < 1e-12 * q);
        reduced.step().unwrap();
        assert!(
            (reduced.gammas()[0] / gamma - 1.0).abs() < 1e-9,
            "{:?} instead of {gamma}",
            reduced.gammas()
        );
    }
    reduced.set_example(0, 7.0, None);
    reduced.step().unwrap();
    assert_eq!(reduced.gammas(), [7.0]);
}

const CIRCLE: &str =
    "body.0.attach.0.path={ kind = \"circle\", axis = [1.0, 0.0, 0.0], radius = 0.02, period = 0.8 }";

#[test]
fn it_is_carried_by_what_holds_it() {
    // two cubes in all of their coordinates: what is left is how the acceleration of the seat is seen
    let share = |step: &str, frames: usize| {
        let (loaded, model) =
            load(&[CIRCLE, step, "body.0.mesh.cells=[2, 1, 1]", "body.0.mesh.size=[1.0, 0.3, 0.4]"]);
        difference(&loaded, reduce(&loaded, &model, 36), frames)
    };
    let shares = [share("time.step=0.01", 50), share("time.step=0.005", 100), share("time.step=0.0025", 200)];
    println!("differences of a carried bar: {shares:?}");
    // the seat starts with a jerk, which a stiff attachment passes on within a step: first order
    assert!(shares[0] < 0.1 && shares[1] < 0.6 * shares[0] && shares[2] < 0.6 * shares[1], "{shares:?}");
}

#[test]
fn the_ledger_closes_where_a_seat_carries_it() {
    let numerical = |step: &str, frames: usize| {
        let (loaded, model) = load(&[
            CIRCLE,
            step,
            "gravity=[0.0, -9.81, 0.0]",
            "damping.model=laplacian",
            "damping.stiffness=1e-3",
        ]);
        let mut reduced = reduce(&loaded, &model, 15);
        let (mut most, mut worked): (f64, f64) = (0.0, 0.0);
        for _ in 0..frames {
            let row = reduced.frame().unwrap();
            most = most.max(row.numerical.abs());
            worked = worked.max(row.work.abs());
        }
        (most, worked)
    };
    let (coarse, work) = numerical("time.step=0.01", 80);
    let (fine, _) = numerical("time.step=0.005", 160);
    println!("numerical {coarse:e} J, then {fine:e} J; work {work:e} J");
    // implicit midpoint is of second order, and so is what it loses
    assert!(coarse < 0.02 * work && fine < 0.35 * coarse, "{coarse} J, then {fine} J; work {work} J");
}

#[test]
fn what_cannot_be_reduced_is_refused_by_name() {
    let cases: [(&[&str], &str); 5] = [
        (&["body.0.attach=[]"], "must be held"),
        (&["integrator.kind=symplectic-euler", "solver.kind=projective"], "integrator.kind"),
        (&["damping.model=ether-drag"], "damping.model"),
        (&["body.0.attach.0.until=0.3"], "permanent"),
        (
            &["body.0.mesh={ generate = \"cloth\", cells = [4, 4], size = [1.0, 1.0] }", "body.0.attach=[]"],
            "tetrahedra",
        ),
    ];
    for (overrides, mentions) in cases {
        let (loaded, model) = load(overrides);
        match Reduced::new(&loaded.scene, Arc::new(model), 10, |_| ()) {
            Err(Error::Input(error)) => assert!(error.to_string().contains(mentions), "{error}"),
            Err(other) => panic!("{overrides:?}: {other}"),
            Ok(_) => panic!("{overrides:?} is not refused"),
        }
    }
    let (loaded, model) = load(&["body.0.attach.0.stiffness=1e6"]);
    for count in [0, 1000] {
        assert!(Reduced::new(&loaded.scene, Arc::new(model.clone()), count, |_| ()).is_err());
    }
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (loaded, model) = load(&["gravity=[0.0, -9.81, 0.0]"]);
            let mut reduced = reduce(&loaded, &model, 15);
            for _ in 0..10 {
                reduced.frame().unwrap();
            }
            reduced.positions().to_vec()
        })
    };
    let (one, three): (Vec<Vec3>, Vec<Vec3>) = (run(1), run(3));
    assert_eq!(one, three);
}

#[test]
fn a_pluck_that_is_no_length_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let reduce = |far: &str| {
        let pluck = format!("--pluck={far}");
        let arguments = ["reduce", "bar-directions", "--modes", "4", "--frames", "2", pluck.as_str()];
        refused(folder.path(), &arguments, &["--pluck"]);
    };
    ["nan", "inf", "-inf", "1e200"].into_iter().for_each(reduce);
}
