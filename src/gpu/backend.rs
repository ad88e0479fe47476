//! The operations of a step on a device, in order.
//!
//! *Hybrid*: the device computes the gradient and the host solves: per iteration 12 n bytes down and 12 n bytes up.
//! *Resident*: the device also solves, by a Cholesky factor (`fronts.rs`) or by inner iterations; a frame is one submission, and
//! only the ledger comes back, later. Steps are hybrid whenever the host accesses their inside (`inside.rs`).

mod record;

use super::buffer::Buffer;
use super::contents::points;
use super::iterations::holds_pairs;
use super::kernel::{Call, Id};
use super::layout::{Inner, Small, Step, encode};
use super::state;
use super::surface_access::GlobalStep;
use super::{Gpu, report};
use crate::damping::Filter;
use crate::elastic::Scalar;
use crate::error::RunError;
use crate::solve::metric::Parts;
use crate::step::backend::{
    AttachmentTargets, Backend, BackendState, Columns, ExtraForce, FetchedState, ForceAt, MaterialChange,
    Profile, Profiling, Report, Residency, Resident, Usage,
};
use crate::step::clock::Phase;
use crate::step::coefficients::StepCoefficients;
use crate::step::host::{HostAccess, HostNeeds, HostStep};
use crate::step::surface::SurfaceAccess;
use crate::{Result, Vec3};
use nalgebra::DVector;

/// Frames in flight before the host waits for the oldest.
const MOST_PENDING: usize = 3;

/// Forces have rounding errors of 6e-8 of their terms, and a step turns a force into a displacement up to this many
/// times larger than inertia alone would: beyond this, 1 % of the motion is rounding.
const STIFFEST: f64 = 1e5;

impl<T: Scalar> Backend for Gpu<T> {
    fn residency(&self) -> Residency {
        // only the exact solve is good enough for what is built upon it
        match self.global.solves_on_device() {
            true => Residency {
                line_search: true,
                lbfgs: holds_pairs(self.model.vertex_count()),
                tolerance: true,
                contact: true,
                low_rank: true,
                conservation: true,
                non_oscillatory: true,
            },
            false => Residency::default(),
        }
    }

    fn surface(&mut self) -> Option<&mut dyn SurfaceAccess> {
        Some(self)
    }

    fn resident(&mut self) -> Option<&mut dyn Resident> {
        Some(self)
    }

    fn set_material(&mut self, change: MaterialChange) -> Result<()> {
        match change {
            MaterialChange::Stiffness { stiffness, as_work } => self.update_stiffness(stiffness, as_work),
            MaterialChange::RestShapes { shapes, metric } => self.update_rest_shapes(shapes, metric),
        }
    }

    fn refactoring_cost(&mut self) -> f64 {
        self.global.refactoring(Parts { model: &self.given, laplacian: &self.laplacian, rest: self.rest })
    }

    fn prepare(&mut self, coefficients: &StepCoefficients, needs: HostNeeds) -> Result<()> {
        if needs > HostNeeds::GradientNorm {
            self.open()?;
        }
        if coefficients.tangent.stiffness != 0.0 {
            return Err(RunError::OnlyOnCpu("damping with the tangent stiffness").into());
        }
        (self.needs, self.ending) = (needs, None);
        self.prepare_global(coefficients)?;
        self.stiffness_ratio = self.ratio(coefficients.metric());
        (self.is_explicit, self.takes_start_force) = (coefficients.is_explicit(), coefficients.takes_force());
        let device_solves = self.mirror.is_none();
        let series: Option<Vec<Inner>> = self.global.chebyshev().filter(|_| device_solves).map(|weights| {
            let entry =
                |c: &crate::linear::Coefficients| Inner { momentum: c.momentum as f32, step: c.step as f32 };
            weights.coefficients.iter().map(entry).collect()
        });
        match series {
            Some(series) => self.set_inner(coefficients.row.stage, series)?,
            None => self.inner = 0..0,
        }
        self.compile()
    }

    fn force(
        &mut self,
        coefficients: &StepCoefficients,
        targets: &AttachmentTargets,
        at: ForceAt,
        extra: Option<&mut ExtraForce>,
    ) -> Result<()> {
        if at == ForceAt::Start && self.has_force {
            return Ok(());
        }
        self.evaluate_force(coefficients, targets, at)?;
        if let Some(extra) = extra {
            let more = extra(&self.host()?);
            self.add_force(&more)?;
        }
        if at == ForceAt::End {
            return self.kick(coefficients);
        }
        if coefficients.takes_force() && coefficients.row.velocity.force != 0.0 {
            self.mirror_kick(coefficients)
        } else {
            Ok(())
        }
    }

