//! The operations of a step on a device, in its order.
//!
//! *Hybrid*: the device makes the gradient, the host solves: per iteration 12 n bytes come and 12 n bytes go.
//! *Resident*: the device iterates for the solution as well, a frame is one submission, and only the ledger comes back, late.
//! Where the host looks into the steps (`inside.rs`) it is always hybrid.

mod record;

use super::buffer::Buffer;
use super::contents::points;
use super::kernel::{Call, Id};
use super::layout::{Inner, Small, Step, encode};
use super::state;
use super::{Gpu, report};
use crate::cpu::Scalar;
use crate::cpu::global::Parts;
use crate::damping::Filter;
use crate::error::RunError;
use crate::model::rest::RestShapes;
use crate::step::backend::{Backend, DeviceUse, KernelTime, Report, Snapshot, Targets};
use crate::step::clock::Phase;
use crate::step::form::Form;
use crate::step::stiffness::Stiffness;
use crate::{Result, Vec3};

/// Frames that may be on their way before the host waits for the oldest.
const MOST_PENDING: usize = 3;

/// Forces are rounded to 6e-8 of their terms, and a step turns a force into a way of up to so many times what inertia alone
/// would: beyond this a hundredth of the motion is rounding.
const STIFFEST: f64 = 1e5;

impl<T: Scalar> Backend for Gpu<T> {
    fn set_stiffness(&mut self, stiffness: &Stiffness, as_work: bool) -> Result<()> {
        self.restiffen(stiffness, as_work)
    }

    fn set_rest_shapes(&mut self, shapes: &RestShapes, metric: bool) -> Result<()> {
        self.reshape(shapes, metric)
    }

    fn refactoring(&mut self) -> f64 {
        self.global.refactoring(Parts { model: &self.given, laplacian: &self.laplacian, rest: self.rest })
    }

    fn prepare(&mut self, form: &Form) -> Result<()> {
        if form.tangent.stiffness != 0.0 {
            return Err(RunError::OnlyOnCpu("damping by the elements' own stiffness").into());
        }
        let parts = Parts { model: &self.given, laplacian: &self.laplacian, rest: self.rest };
        self.global.prepare(form.row.stage, form.metric(), &self.stiffness, parts)?;
        self.stiffness_ratio = self.ratio(form.metric());
        (self.is_explicit, self.leans) = (form.is_explicit(), form.takes_force());
        let device_solves = self.seen.is_none();
        let series: Option<Vec<Inner>> = self.global.chebyshev().filter(|_| device_solves).map(|weights| {
            let entry =
                |c: &crate::linear::Coefficients| Inner { momentum: c.momentum as f32, step: c.step as f32 };
            weights.coefficients.iter().map(entry).collect()
        });
        match series {
            Some(series) => self.set_inner(form.row.stage, series)?,
            None => self.inner = 0..0,
        }
        self.compile()
    }

    fn predict(&mut self, form: &Form, targets: &Targets) -> Result<()> {
        self.stream.phase(Phase::Predict);
        self.close_exchange()?;
        self.send_laplacian(form)?;
        self.set_numbers(state::numbers(form, self.model.gravity, &self.numbers)?);
        let travels =
            targets.before.iter().zip(&targets.after).map(|(before, after)| (*before, after - before));
        self.set_points(points(travels))?;
        self.points_now.clone_from(&targets.after);
        self.measured = false;
        self.stream.kernel(Id::predict)?;
        self.follow_guess()
    }

    fn local(&mut self, _: &Form) -> Result<()> {
        self.project()?;
        if self.is_resident() {
            if !std::mem::replace(&mut self.measured, true) {
                self.measure_gradient()?;
            }
            return Ok(());
        }
        match &mut self.seen {
            // a line search may not like it there: then nobody reads the gradient
            Some(seen) => {
                (seen.is_unread, seen.sums) = (true, None);
                Ok(())
            }
            None => self.ask_for_gradient(),
        }
    }

    fn gradient_norm(&mut self) -> Result<Option<f64>> {
        if self.is_resident() {
            return Ok(None);
        }
        self.fetch_gradient()?;
        let square: f64 = self.gradient.iter().flatten().map(|c| c.wide() * c.wide()).sum();
        Ok(Some(square.sqrt()))
    }

    fn global(&mut self, _: &Form) -> Result<()> {
        if !self.is_resident() {
            self.fetch_gradient()?;
            if !self.global.solve(&mut self.gradient) {
                return Err(unprepared());
            }
            let correction: Vec<[f32; 3]> =
                self.gradient.iter().map(|s| s.map(|c| c.wide() as f32)).collect();
            return self.apply(correction);
        }
        self.stream.phase(Phase::Global);
        for (number, series) in self.inner.clone().enumerate() {
            self.stream.call(Id::chebyshev_update, Call { series, swapped: number % 2 == 1 })?;
        }
        // what is left of a body's force moves it as a whole, unless others are joined to it
        if self.model.joints().next().is_none() {
            self.stream.kernel(Id::measure_residual)?;
            self.stream.kernel(Id::reduce_residual)?;
        }
        self.stream.kernel(Id::apply_correction)
    }

