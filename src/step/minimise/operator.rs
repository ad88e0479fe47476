//! The matrix of the global step: the metric A or the Hessian, and low-rank updates of it.

use super::low_rank::LowRankUpdate;
use crate::linear::reduce::sum;
use crate::step::{Backend, Change, Columns, LinearMap, Measure, StepCoefficients};
use crate::{Result, Vec3};
use nalgebra::DVector;
use std::ops::Range;

/// x ← x − (base + Σ w U P Uᵀ)⁻¹ g.
#[derive(Default)]
pub struct StepOperator {
    /// Whether the base is the Hessian at the iterate, not the metric.
    pub is_hessian: bool,
    /// Updates of disjoint sets of vertices, in their order.
    pub updates: Vec<LowRankUpdate>,
    /// Factor of all updates.
    pub strength: f64,
    /// Whether iterations need the gradient as a whole on the host, not only its solve.
    pub completes_gradient: bool,
    /// Bᵀ g of the last local step, where the gradient is not completed.
    products: Vec<DVector<f64>>,
}

impl StepOperator {
    /// Whether it is the metric A itself.
    pub fn is_metric(&self, coefficients: &StepCoefficients) -> bool {
        coefficients.tangent.stiffness == 0.0 && self.updates.is_empty()
    }

    /// Whether one pass of the backend can solve with it: the gradient is not needed in between.
    pub fn can_fuse(&self) -> bool {
        self.updates.is_empty() || !self.completes_gradient
    }

    /// What updates add to the force at the start of a step, at the velocities v_n (N).
    pub fn start_force(&self, v: &[Vec3]) -> Vec<Vec3> {
        let mut forces = vec![Vec3::zeros(); v.len()];
        self.updates.iter().for_each(|update| update.add_start_force(self.strength, v, &mut forces));
        forces
    }

    /// A local step, with what updates add to the gradient.
    pub fn local(&mut self, coefficients: &StepCoefficients, backend: &mut dyn Backend) -> Result<()> {
        if self.updates.is_empty() {
            return backend.local(coefficients, &[]).map(drop);
        }
        if self.completes_gradient {
            backend.local(coefficients, &[])?;
        } else {
            let metric = self.invert_updates(backend)?;
            self.products = backend.local(coefficients, &self.columns(metric))?;
        }
        let weight = coefficients.dissipation_weight() * self.strength;
        let host = backend.host()?;
        let moved = |i: usize| host.iterate[i] - host.x[i];
        self.updates.iter_mut().for_each(|update| update.update_force(coefficients, weight, moved));
        if self.completes_gradient {
            self.updates.iter_mut().for_each(|update| update.add_to_gradient(host.gradient));
        }
        Ok(())
    }

    /// |g| of the last local step, where the host knows it.
    pub fn gradient_norm(
        &mut self,
        coefficients: &StepCoefficients,
        backend: &mut dyn Backend,
    ) -> Result<Option<f64>> {
        let squared =
            |g: &[Vec3], range: Range<usize>| sum(range.len(), |i| g[range.start + i].norm_squared());
        if !self.updates.is_empty() && self.completes_gradient {
            let g = &*backend.host()?.gradient;
            return Ok(Some(squared(g, 0..g.len()).sqrt()));
        }
        let measured =
            backend.measure(coefficients, Measure { gradient_norm: true, ..Measure::default() })?;
        if self.updates.is_empty() || measured.gradient_norm.is_none() {
            return Ok(measured.gradient_norm);
        }
        let g = &*backend.host()?.gradient;
        let others = self.other_vertices(g.len()).map(|range| squared(g, range));
        let own = self.updates.iter().map(|update| update.squared(|i| g[i]));
        Ok(Some(own.chain(others).sum::<f64>().sqrt()))
    }

    /// The global step in one pass.
    pub fn solve(&mut self, coefficients: &StepCoefficients, backend: &mut dyn Backend) -> Result<()> {
        if self.updates.is_empty() {
            return backend.solve(coefficients, &[], &[]);
        }
        let (metric, w) = (backend.host()?.metric, self.weight(coefficients));
        let updates = self.updates.iter_mut().zip(&self.products);
        let shares: Vec<_> = updates.map(|(update, along)| update.shares(metric, w, along)).collect();
        backend.solve(coefficients, &self.columns(metric), &shares)
    }

