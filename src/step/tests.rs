//! A backend that reports late gives the ledger of one that does not.

use super::delayed_backend::{DelayedBackend, Gradient};
use super::{Backend, Simulation};
use crate::ledger::Row;
use crate::model::{Body, Model, SpringElement};
use crate::scene::{LoadedScene, Scene};
use crate::setup::{self, build};
use crate::{Vec3, cpu};
use std::sync::Arc;

type Wrap = fn(Box<dyn Backend>) -> Box<dyn Backend>;

fn prompt(backend: Box<dyn Backend>) -> Box<dyn Backend> {
    backend
}

fn late(backend: Box<dyn Backend>) -> Box<dyn Backend> {
    Box::new(DelayedBackend::new(backend, Gradient::Host))
}

fn device(backend: Box<dyn Backend>) -> Box<dyn Backend> {
    Box::new(DelayedBackend::new(backend, Gradient::Device))
}

/// Substeps, a filter, a moving attachment: all that is exchanged.
fn exchanging() -> LoadedScene {
    let text = r#"
        time = { step = 0.03, substeps = 2, iterations = 6 }
        damping = { model = "pbd", coefficient = 0.05 }
        [[body]]
        name = "bar"
        mesh = { generate = "box", cells = [4, 1, 1], size = [0.4, 0.1, 0.1] }
        material = { model = "corotated", young_modulus = 1e5, poisson_ratio = 0.3, density = 1000.0 }
        [[body.attach]]
        select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }
        path = { kind = "circle", axis = [0, 0, 1], radius = 0.1, period = 1.0 }
    "#;
    setup::load_text("test", text, &[]).unwrap()
}

fn start(loaded: &LoadedScene, wrap: Wrap) -> Simulation {
    let model = Arc::new(build(loaded).unwrap().model);
    let backend = wrap(cpu::backend(model.clone(), &loaded.scene.solver).unwrap());
    Simulation::new(&loaded.scene, model, backend).unwrap()
}

/// Starts frames one after the other and takes the rows as they come.
fn run_ahead(simulation: &mut Simulation, frames: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for frame in 1..=frames {
        simulation.start_frame().unwrap();
        rows.extend(simulation.rows(false).unwrap());
        assert_eq!(rows.len(), frame - 1, "a frame late");
    }
    rows.extend(simulation.rows(true).unwrap());
    rows
}

#[test]
fn late_reports_give_the_same_ledger() {
    let loaded = exchanging();
    let mut simulation = start(&loaded, prompt);
    let rows: Vec<Row> = (0..8).map(|_| simulation.frame().unwrap()).collect();
    let last = rows[7];
    assert!(last.damped > 0.0 && last.work != 0.0 && last.residual > 0.0, "{last:?}");
    for wrap in [late as Wrap, device] {
        let mut waiting = start(&loaded, wrap);
        assert_eq!(rows, (0..8).map(|_| waiting.frame().unwrap()).collect::<Vec<_>>());
        assert_eq!(simulation.positions(), waiting.positions(), "a frame fetches");
        let mut ahead = start(&loaded, wrap);
        assert_eq!(rows, run_ahead(&mut ahead, 8));
        assert_eq!(ahead.positions(), ahead.model().initial_positions, "nobody has fetched");
        ahead.fetch().unwrap();
        assert_eq!(simulation.positions(), ahead.positions());
        assert_eq!(simulation.velocities(), ahead.velocities());
    }
}

/// A snapshot knows all that was exchanged, and the rows that it waited for are not lost.
#[test]
fn a_snapshot_waits_for_the_book() {
    let loaded = exchanging();
    let (mut one, mut other) = (start(&loaded, prompt), start(&loaded, late));
    let rows: Vec<Row> = (0..3).map(|_| one.frame().unwrap()).collect();
    (0..3).for_each(|_| other.start_frame().unwrap());
    let snapshot = other.snapshot().unwrap();
    assert_eq!(one.snapshot().unwrap(), snapshot);
    assert_eq!(rows, other.rows(false).unwrap());
    // what is on its way when a simulation goes back belongs to nothing any more
    let next = one.frame().unwrap();
    (0..2).for_each(|_| other.start_frame().unwrap());
    assert!(other.restore(&snapshot).unwrap());
    assert!(other.rows(true).unwrap().is_empty());
    assert_eq!(next, other.frame().unwrap());
}

/// Another backend keeps rotations in another layout and the last way beside: both can be gone on from.
#[test]
fn a_snapshot_of_another_backend_is_gone_on_from() {
    let loaded = exchanging();
    let mut simulation = start(&loaded, prompt);
    for _ in 0..5 {
        simulation.frame().unwrap();
    }
    let mut snapshot = simulation.snapshot().unwrap();
    snapshot.state.moved = vec![7.0; snapshot.state.positions.len()];
    snapshot.state.warm_starts = vec![7.0; 9 * simulation.model().tets.len()];
    let expected = simulation.frame().unwrap();
    assert!(simulation.restore(&snapshot).unwrap());
    let row = simulation.frame().unwrap();
    // the rotations are found from any start, to a few rounding errors, which the steps of a frame carry on
    let off = (row.total - expected.total).abs() / expected.total.abs();
    assert!(off < 1e-9, "total off by {off:e}");
    snapshot.state.positions.truncate(3);
    assert!(!simulation.restore(&snapshot).unwrap(), "of another number of vertices");
}

