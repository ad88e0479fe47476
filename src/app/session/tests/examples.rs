//! Damping by example in a session: edited while running, next to base damping, released, posed.

use super::*;
use crate::mesh::read::positions as vertices_of;

/// A bar that swings: little damping, no gravity, a mode to be damped.
const SWINGING: [&str; 6] = [
    "gravity=[0.0, 0.0, 0.0]",
    "damping.model=laplacian",
    "damping.stiffness=0.001",
    "body.0.mesh.cells=[8, 2, 2]",
    "body.0.attach.0.stiffness=1e9",
    "damping.example=[{ name = \"bend\", shape = { mode = 1 } }]",
];

fn bend(gamma: f64) -> Command {
    set("damping.example", &format!("[{{ name = \"bend\", shape = {{ mode = 1 }}, gamma = {gamma:?} }}]"))
}

/// Base damping and designed damping side by side, at time zero.
fn twins() -> Session {
    let designed = on_cpu("bar", &SWINGING);
    open_paused(vec![Spec { base: true, ..designed.clone() }, designed])
}

fn gamma(state: &State, slot: usize) -> f64 {
    state.slots[slot].loaded.scene.damping.examples[0].gamma
}

#[test]
fn how_strongly_a_shape_is_damped_changes_without_another_simulation() {
    let session = open_paused(vec![on_cpu("bar", &SWINGING)]);
    session.send(Command::Release { example: 0, amount: 0.5 });
    let before = step_to(&session, 4).slots[0].clone();
    assert_eq!(before.example_motion[0].gamma, 1.0);
    session.send(bend(10.0));
    let after = wait(&session, "γ", |state| gamma(state, 0) == 10.0).slots[0].clone();
    assert!(!after.building);
    assert_eq!((after.build, after.epoch, after.row), (before.build, before.epoch, before.row));
    assert_eq!(after.positions(), before.positions());
    assert_eq!(step_to(&session, 5).slots[0].example_motion[0].gamma, 10.0, "the next step knows it");
    // with another field it is another simulation, and γ goes with it
    session.send(set("damping.stiffness", "0.002"));
    let rebuilt = wait(&session, "the settings", |state| state.slots[0].build != before.build);
    assert_eq!((gamma(&rebuilt, 0), rebuilt.slots[0].row.frame), (10.0, 5));
    // what cannot be read changes nothing
    session.send(bend(-1.0));
    let refused = wait(&session, "the refusal", |state| state.slots[0].fault.is_some());
    assert_eq!(gamma(&refused, 0), 10.0);
}

#[test]
fn the_twin_keeps_base_damping_and_motion_dies_as_designed() {
    let session = twins();
    session.send(bend(0.1));
    wait(&session, "γ", |state| gamma(state, 1) == 0.1);
    session.send(Command::Release { example: 0, amount: 0.5 });
    let start = wait(&session, "the shape", |state| state.slots[1].row.work > 0.0);
    for slot in &start.slots {
        assert_eq!(slot.row.frame, 0);
        assert!((slot.example_motion[0].excitation - 0.5).abs() < 1e-5, "{:?}", slot.example_motion);
        assert!(slot.example_motion[0].rate == 0.0, "at rest");
    }
    assert_eq!(start.slots[0].row, start.slots[1].row, "both start alike");
    session.look();
    step_to(&session, 45);
    let (state, news) = session.look();
    assert_eq!([gamma(&state, 0), gamma(&state, 1)], [1.0, 0.1]);
    let reached = |slot: usize| {
        let seen = &news[slot].excitations;
        assert_eq!(seen.len(), 45, "one a frame");
        assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0));
        seen[15..].iter().map(|(_, chi)| chi[0].abs()).fold(0.0, f64::max)
    };
    // at base damping the bar hardly swings back, at a tenth of it it does
    assert!(reached(1) > 5.0 * reached(0), "base {}, designed {}", reached(0), reached(1));
}

