//! Writes the window's state to a file, for tests that drive it from outside.

use super::ui_state::UiState;
use crate::disk::atomic::Part;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Minimum time between writes.
const EVERY: Duration = Duration::from_millis(50);

/// Widget rectangles in the window (points): left, top, right, bottom.
#[derive(Debug, Default)]
pub struct WidgetRects(BTreeMap<String, [f32; 4]>);

impl WidgetRects {
    pub fn record(&mut self, name: impl Into<String>, rect: egui::Rect) {
        self.0.insert(name.into(), [rect.min.x, rect.min.y, rect.max.x, rect.max.y]);
    }

    /// Clears all rectangles before the next frame.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// A state file kept up to date.
pub struct Report {
    path: PathBuf,
    last: Option<Instant>,
}

impl Report {
    pub fn new(path: PathBuf) -> Report {
        Report { path, last: None }
    }

    /// Writes the state unless written very recently. A failed write is ignored.
    pub fn write(&mut self, ui_state: &UiState, size: [u32; 2]) {
        if self.last.is_some_and(|last| last.elapsed() < EVERY) {
            return;
        }
        self.last = Some(Instant::now());
        let text = describe(ui_state, size).to_string();
        // many times a second, and of no use after a loss of power: not synced
        let _ = Part::new(&self.path, |out| out.write_all(text.as_bytes())).and_then(Part::place);
    }
}

fn describe(ui_state: &UiState, [width, height]: [u32; 2]) -> Value {
    let slots: Vec<Value> = ui_state
        .state
        .slots
        .iter()
        .zip(ui_state.panes())
        .enumerate()
        .map(|(k, (slot, pane))| {
            let size = [f64::from(pane.width), f64::from(pane.height)];
            let centre = ui_state.camera.project(&slot.row.centre.into(), size);
            let scene = &slot.loaded.scene;
            json!({
                "scene": slot.loaded.name,
                "damping": scene.damping,
                "integrator": scene.integrator.kind,
                "frame": slot.row.frame,
                "time": slot.row.time,
                "total": slot.row.total,
                "work": slot.row.work,
                "damped": slot.row.damped,
                "building": slot.building,
                "failure": ui_state.failure(k),
                "fault": slot.fault.as_ref().map(|fault| &fault.message),
                "backend": slot.describe,
                "pins": slot.spec.pins.len(),
                "base": slot.spec.base,
                "excitations": slot.example_motion.iter().map(|example_motion| example_motion.excitation).collect::<Vec<_>>(),
                "gammas": slot.example_motion.iter().map(|example_motion| example_motion.gamma).collect::<Vec<_>>(),
                "centre": centre.map(|([x, y], _)| [x + f64::from(pane.x), y + f64::from(pane.y)]),
            })
        })
        .collect();
    json!({
        "window": [width, height],
        "stage": [ui_state.view_area.x, ui_state.view_area.y, ui_state.view_area.width, ui_state.view_area.height],
        "panes": ui_state.panes().iter().map(|p| [p.x, p.y, p.width, p.height]).collect::<Vec<_>>(),
        "lanes": slots,
        "active": ui_state.active,
        "paused": ui_state.state.paused,
        "loading": ui_state.state.loading,
        "held": ui_state.state.held.is_some(),
        "recording": ui_state.recording.is_on(),
        "colour": ui_state.look.colour.name(),
        "wireframe": ui_state.look.wireframe,
        "skin": ui_state.look.skin,
        "picked": ui_state.design.picked,
        "searching": ui_state.design.search.is_some(),
        "outcomes": ui_state.design.outcomes.iter().map(|outcome| [outcome.wanted, outcome.reached]).collect::<Vec<_>>(),
        "refused": ui_state.design.refused,
        "message": ui_state.message.as_ref().map(|message| &message.text),
        "frame_rate": ui_state.frame_rate,
        "pace": ui_state.state.pace,
        "spots": ui_state.widget_rects.0,
    })
}
