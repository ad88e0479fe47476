//! The hand of a user: pulls that give energy, and a change of settings in the middle of a motion.

use super::Simulation;
use super::gain::Gain;
use super::hold::body::Rigid;
use crate::ledger::{Exchange, Observation, Row};
use crate::{Result, Vec3};

impl Simulation {
    /// Changes velocities between two frames: vertex i by Δv (m/s). The kinetic energy given, Σ m (v·Δv + |Δv|²/2), is work in
    /// the ledger, and what is held of a body takes momenta and energy as given. Vertices that do not exist are passed over.
    pub fn pull(&mut self, changes: &[(usize, Vec3)]) -> Result<()> {
        self.check()?;
        self.fetch()?;
        let n = self.model.vertex_count();
        let mut all = vec![Vec3::zeros(); n];
        changes.iter().filter(|(i, _)| *i < n).for_each(|(i, change)| all[*i] += change);
        let Simulation { backend, model, .. } = self;
        let (x, v) = (backend.positions(), backend.velocities());
        let given: Vec<_> = model
            .bodies
            .iter()
            .map(|body| {
                let range = body.vertices.clone();
                let gain = |i: usize| model.mass[i] * (v[i].dot(&all[i]) + 0.5 * all[i].norm_squared());
                // momenta are linear in the velocities: those of the changes are the changes of them
                let impulse = Rigid::of(range.clone(), &model.mass, x, &all);
                (range.map(gain).sum::<f64>(), impulse)
            })
            .collect();
        backend.shift(&vec![Vec3::zeros(); n], &all)?;
        self.exchanged.work += given.iter().map(|(energy, _)| energy).sum::<f64>();
        if let Some(goals) = self.goals() {
            for (kept, (energy, impulse)) in goals.kept.iter_mut().zip(&given) {
                let add = |to: &mut Option<[f64; 3]>, more: Vec3| {
                    *to = to.map(|had| (Vec3::from(had) + more).into());
                };
                add(&mut kept.momentum, impulse.momentum);
                add(&mut kept.spin, impulse.spin);
                kept.energy = kept.energy.map(|had| had + energy);
            }
        }
        Ok(())
    }

    /// Takes over the motion of another simulation of the same bodies under other settings: state, time and ledger go on. What
    /// the change does to the energy (a stiffer material, a released vertex) is work. `false` if the bodies are others.
    ///
    /// Time goes on in whole frames: with another `time.step` it is rounded to the nearest.
    pub fn carry_on(&mut self, from: &mut Simulation) -> Result<bool> {
        let (mut steps, book, mut snapshot) = from.snapshot()?;
        if (self.time.step, self.time.substeps) != (from.time.step, from.time.substeps) {
            steps = (from.time() / self.time.step).round() as u64 * self.time.substeps as u64;
        }
        let share = self.history_length() / from.history_length();
        if share != 1.0 {
            rescale(&mut snapshot.positions_before, &snapshot.positions, share);
            rescale(&mut snapshot.velocities_before, &snapshot.velocities, share);
            snapshot.moved.iter_mut().for_each(|way| *way *= share);
        }
        snapshot.viscous.clear(); // of the matrix before
        snapshot.forces.clear(); // of the materials before
        if !self.restore(steps, book, &snapshot)? {
            return Ok(false);
        }
        self.gain = Gain::default(); // elastic energies of the materials before
        let Simulation { attached, model, backend, .. } = self;
        attached.carry_on(model, &from.attached, &from.model, backend.positions());
        self.count_as_work(book.last())?;
        Ok(true)
    }

    /// Puts all vertices at other places (m), at rest; the energy that this takes is work.
    pub fn place(&mut self, positions: &[Vec3]) -> Result<()> {
        let (steps, book, mut snapshot) = self.snapshot()?;
        if positions.len() != self.model.vertex_count() {
            return Ok(());
        }
        snapshot.positions = positions.iter().flatten().copied().collect();
        snapshot.positions_before = snapshot.positions.clone();
        for still in [&mut snapshot.velocities, &mut snapshot.velocities_before, &mut snapshot.moved] {
            still.fill(0.0);
        }
        for of_before in [&mut snapshot.low, &mut snapshot.viscous, &mut snapshot.forces] {
            of_before.clear();
        }
        self.restore(steps, book, &snapshot)?;
        self.gain = Gain::default();
        self.count_as_work(book.last())
    }

    /// The energy by which the state now differs from that of the last row is work.
    fn count_as_work(&mut self, before: Row) -> Result<()> {
        self.ask()?;
        let contact = self.contact_energy();
        let seen = self.backend.reports(true)?.pop().unwrap_or_default().seen;
        let seen = Observation { contact, ..seen };
        let total = seen.total();
        if total != before.total {
            self.goals().into_iter().for_each(|goals| goals.forget());
        }
        self.book.exchange(Exchange { work: total - before.total, ..Exchange::default() });
        self.book.row(self.frame_number(), self.time(), &seen, before.iterations, before.residual);
        Ok(())
    }
}

/// x_{n−1} or v_{n−1} of a step that is `share` times as long: the change grows with it.
fn rescale(before: &mut [f64], now: &[f64], share: f64) {
    before.iter_mut().zip(now).for_each(|(before, now)| *before = now - (now - *before) * share);
}
