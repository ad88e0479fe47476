//! Damping by example in the window: the edited example, undo history, inverse design.

pub mod edit;
pub mod inverse;
pub mod keep;
pub mod points;

use crate::design::Outcome;
use crate::scene::Example;
use inverse::{Row, Search};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The page shown on the left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Page {
    /// Damping models and all other settings.
    #[default]
    Settings,
    Examples,
}

/// Maximum length of the undo history.
const MOST_UNDONE: usize = 100;

/// How long an edit is shown that the simulation neither adopts nor prepares.
const PATIENCE: Duration = Duration::from_millis(800);

/// A shape being written.
#[derive(Debug, Clone)]
pub struct Posing {
    pub serial: u64,
    /// Its file, as the scene will name it.
    pub file: PathBuf,
    /// Its body; `None`: the only one.
    pub body: Option<String>,
}

/// State of the panels of damping by example.
#[derive(Debug, Default)]
pub struct Design {
    /// What is shown on the left.
    pub page: Page,
    /// The edited example.
    pub picked: usize,
    /// The curve point selected for keys.
    pub point: Option<usize>,
    /// Id of the curve editor when last shown.
    pub editor: Option<egui::Id>,
    /// Whether that point is being dragged or moved by keys.
    pub held: bool,
    /// Right end of the axis.
    pub right: f64,
    /// The body for new examples.
    pub body: usize,
    /// Name being typed.
    pub name: Option<String>,
    /// Mode number for the next new example.
    pub mode: usize,
    /// Multiple of the shape for releases.
    pub amount: f64,
    /// A shape being written.
    pub posing: Option<Posing>,
    pub poses: u64,
    pub rows: Vec<Row>,
    pub search: Option<Search>,
    /// Outcomes of the last search.
    pub outcomes: Vec<Outcome>,
    /// Why it failed.
    pub refused: Option<String>,
    /// An edit that the simulations have not adopted yet.
    edited: Option<(Vec<Example>, Instant)>,
    /// Undo and redo lists.
    undone: Vec<Vec<Example>>,
    redone: Vec<Vec<Example>>,
    /// Whether edits still belong to the current gesture.
    gesture: bool,
}

impl Design {
    pub fn new() -> Design {
        Design { mode: 1, amount: 1.0, right: 1.0, ..Design::default() }
    }

    /// Keeps the last edit until `told`, the published list, matches it or the patience ends.
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

    pub fn examples<'a>(&'a self, told: &'a [Example]) -> &'a [Example] {
        self.edited.as_ref().map_or(told, |(edited, _)| edited)
    }

    /// Records an edit. Edits of one gesture, such as a drag, are undone together.
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

    /// Ends the gesture: the next edit is a new one.
    pub fn end_gesture(&mut self) {
        self.gesture = false;
    }

    /// Undo, or redo; returns the new list.
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

    /// Whether undo and redo are possible.
    pub fn can_undo(&self) -> [bool; 2] {
        [!self.undone.is_empty(), !self.redone.is_empty()]
    }

    /// Resets everything for another scene.
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
