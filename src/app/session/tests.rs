//! The session without a window.

mod examples;

use super::spec::Spec;
use super::*;
use crate::Vec3;
use crate::backend::BackendChoice;
use crate::setup::build;
use std::time::{Duration, Instant};

/// Far longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn on_cpu(scene: &str, overrides: &[&str]) -> Spec {
    Spec { backend: BackendChoice::Cpu, ..Spec::of(scene).with(overrides) }
}

fn open(specs: Vec<Spec>) -> Session {
    start(specs, false)
}

/// No frame is made before it is asked for.
fn open_paused(specs: Vec<Spec>) -> Session {
    start(specs, true)
}

fn start(specs: Vec<Spec>, paused: bool) -> Session {
    let session = Session::start(Hardware::default()).unwrap();
    session.send(Command::Pause(paused));
    let count = specs.len();
    session.send(Command::Open(specs));
    wait(&session, "lanes", |state| state.slots.len() == count);
    session
}

fn wait(session: &Session, what: &str, enough: impl Fn(&State) -> bool) -> Arc<State> {
    let start = Instant::now();
    loop {
        let state = session.state();
        if enough(&state) {
            return state;
        }
        assert!(
            start.elapsed() < PATIENCE,
            "waited for {what}: {:?}",
            state.slots.first().map(|slot| &slot.fault)
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn set(path: &str, value: &str) -> Command {
    Command::Set { slot: None, path: path.into(), value: value.into() }
}

/// Reaches frame `frame` step by step, and stops there.
fn step_to(session: &Session, frame: usize) -> Arc<State> {
    session.send(Command::Pause(true));
    let at = wait(session, "pause", |state| state.paused).slots[0].row.frame;
    for _ in at..frame {
        session.send(Command::Step);
    }
    wait(session, "steps", |state| state.slots[0].row.frame == frame)
}

/// total = total₀ − damped − contact_loss − numerical + work holds by construction; that `numerical` is not where the pull
/// went is for [`tests/motion/hand.rs`].
fn work(state: &State) -> f64 {
    state.slots[0].row.work
}

#[test]
fn a_session_makes_the_same_bits_as_a_plain_run() {
    let session = open(vec![on_cpu("bar", &[])]);
    session.send(Command::Pause(true));
    let state = wait(&session, "pause", |state| state.paused);
    let state = step_to(&session, state.slots[0].row.frame + 5);
    let plain = plain("bar", state.slots[0].row.frame);
    assert_eq!(&**state.slots[0].positions().unwrap(), plain.positions());
    assert_eq!(state.slots[0].row, plain.last_row());
}

#[test]
fn another_damping_model_goes_on_from_where_the_motion_is() {
    let session = open(vec![on_cpu("bar", &["damping.model=none"])]);
    step_to(&session, 12);
    let before = session.state().slots[0].clone();
    session.send(set("damping.model", "laplacian"));
    session.send(set("damping.stiffness", "0.01"));
    let after = wait(&session, "the new model", |state| {
        let damping = &state.slots[0].loaded.scene.damping;
        damping.model == "laplacian" && damping.stiffness == 0.01
    });
    let after = &after.slots[0];
    assert_eq!(after.row.frame, 12);
    assert_eq!(after.epoch, before.epoch);
    assert_eq!(after.positions(), before.positions());
    // nothing of the energy depends on the damping model
    assert_eq!((after.row.total, after.row.work), (before.row.total, before.row.work));
    let later = step_to(&session, 20);
    assert!(later.slots[0].row.damped > 0.0, "{:?}", later.slots[0].row);
    assert!((later.slots[0].row.time - 20.0 / 30.0).abs() < 1e-9);
}

#[test]
fn a_stiffer_material_is_work_and_not_a_fault_of_the_integrator() {
    let session = open(vec![on_cpu("bar", &[])]);
    let before = step_to(&session, 10).slots[0].clone();
    let mu = before.loaded.scene.bodies[0].material.mu.unwrap();
    session.send(set("body.bar.material.mu", &format!("{:e}", 2.0 * mu)));
    let after = wait(&session, "the material", |state| {
        !state.slots[0].building && state.slots[0].build != before.build
    });
    let row = after.slots[0].row;
    // twice the shear modulus is twice the energy of the same shape
    assert!((row.elastic / before.row.elastic - 2.0).abs() < 1e-9, "{row:?}");
    assert!((row.work - before.row.work - before.row.elastic).abs() < 1e-9 * before.row.elastic, "{row:?}");
    assert!((row.numerical - before.row.numerical).abs() < 1e-9 * before.row.elastic, "{row:?}");
}

#[test]
fn a_value_that_is_not_valid_is_told_at_its_field_and_changes_nothing() {
    let session = open(vec![on_cpu("bar", &[])]);
    let before = step_to(&session, 3);
    session.send(set("damping.stiffness", "-1"));
    let state = wait(&session, "the refusal", |state| state.slots[0].fault.is_some());
    let fault = state.slots[0].fault.as_ref().unwrap();
    assert_eq!(fault.field.as_deref(), Some("damping.stiffness"), "{fault:?}");
    assert_eq!(state.slots[0].build, before.slots[0].build);
    assert_eq!(state.slots[0].spec, before.slots[0].spec);
    // a material that the body cannot have is found only when the model is built
    session.send(set("body.0.attach.0.select", "{ vertices = [100000] }"));
    let state = wait(&session, "the second refusal", |state| {
        state.slots[0].fault.as_ref().is_some_and(|fault| fault.message.contains("100000"))
    });
    assert!(
        !state.slots[0].building && state.slots[0].spec == before.slots[0].spec,
        "{:?}",
        state.slots[0].spec
    );
    step_to(&session, 6);
}

#[test]
fn frames_go_on_while_a_large_matrix_is_factored() {
    // 12,000 vertices as a solid block: factoring takes far longer than a frame of one iteration
    let big = ["body.0.mesh.cells=[22, 22, 22]", "time.iterations=1", "damping.model=none"];
    let session = open(vec![on_cpu("cube", &big)]);
    session.send(Command::Speed(Speed::Unbounded));
    wait(&session, "the first frames", |state| state.slots[0].row.frame >= 3);
    let start = Instant::now();
    session.send(set("integrator.kind", "backward-euler"));
    let begun = wait(&session, "the build", |state| state.slots[0].building).slots[0].row.frame;
    let done = wait(&session, "the swap", |state| {
        !state.slots[0].building && state.slots[0].loaded.scene.integrator.kind == "backward-euler"
    });
    let frames = done.slots[0].row.frame - begun;
    assert!(frames >= 3, "{frames} frames in {:?}", start.elapsed());
    // and the first frame after the swap does not factor again: all of it was done ahead
    let next = wait(&session, "a frame", |state| state.slots[0].row.frame > done.slots[0].row.frame);
    assert!(next.slots[0].phases[0] < 1.0, "factor: {} ms", next.slots[0].phases[0]);
}

#[test]
fn lanes_stay_in_step_with_frames_of_different_length() {
    let session =
        open(vec![on_cpu("bar", &[]), on_cpu("bar", &["time.step=0.0166666666667", "damping.model=none"])]);
    let state = step_to(&session, 9);
    assert!((state.slots[0].row.time - 0.3).abs() < 1e-9);
    // on a busy machine its last frame may be one of the next tick
    wait(&session, "the second lane", |state| (state.slots[1].row.time - 0.3).abs() < 0.01);
    session.send(Command::Add(vec!["integrator.kind=bdf2".into()]));
    let state = wait(&session, "three lanes", |state| state.slots.len() == 3);
    assert!(state.slots.iter().all(|slot| slot.row.frame == 0), "all start anew");
    assert_eq!(state.slots[2].loaded.scene.integrator.kind, "bdf2");
    assert_eq!(state.slots[2].loaded.scene.damping.model, "none", "like the lane before");
    session.send(Command::Remove(0));
    wait(&session, "two lanes", |state| state.slots.len() == 2);
}

#[test]
fn a_failed_simulation_says_so_and_can_be_reset() {
    // a kinetic energy beyond f64: no integrator can go on
    let vast = [
        "body.0.mesh.size=[1e9, 1e9, 1e9]",
        "body.0.material.density=1e100",
        "body.0.velocity=[1e100, 0.0, 0.0]",
    ];
    let session = open(vec![on_cpu("cube", &vast)]);
    let state = wait(&session, "the failure", |state| state.slots[0].failure.is_some());
    assert!(state.slots[0].failure.as_ref().unwrap().contains("finite"), "{:?}", state.slots[0].failure);
    session.send(set("body.0.velocity", "[0.0, 0.0, 0.0]"));
    session.send(set("body.0.material.density", "1000.0"));
    let state =
        wait(&session, "recovery", |state| state.slots[0].failure.is_none() && state.slots[0].row.frame > 2);
    assert!(state.slots[0].row.total.is_finite());
    session.send(Command::Pause(true));
    session.send(Command::Reset);
    wait(&session, "reset", |state| state.slots[0].row.frame == 0);
}

/// A ray that hits the free end of the bar.
fn at_the_tip(state: &State) -> (Ray, Vec3) {
    let (x, rest) = (state.slots[0].positions().unwrap(), &state.slots[0].model.initial_positions);
    let front: Vec<usize> = (0..x.len()).filter(|&i| rest[i].x > 1.85 && rest[i].z > 0.35).collect();
    let target = front.iter().map(|&i| x[i]).sum::<Vec3>() / front.len() as f64;
    let tip = target;
    (Ray { origin: target + Vec3::new(0.0, 0.0, 5.0), direction: -Vec3::z() }, tip)
}

#[test]
fn the_hand_moves_a_body_and_the_ledger_counts_its_work() {
    let session = open(vec![on_cpu("bar", &["gravity=[0.0, 0.0, 0.0]"])]);
    let rest = step_to(&session, 1);
    let (ray, tip) = at_the_tip(&rest);
    session.send(Command::Grab { slot: 0, ray, serial: 7 });
    let state = wait(&session, "the hand", |state| state.answered == 7);
    let held = state.held.expect("the bar is hit");
    assert!((held.at - tip).norm() < 0.15, "{held:?}");
    session.send(Command::Move(held.hand + Vec3::new(0.0, 0.5, 0.0)));
    let pulled = step_to(&session, 16);
    let lifted = pulled.slots[0].positions().unwrap()[held.vertex].y - held.at.y;
    assert!(lifted > 0.1, "{lifted}");
    let row = pulled.slots[0].row;
    assert!(row.work > 0.0, "{row:?}");
    assert!(row.numerical.abs() < 0.5 * row.work, "the work is not blamed on the integrator: {row:?}");
    session.send(Command::Drop);
    let free = wait(&session, "release", |state| state.held.is_none());
    let later = step_to(&session, 20);
    assert_eq!(work(&later), work(&free), "a hand that let go gives nothing");
    session.send(Command::Grab {
        slot: 0,
        ray: Ray { origin: Vec3::new(0.0, 50.0, 50.0), ..ray },
        serial: 8,
    });
    assert!(wait(&session, "a miss", |state| state.answered == 8).held.is_none());
    session.send(Command::Push { slot: 0, ray: at_the_tip(&later).0 });
    let pushed = step_to(&session, 21);
    assert!(work(&pushed) != work(&later), "a push is work");
}

#[test]
fn a_pinned_vertex_stays_and_a_released_one_falls() {
    let session = open(vec![on_cpu("bar", &[])]);
    let state = step_to(&session, 2);
    let (ray, _) = at_the_tip(&state);
    let attachments = state.slots[0].model.attachments.len();
    session.send(Command::Pin { slot: 0, ray });
    let pinned = wait(&session, "the pin", |state| state.slots[0].model.attachments.len() > attachments);
    assert_eq!(pinned.slots[0].row.frame, 2);
    let pin = pinned.slots[0].model.attachments.last().unwrap().clone();
    let later = step_to(&session, 30);
    let at = later.slots[0].positions().unwrap()[pin.vertex as usize];
    // 1 MN/m holds 320 kg among some tens of vertices to less than a millimetre, or a few while it swings
    assert!((at - pin.anchor).norm() < 0.02, "{at} {}", pin.anchor);
    session.send(Command::Pin { slot: 0, ray: at_the_tip(&later).0 });
    wait(&session, "the release", |state| state.slots[0].model.attachments.len() == attachments);
    let fallen = step_to(&session, 45);
    assert!(fallen.slots[0].positions().unwrap()[pin.vertex as usize].y < at.y - 0.1);
    session.send(Command::Reset);
    wait(&session, "reset", |state| state.slots[0].row.frame == 0 && state.slots[0].spec.pins.is_empty());
}

#[test]
fn rows_are_told_once_and_in_order() {
    let session = open(vec![on_cpu("bar", &[])]);
    step_to(&session, 10);
    let (_, mut news) = session.look();
    session.send(Command::Step);
    wait(&session, "a step", |state| state.slots[0].row.frame == 11);
    news[0].rows.extend(session.look().1[0].rows.clone());
    let frames: Vec<usize> = news[0].rows.iter().map(|row| row.frame).collect();
    assert_eq!(frames, (0..=11).collect::<Vec<_>>());
    session.send(Command::Reset);
    let state = wait(&session, "reset", |state| state.slots[0].row.frame == 0);
    let (_, news) = session.look();
    assert_eq!((news[0].epoch, news[0].rows.len()), (state.slots[0].epoch, 1));
}

#[test]
fn a_scene_that_does_not_exist_leaves_the_old_one() {
    let session = open(vec![on_cpu("bar", &[])]);
    session.send(Command::Open(vec![Spec::of("no-such-scene")]));
    let state = wait(&session, "the refusal", |state| state.fault.is_some());
    assert!(state.fault.as_ref().unwrap().message.contains("no-such-scene"));
    assert_eq!(state.slots[0].loaded.name, "bar");
    assert!(!state.loading);
}

/// A plain run on the CPU, after so many frames.
fn plain(scene: &str, frames: usize) -> crate::Simulation {
    let loaded = crate::setup::load(scene, &[]).unwrap();
    let model = Arc::new(build(&loaded).unwrap().model);
    let backend = crate::cpu::backend(model.clone(), &loaded.scene.solver).unwrap();
    let mut plain = crate::Simulation::new(&loaded.scene, model, backend).unwrap();
    for _ in 0..frames {
        plain.frame().unwrap();
    }
    plain
}

#[test]
fn a_reset_lets_go_of_pins_and_of_their_motion() {
    let session = open_paused(vec![on_cpu("bar", &[])]);
    let state = step_to(&session, 2);
    session.send(Command::Pin { slot: 0, ray: at_the_tip(&state).0 });
    wait(&session, "the pin", |state| !state.slots[0].building && !state.slots[0].spec.pins.is_empty());
    step_to(&session, 8);
    session.look();
    session.send(Command::Pause(false)); // no frame may be made of the old model meanwhile
    session.send(Command::Reset);
    session.send(Command::Pause(true));
    let start = wait(&session, "reset", |state| state.slots[0].row.frame == 0 && !state.slots[0].building);
    let expected = plain("bar", 0);
    assert_eq!(start.slots[0].row, expected.last_row());
    assert_eq!(&**start.slots[0].positions().unwrap(), expected.positions());
    assert_eq!(session.look().1[0].rows, [expected.last_row()]);
    let later = step_to(&session, 5);
    let expected = plain("bar", 5);
    assert_eq!(later.slots[0].row, expected.last_row());
    assert_eq!(&**later.slots[0].positions().unwrap(), expected.positions());
}

#[test]
fn a_lane_that_failed_does_not_stop_the_others() {
    // a kinetic energy beyond f64: no integrator can go on
    let vast = [
        "body.0.mesh.size=[1e9, 1e9, 1e9]",
        "body.0.material.density=1e100",
        "body.0.velocity=[1e100, 0.0, 0.0]",
    ];
    let session = open(vec![on_cpu("cube", &vast), on_cpu("bar", &[])]);
    let failed = wait(&session, "the failure", |state| state.slots[0].failure.is_some());
    let frame = failed.slots[1].row.frame;
    let later = wait(&session, "the other lane", |state| state.slots[1].row.frame > frame + 3);
    assert!(later.slots[1].failure.is_none() && later.slots[0].failure.is_some());
}

#[test]
fn another_mesh_starts_all_lanes_anew_and_the_hand_lets_go() {
    let fine = ["body.0.mesh.cells=[4, 4, 4]"];
    let session = open_paused(vec![on_cpu("cube", &fine), on_cpu("cube", &fine)]);
    let state = step_to(&session, 9);
    let x = state.slots[1].positions().unwrap();
    let centre = x.iter().sum::<Vec3>() / x.len() as f64;
    let ray = Ray { origin: centre + Vec3::new(0.0, 0.0, 50.0), direction: -Vec3::z() };
    session.send(Command::Grab { slot: 1, ray, serial: 1 });
    assert!(wait(&session, "the hand", |state| state.answered == 1).held.is_some());
    let coarse = "[1, 1, 1]".to_string();
    session.send(Command::Set { slot: Some(1), path: "body.0.mesh.cells".into(), value: coarse });
    let state = wait(&session, "the mesh", |state| state.slots[1].model.mass.len() == 8);
    assert!(state.held.is_none(), "{:?}", state.held);
    assert!(state.slots.iter().all(|slot| slot.row.frame == 0), "all start anew");
    let state = step_to(&session, 4);
    assert!((state.slots[0].row.time - state.slots[1].row.time).abs() < 1e-9);
}

#[test]
fn a_reset_forgets_steps_that_were_asked_for_before() {
    let session = open_paused(vec![on_cpu("bar", &[])]);
    let before = step_to(&session, 1).slots[0].epoch;
    (0..200).for_each(|_| session.send(Command::Step));
    session.send(Command::Reset);
    wait(&session, "reset", |state| state.slots[0].epoch != before);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(session.state().slots[0].row.frame, 0);
}

#[test]
fn an_attachment_that_has_let_go_holds_nothing() {
    // three frames of 1/30 s
    let session =
        open_paused(vec![on_cpu("bar", &["body.0.attach.0.until=0.1", "time.step=0.0333333333333"])]);
    let held = step_to(&session, 7).slots[0].clone();
    assert!(!held.held.is_empty() && held.held.iter().all(Option::is_none), "{:?}", held.held);
    session.send(Command::Reset);
    let start = wait(&session, "reset", |state| state.slots[0].row.frame == 0).slots[0].clone();
    let anchors: Vec<_> = start.model.attachments.iter().map(|a| Some(a.anchor)).collect();
    assert_eq!(&*start.held, anchors);
}

#[test]
fn closing_a_lane_keeps_the_rows_of_the_others() {
    let session = open_paused(vec![on_cpu("bar", &[]), on_cpu("bar", &["damping.model=none"])]);
    let epoch = step_to(&session, 6).slots[1].epoch;
    session.send(Command::Remove(0));
    wait(&session, "one lane", |state| state.slots.len() == 1);
    let (_, news) = session.look();
    assert_eq!((news.len(), news[0].epoch), (1, epoch));
    let frames: Vec<usize> = news[0].rows.iter().map(|row| row.frame).collect();
    assert_eq!(frames, (0..=6).collect::<Vec<_>>());
}
