//! Removes torque with the smallest correction in the 1-norm: a linear program.
//!
//! minimise Σ|c_i|₁ subject to Σ c_i = 0 and Σ r_i × (p_i + c_i) = 0 (Optimized paper, Eq. 12 to 14).
//!
//! With c = c⁺ − c⁻ there are 6 n unknowns ≥ 0 and at most six equations, so the optimum has at most six non-zero
//! components: a few vertices get a large kick. It depends on the directions of the axes.

use crate::Vec3;
use microlp::{ComparisonOp, OptimizationDirection, Problem};
use nalgebra::{DMatrix, DVector, SMatrix, SVector};

type Vec6 = SVector<f64, 6>;
type Mat6 = SMatrix<f64, 6, 6>;

/// A torque below this fraction of Σ|r||p| is rounding, and so is a smaller singular value of the equations.
const ROUNDING: f64 = 1e-13;

/// Adds the smallest correction to impulses with sum zero. If the solver fails, the least-squares correction.
pub fn remove_torque(x: &[Vec3], impulses: &mut [Vec3]) {
    let Some(equations) = Equations::new(x) else { return };
    let wanted = equations.missing(impulses);
    let size: f64 = impulses.iter().zip(&equations.arms).map(|(p, r)| p.norm() * (1.0 + r.norm())).sum();
    if wanted.norm() <= ROUNDING * size || !size.is_finite() {
        return;
    }
    let mut correction = least(&equations, &wanted).unwrap_or_else(|| vec![Vec3::zeros(); x.len()]);
    // The solver's tolerance is 1e-10: the components it chose absorb the residual, all others the rest.
    let chosen: Vec<[bool; 3]> = correction.iter().map(|c| [0, 1, 2].map(|k| c[k] != 0.0)).collect();
    for all in [false, false, true] {
        let left = wanted - equations.apply(&correction);
        if left.norm() > 1e-16 * size {
            equations.least_squares(&left, |i, k| all || chosen[i][k], &mut correction);
        }
    }
    impulses.iter_mut().zip(&correction).for_each(|(p, c)| *p += c);
}

/// Sum and torque of impulses, in units of the points' extent.
struct Equations {
    /// r_i relative to the mean position, over the extent.
    arms: Vec<Vec3>,
    /// Independent rows of length √(3n): Σ_j `rows`_j c_j is `rows` of sum and torque.
    rows: DMatrix<f64>,
}

impl Equations {
    fn new(x: &[Vec3]) -> Option<Self> {
        let origin = *x.first()?;
        let mean = x.iter().map(|x| x - origin).sum::<Vec3>() / x.len() as f64;
        let arms = x.iter().map(|x| x - origin - mean);
        let size = (arms.clone().map(|r| r.norm_squared()).sum::<f64>() / x.len() as f64).sqrt();
        if !(size > 0.0 && size.is_finite()) {
            return None; // coincident points: no torque
        }
        let arms: Vec<Vec3> = arms.map(|r| r / size).collect();
        // A = (Q R)ᵀ: the singular vectors of R are those of A
        let transposed =
            DMatrix::from_fn(3 * x.len(), 6, |row, column| part(&arms[row / 3], row % 3)[column]);
        let r = transposed.qr().r();
        let whole = Mat6::from_fn(|i, j| if i < r.nrows() { r[(i, j)] } else { 0.0 });
        let svd = whole.svd(false, true);
        let directions = svd.v_t?;
        let kept: Vec<usize> =
            (0..6).filter(|&k| svd.singular_values[k] > ROUNDING * svd.singular_values.max()).collect();
        let length = (3.0 * x.len() as f64).sqrt();
        let rows = DMatrix::from_fn(kept.len(), 6, |row, column| {
            directions[(kept[row], column)] * length / svd.singular_values[kept[row]]
        });
        Some(Equations { arms, rows })
    }

    /// The right-hand side −(Σp, Σ r × p); the sum is zero up to rounding, which is ignored.
    fn missing(&self, impulses: &[Vec3]) -> Vec6 {
        let torque: Vec3 = self.arms.iter().zip(impulses).map(|(r, p)| r.cross(p)).sum();
        Vec6::new(0.0, 0.0, 0.0, -torque.x, -torque.y, -torque.z)
    }

    /// (Σc, Σ r × c).
    fn apply(&self, c: &[Vec3]) -> Vec6 {
        let (sum, torque) = self
            .arms
            .iter()
            .zip(c)
            .fold((Vec3::zeros(), Vec3::zeros()), |sums, (r, c)| (sums.0 + c, sums.1 + r.cross(c)));
        Vec6::new(sum.x, sum.y, sum.z, torque.x, torque.y, torque.z)
    }

    /// Adds the smallest change of the chosen components that best matches `left`.
    fn least_squares(&self, left: &Vec6, chosen: impl Fn(usize, usize) -> bool, c: &mut [Vec3]) {
        let mut gram = Mat6::zeros();
        let columns = || {
            let of = |(i, r): (usize, _)| (0..3).map(move |k| (i, k, part(r, k)));
            self.arms.iter().enumerate().flat_map(of).filter(|(i, k, _)| chosen(*i, *k))
        };
        columns().for_each(|(_, _, a)| gram += a * a.transpose());
        let eigen = gram.symmetric_eigen();
        let least = eigen.eigenvalues.max() * ROUNDING;
        let mut y = Vec6::zeros();
        for k in (0..6).filter(|&k| eigen.eigenvalues[k] > least) {
            let direction = eigen.eigenvectors.column(k);
            y += direction * (direction.dot(left) / eigen.eigenvalues[k]);
        }
        let changes: Vec<_> = columns().map(|(i, k, a)| (i, k, a.dot(&y))).collect();
        changes.into_iter().for_each(|(i, k, change)| c[i][k] += change);
    }
}

/// Contribution of component k of an impulse at r to sum and torque.
fn part(r: &Vec3, k: usize) -> Vec6 {
    let unit = Vec3::ith(k, 1.0);
    let torque = r.cross(&unit);
    Vec6::new(unit.x, unit.y, unit.z, torque.x, torque.y, torque.z)
}

/// The solution of the linear program, to the solver's tolerance.
fn least(equations: &Equations, wanted: &Vec6) -> Option<Vec<Vec3>> {
    let right = &equations.rows * DVector::from_column_slice(wanted.as_slice());
    let scale = right.amax();
    if scale.is_nan() || scale <= 0.0 {
        return None;
    }
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let n = equations.arms.len();
    let mut terms = vec![Vec::with_capacity(6 * n); right.len()];
    let mut variables = Vec::with_capacity(3 * n);
    for r in &equations.arms {
        for k in 0..3 {
            let column = &equations.rows * DVector::from_column_slice(part(r, k).as_slice());
            let pair = [(); 2].map(|()| problem.add_var(1.0, (0.0, f64::INFINITY)));
            for (row, &a) in terms.iter_mut().zip(&column) {
                row.extend([(pair[0], a), (pair[1], -a)]);
            }
            variables.push(pair);
        }
    }
    for (row, right) in terms.iter().zip(&right) {
        problem.add_constraint(row.as_slice(), ComparisonOp::Eq, right / scale);
    }
    let solution = problem.solve().ok()?.into_solution().ok()?;
    let value = |[plus, minus]: [_; 2]| {
        let value = solution.var_value(plus) - solution.var_value(minus);
        if value.abs() > 1e-9 { value * scale } else { 0.0 }
    };
    Some(variables.chunks(3).map(|v| Vec3::new(value(v[0]), value(v[1]), value(v[2]))).collect())
}