fn masses(positions: &[Vec3], velocities: &[Vec3]) -> Model {
    Model {
        bodies: vec![Body {
            name: "masses".into(),
            vertices: 0..positions.len(),
            mesh: Default::default(),
            skin: None,
        }],
        mass: vec![1.0; positions.len()],
        initial_positions: positions.to_vec(),
        initial_velocities: velocities.to_vec(),
        ..Model::default()
    }
}

fn simulate(model: Model, step: f64, wrap: Wrap) -> Simulation {
    let mut scene: Scene = toml::from_str("").unwrap();
    scene.time.step = step;
    scene.integrator.kind = "backward-euler".into();
    let model = Arc::new(model);
    let backend = wrap(cpu::backend(model.clone(), &scene.solver).unwrap());
    Simulation::new(&scene, model, backend).unwrap()
}

/// A mass falls with g h = 4·10¹⁵³ m/s: of its energies m (n g h)² is the first to overflow, at n = 4.
fn falling(wrap: Wrap) -> Simulation {
    let mut model = masses(&[Vec3::zeros()], &[Vec3::zeros()]);
    model.gravity.y = -4e153;
    simulate(model, 1.0, wrap)
}

#[test]
fn an_overflow_told_late_names_its_frame_and_keeps_the_rows_before() {
    let mut prompt = falling(prompt);
    let rows: Vec<Row> = (0..3).map(|_| prompt.frame().unwrap()).collect();
    let expected = prompt.frame().unwrap_err().to_string();
    assert!(expected.contains("frame 4"), "{expected}");

    // as the frames come: that of frame 4 is told when frame 5 is made
    let mut ahead = falling(late);
    for frame in 1..=4 {
        ahead.start_frame().unwrap();
        assert_eq!(rows[..frame - 1].last(), ahead.rows(false).unwrap().last());
    }
    ahead.start_frame().unwrap();
    assert_eq!(ahead.rows(false).unwrap_err().to_string(), expected);
    assert_eq!(ahead.start_frame().unwrap_err().to_string(), expected, "it does not go on");
    assert_eq!(ahead.last_row(), rows[2]);

    // in one batch
    let mut ahead = falling(late);
    (0..6).for_each(|_| ahead.start_frame().unwrap());
    assert_eq!(ahead.rows(true).unwrap(), rows);
    assert_eq!(ahead.rows(true).unwrap_err().to_string(), expected);

    let mut waiting = falling(late);
    assert_eq!(rows, (0..3).map(|_| waiting.frame().unwrap()).collect::<Vec<_>>());
    assert_eq!(waiting.frame().unwrap_err().to_string(), expected);
}

/// The positions that overflowed are fetched to find the element.
#[test]
fn an_overflow_told_late_names_its_element() {
    let at = |x: f64| Vec3::new(x, 0.0, 0.0);
    let positions = [at(0.0), at(1.0)];
    let mut model = masses(&positions, &[at(0.0), at(1e308)]);
    model.springs.push(SpringElement::new([0, 1], positions, 10.0).unwrap());
    let mut simulation = simulate(model, 10.0, device);
    (0..2).for_each(|_| simulation.start_frame().unwrap());
    let error = simulation.rows(false).unwrap_err().to_string();
    assert!(["frame 1", "spring 0", "`masses`"].iter().all(|part| error.contains(part)), "{error}");
}

/// A gradient that is not a number ends its frame; frames before it that are still on their way are told of first.
#[test]
fn a_gradient_that_is_no_number_ends_the_frame() {
    let loaded = exchanging();
    // two steps a frame: the second one of frame 3
    let breaks: Wrap = |backend| Box::new(DelayedBackend::new(backend, Gradient::BreaksAt(5)));
    let (mut one, mut other) = (start(&loaded, prompt), start(&loaded, breaks));
    let rows: Vec<Row> = (0..2).map(|_| one.frame().unwrap()).collect();
    (0..2).for_each(|_| other.start_frame().unwrap());
    let error = other.start_frame().unwrap_err().to_string();
    assert!(error.contains("frame 3"), "{error}");
    assert_eq!(rows, other.rows(false).unwrap());
    assert_eq!(error, other.rows(false).unwrap_err().to_string());

    // an overflow of frame 4 that nobody has heard of yet comes before a gradient of frame 5
    let breaks: Wrap = |backend| Box::new(DelayedBackend::new(backend, Gradient::BreaksAt(4)));
    let mut simulation = falling(breaks);
    (0..4).for_each(|_| simulation.start_frame().unwrap());
    let error = simulation.start_frame().unwrap_err().to_string();
    assert!(error.contains("frame 4"), "{error}");
    assert_eq!(simulation.rows(true).unwrap().len(), 3);
}
