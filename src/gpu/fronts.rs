//! The exact global step on the device: the Cholesky factor as fronts in bands, a dispatch for each band up and down.

use super::Gpu;
use super::buffer::{Buffer, Contents};
use super::contents::{FRONTS, fronts};
use super::half_panels::{self, half_panel};
use super::kernel::{Call, Columns, Id};
use crate::Result;
use crate::elastic::Scalar;
use crate::error::{Error, RunError};
use crate::linear::{Direction, FrontCall, FrontPanels, FrontPlan, LARGEST_BINDING};
use crate::solve::global::Place;
use crate::solve::metric::Parts;
use crate::step::clock::Phase;
use crate::step::coefficients::StepCoefficients;
use crate::step::host::HostNeeds;
use std::sync::Arc;

/// The largest error of a solve in half precision, relative: beyond it iterations converge too slowly to be worth it. Eleven binary digits are
/// 5e-4, and errors of a front's many products cancel in part.
const COARSEST: f64 = 1e-2;

/// What the device has of the fronts.
pub(super) struct DeviceFronts {
    plan: Arc<FrontPlan>,
    /// The stages of a step that have panels of their own, in the order in which these lie on the device.
    stages: Vec<usize>,
}

impl<T: Scalar> Gpu<T> {
    /// Prepares the global step: on the device, unless the host has to see the iterations.
    pub(super) fn prepare_global(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        let is_seen = self.needs > HostNeeds::Nothing || self.mirror.is_some();
        if is_seen && self.global.is_half() {
            let reason = "the host looks into the steps of this scene, and solves them itself";
            return Err(RunError::HalfPrecision(reason.into()).into());
        }
        let limit = self.stream.context().device.limits().max_storage_buffer_binding_size;
        let on_device = Place::Device { largest_binding: limit.min(LARGEST_BINDING) };
        self.global.solve_at(if is_seen { Place::Host } else { on_device });
        self.factor(coefficients)?;
        match self.send_fronts(coefficients.row.stage) {
            Err(error @ Error::Run(RunError::DeviceMemory(_) | RunError::BeyondDevice { .. })) => {
                (self.fronts, self.panels) = (None, None);
                self.stream.clear_panels();
                if !self.global.refuse_fronts(error.to_string()) {
                    return Err(error);
                }
                self.factor(coefficients)
            }
            sent => sent,
        }
    }

    fn factor(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        let parts = Parts { model: &self.given, laplacian: &self.laplacian, rest: self.rest };
        self.global.prepare(coefficients.row.stage, coefficients.metric(), &self.stiffness, parts)
    }

    /// Sends the fronts of a stage of a step if the device does not have them, and takes them for what follows.
    fn send_fronts(&mut self, stage: usize) -> Result<()> {
        let Some(plan) = self.global.fronts().cloned() else {
            self.panels = None;
            return Ok(());
        };
        if let Some(panels) = self.global.take_panels() {
            // pending commands still mean what is there now
            self.stream.submit()?;
            let first = self.first_panel(&plan, stage)?;
            if self.global.is_half() {
                self.check_half(&panels)?;
            }
            for (k, call) in plan.calls.iter().enumerate() {
                if self.global.is_half() {
                    self.stream.write_panels(first + k, bytemuck::cast_slice(&half_panel(&panels, call)))?;
                } else {
                    self.stream.write_panels(first + k, bytemuck::cast_slice(&panels.panel(call)))?;
                }
            }
        }
        self.panels = Some(self.first_panel(&plan, stage)?);
        Ok(())
    }

    /// Measures what rounding to half precision does to a solve, for the description; refuses what is worse than it ever should be.
    fn check_half(&mut self, panels: &FrontPanels<f32>) -> Result<()> {
        let error = half_panels::error_of_solve(panels);
        if error.is_nan() || error > COARSEST {
            let reason = format!("a solve of this scene would be off by {error:.1e}");
            return Err(RunError::HalfPrecision(reason).into());
        }
        self.global.rounded_to_half(error);
        Ok(())
    }

    /// Where the panels of a stage begin on the device; makes buffers for them if there are none.
    fn first_panel(&mut self, plan: &Arc<FrontPlan>, stage: usize) -> Result<usize> {
        if self.fronts.as_ref().is_none_or(|fronts| !Arc::ptr_eq(&fronts.plan, plan)) {
            let mut all = Contents::empty();
            all.set_small(Buffer::Sizes, &[*self.stream.sizes()]);
            fronts(plan, &mut all);
            self.stream.clear_panels();
            self.stream.replace(&all, FRONTS)?;
            self.fronts = Some(DeviceFronts { plan: plan.clone(), stages: Vec::new() });
        }
        let Some(fronts) = &mut self.fronts else { return Ok(0) };
        let known = fronts.stages.iter().position(|known| *known == stage);
        let set = match known {
            Some(set) => set,
            None => {
                let bytes = |call: &FrontCall| match self.global.is_half() {
                    true => half_panels::bytes(call),
                    false => 4 * call.numbers as u64,
                };
                let sizes: Vec<u64> = plan.calls.iter().map(bytes).collect();
                self.stream.add_panels(&sizes)?;
                fronts.stages.push(stage);
                fronts.stages.len() - 1
            }
        };
        Ok(set * plan.calls.len())
    }

    /// A⁻¹ of what the columns' buffer holds, in the order of elimination: of the gradient into `FrontSolution`.
    pub(super) fn solve_fronts(&mut self, columns: Columns) -> Result<()> {
        let Some(first_panel) = self.panels else { return Err(super::backend::unprepared()) };
        let Some(DeviceFronts { plan, .. }) = &self.fronts else { return Err(super::backend::unprepared()) };
        self.stream.phase(Phase::Global);
        for (series, call) in plan.calls.iter().enumerate() {
            let id = match (call.direction, self.global.is_half()) {
                (Direction::Up, false) => Id::solve_up,
                (Direction::Down, false) => Id::solve_down,
                (Direction::Up, true) => Id::solve_up_half,
                (Direction::Down, true) => Id::solve_down_half,
            };
            let tasks = call.tiles.len() as u32;
            self.stream
                .call(id, Call { series, columns, panels: first_panel + series, tasks, swapped: false })?;
        }
        Ok(())
    }
}
