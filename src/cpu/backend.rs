//! The operations of a step on the CPU, in its order.

use super::inside::{unprepared, wide};
use super::{CHUNK, Cpu, Viscous, fill, observe};
use crate::damping::Filter;
use crate::elastic::Scalar;
use crate::elastic::gather::VERTICES_PER_TASK;
use crate::ledger::Exchange;
use crate::solve::metric::Parts;
use crate::step::backend::{
    AttachmentTargets, Backend, BackendState, Columns, ExtraForce, FetchedState, ForceAt, MaterialChange,
    Profiling, Report, Usage,
};
use crate::step::{HostAccess, HostNeeds, StepCoefficients};
use crate::{Result, Vec3};
use nalgebra::DVector;
use rayon::prelude::*;

impl<T: Scalar> Backend for Cpu<T> {
    fn set_material(&mut self, change: MaterialChange) -> Result<()> {
        match change {
            MaterialChange::Stiffness { stiffness, as_work } => self.update_stiffness(stiffness, as_work),
            MaterialChange::RestShapes { shapes, metric } => self.update_rest_shapes(shapes, metric)?,
        }
        Ok(())
    }

    fn refactoring_cost(&mut self) -> f64 {
        self.global.refactoring(Parts { model: &self.given, laplacian: &self.laplacian, rest: self.rest })
    }

    fn prepare(&mut self, coefficients: &StepCoefficients, needs: HostNeeds) -> Result<()> {
        self.open(needs);
        self.last_step = coefficients.h;
        let parts = Parts { model: &self.given, laplacian: &self.laplacian, rest: self.rest };
        self.global.prepare(coefficients.row.stage, coefficients.metric(), &self.stiffness, parts)?;
        self.prepare_tangent(coefficients)
    }

    fn force(
        &mut self,
        coefficients: &StepCoefficients,
        targets: &AttachmentTargets,
        at: ForceAt,
        extra: Option<&mut ExtraForce>,
    ) -> Result<()> {
        if at == ForceAt::Start && self.forces.is_known() {
            return Ok(());
        }
        self.evaluate_force(coefficients, targets, at);
        if let Some(extra) = extra {
            let more = extra(&self.host()?);
            self.forces.add(&more);
        }
        let gets_share = coefficients.takes_force() || at == ForceAt::End;
        if gets_share && coefficients.row.velocity.force != 0.0 {
            self.kick(coefficients);
        }
        Ok(())
    }

    fn predict(&mut self, coefficients: &StepCoefficients, targets: &AttachmentTargets) -> Result<()> {
        if coefficients.is_explicit() {
            self.drift(coefficients, targets);
            return Ok(());
        }
        if coefficients.stiffness_damping != 0.0 && self.viscous.is_none() {
            let state = [&self.x[..], &self.x_before, &self.v];
            self.viscous = Some(Viscous::new(&self.laplacian, &self.model, state));
        }
        let known = self
            .viscous
            .as_ref()
            .filter(|_| coefficients.stiffness_damping != 0.0)
            .map(|v| v.known(coefficients));
        let (mut y, mut target) = (std::mem::take(&mut self.iterate), std::mem::take(&mut self.target));
        let weight = coefficients.dissipation_weight() / coefficients.inertia();
        y.par_iter_mut().with_min_len(CHUNK).zip(&mut target).enumerate().for_each(|(i, (y, target))| {
            *y = self.inertial_target(coefficients, i);
            let mut force = Vec3::zeros();
            if coefficients.mass_damping != 0.0 {
                force += (*y * coefficients.velocity_slope() + self.velocity_offset(coefficients, i))
                    * coefficients.mass_damping;
            }
            if let Some(known) = &known {
                let damping = coefficients.stiffness_damping * self.vertex_stiffness[i];
                force += known.at(i) * (damping / self.model.mass[i]);
            }
            *target = *y - force * weight;
        });
        (self.iterate, self.target) = (y, target);
        let c2 = coefficients.row.c2;
        for (point, (before, after)) in self.points.iter_mut().zip(targets.before.iter().zip(&targets.after))
        {
            *point = before + (after - before) * c2;
        }
        if self.mirror.is_open() {
            self.mirror.points.clone_from(&targets.after);
        }
        if coefficients.takes_force() {
            self.add_start_force(coefficients);
        }
        Ok(())
    }