    /// The backend's direction becomes that of the gradient. Constraints couple through A, and H⁻¹ g beside A⁻¹ F would come to
    /// rest elsewhere: so with them even Newton's method uses A.
    pub fn compute_direction(
        &mut self,
        coefficients: &StepCoefficients,
        is_constrained: bool,
        backend: &mut dyn Backend,
    ) -> Result<()> {
        if self.is_hessian && is_constrained {
            let mut direction = backend.host()?.gradient.to_vec();
            backend.apply(LinearMap::InverseMetric, &mut [&mut direction])?;
            backend.host()?.direction.copy_from_slice(&direction);
        } else {
            backend.compute_direction(coefficients)?;
        }
        if self.updates.is_empty() {
            return Ok(());
        }
        if coefficients.tangent.stiffness == 0.0 && (is_constrained || !self.is_hessian) {
            let (metric, w) = (self.invert_updates(backend)?, self.weight(coefficients));
            let host = backend.host()?;
            self.updates.iter_mut().for_each(|update| update.correct(metric, w, host.direction));
            return Ok(());
        }
        let mut direction = backend.host()?.direction.to_vec();
        self.correct_by_operator(coefficients, backend, &mut direction)?;
        backend.host()?.direction.copy_from_slice(&direction);
        Ok(())
    }

    /// vector ← M⁻¹ vector, M the matrix of a step without constraints.
    pub fn precondition(
        &mut self,
        coefficients: &StepCoefficients,
        backend: &mut dyn Backend,
        vector: &mut [Vec3],
    ) -> Result<()> {
        backend.apply(LinearMap::InverseOperator, &mut [&mut *vector])?;
        if self.updates.is_empty() {
            return Ok(());
        }
        if coefficients.tangent.stiffness == 0.0 && !self.is_hessian {
            let (metric, w) = (self.invert_updates(backend)?, self.weight(coefficients));
            self.updates.iter_mut().for_each(|update| update.correct(metric, w, vector));
            return Ok(());
        }
        self.correct_by_operator(coefficients, backend, vector)
    }

    /// Φ's share of the updates (J), 0 without any; `None` where they have no potential.
    pub fn potential(&self, coefficients: &StepCoefficients) -> Option<f64> {
        self.updates.iter().map(|update| update.potential(coefficients)).sum()
    }

    /// Something is no longer what it was.
    pub fn invalidate(&mut self, change: Change) {
        if change == Change::Iterate {
            self.forget_displacement();
        }
    }

    /// The iterate has not moved along the direction alone.
    pub fn forget_displacement(&mut self) {
        self.updates.iter_mut().for_each(LowRankUpdate::forget_displacement);
    }

    /// w of A + w U P Uᵀ.
    fn weight(&self, coefficients: &StepCoefficients) -> f64 {
        coefficients.dissipation_weight() * coefficients.velocity_slope() * self.strength
    }

    fn columns(&self, metric: u64) -> Vec<Columns<'_>> {
        self.updates.iter().filter_map(|update| update.inverse_columns(metric)).collect()
    }

    /// The vertices of no update, range by range; `n` are all.
    fn other_vertices(&self, n: usize) -> impl Iterator<Item = Range<usize>> {
        let starts = self.updates.iter().map(|update| update.vertices.start).chain([n]);
        let ends = [0].into_iter().chain(self.updates.iter().map(|update| update.vertices.end));
        ends.zip(starts).map(|(end, start)| end..start)
    }

    /// Makes B of the metric, if it is another one. Returns its number.
    fn invert_updates(&mut self, backend: &mut dyn Backend) -> Result<u64> {
        let host = backend.host()?;
        let (metric, n) = (host.metric, host.x.len());
        for update in self.updates.iter_mut().filter(|update| !update.knows(metric)) {
            let mut columns = spread(n, &update.vertices, update.columns_at_rest());
            for column in &mut columns {
                backend.apply(LinearMap::InverseMetric, &mut [column])?;
            }
            update.set_inverse(metric, &narrow(&update.vertices, columns));
        }
        Ok(metric)
    }

    /// Corrects a direction by the matrix of the backend's last one, whatever that was.
    fn correct_by_operator(
        &mut self,
        coefficients: &StepCoefficients,
        backend: &mut dyn Backend,
        direction: &mut [Vec3],
    ) -> Result<()> {
        let w = self.weight(coefficients);
        for update in &mut self.updates {
            let mut columns = spread(direction.len(), &update.vertices, update.columns());
            let mut views: Vec<&mut [Vec3]> = columns.iter_mut().map(|column| &mut column[..]).collect();
            backend.apply(LinearMap::InverseOperator, &mut views)?;
            let solved = update.solve_with(&narrow(&update.vertices, columns));
            update.correct_with(&solved, w, direction);
        }
        Ok(())
    }
}

/// Columns over some vertices as columns over all.
pub fn spread(n: usize, vertices: &Range<usize>, columns: Vec<Vec<Vec3>>) -> Vec<Vec<Vec3>> {
    let spread = |column: Vec<Vec3>| {
        let mut all = vec![Vec3::zeros(); n];
        all[vertices.clone()].copy_from_slice(&column);
        all
    };
    columns.into_iter().map(spread).collect()
}

/// And back.
pub fn narrow(vertices: &Range<usize>, columns: Vec<Vec<Vec3>>) -> Vec<Vec<Vec3>> {
    columns.into_iter().map(|column| column[vertices.clone()].to_vec()).collect()
}
