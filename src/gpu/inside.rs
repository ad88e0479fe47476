//! Host access to the inside of a step on a device. The host solves, whatever the global method.

use super::backend::unprepared;
use super::host_mirror::{CHUNK, HostMirror};
use super::stream::Stream;
use super::twin::wide;
use super::{Buffer, Gpu, Id, Readback, Step, merit};
use crate::damping::{Damping, laplacian};
use crate::elastic::Scalar;
use crate::error::RunError;
use crate::step::{
    HostAccess, HostStep, Iterate, LinearMap, Measure, Measured, Phase, StateOffset, StepCoefficients,
};
use crate::{Result, Vec3};
use rayon::prelude::*;

impl<T: Scalar> Gpu<T> {
    /// From now on the host sees the steps.
    pub(super) fn open(&mut self) -> Result<()> {
        if self.mirror.is_some() {
            return Ok(());
        }
        let n = self.model.vertex_count();
        let (zeros, narrow) = (vec![Vec3::zeros(); n], vec![[0.0; 3]; n]);
        self.mirror = Some(HostMirror {
            x_before: zeros.clone(),
            iterate: zeros.clone(),
            displacement: narrow.clone(),
            target_offset: narrow.clone(),
            correction: narrow,
            gradient: zeros.clone(),
            end_gradient: zeros.clone(),
            descent: zeros,
            kick: Vec::new(),
            energies: vec![0.0; self.model.bodies.len()],
            sums: None,
            energies_readback: self.stream.readback(Buffer::Energies),
            sums_readback: Readback::new(self.stream.context(), merit::BYTES),
            is_unread: false,
            is_fresh: false,
            in_step: false,
        });
        // the host solves and conserves from now on
        (self.conservation, self.conserves) = (None, false);
        (self.inner, self.panels) = (0..0, None);
        self.update_mirror()
    }

    /// columns ← A⁻¹ columns.
    fn solve_metric(&mut self, columns: &mut [Vec3]) -> Result<()> {
        self.update_mirror()?;
        let narrow = self.gradient.par_iter_mut().with_min_len(CHUNK).zip(&*columns);
        narrow.for_each(|(g, c)| *g = [T::of(c.x), T::of(c.y), T::of(c.z)]);
        if !self.global.solve(&mut self.gradient) {
            return Err(unprepared());
        }
        let solution = columns.par_iter_mut().with_min_len(CHUNK).zip(&self.gradient);
        solution.for_each(|(c, s)| *c = Vec3::new(s[0].wide(), s[1].wide(), s[2].wide()));
        Ok(())
    }

    /// vector ← C vector.
    fn apply_damping(&self, damping: &Damping, vector: &mut [Vec3]) {
        let laplacian = self.laplacian.scaled_rows(&self.given.by_vertex(&self.stiffness.factors));
        let damped = laplacian::resist(damping, &self.model.mass, &laplacian, vector);
        vector.copy_from_slice(&damped);
    }

    /// x ← x − direction.
    pub(super) fn apply_direction(&mut self) -> Result<()> {
        self.update_mirror()?;
        let Some(mirror) = &self.mirror else { return Err(RunError::HostNeeds.into()) };
        let correction: Vec<[f32; 3]> =
            mirror.descent.iter().map(|s| [s.x as f32, s.y as f32, s.z as f32]).collect();
        // commands that wait to be sent still mean the correction before
        self.stream.submit()?;
        self.apply(correction)
    }

    fn set_iterate_at(&mut self, x: &[Vec3]) -> Result<()> {
        self.update_mirror()?;
        let Some(mirror) = &mut self.mirror else { return Err(RunError::HostNeeds.into()) };
        for (i, x) in x.iter().enumerate() {
            // x − y changes by the same amount as x, and keeps digits that d cannot represent; outside a step it has
            // no meaning
            if mirror.in_step {
                mirror.target_offset[i] = single(wide(&mirror.target_offset[i]) + (x - mirror.iterate[i]));
            }
            mirror.displacement[i] = single(x - self.x[i]);
        }
        mirror.update_positions(&self.x);
        let HostMirror { displacement, target_offset, .. } = mirror;
        upload(&mut self.stream, Buffer::Iterate, displacement.iter().copied());
        upload(&mut self.stream, Buffer::TargetOffset, target_offset.iter().copied());
        Ok(())
    }

    /// x ← x + `positions`, v ← v + `velocities`, with the history that an integrator keeps.
    fn shift(&mut self, ways: &[Vec3], changes: &[Vec3]) -> Result<()> {
        self.stream.phase(Phase::Advance);
        if ways.iter().any(|way| *way != Vec3::zeros()) {
            upload(&mut self.stream, Buffer::Iterate, ways.iter().map(|way| single(*way)));
            self.stream.kernel(Id::offset_positions)?;
            self.has_force = false;
        }
        upload(&mut self.stream, Buffer::Changes, changes.iter().map(|change| single(*change)));
        self.stream.kernel(Id::offset_velocities)?;
        self.invalidate_mirror();
        Ok(())
    }
}