    fn local(&mut self, coefficients: &StepCoefficients, columns: &[Columns]) -> Result<Vec<DVector<f64>>> {
        let (c2, z) = (coefficients.row.c2, coefficients.row.offset);
        let (iterate, x) = (&self.iterate, &self.x);
        fill(&mut self.evaluated, |i| iterate[i] * c2 + x[i] * z);
        let (a, b) = (coefficients.deformation_weight(), coefficients.projection_weight());
        self.local.element_gradients(&self.model, &self.evaluated, &self.points, a, b);
        let tangent = self.resist(coefficients);
        let (iterate, target, mass) = (&self.iterate, &self.target, &self.model.mass);
        let (inertia, weight) = (coefficients.inertia(), coefficients.tangent_weight());
        let inertial = |i: usize| {
            let inertial = (iterate[i] - target[i]) * (inertia * mass[i]);
            tangent.as_ref().map_or(inertial, |tangent| inertial + tangent.force(i) * weight)
        };
        // while g is at hand
        let product = |task: usize, g: &[[T; 3]]| -> Vec<Option<Vec<f64>>> {
            let of = |Columns { columns, turn }: &Columns| {
                Some(columns.chunk(task)?.dot(turn, |i| wide(&g[i - task * VERTICES_PER_TASK])))
            };
            columns.iter().map(of).collect()
        };
        let parts = self.local.gather_and(&mut self.gradient, inertial, product);
        self.tangent = tangent;
        self.show_gradient();
        let whole =
            |(k, own): (usize, &Columns)| own.columns.sum(parts.iter().filter_map(|part| part[k].as_deref()));
        Ok(columns.iter().enumerate().map(whole).collect())
    }

    fn solve(&mut self, _: &StepCoefficients, columns: &[Columns], shares: &[DVector<f64>]) -> Result<()> {
        let solved = match &mut self.tangent {
            Some(tangent) => tangent.solve_rows(&mut self.gradient),
            None => self.global.solve(&mut self.gradient),
        };
        if !solved {
            return Err(unprepared());
        }
        let tasks =
            self.iterate.par_chunks_mut(VERTICES_PER_TASK).zip(self.gradient.par_chunks(VERTICES_PER_TASK));
        tasks.enumerate().for_each(|(task, (x, step))| {
            x.iter_mut().zip(step).for_each(|(x, d)| *x -= wide(d));
            for (Columns { columns, turn }, c) in columns.iter().zip(shares) {
                let Some(chunk) = columns.chunk(task) else { continue };
                let own = &mut x[chunk.vertices().start - task * VERTICES_PER_TASK..];
                chunk.times(turn, c, |k, d| own[k] -= d);
            }
        });
        Ok(())
    }

    fn advance(
        &mut self,
        coefficients: &StepCoefficients,
        targets: &AttachmentTargets,
        keep_force: bool,
    ) -> Result<()> {
        if keep_force {
            self.store_end_force(coefficients);
        }
        let mut v = std::mem::take(&mut self.evaluated);
        fill(&mut v, |i| self.new_velocity(coefficients, i));
        let share = coefficients.work_share();
        let work = self.model.attachments.iter().enumerate().map(|(k, a)| {
            let i = a.vertex as usize;
            let evaluated = self.iterate[i] * share + self.x[i] * (1.0 - share);
            let travel = targets.after[k] - targets.before[k];
            a.stiffness * (targets.before[k] + travel * share - evaluated).dot(&travel)
        });
        self.exchanged.work += work.sum::<f64>();
        self.exchanged.damped += self.dissipated(coefficients, &v);
        self.forces.kick.clear();
        // x, v become history; the buffers of the older history are free to be written
        self.last_step = coefficients.h;
        std::mem::swap(&mut self.x_before, &mut self.x);
        std::mem::swap(&mut self.x, &mut self.iterate);
        std::mem::swap(&mut self.v_before, &mut self.v);
        self.evaluated = std::mem::replace(&mut self.v, v);
        Ok(())
    }

