//! Damping by example in the window: which example is edited, what was edited before, what is looked for.

pub mod edit;
pub mod inverse;
pub mod keep;
pub mod points;

use crate::design::Outcome;
use crate::scene::Example;
use inverse::{Row, Search};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What is shown on the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Page {
    /// Damping models and all other settings.
    #[default]
    Settings,
    /// Damping by example.
    Examples,
}

/// Lists that can be gone back to, at most.
const MOST_UNDONE: usize = 100;

/// How long an edit is shown that the simulation has not taken up and is not preparing.
const PATIENCE: Duration = Duration::from_millis(800);

/// A shape being written.
#[derive(Debug, Clone)]
pub struct Posing {
    /// Which request.
    pub serial: u64,
    /// Where it goes, as the scene will name it.
    pub file: PathBuf,
    /// Of which body; `None`: the only one.
    pub body: Option<String>,
}

/// All that the panels of damping by example remember.
#[derive(Debug, Default)]
pub struct Design {
    /// What is shown on the left.
    pub page: Page,
    /// The example that is edited.
    pub picked: usize,
    /// The point of its curve that keys move.
    pub point: Option<usize>,
    /// The editor of the curve, when it was last shown.
    pub editor: Option<egui::Id>,
    /// Whether that point is under the mouse or the keys now.
    pub held: bool,
    /// The right end of the axis.
    pub right: f64,
    /// The body that an example is added of.
    pub body: usize,
    /// The name of an example while it is typed.
    pub name: Option<String>,
    /// The number of the mode that is added next.
    pub mode: usize,
    /// How many times its shape a body is let go from.
    pub amount: f64,
    /// A shape being written.
    pub posing: Option<Posing>,
    /// Requests for poses so far.
    pub poses: u64,
    /// What shall remain of swings.
    pub rows: Vec<Row>,
    /// The search for curves under way.
    pub search: Option<Search>,
    /// What the last search has come to.
    pub outcomes: Vec<Outcome>,
    /// Why it has come to nothing.
    pub refused: Option<String>,
    /// An edit that the simulations have not taken up yet.
    edited: Option<(Vec<Example>, Instant)>,
    /// Lists before and after the present one.
    undone: Vec<Vec<Example>>,
    redone: Vec<Vec<Example>>,
    /// Whether the edits of this moment belong to the one before.
    gesture: bool,
}

impl Design {
    /// Before anything was edited.
    pub fn new() -> Design {
        Design { mode: 1, amount: 1.0, right: 1.0, ..Design::default() }
    }

    /// The examples as they shall be: what was edited last, until `told` is the same or the patience ends.
    pub fn follow(&mut self, told: &[Example], building: bool) {
        let taken_up = |(edited, since): &(Vec<Example>, Instant)| {
            edited == told || !building && since.elapsed() > PATIENCE
        };
        if self.edited.as_ref().is_some_and(taken_up) {
            self.edited = None;
        }
        self.picked = self.picked.min(self.count(told).saturating_sub(1));
    }

    fn count(&self, told: &[Example]) -> usize {
        self.edited.as_ref().map_or(told.len(), |(edited, _)| edited.len())
    }

    /// The examples as they shall be.
    pub fn examples<'a>(&'a self, told: &'a [Example]) -> &'a [Example] {
        self.edited.as_ref().map_or(told, |(edited, _)| edited)
    }

    /// Takes note of an edit. Those of one gesture, such as a drag, are undone together.
    pub fn note(&mut self, before: &[Example], after: Vec<Example>, gesture: bool) {
        if !(gesture && self.gesture) {
            self.undone.push(before.to_vec());
            let excess = self.undone.len().saturating_sub(MOST_UNDONE);
            self.undone.drain(..excess);
            self.redone.clear();
        }
        self.gesture = gesture;
        self.edited = Some((after, Instant::now()));
    }

    /// The mouse let go: the next edit is another gesture.
    pub fn end_gesture(&mut self) {
        self.gesture = false;
    }

    /// Goes back to the list before, or forward again; what it is then.
    pub fn undo(&mut self, now: &[Example], forward: bool) -> Option<Vec<Example>> {
        let (from, to) = match forward {
            false => (&mut self.undone, &mut self.redone),
            true => (&mut self.redone, &mut self.undone),
        };
        let list = from.pop()?;
        to.push(now.to_vec());
        self.gesture = false;
        self.edited = Some((list.clone(), Instant::now()));
        Some(list)
    }

    /// Whether there is something to go back to, and forward to.
    pub fn can_undo(&self) -> [bool; 2] {
        [!self.undone.is_empty(), !self.redone.is_empty()]
    }

    /// Another scene: nothing of the old one is kept.
    pub fn forget(&mut self) {
        *self = Design { page: self.page, poses: self.poses, ..Design::new() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Shape;

    fn list(gammas: &[f64]) -> Vec<Example> {
        let example = |(k, gamma): (usize, &f64)| Example {
            name: format!("example{k}"),
            body: None,
            shape: Shape { mode: Some(k + 1), ..Shape::default() },
            gamma: *gamma,
            curve: None,
        };
        gammas.iter().enumerate().map(example).collect()
    }

    #[test]
    fn a_drag_is_undone_as_one_and_redone() {
        let mut design = Design::new();
        let mut now = list(&[1.0]);
        for gamma in [2.0, 3.0, 4.0] {
            design.note(&now, list(&[gamma]), true);
            now = list(&[gamma]);
        }
        design.end_gesture();
        design.note(&now, list(&[9.0]), true);
        now = design.undo(&list(&[9.0]), false).unwrap();
        assert_eq!(now, list(&[4.0]));
        now = design.undo(&now, false).unwrap();
        assert_eq!(now, list(&[1.0]));
        assert_eq!(design.undo(&now, false), None);
        now = design.undo(&now, true).unwrap();
        assert_eq!(now, list(&[4.0]));
        assert_eq!(design.can_undo(), [true, true]);
        design.note(&now, list(&[5.0]), false);
        assert_eq!(design.can_undo(), [true, false], "what is new cannot be redone");
    }

    #[test]
    fn an_edit_is_shown_until_the_simulation_has_it() {
        let (old, new) = (list(&[1.0, 1.0]), list(&[1.0, 5.0, 2.0]));
        let mut design = Design::new();
        design.note(&old, new.clone(), false);
        design.picked = 2;
        design.follow(&old, true);
        assert_eq!((design.examples(&old), design.picked), (&new[..], 2));
        design.follow(&new, false);
        assert!(design.edited.is_none());
        assert_eq!(design.examples(&new), &new[..]);
        design.follow(&old, false);
        assert_eq!(design.picked, 1, "only what there is can be picked");
    }
}