impl<T: Scalar> HostAccess for Gpu<T> {
    fn host(&mut self) -> Result<HostStep<'_>> {
        self.update_mirror()?;
        let metric = self.global.version();
        let Gpu { mirror: Some(mirror), x, v, .. } = self else { return Err(RunError::HostNeeds.into()) };
        Ok(HostStep {
            x,
            v,
            x_before: &mirror.x_before,
            iterate: &mut mirror.iterate,
            gradient: &mut mirror.gradient,
            end_gradient: &mut mirror.end_gradient,
            direction: &mut mirror.descent,
            kick: &mirror.kick,
            energies: &mirror.energies,
            exact: false,
            metric,
        })
    }

    fn compute_direction(&mut self, _: &StepCoefficients) -> Result<()> {
        self.update_mirror()?;
        let Some(mirror) = &mut self.mirror else { return Err(RunError::HostNeeds.into()) };
        let mut descent = std::mem::take(&mut mirror.descent);
        descent.copy_from_slice(&mirror.gradient);
        let done = self.solve_metric(&mut descent);
        if let Some(mirror) = &mut self.mirror {
            mirror.descent = descent;
        }
        done
    }

    fn apply(&mut self, map: LinearMap, columns: &mut [&mut [Vec3]]) -> Result<()> {
        match map {
            LinearMap::Damping(damping) => {
                columns.iter_mut().for_each(|column| self.apply_damping(damping, column));
                Ok(())
            }
            LinearMap::InverseMetric | LinearMap::InverseOperator => {
                columns.iter_mut().try_for_each(|column| self.solve_metric(column))
            }
        }
    }

    fn set_iterate(&mut self, to: Iterate) -> Result<()> {
        match to {
            Iterate::AlongDirection => self.apply_direction(),
            Iterate::Backtrack { shares: [from, to], .. } => self.move_iterate((from - to) as f32),
            Iterate::At(x) => self.set_iterate_at(x),
        }
    }

    fn evaluate_end(&mut self) -> Result<()> {
        self.update_mirror()?;
        let of_step = self.numbers;
        let plain = Step { share: 1.0, viscous: 0.0, projection: 1.0, inertia: 0.0, ..of_step };
        self.set_numbers(plain);
        // an explicit step keeps its force in the buffer of the gradient
        self.has_force &= self.takes_start_force;
        let made = self.project();
        self.set_numbers(of_step);
        made?;
        self.request_gradient()?;
        self.receive_energies()?;
        let Some(mirror) = &mut self.mirror else { return Err(RunError::HostNeeds.into()) };
        let end_gradient = &mut mirror.end_gradient;
        self.gradient_readback.take(|bytes| {
            let device: &[[f32; 3]] = bytemuck::cast_slice(bytes);
            end_gradient.iter_mut().zip(device).for_each(|(g, device)| *g = wide(device));
        })
    }

    fn measure(&mut self, coefficients: &StepCoefficients, what: Measure) -> Result<Measured> {
        let mut measured = Measured::default();
        if what.gradient_norm && !self.is_resident() {
            self.fetch_gradient()?;
            let square: f64 = self.gradient.iter().flatten().map(|c| c.wide() * c.wide()).sum();
            measured.gradient_norm = Some(square.sqrt());
        }
        if what.merit || what.slope_along.is_some() {
            let sums = self.sums(coefficients)?;
            measured.merit = what.merit.then(|| sums.merit(coefficients));
            measured.slope = what.slope_along.map(|_| sums.slope);
        }
        Ok(measured)
    }

    fn offset_state(&mut self, offset: StateOffset) -> Result<()> {
        match offset {
            StateOffset::State { positions, velocities } => self.shift(positions, velocities),
            StateOffset::Velocities(velocities) => {
                self.shift(&vec![Vec3::zeros(); velocities.len()], velocities)
            }
            StateOffset::Force { coefficients, share } => self.accelerate(coefficients, share),
        }
    }
}

fn single(v: Vec3) -> [f32; 3] {
    v.map(|c| c as f32).into()
}

/// Vectors as they lie in the device's arrays.
fn upload(stream: &mut Stream, to: Buffer, vectors: impl Iterator<Item = [f32; 3]>) {
    let padded: Vec<[f32; 4]> = vectors.map(|[x, y, z]| [x, y, z, 0.0]).collect();
    stream.upload(to, bytemuck::cast_slice(&padded));
}
