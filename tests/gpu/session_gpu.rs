//! A session whose simulations compute on the device that draws them: nothing crosses for drawing, and the backend can change
//! in the middle of a motion.

use crate::common::context;
use dashpot::app::session::pace::Speed;
use dashpot::app::session::spec::Spec;
use dashpot::app::session::{Command, Hardware, Session, State, StateSource};
use dashpot::backend::BackendChoice;
use dashpot::gpu::Options;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Far longer than anything here takes, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

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

fn open(overrides: &[&str]) -> Option<Session> {
    let machine = Hardware { context: Some(context()?), options: Options::default() };
    let session = Session::start(machine).unwrap();
    let spec = Spec { backend: BackendChoice::Gpu, ..Spec::of("bar").with(overrides) };
    session.send(Command::Open(vec![spec]));
    wait(&session, "the lane", |state| state.slots.len() == 1);
    Some(session)
}

#[test]
fn frames_on_a_device_bring_no_positions_to_the_host() {
    let Some(session) = open(&["solver.global=chebyshev", "time.iterations=4"]) else { return };
    session.send(Command::Speed(Speed::Unbounded));
    let traffic = |state: &State| (state.slots[0].row.frame as u64, state.slots[0].device.unwrap());
    let start = wait(&session, "the first frames", |state| state.slots[0].row.frame >= 4);
    let end = wait(&session, "more frames", |state| state.slots[0].row.frame >= 10);
    assert!(matches!(end.slots[0].state_source, StateSource::Device(_)));
    let ((from, before), (to, after)) = (traffic(&start), traffic(&end));
    let frames = to - from;
    let positions = 12 * end.slots[0].model.vertex_count() as u64;
    // reports of up to three frames may be on their way in addition
    let downloaded = after.since(&before).downloaded;
    assert!(
        downloaded < (frames + 3) * positions / 2,
        "{downloaded} bytes in {frames} frames, positions are {positions}"
    );
}

#[test]
fn the_backend_changes_in_the_middle_of_a_motion_and_the_hand_pulls_on_either() {
    let Some(session) = open(&["time.iterations=4"]) else { return };
    session.send(Command::Pause(true));
    wait(&session, "pause", |state| state.paused);
    let step = |count: usize| {
        let at = session.state().slots[0].row.frame;
        (0..count).for_each(|_| session.send(Command::Step));
        wait(&session, "steps", |state| state.slots[0].row.frame == at + count)
    };
    let on_device = step(4);
    session.send(Command::Backend { slot: None, choice: BackendChoice::Cpu });
    let on_host =
        wait(&session, "the host", |state| matches!(state.slots[0].state_source, StateSource::Host(..)));
    let (before, after) = (on_device.slots[0].row, on_host.slots[0].row);
    assert_eq!((before.frame, before.time), (after.frame, after.time));
    // the same state: sums on the device are of single precision
    let scale = before.gravity.abs().max(before.elastic);
    assert!((before.total - after.total).abs() < 1e-4 * scale, "{before:?} {after:?}");
    assert!(
        (after.numerical - before.numerical).abs() < 1e-9 * scale,
        "what changed is not the integrator's doing"
    );
    step(2);
    session.send(Command::Backend { slot: None, choice: BackendChoice::Gpu });
    wait(&session, "the device", |state| matches!(state.slots[0].state_source, StateSource::Device(_)));
    let centre = dashpot::Vec3::from(step(1).slots[0].row.centre);
    let ray = dashpot::view::Ray {
        origin: centre + dashpot::Vec3::new(0.3, 0.0, 5.0),
        direction: -dashpot::Vec3::z(),
    };
    session.send(Command::Grab { slot: 0, ray, serial: 1 });
    let held = wait(&session, "the hand", |state| state.answered == 1).held.expect("the bar is hit");
    session.send(Command::Move(held.hand + dashpot::Vec3::new(0.0, 0.4, 0.0)));
    let pulled = step(6);
    assert!(pulled.slots[0].row.work - after.work > 1.0, "{:?}", pulled.slots[0].row);
    assert!(pulled.held.unwrap().at.y > held.at.y, "it follows");
}
