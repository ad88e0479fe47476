//! Animation of an example: a body swinging slowly along its shape.

use super::session::pose::Swing;
use super::ui_state::UiState;
use crate::view::{RenderScene, Renderer, Source};
use std::f64::consts::TAU;
use std::time::Instant;

/// Period of the animation (s).
const PERIOD: f64 = 3.0;

/// The animated example, if one is shown.
#[derive(Default)]
pub struct ExampleAnimation(Option<Shown>);

struct Shown {
    /// The build of the model and the number of the example.
    of: (u64, usize),
    swing: Option<Swing>,
    render_scene: Option<RenderScene>,
    since: Instant,
}

impl ExampleAnimation {
    /// The render scene, if shown.
    pub fn render_scene(&mut self) -> Option<&mut RenderScene> {
        self.0.as_mut()?.render_scene.as_mut()
    }

    /// Moves the edited example to its current phase, while shown.
    pub fn update(&mut self, renderer: &Renderer, ui_state: &UiState) {
        let Some(slot) = ui_state.state.slots.get(1).filter(|_| ui_state.is_design()) else {
            self.0 = None;
            return;
        };
        let of = (slot.build, ui_state.design.picked);
        let known = self.0.take().filter(|shown| shown.of.0 == of.0);
        let mut shown = known.unwrap_or_else(|| Shown {
            of: (of.0, usize::MAX),
            swing: None,
            render_scene: RenderScene::new(renderer, &slot.loaded.scene, &slot.model, Source::Host).ok(),
            since: Instant::now(),
        });
        if shown.of != of {
            // another example of the same bodies can reuse the scene
            (shown.of, shown.swing) = (of, Swing::of(&slot.loaded.scene, &slot.model, of.1));
        }
        if let (Some(swing), Some(render_scene)) = (&shown.swing, &mut shown.render_scene) {
            let phase = shown.since.elapsed().as_secs_f64() / PERIOD;
            render_scene.set_state(&swing.at((TAU * phase).sin()), &slot.model.initial_velocities);
        }
        self.0 = Some(shown);
    }
}