/// A ray that hits the middle of the front of a bar.
fn at_the_middle(state: &State, slot: usize) -> Ray {
    let (x, rest) = (state.slots[slot].positions().unwrap(), &state.slots[slot].model.initial_positions);
    let front = (0..x.len()).filter(|&i| (rest[i].x - 1.0).abs() < 0.01 && rest[i].z > 0.35);
    let front: Vec<Vec3> = front.map(|i| x[i]).collect();
    let target = front.iter().sum::<Vec3>() / front.len() as f64;
    Ray { origin: target + Vec3::new(0.0, 0.0, 5.0), direction: -Vec3::z() }
}

#[test]
fn the_hand_pulls_a_body_and_its_twin() {
    let session = twins();
    let rest = step_to(&session, 1);
    session.send(Command::Grab { slot: 1, ray: at_the_middle(&rest, 1), serial: 1 });
    let held = wait(&session, "the hand", |state| state.answered == 1).held.expect("the bar is hit");
    session.send(Command::Move(held.hand + Vec3::new(0.0, 0.5, 0.0)));
    let pulled = step_to(&session, 12);
    for slot in &pulled.slots {
        assert!(slot.row.work > 0.0, "{:?}", slot.row);
        assert!(slot.positions().unwrap()[held.vertex].y > held.at.y + 0.02);
    }
    session.send(Command::Drop);
    wait(&session, "release", |state| state.held.is_none());
    let before = step_to(&session, 13);
    session.send(Command::Push { slot: 0, ray: at_the_middle(&before, 0) });
    let after = step_to(&session, 14);
    assert!((0..2).all(|k| after.slots[k].row.work != before.slots[k].row.work), "a blow is for both");
    session.send(Command::Pin { slot: 1, ray: at_the_middle(&after, 1) });
    let pinned = wait(&session, "pins", |state| {
        state.slots.iter().all(|slot| !slot.building && !slot.spec.pins.is_empty())
    });
    assert_eq!(pinned.slots[0].spec.pins, pinned.slots[1].spec.pins);
}

#[test]
fn a_pose_is_a_mesh_of_the_deformed_body_and_can_be_an_example() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pose.obj");
    let session = open_paused(vec![on_cpu("bar", &SWINGING)]);
    session.send(Command::Release { example: 0, amount: 0.7 });
    session.send(Command::Pose { slot: 0, body: 0, path: path.clone(), serial: 3 });
    let state = wait(&session, "the pose", |state| state.posed.0 == 3);
    assert_eq!(state.posed.1, None);
    let slot = &state.slots[0];
    let (rest, shape) = (&slot.model.bodies[0].mesh.positions, &slot.model.examples[0].displacement);
    let posed = vertices_of(&path).unwrap();
    assert_eq!(posed.len(), rest.len());
    // what holds the bar moves in a mode as little as it is stiff; its turn is not in the pose. Files have six digits.
    let off = posed.iter().zip(rest.iter().zip(shape)).map(|(x, (rest, u))| (x - rest - u * 0.7).norm());
    let size = shape.iter().map(|u| u.norm()).fold(0.0, f64::max);
    assert!(off.fold(0.0, f64::max) < 0.01 * size);
    let file = format!("[{{ name = \"posed\", shape = {{ file = {:?} }} }}]", path.display().to_string());
    session.send(set("damping.example", &file));
    let state = wait(&session, "the example", |state| {
        state.slots[0].loaded.scene.damping.examples[0].name == "posed"
    });
    // the same deformation is now one of its own shape
    assert!(
        (state.slots[0].example_motion[0].excitation - 1.0).abs() < 1e-4,
        "{:?}",
        state.slots[0].example_motion
    );
    let nowhere = folder.path().join("no/such/folder/pose.obj");
    session.send(Command::Pose { slot: 0, body: 0, path: nowhere, serial: 4 });
    let state = wait(&session, "the second pose", |state| state.posed.0 == 4);
    assert!(state.posed.1.is_some(), "it cannot be written");
    session.send(Command::Pose { slot: 0, body: 7, path, serial: 5 });
    let state = wait(&session, "the third pose", |state| state.posed.0 == 5);
    assert!(state.posed.1.as_ref().unwrap().contains("body"), "{:?}", state.posed);
}