    fn predict(&mut self, coefficients: &StepCoefficients, targets: &AttachmentTargets) -> Result<()> {
        if coefficients.is_explicit() {
            return self.drift(coefficients, targets);
        }
        self.stream.phase(Phase::Predict);
        self.close_exchange()?;
        self.send_laplacian(coefficients)?;
        self.set_numbers(state::numbers(coefficients, self.model.gravity, &self.numbers)?);
        let travels =
            targets.before.iter().zip(&targets.after).map(|(before, after)| (*before, after - before));
        self.set_points(points(travels))?;
        self.attachment_targets.clone_from(&targets.after);
        self.measured = false;
        self.watch.iter_mut().for_each(|watch| watch.has_forces = false);
        self.stream.kernel(Id::predict)?;
        self.mirror_first_guess()?;
        if coefficients.takes_force() { self.add_start_force(coefficients) } else { Ok(()) }
    }

    fn local(&mut self, _: &StepCoefficients, columns: &[Columns]) -> Result<Vec<DVector<f64>>> {
        self.project()?;
        self.global_step = GlobalStep::Open;
        if self.is_resident() {
            self.add_examples_to_gradient()?;
            self.judge_iterate()?;
            return Ok(Vec::new());
        }
        match &mut self.mirror {
            // a line search may reject this point, and then the gradient is never read
            Some(mirror) => (mirror.is_unread, mirror.sums) = (true, None),
            None => self.request_gradient()?,
        }
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let g = &*self.host()?.gradient;
        Ok(columns.iter().map(|Columns { columns, turn }| columns.dot(turn, |i| g[i])).collect())
    }

    fn solve(
        &mut self,
        coefficients: &StepCoefficients,
        columns: &[Columns],
        shares: &[DVector<f64>],
    ) -> Result<()> {
        if !columns.is_empty() {
            self.compute_direction(coefficients)?;
            let HostStep { direction, .. } = self.host()?;
            let added = columns.iter().zip(shares);
            added.for_each(|(Columns { columns, turn }, c)| columns.add(turn, c, direction));
            return self.apply_direction();
        }
        if !self.is_resident() {
            self.fetch_gradient()?;
            if !self.global.solve(&mut self.gradient) {
                return Err(unprepared());
            }
            let correction: Vec<[f32; 3]> =
                self.gradient.iter().map(|s| s.map(|c| c.wide() as f32)).collect();
            return self.apply(correction);
        }
        if self.panels.is_some() {
            return self.finish_global_step();
        }
        self.stream.phase(Phase::Global);
        for (number, series) in self.inner.clone().enumerate() {
            self.stream
                .call(Id::chebyshev_update, Call { series, swapped: number % 2 == 1, ..Call::default() })?;
        }
        // the residual force of a body translates it as a whole, unless it is joined to others
        if self.model.joints().next().is_none() {
            self.stream.kernel(Id::measure_residual)?;
            self.stream.kernel(Id::reduce_residual)?;
        }
        self.stream.kernel(Id::apply_correction)
    }

    fn advance(
        &mut self,
        coefficients: &StepCoefficients,
        targets: &AttachmentTargets,
        keep_force: bool,
    ) -> Result<()> {
        self.stream.phase(Phase::Advance);
        if keep_force {
            self.stream.kernel(Id::store_end_force)?;
            self.has_force = true;
        }
        // forces of contacts lie in the gradient's buffer, and the host has measured what they leave
        let has_forces = self.watch.as_ref().is_some_and(|watch| watch.has_forces);
        if self.is_resident() && !has_forces {
            self.end_stage()?;
        }
        self.stream.kernel(Id::advance)?;
        self.stream.kernel(Id::measure_damping)?;
        self.measure_example_drag()?;
        if coefficients.work_share() != coefficients.row.c2 && targets.before != targets.after {
            self.set_numbers(Step { share: coefficients.work_share() as f32, ..self.numbers });
        }
        self.stream.kernel(Id::measure_work)?;
        self.exchange_open = true;
        self.invalidate_mirror();
        Ok(())
    }

    fn filter(&mut self, filter: &Filter) -> Result<()> {
        self.invalidate_mirror();
        self.damp(filter)
    }

