//! Writes the window's state to a file, for tests that drive it from outside.

use super::desk::Desk;
use crate::observe::write_whole;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Minimum time between writes.
const EVERY: Duration = Duration::from_millis(50);

/// Widget rectangles in the window (points): left, top, right, bottom.
#[derive(Debug, Default)]
pub struct Spots(BTreeMap<String, [f32; 4]>);

impl Spots {
    /// Records a widget's rectangle.
    pub fn note(&mut self, name: impl Into<String>, rect: egui::Rect) {
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
    /// For this file.
    pub fn new(path: PathBuf) -> Report {
        Report { path, last: None }
    }

    /// Writes the state unless written very recently. A failed write is ignored.
    pub fn write(&mut self, desk: &Desk, size: [u32; 2]) {
        if self.last.is_some_and(|last| last.elapsed() < EVERY) {
            return;
        }
        self.last = Some(Instant::now());
        let _ = write_whole(&self.path, describe(desk, size).to_string().as_bytes());
    }
}

fn describe(desk: &Desk, [width, height]: [u32; 2]) -> Value {
    let lanes: Vec<Value> = desk
        .state
        .lanes
        .iter()
        .zip(desk.panes())
        .enumerate()
        .map(|(k, (lane, pane))| {
            let size = [f64::from(pane.width), f64::from(pane.height)];
            let centre = desk.camera.project(&lane.row.centre.into(), size);
            let scene = &lane.loaded.scene;
            json!({
                "scene": lane.loaded.name,
                "damping": scene.damping,
                "integrator": scene.integrator.kind,
                "frame": lane.row.frame,
                "time": lane.row.time,
                "total": lane.row.total,
                "work": lane.row.work,
                "damped": lane.row.damped,
                "building": lane.building,
                "failure": desk.failure(k),
                "fault": lane.fault.as_ref().map(|fault| &fault.message),
                "backend": lane.describe,
                "pins": lane.spec.pins.len(),
                "base": lane.spec.base,
                "excitations": lane.along.iter().map(|along| along.excitation).collect::<Vec<_>>(),
                "gammas": lane.along.iter().map(|along| along.gamma).collect::<Vec<_>>(),
                "centre": centre.map(|([x, y], _)| [x + f64::from(pane.x), y + f64::from(pane.y)]),
            })
        })
        .collect();
    json!({
        "window": [width, height],
        "stage": [desk.stage.x, desk.stage.y, desk.stage.width, desk.stage.height],
        "panes": desk.panes().iter().map(|p| [p.x, p.y, p.width, p.height]).collect::<Vec<_>>(),
        "lanes": lanes,
        "active": desk.active,
        "paused": desk.state.paused,
        "loading": desk.state.loading,
        "held": desk.state.held.is_some(),
        "recording": desk.recording.is_on(),
        "colour": desk.look.colour.name(),
        "wireframe": desk.look.wireframe,
        "skin": desk.look.skin,
        "picked": desk.design.picked,
        "searching": desk.design.search.is_some(),
        "outcomes": desk.design.outcomes.iter().map(|outcome| [outcome.wanted, outcome.reached]).collect::<Vec<_>>(),
        "refused": desk.design.refused,
        "message": desk.message.as_ref().map(|message| &message.text),
        "frame_rate": desk.frame_rate,
        "pace": desk.state.pace,
        "spots": desk.spots.0,
    })
}