    fn advance(&mut self, form: &Form, targets: &Targets) -> Result<()> {
        self.stream.phase(Phase::Advance);
        if self.is_resident() {
            self.measure_gradient()?;
        }
        self.stream.kernel(Id::advance)?;
        self.stream.kernel(Id::measure_damping)?;
        if form.work_share() != form.row.c2 && targets.before != targets.after {
            self.set_numbers(Step { share: form.work_share() as f32, ..self.numbers });
        }
        self.stream.kernel(Id::measure_work)?;
        self.exchange_open = true;
        self.outdate();
        Ok(())
    }

    fn filter(&mut self, filter: &Filter) -> Result<()> {
        self.outdate();
        self.damp(filter)
    }

    fn observe(&mut self, targets: &[Vec3]) -> Result<()> {
        self.close_exchange()?;
        self.stream.phase(Phase::Observe);
        if self.points_now != targets {
            self.set_points(points(targets.iter().map(|at| (*at, Vec3::zeros()))))?;
            self.points_now = targets.to_vec();
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
        self.pending.push_back((readback, self.stream.last_submission()));
        if self.pending.len() > MOST_PENDING {
            if let Some((_, Some(oldest))) = self.pending.front() {
                self.stream.wait_for(oldest.clone())?;
            }
            self.take_arrived()?;
        }
        self.stream.reload()
    }

    fn reports(&mut self, wait: bool) -> Result<Vec<Report>> {
        if wait && self.pending.iter().any(|(readback, _)| !readback.arrived()) {
            self.stream.wait()?;
            self.pending.iter().for_each(|(readback, _)| readback.settle());
        } else {
            self.stream.context().poll()?;
        }
        self.take_arrived()?;
        Ok(std::mem::take(&mut self.arrived))
    }

    fn fetch(&mut self) -> Result<()> {
        self.fetch_state()
    }

    fn positions(&self) -> &[Vec3] {
        &self.x
    }

    fn velocities(&self) -> &[Vec3] {
        &self.v
    }

    fn snapshot(&mut self) -> Result<Snapshot> {
        self.stream.submit()?;
        let force = if self.is_explicit { Buffer::Gradient } else { Buffer::StartGradient };
        state::snapshot(&mut self.stream, self.has_force.then_some(force))
    }

    fn restore(&mut self, snapshot: &Snapshot) -> Result<bool> {
        // what a step that failed had still to do would be done to the new state
        self.stream.discard();
        if !state::restore(&mut self.stream, &self.model, snapshot)? {
            return Ok(false);
        }
        self.exchange_open = false;
        self.has_force = snapshot.forces.len() == 3 * self.model.vertex_count();
        self.outdate();
        self.resend_stiffness()?;
        // what the device was told last may have been forgotten with it
        self.stream.upload(Buffer::Step, &self.numbers.bytes());
        if !self.points.is_empty() {
            self.stream.upload(Buffer::Points, &encode(&self.points));
        }
        self.stream.clear(Buffer::Report, report::HEAD_BYTES);
        self.stream.submit()?;
        self.fetch()?;
        Ok(true)
    }

    fn describe(&self) -> String {
        let adapter = &self.stream.context().adapter;
        let stays = self.is_resident() || self.is_explicit && self.seen.is_none();
        let way = if stays { "resident" } else { "hybrid, solved on the host" };
        let warning = match self.stiffness_ratio {
            ratio if ratio > STIFFEST => {
                format!(
                    "; WARNING: stiffness is {ratio:.0e} times inertia, too much for f32: use --backend cpu"
                )
            }
            _ => String::new(),
        };
        format!("gpu ({adapter}), f32, {way}; {}{warning}", self.global.describe())
    }

    fn device_use(&self) -> Option<DeviceUse> {
        Some(self.stream.usage())
    }

    fn set_profiling(&mut self, on: bool) {
        self.stream.set_profiling(on);
    }

    fn profile_kernels(&mut self) {
        self.stream.profile_kernels();
    }

    fn kernel_times(&self) -> Vec<KernelTime> {
        self.stream.kernel_times()
    }

    fn inner_iterations(&self) -> usize {
        self.global.chebyshev().map_or(0, |weights| weights.coefficients.len())
    }
}

/// A solve was asked for before its matrix was made.
pub(super) fn unprepared() -> crate::Error {
    RunError::Factorisation("it was not prepared".into()).into()
}