    fn observe(&mut self, targets: &[Vec3]) -> Result<()> {
        self.close_exchange()?;
        self.stream.phase(Phase::Observe);
        if self.attachment_targets != targets {
            self.set_points(points(targets.iter().map(|at| (*at, Vec3::zeros()))))?;
            self.attachment_targets = targets.to_vec();
        }
        let kernels = [
            Id::observe_vertex,
            Id::observe_tet,
            Id::observe_triangle,
            Id::observe_spring,
            Id::observe_bending,
            Id::observe_attachment,
            Id::reduce_observation,
        ];
        kernels.into_iter().try_for_each(|id| self.stream.kernel(id))?;
        let readback = match self.free.pop() {
            Some(readback) => readback,
            None => self.stream.readback(Buffer::Report),
        };
        self.stream.download(Buffer::Report, &readback);
        // the next frame's exchange and gradients
        self.stream.clear(Buffer::Report, report::HEAD_BYTES);
        self.stream.submit()?;
        self.pending.push_back((readback, self.stream.last_submission(), self.ending.is_some()));
        if self.pending.len() > MOST_PENDING {
            if let Some((_, Some(oldest), _)) = self.pending.front() {
                self.stream.wait_for(oldest.clone())?;
            }
            self.receive_reports()?;
        }
        self.stream.reload()
    }

    fn reports(&mut self, wait: bool) -> Result<Vec<Report>> {
        if wait && self.pending.iter().any(|(readback, ..)| !readback.arrived()) {
            self.stream.wait()?;
            self.pending.iter().for_each(|(readback, ..)| readback.settle());
        } else {
            self.stream.context().poll()?;
        }
        self.receive_reports()?;
        Ok(std::mem::take(&mut self.arrived))
    }

    fn fetch(&mut self) -> Result<()> {
        if self.mirror.as_ref().is_some_and(|mirror| mirror.is_fresh) { Ok(()) } else { self.fetch_state() }
    }

    fn fetched(&self) -> FetchedState<'_> {
        FetchedState { positions: &self.x, velocities: &self.v, filtered: &[] }
    }

    fn snapshot(&mut self) -> Result<BackendState> {
        self.stream.submit()?;
        let force = if self.is_explicit { Buffer::Gradient } else { Buffer::StartGradient };
        let state = state::snapshot(&mut self.stream, self.has_force.then_some(force))?;
        Ok(BackendState { conserved: self.conserved_state()?, ..state })
    }

    fn restore(&mut self, snapshot: &BackendState) -> Result<bool> {
        // what a step that failed had still to do would be done to the new state
        self.stream.discard();
        if !state::restore(&mut self.stream, &self.model, snapshot)? {
            return Ok(false);
        }
        self.restore_conserved(&snapshot.conserved)?;
        self.start_filters.clear(); // the device may have lost the last uploads
        (self.exchange_open, self.conserves) = (false, false);
        self.has_force = snapshot.forces.len() == 3 * self.model.vertex_count();
        self.invalidate_mirror();
        self.resend_stiffness()?;
        // the device may have lost the last uploads
        self.stream.upload(Buffer::Step, &self.numbers.bytes());
        if !self.points.is_empty() {
            self.stream.upload(Buffer::Points, &encode(&self.points));
        }
        self.stream.clear(Buffer::Report, report::HEAD_BYTES);
        self.resend_iterations();
        self.stream.submit()?;
        self.fetch()?;
        Ok(true)
    }
}

impl<T: Scalar> Profiling for Gpu<T> {
    fn describe(&self) -> String {
        let adapter = &self.stream.context().adapter;
        let stays = self.is_resident() || self.is_explicit && self.mirror.is_none();
        let way = match stays {
            true => "resident",
            false if self.mirror.is_some() => "hybrid, solved on the host, which acts on the steps",
            false if self.needs == HostNeeds::GradientNorm => {
                "hybrid, solved on the host, which stops at a tolerance"
            }
            false => "hybrid, solved on the host",
        };
        let warning = match self.stiffness_ratio {
            ratio if ratio > STIFFEST => {
                format!(
                    "; WARNING: stiffness is {ratio:.0e} times inertia, too much for f32: use --backend cpu"
                )
            }
            _ => String::new(),
        };
        let megabytes = self.stream.arena().bytes() as f64 / 1e6;
        let digits = if megabytes < 10.0 { 1 } else { 0 };
        let solve = self.global.describe();
        format!("gpu ({adapter}), f32, {way}; {solve}; {megabytes:.digits$} MB of buffers{warning}")
    }

    fn set_profiling(&mut self, what: Profile) {
        match what {
            Profile::Kernels => self.stream.profile_kernels(),
            _ => self.stream.set_profiling(what == Profile::Phases),
        }
    }

    fn usage(&self) -> Usage {
        Usage {
            device: Some(self.stream.usage()),
            kernels: self.stream.kernel_times(),
            inner_iterations: self.global.chebyshev().map_or(0, |weights| weights.coefficients.len()),
        }
    }
}

/// A solve was requested before its matrix was prepared.
pub(super) fn unprepared() -> crate::Error {
    RunError::Factorisation("it has not been prepared".into()).into()
}
