//! Animation of an example: a body swinging slowly along its shape.

use super::desk::Desk;
use super::session::pose::Swing;
use crate::view::{Renderer, Source, Stage};
use std::f64::consts::TAU;
use std::time::Instant;

/// Period of the animation (s).
const PERIOD: f64 = 3.0;

/// The animated example, if one is shown.
#[derive(Default)]
pub struct Swinging(Option<Shown>);

struct Shown {
    /// The build of the model and the number of the example.
    of: (u64, usize),
    swing: Option<Swing>,
    stage: Option<Stage>,
    since: Instant,
}

impl Swinging {
    /// The render scene, if shown.
    pub fn stage(&mut self) -> Option<&mut Stage> {
        self.0.as_mut()?.stage.as_mut()
    }

    /// Moves the edited example to its current phase, while shown.
    pub fn update(&mut self, renderer: &Renderer, desk: &Desk) {
        let Some(lane) = desk.state.lanes.get(1).filter(|_| desk.is_design()) else {
            self.0 = None;
            return;
        };
        let of = (lane.build, desk.design.picked);
        let known = self.0.take().filter(|shown| shown.of.0 == of.0);
        let mut shown = known.unwrap_or_else(|| Shown {
            of: (of.0, usize::MAX),
            swing: None,
            stage: Stage::new(renderer, &lane.loaded.scene, &lane.model, Source::Host).ok(),
            since: Instant::now(),
        });
        if shown.of != of {
            // another example of the same bodies can reuse the scene
            (shown.of, shown.swing) = (of, Swing::of(&lane.loaded.scene, &lane.model, of.1));
        }
        if let (Some(swing), Some(stage)) = (&shown.swing, &mut shown.stage) {
            let phase = shown.since.elapsed().as_secs_f64() / PERIOD;
            stage.set_state(&swing.at((TAU * phase).sin()), &lane.model.initial_velocities);
        }
        self.0 = Some(shown);
    }
}