    fn filter(&mut self, filter: &Filter) -> Result<()> {
        let before = self.kinetic();
        let unfiltered = self.v.clone();
        self.filtered.resize(unfiltered.len(), Vec3::zeros());
        self.damp(filter);
        self.viscous = None; // its L v is of the velocity before
        // An integrator with history must find the filtered motion there, too: v + Δv all along.
        for (i, old) in unfiltered.iter().enumerate() {
            let change = self.v[i] - old;
            self.filtered[i] = change;
            self.v_before[i] += change;
            self.x_before[i] -= change * self.last_step;
        }
        self.exchanged.damped += before - self.kinetic();
        Ok(())
    }

    fn observe(&mut self, targets: &[Vec3]) -> Result<()> {
        let seen = observe::observe(&self.model, &self.local, &self.x, &self.v, targets);
        self.reports.push(Report {
            exchange: std::mem::take(&mut self.exchanged),
            seen,
            ..Report::default()
        });
        Ok(())
    }

    fn reports(&mut self, _: bool) -> Result<Vec<Report>> {
        Ok(std::mem::take(&mut self.reports))
    }

    fn fetch(&mut self) -> Result<()> {
        Ok(())
    }

    fn fetched(&self) -> FetchedState<'_> {
        FetchedState { positions: &self.x, velocities: &self.v, filtered: &self.filtered }
    }

    fn snapshot(&mut self) -> Result<BackendState> {
        let flat = |v: &[Vec3]| -> Vec<f64> { bytemuck::cast_slice(v).to_vec() };
        Ok(BackendState {
            positions: flat(&self.x),
            velocities: flat(&self.v),
            positions_before: flat(&self.x_before),
            velocities_before: flat(&self.v_before),
            moved: Vec::new(),
            low: Vec::new(),
            warm_starts: self.local.warm_starts(),
            viscous: self.viscous.iter().flat_map(Viscous::parts).flat_map(|part| flat(&part)).collect(),
            forces: self.forces.known().map(flat).unwrap_or_default(),
            conserved: Vec::new(),
        })
    }

    fn restore(&mut self, snapshot: &BackendState) -> Result<bool> {
        let n = 3 * self.x.len();
        let parts = [
            (&snapshot.positions, &mut self.x),
            (&snapshot.velocities, &mut self.v),
            (&snapshot.positions_before, &mut self.x_before),
            (&snapshot.velocities_before, &mut self.v_before),
        ];
        if parts.iter().any(|(from, _)| from.len() != n) {
            return Ok(false);
        }
        for (from, to) in parts {
            to.copy_from_slice(bytemuck::cast_slice(from));
        }
        self.local.set_warm_starts(&snapshot.warm_starts);
        let part = |k: usize| bytemuck::cast_slice(&snapshot.viscous[k * n..(k + 1) * n]);
        let kept = snapshot.viscous.len() == 3 * n;
        self.viscous = kept.then(|| Viscous::from_parts(&self.model, [part(0), part(1), part(2)]));
        self.forces.restore((snapshot.forces.len() == n).then(|| bytemuck::cast_slice(&snapshot.forces)));
        self.exchanged = Exchange::default();
        Ok(true)
    }
}

impl<T: Scalar> Profiling for Cpu<T> {
    fn describe(&self) -> String {
        let threads = rayon::current_num_threads();
        let plural = if threads == 1 { "" } else { "s" };
        format!("cpu, f{}, {threads} thread{plural}; {}", 8 * size_of::<T>(), self.global.describe())
    }

    fn usage(&self) -> Usage {
        let inner_iterations = self.global.chebyshev().map_or(0, |weights| weights.coefficients.len());
        Usage { inner_iterations, ..Usage::default() }
    }
}
