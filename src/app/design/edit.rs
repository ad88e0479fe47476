//! Editing of damping by example: changes requested of the simulations.

use super::{Posing, keep};
use crate::app::session::spec::Spec;
use crate::app::{Command, UiState};
use crate::scene::{Curve, CurveKind, Example, Over, Shape};
use std::path::PathBuf;
use toml::Value;

/// Path of the examples in a scene.
const PATH: &str = "damping.example";

/// A list of examples as one line of TOML.
pub fn written(examples: &[Example]) -> Option<String> {
    Value::try_from(examples).ok().map(|list| list.to_string())
}

/// Source of a shape in a few words.
pub fn source(shape: &Shape) -> String {
    match (shape.mode, shape.pull, &shape.file) {
        (Some(mode), ..) => format!("mode {mode}"),
        (_, Some([x, y, z]), _) => {
            let number = crate::app::theme::number;
            format!("force ({}, {}, {}) N", number(x), number(y), number(z))
        }
        (.., Some(file)) => file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        _ => "no shape".into(),
    }
}

/// An unused example name: `pose1`, `pose2`, …
pub fn free_name(examples: &[Example], stem: &str) -> String {
    let taken = |name: &String| examples.iter().any(|example| example.name == *name);
    (1..).map(|k| format!("{stem}{k}")).find(|name| !taken(name)).unwrap_or_default()
}

/// A constant curve with this γ, as a starting point.
pub fn curve_of(gamma: f64) -> Curve {
    let log = (gamma.max(1e-3).log10() * 100.0).round() / 100.0;
    let log = log.clamp(super::points::LOGS[0], super::points::LOGS[1]);
    Curve { kind: CurveKind::Bezier, over: Over::Deformation, points: vec![[0.0, log], [1.0, log]] }
}

impl UiState {
    /// Whether base and designed damping are shown side by side.
    pub fn is_design(&self) -> bool {
        matches!(&self.state.slots[..], [base, designed] if base.spec.base && !designed.spec.base)
    }

    /// The slot whose examples are edited.
    pub fn designed(&self) -> usize {
        if self.is_design() { 1 } else { self.active }
    }

    fn published_examples(&self) -> &[Example] {
        let slot = self.state.slots.get(self.designed());
        slot.map_or(&[], |slot| &slot.loaded.scene.damping.examples)
    }

    pub fn examples(&self) -> Vec<Example> {
        self.design.examples(self.published_examples()).to_vec()
    }

    /// Takes over the published examples.
    pub fn update_design(&mut self) {
        let building = self.state.slots.get(self.designed()).is_some_and(|slot| slot.building);
        let told = self.published_examples().to_vec();
        self.design.follow(&told, building);
        self.poll_pose();
    }

    /// Requests other examples. Edits of one gesture are undone together.
    pub fn set_examples(&mut self, after: Vec<Example>, gesture: bool) {
        let before = self.examples();
        if before != after {
            self.design.note(&before, after.clone(), gesture);
            self.send_examples(&after);
        }
    }

    fn send_examples(&mut self, examples: &[Example]) {
        let slot = self.chosen();
        match written(examples) {
            Some(value) => self.send(Command::Set { slot, path: PATH.into(), value }),
            None => self.show_error("an example has a path that is not valid text"),
        }
    }

    pub fn change_example(&mut self, gesture: bool, change: impl FnOnce(&mut Example)) {
        let mut examples = self.examples();
        if let Some(example) = examples.get_mut(self.design.picked) {
            change(example);
            self.set_examples(examples, gesture);
        }
    }

    /// Undo, or redo.
    pub fn undo(&mut self, forward: bool) {
        let now = self.examples();
        if let Some(list) = self.design.undo(&now, forward) {
            self.send_examples(&list);
        }
    }

    /// Adds an example and selects it for editing.
    pub fn add_example(&mut self, stem: &str, body: Option<String>, shape: Shape) {
        let mut examples = self.examples();
        let name = free_name(&examples, stem);
        examples.push(Example { name, body, shape, gamma: 1.0, curve: None });
        self.design.picked = examples.len() - 1;
        self.set_examples(examples, false);
    }

