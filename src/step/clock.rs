//! Where the time of a frame goes, phase by phase.

use std::time::{Duration, Instant};

/// The phases of a step, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Assembling and factoring A: once, and when its numbers change.
    Factor,
    /// The targets of momenta and energy, and the directions that lead there.
    Aim,
    /// Inertial target and first guess.
    Predict,
    /// Projections and gradient.
    Local,
    /// The linear solve.
    Global,
    /// Contacts: found, and resolved.
    Contact,
    /// Conservation of momenta and energy.
    Constrain,
    /// Velocity, filter, energy exchanged.
    Advance,
    /// Energies and momenta for the ledger.
    Observe,
}

/// All phases with their names, in order.
pub const PHASES: [(Phase, &str); 9] = [
    (Phase::Factor, "factor"),
    (Phase::Aim, "aim"),
    (Phase::Predict, "predict"),
    (Phase::Local, "local"),
    (Phase::Global, "global"),
    (Phase::Contact, "contact"),
    (Phase::Constrain, "constrain"),
    (Phase::Advance, "advance"),
    (Phase::Observe, "observe"),
];

/// Time spent in each phase since the start. A phase inside another one counts for itself alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Clock {
    spent: [Duration; PHASES.len()],
    running: Option<(Phase, Instant)>,
}

impl Clock {
    /// Runs `work` and books its time.
    pub fn time<R>(&mut self, phase: Phase, work: impl FnOnce() -> R) -> R {
        let outer = self.enter(Some(phase));
        let result = work();
        self.enter(outer);
        result
    }

    /// From now on time counts for this phase. Returns the one before, to go back to.
    pub fn enter(&mut self, phase: Option<Phase>) -> Option<Phase> {
        let now = Instant::now();
        let outer = self.running.take();
        if let Some((phase, since)) = outer {
            self.spent[phase as usize] += now - since;
        }
        self.running = phase.map(|phase| (phase, now));
        outer.map(|(phase, _)| phase)
    }

    /// Time spent in a phase (ms).
    pub fn milliseconds(&self, phase: Phase) -> f64 {
        self.spent[phase as usize].as_secs_f64() * 1e3
    }

    /// The time spent since an `earlier` reading.
    pub fn since(&self, earlier: &Clock) -> Clock {
        let spent = std::array::from_fn(|k| self.spent[k].saturating_sub(earlier.spent[k]));
        Clock { spent, running: None }
    }
}
