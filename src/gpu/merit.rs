//! Line search on the device: Φ and the slope at the last local step, as a few numbers.

use super::backend::unprepared;
use super::{Buffer, Gpu, Id, Step};
use crate::Result;
use crate::elastic::Scalar;
use crate::step::{Merit, Phase, StepCoefficients};

/// Leading bytes of the device's report that contain the sums.
pub(super) const BYTES: u64 = 64;

/// Energies, displacements and their sums are computed in single precision: this fraction of the terms may be
/// rounding.
const DIGITS: f64 = 1e-6;

/// Sums over all vertices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sums {
    /// Σ m |x − ŷ|² (kg m²).
    inertia: f64,
    /// Elastic energy at x_e, and the sum of its absolute values (J).
    elastic: [f64; 2],
    /// g·s with the last correction s (J).
    pub slope: f64,
    /// u·L u of u = x_e − x_n, and the sum of absolute values (J).
    strain: [f64; 2],
    /// Energy of the attachments at x_e (J).
    attached: f64,
}

impl Sums {
    fn read(report: &[f32]) -> Self {
        let number = |k: usize| report.get(8 + k).copied().map_or(f64::NAN, f64::from);
        Sums {
            inertia: number(0),
            elastic: [number(1), number(2)],
            slope: number(3),
            strain: [number(4), number(5)],
            attached: number(6),
        }
    }

    /// Φ up to a constant of the step: x_e = c₂ x + z, and b ∇E in g corresponds to b E / c₂ in Φ.
    pub fn merit(&self, coefficients: &StepCoefficients) -> Merit {
        let share = coefficients.row.c2;
        let weights = [
            0.5 * coefficients.inertia(),
            coefficients.projection_weight() / share,
            0.5 * viscous_weight(coefficients) / share,
        ];
        let sum = |sign: usize| -> f64 {
            let terms = [self.inertia, self.elastic[sign] + self.attached, self.strain[sign]];
            weights.iter().zip(terms).map(|(weight, term)| weight * term).sum()
        };
        Merit { value: sum(0), noise: DIGITS * sum(1) }
    }
}

/// a − b: weight of L in the damping.
fn viscous_weight(coefficients: &StepCoefficients) -> f64 {
    coefficients.deformation_weight() - coefficients.projection_weight()
}

impl<T: Scalar> Gpu<T> {
    /// The sums at the last local step; measured once.
    pub(super) fn sums(&mut self, coefficients: &StepCoefficients) -> Result<Sums> {
        let Some(mirror) = &self.mirror else { return Err(unprepared()) };
        if let Some(sums) = mirror.sums {
            return Ok(sums);
        }
        self.stream.phase(Phase::Local);
        self.measure_merit(viscous_weight(coefficients) != 0.0)?;
        self.stream.kernel(Id::reduce_merit)?;
        let Some(mirror) = &mut self.mirror else { return Err(unprepared()) };
        self.stream.download(Buffer::Report, &mirror.sums_readback);
        self.stream.submit()?;
        self.stream.wait()?;
        let sums = mirror.sums_readback.take(|bytes| Sums::read(bytemuck::cast_slice(bytes)))?;
        mirror.sums = Some(sums);
        Ok(sums)
    }

    /// Partial sums of Φ and its slope at the last local step.
    pub(super) fn measure_merit(&mut self, is_viscous: bool) -> Result<()> {
        self.stream.kernel(Id::measure_merit)?;
        if is_viscous {
            self.stream.kernel(Id::measure_strain)?;
        }
        self.stream.kernel(Id::measure_attachment_energy)
    }

    /// d ← d + `way` s with the last correction s, on the device and in the mirror.
    pub(super) fn move_iterate(&mut self, way: f32) -> Result<()> {
        let of_step = self.numbers;
        self.set_numbers(Step { correction_factor: way, ..of_step });
        self.stream.phase(Phase::Global);
        let moved = self.stream.kernel(Id::move_iterate);
        self.set_numbers(of_step);
        moved?;
        if let Some(mirror) = &mut self.mirror {
            mirror.move_iterate(way, &self.x);
        }
        Ok(())
    }
}