    pub fn remove_example(&mut self) {
        let mut examples = self.examples();
        if self.design.picked < examples.len() {
            examples.remove(self.design.picked);
            self.set_examples(examples, false);
        }
    }

    /// Shows base and designed damping side by side, or returns to one of them.
    pub fn show_three_views(&mut self, on: bool) {
        let Some(slot) = self.state.slots.get(self.designed()) else { return };
        let designed = Spec { base: false, ..slot.spec.clone() };
        let specs = if on { vec![Spec { base: true, ..designed.clone() }, designed] } else { vec![designed] };
        self.active = 0;
        self.send(Command::Open(specs));
    }

    /// Name of a body in the list of examples: `None` if there is only one body.
    pub fn body_name(&self, body: usize) -> Option<String> {
        let bodies = &self.state.slots.get(self.designed())?.loaded.scene.bodies;
        (bodies.len() > 1).then(|| bodies.get(body).map(|body| body.name.clone())).flatten()
    }

    /// Adds the current deformation of a body as an example, via a file.
    pub fn pose_as_example(&mut self, body: usize) {
        let Some(slot) = self.state.slots.get(self.designed()) else { return };
        let stem = format!("{}-pose", slot.loaded.name);
        let file = match keep::free_file(&self.pictures, &stem, "obj") {
            Ok(file) => file,
            Err(error) => return self.show_error(error.to_string()),
        };
        self.design.poses += 1;
        let serial = self.design.poses;
        let (slot, path) = (self.designed(), file.clone());
        self.design.posing = Some(Posing { serial, file, body: self.body_name(body) });
        self.send(Command::Pose { slot, body, path, serial });
    }

    /// Handles the session's answer to a pose request.
    fn poll_pose(&mut self) {
        let (serial, fault) = self.state.posed.clone();
        let Some(posing) = self.design.posing.take_if(|posing| posing.serial <= serial) else { return };
        if let Some(fault) = fault {
            return self.show_error(fault);
        }
        self.show_message(format!("written: {}", posing.file.display()));
        let file: PathBuf = posing.file;
        self.add_example("pose", posing.body, Shape { file: Some(file), ..Shape::default() });
    }

    /// Saves the scene with its examples.
    pub fn save_scene(&mut self) {
        let Some(slot) = self.state.slots.get(self.designed()) else { return };
        let loaded = slot.loaded.clone();
        match keep::save_scene(&self.pictures, &loaded, self.examples()) {
            Ok(path) => self.show_message(format!("written: {}", path.display())),
            Err(error) => self.show_error(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_examples_is_read_back_as_it_was_written() {
        let curve =
            Curve { kind: CurveKind::Linear, over: Over::Velocity, points: vec![[0.0, -0.3], [1.7, 2.0]] };
        let example = |name: &str, shape: Shape, curve: Option<Curve>| Example {
            name: name.into(),
            body: None,
            shape,
            gamma: 0.1 + 0.2,
            curve,
        };
        let list = vec![
            example("a", Shape { mode: Some(2), size: Some(0.05), ..Shape::default() }, Some(curve)),
            example("b \"c\"", Shape { mode: Some(1), ..Shape::default() }, None),
        ];
        let set = format!("{PATH}={}", written(&list).unwrap());
        assert!(!set.contains('\n'), "{set}");
        let sets = ["damping.model=laplacian".to_string(), "damping.stiffness=0.01".into(), set];
        let loaded = crate::setup::load("bar", &sets).unwrap();
        assert_eq!(loaded.scene.damping.examples, list);
        let none = format!("{PATH}={}", written(&[]).unwrap());
        let loaded = crate::setup::load("bar", &[sets.to_vec(), vec![none]].concat()).unwrap();
        assert!(loaded.scene.damping.examples.is_empty(), "a list can become empty");
        assert_eq!(free_name(&list, "pose"), "pose1");
        assert_eq!(source(&list[0].shape), "mode 2");
    }

    #[test]
    fn a_curve_begins_as_its_constant() {
        for (gamma, log) in [(1.0, 0.0), (10.0, 1.0), (0.0, -3.0), (1e9, 3.0)] {
            let curve = curve_of(gamma);
            assert!(curve.points.iter().all(|point| point[1] == log), "{curve:?}");
        }
    }
}
