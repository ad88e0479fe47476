//! Interventions of a user: impulses that give energy, and a change of settings in the middle of a motion.

use super::parts::attachments::Attachments;
use super::{Change, Simulation, Snapshot};
use crate::ledger::{Exchange, Observation, Row};
use crate::{Result, Vec3};

impl Simulation {
    /// Changes velocities between two frames: vertex i by Δv (m/s). The kinetic energy given, Σ m (v·Δv + |Δv|²/2), is work in
    /// the ledger, and conservation takes momenta and energy as given. Vertices that do not exist are ignored.
    pub fn apply_impulses(&mut self, changes: &[(usize, Vec3)]) -> Result<()> {
        self.frames.check()?;
        let n = self.cx.model.vertex_count();
        let mut all = vec![Vec3::zeros(); n];
        changes.iter().filter(|(i, _)| *i < n).for_each(|(i, change)| all[*i] += change);
        self.cx.apply_impulses(&all)
    }

    /// Takes over the motion of another simulation of the same bodies under other settings: state, time and ledger go on. What
    /// the change does to the energy (a stiffer material, a released vertex) is work. `false` if the bodies are others.
    ///
    /// Time goes on in whole frames: with another `time.step` it is rounded to the nearest.
    pub fn transfer_from(&mut self, from: &mut Simulation) -> Result<bool> {
        let mut snapshot = from.snapshot()?;
        let (time, other) = (&self.cx.time, &from.cx.time);
        if (time.frame, time.substeps) != (other.frame, other.substeps) {
            snapshot.steps = (other.now() / time.frame).round() as u64 * time.substeps as u64;
        }
        let share = self.cx.stage_length() / from.cx.stage_length();
        let state = &mut snapshot.state;
        if share != 1.0 {
            rescale(&mut state.positions_before, &state.positions, share);
            rescale(&mut state.velocities_before, &state.velocities, share);
            state.moved.iter_mut().for_each(|way| *way *= share);
        }
        state.viscous.clear(); // of the matrix before
        state.forces.clear(); // of the materials before
        if !self.restore(&snapshot)? {
            return Ok(false);
        }
        self.announce(Change::Material);
        let Simulation { cx, parts, .. } = self;
        if let Some((to, from_part)) = parts.find_mut::<Attachments>().zip(from.parts.find::<Attachments>()) {
            to.transfer_from(&cx.model, from_part, &from.cx.model, cx.backend.fetched().positions);
        }
        self.count_as_work(&snapshot)?;
        Ok(true)
    }

    /// Puts all vertices at other places (m), at rest; the energy that this takes is work.
    pub fn place(&mut self, positions: &[Vec3]) -> Result<()> {
        let mut snapshot = self.snapshot()?;
        if positions.len() != self.cx.model.vertex_count() {
            return Ok(());
        }
        let state = &mut snapshot.state;
        state.positions = positions.iter().flatten().copied().collect();
        state.positions_before = state.positions.clone();
        for still in [&mut state.velocities, &mut state.velocities_before, &mut state.moved] {
            still.fill(0.0);
        }
        for of_before in [&mut state.low, &mut state.viscous, &mut state.forces] {
            of_before.clear();
        }
        self.restore(&snapshot)?;
        self.announce(Change::State);
        self.count_as_work(&snapshot)
    }

    /// Tells all parts of a change.
    fn announce(&mut self, change: Change) {
        self.cx.changed(change);
        self.parts.tell_changes(&mut self.cx);
    }

    /// The energy by which the state now differs from that of the last row is work.
    fn count_as_work(&mut self, snapshot: &Snapshot) -> Result<()> {
        let before: Row = snapshot.book.last();
        self.ask()?;
        let contact = self.stored_energy()?;
        let seen = self.cx.backend.reports(true)?.pop().unwrap_or_default().seen;
        let seen = Observation { contact, ..seen };
        let total = seen.total();
        if total != before.total {
            self.announce(Change::Velocities);
        }
        let (frame, time) = (self.frame_number(), self.time());
        let book = &mut self.frames.book;
        book.exchange(Exchange { work: total - before.total, ..Exchange::default() });
        book.row(frame, time, &seen, before.iterations, before.residual);
        Ok(())
    }
}

/// x_{n−1} or v_{n−1} of a step that is `share` times as long: the change grows with it.
fn rescale(before: &mut [f64], now: &[f64], share: f64) {
    before.iter_mut().zip(now).for_each(|(before, now)| *before = now - (now - *before) * share);
}
