//! Shared parts of the step's operations: upload only changes, measure, read reports.

use crate::Result;
use crate::elastic::Scalar;
use crate::gpu::kernel::{ALL, Id};
use crate::gpu::layout::{Inner, Point, Small, Step, encode};
use crate::gpu::state::beyond;
use crate::gpu::{Buffer, Gpu, report};
use crate::step::clock::Phase;

impl<T: Scalar> Gpu<T> {
    /// Whether the device solves by itself.
    pub(in crate::gpu) fn is_resident(&self) -> bool {
        !self.inner.is_empty() || self.panels.is_some()
    }

    /// max (c L_ii)/(μ m_i) of A = μ M + c L + …, with L at its largest stiffness so far.
    pub(super) fn ratio(&self, [inertia, stiffness, _]: [f64; 3]) -> f64 {
        let mass = self.model.mass.iter().enumerate();
        let factors = self.given.by_vertex(&self.max_stiffness_factors);
        let of = |(i, m): (usize, &f64)| stiffness * factors[i] * self.laplacian.diagonal(i) / (inertia * m);
        mass.map(of).fold(0.0, f64::max)
    }

    /// Reads the reports that have arrived and frees their memory.
    pub(super) fn receive_reports(&mut self) -> Result<()> {
        while self.pending.front().is_some_and(|(readback, ..)| readback.arrived()) {
            let Some((readback, _, counted)) = self.pending.pop_front() else { break };
            let tolerance = self.conservation.as_ref().map(|own| own.tolerance);
            let known = report::Known {
                gradients: self.is_resident(),
                iterations: counted,
                conservation: tolerance.filter(|tolerance| *tolerance > 0.0),
            };
            let report =
                readback.take(|bytes| report::read(&self.model, bytemuck::cast_slice(bytes), known))?;
            self.arrived.push(report);
            self.free.push(readback);
        }
        Ok(())
    }

    /// Projects every element and gathers gradient and energies.
    pub(in crate::gpu) fn project(&mut self) -> Result<()> {
        self.stream.phase(Phase::Local);
        self.stream.kernel(self.project_tet)?;
        let others = [Id::project_triangle, Id::project_spring, Id::project_bending, Id::project_attachment];
        others.into_iter().try_for_each(|id| self.stream.kernel(id))?;
        self.stream.kernel(Id::gather_gradient)
    }

    /// Sets the inner iterations of this stage of a step.
    pub(super) fn set_inner(&mut self, stage: usize, series: Vec<Inner>) -> Result<()> {
        let stage = stage.min(self.series.len() - 1);
        if self.series[stage] != series {
            // pending commands still refer to the old numbers
            self.stream.submit()?;
            self.series[stage] = series;
            self.stream.set_series(Buffer::Inner, &encode(&self.series.concat()))?;
        }
        let first = self.series[..stage].iter().map(Vec::len).sum();
        self.inner = first..first + self.series[stage].len();
        Ok(())
    }

    pub(in crate::gpu) fn measure_gradient(&mut self) -> Result<()> {
        self.stream.kernel(Id::measure_gradient)?;
        self.stream.kernel(Id::reduce_gradient)
    }

    /// Compiles the kernels of a step, so that shader errors are reported before anything is written.
    pub(super) fn compile(&mut self) -> Result<()> {
        let (host_solves, is_explicit) = (!self.is_resident(), self.is_explicit);
        let skipped = |id: &Id| match id {
            Id::project_tet | Id::project_tet_volume | Id::project_tet_law => *id != self.project_tet,
            Id::predict => is_explicit,
            Id::drift | Id::kick => !is_explicit,
            Id::add_damping_force => !is_explicit && !self.takes_start_force,
            Id::add_start_force | Id::store_end_force => !self.takes_start_force,
            Id::accelerate | Id::offset_positions | Id::offset_velocities => true,
            Id::apply_correction => is_explicit || self.mirror.is_some() || self.panels.is_some(),
            Id::solve_up | Id::solve_down => self.panels.is_none() || self.global.is_half(),
            Id::solve_up_half | Id::solve_down_half => self.panels.is_none() || !self.global.is_half(),
            Id::apply_solution => self.panels.is_none(),
            Id::look_at_places | Id::look_at_iterate | Id::look_at_guess | Id::look_at_solution => true,
            Id::scatter_loads
            | Id::push_loads
            | Id::measure_constrained_gradient
            | Id::measure_step_energy => true,
            Id::measure_energy | Id::aim_attachment | Id::aim_body | Id::aim_vertex | Id::write_columns => {
                true
            }
            Id::measure_momenta | Id::reduce_momenta | Id::measure_conservation => true,
            Id::solve_conservation | Id::apply_conservation => true,
            Id::settle_conservation | Id::report_conservation => true,
            Id::measure_vibration | Id::reduce_vibration | Id::take_excess => true,
            Id::move_iterate => self.mirror.is_none(),
            Id::measure_merit | Id::measure_strain | Id::measure_attachment_energy | Id::reduce_merit => true,
            Id::measure_gradient | Id::reduce_gradient => host_solves,
            Id::end_iterations | Id::choose_step | Id::measure_pairs => true,
            Id::choose_direction | Id::take_step => true,
            Id::chebyshev_update | Id::measure_residual | Id::reduce_residual => self.inner.is_empty(),
            Id::filter_ether_drag | Id::filter_pbd | Id::filter_change | Id::filter_start => true,
            Id::damp_body | Id::damp_edge | Id::gather_edge => true,
            Id::damp_cluster | Id::gather_cluster | Id::measure_change | Id::reduce_change => true,
            Id::measure_centre | Id::reduce_centre | Id::measure_spin | Id::reduce_spin => true,
            Id::reduce_stiffening => self.stiffness.next_metric.is_none(),
            _ => false,
        };
        let needed: Vec<Id> = ALL.iter().filter(|id| !skipped(id)).copied().collect();
        needed.into_iter().try_for_each(|id| self.stream.compile(id))
    }

    /// Sums the energy exchange of the previous step: only now is it certain that no filter follows.
    pub(in crate::gpu) fn close_exchange(&mut self) -> Result<()> {
        if std::mem::take(&mut self.exchange_open) { self.stream.kernel(Id::reduce_exchange) } else { Ok(()) }
    }

    pub(in crate::gpu) fn set_numbers(&mut self, numbers: Step) {
        if self.numbers != numbers {
            self.stream.upload(Buffer::Step, &numbers.bytes());
            self.numbers = numbers;
        }
    }

    pub(in crate::gpu) fn set_points(&mut self, points: Vec<Point>) -> Result<()> {
        if let Some(point) =
            points.iter().find(|p| !p.position.iter().chain(p.travel.iter()).all(|c| c.is_finite()))
        {
            let largest =
                point.position.iter().chain(point.travel.iter()).fold(0.0, |a: f32, b| a.max(b.abs()));
            return Err(beyond("the path of an attachment", f64::from(largest)).into());
        }
        if self.points != points {
            self.stream.upload(Buffer::Points, &encode(&points));
            self.points = points;
        }
        Ok(())
    }
}
