//! The small system of a body: which multiples of seven directions bring momenta and energy to where they belong.
//!
//!   S λ = r,   S_ij = ⟨C_i, A⁻¹ C_j⟩,   r = c(x) − Cᵀ A⁻¹ g          (Constrained paper, Eq. 21)
//!
//! Rows: P (3), L (3), H. S is only semi-definite: a rigid motion has ∇H in the span of ∇P and ∇L, and vertices on a line
//! cannot spin about it. So the momenta are solved for with a rank decision, and the energy with what they leave of it.
//!
//! H is not linear, and its second-order part is what an iteration is off by afterwards. It is not more than κ/2 dᵀA d with
//! ∇²H ≤ κ A, and how much of that it is changes little from one iteration to the next. So λ_H is the root of a quadratic
//! equation. That also keeps a step bounded when ∇H is nearly in the span of the others.

use crate::Vec3;
use nalgebra::{SMatrix, SVector};

/// Momenta: P, then L.
pub type Momenta = SVector<f64, 6>;

/// S and r of one body.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KktSystem {
    /// S of the momenta.
    pub momenta: SMatrix<f64, 6, 6>,
    /// S between momenta and energy.
    pub mixed: Momenta,
    /// S of the energy (J).
    pub energy: f64,
    /// r of the momenta.
    pub momenta_error: Momenta,
    /// r of the energy (J).
    pub energy_error: f64,
    /// Cᵀ A⁻¹ g of the momenta and of the energy, and gᵀ A⁻¹ g.
    pub momenta_descent: Momenta,
    /// Of the energy (J).
    pub energy_descent: f64,
    /// gᵀ A⁻¹ g (J).
    pub square: f64,
    pub held: [bool; 7],
}

/// λ.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Multipliers {
    /// Of P and L.
    pub momenta: Momenta,
    /// Of H: a number without unit.
    pub energy: f64,
    /// dᵀ A d of the step d that they make (J).
    pub square: f64,
    /// Energy that is expected to be too much after the step (J): more than 0 only where there is none to as little as asked for.
    pub left: f64,
    /// Whether there is no step to an energy as low as asked for, and this is the one to the least.
    pub least: bool,
    /// Whether the step leads to the far side of the energy's level: see [`Side`].
    pub crosses: bool,
}

/// Which of the two points where the line of the step meets the level H = Ĥ is taken.
///
/// A body that is let go from rest, or is at the turning point of a swing, has Ĥ as it is, and x_n satisfies all constraints: the
/// near point is x_n, where it would stay for ever. The unconstrained step leads from there into the body that the level encloses,
/// and motion goes on at the far point.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Side {
    /// The near one.
    #[default]
    Near,
    /// The near one, unless it undoes most of the unconstrained step: λ_H is nearer to this than to 0. It is −c₁c₂ of the
    /// integrator, because g is c₁c₂ ∇H where nothing moves.
    NearUnlessStalled(f64),
    /// The far one.
    Far,
}

/// How much of the second-order part of H counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curvature {
    /// A step d is expected to change H by C_H·d + `seen`/2 dᵀA d.
    pub seen: f64,
    /// κ: and never by more than with this.
    pub bound: f64,
}

impl Curvature {
    /// κ and the share of it that was seen.
    pub fn new(bound: f64, share: f64) -> Self {
        Curvature { seen: bound * share, bound }
    }
}

/// Eigenvalues of the momenta's S, scaled to a diagonal of ones, below this count as zero. Rounding leaves 1e-16 of them
/// when the solve is in f64 and 1e-7 in f32; a body a thousandth as thick as long has 1e-6.
const LEAST_EIGENVALUE: f64 = 1e-9;

/// When a motion counts as rigid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// The share of ∇H that may lie in the span of the momenta's gradients.
    pub rigid: f64,
    /// What has to be left of ∇H at least (J).
    pub least_motion: f64,
}

/// That of f64.
pub const DOUBLE: Precision = Precision { rigid: 1e-12, least_motion: 0.0 };

/// A multiplier of the energy beyond this is that of a body that hardly moves and shall.
const FAR: f64 = 1e3;

impl Multipliers {
    /// Those of momentum and of angular momentum.
    pub fn of_momenta(&self) -> [Vec3; 2] {
        [0, 3].map(|first| self.momenta.fixed_rows::<3>(first).into())
    }
}

impl KktSystem {
    /// Solves for λ, in f64, on the near side.
    pub fn solve(&self, curvature: f64) -> Multipliers {
        let inverse = momenta_inverse(&self.momenta, &self.held);
        self.solve_with(&inverse, Curvature { seen: curvature, bound: curvature }, Side::Near, DOUBLE)
    }

    /// The same with the momenta's [`momenta_inverse`], which does not change in a step, on a side, in a precision.
    pub fn solve_with(
        &self,
        inverse: &SMatrix<f64, 6, 6>,
        Curvature { seen, bound }: Curvature,
        side: Side,
        Precision { rigid, least_motion }: Precision,
    ) -> Multipliers {
        let steps = self.steps(inverse);
        let Steps { plain, square, rest, error, .. } = steps;
        if !self.held[6] || rest <= rigid * self.energy + least_motion || !rest.is_finite() {
            let least = self.energy_error > 0.0;
            return Multipliers { momenta: plain, energy: 0.0, square, left: error, least, crosses: false };
        }
        // so far from rest into motion no iteration has shown the curvature yet: take it for its bound, and overshoot less
        let seen = if error.abs() > FAR * rest { seen.max(1.0) } else { seen };
        let (near, least) = near_root(steps.energy(seen));
        let far = match side {
            Side::Near => None,
            Side::NearUnlessStalled(stall) if (near - stall).abs() > 0.5 * stall.abs() => None,
            Side::NearUnlessStalled(_) => far_root(steps.energy(bound)),
            Side::Far => far_root(steps.energy(seen)),
        };
        let curvature = if side == Side::Far || far.is_none() { seen } else { bound };
        let crosses = far.is_some();
        Multipliers { least: least && !crosses, crosses, ..steps.at(far.unwrap_or(near), curvature) }
    }

    /// The step with a chosen multiplier of the energy, and the momenta's that go with it.
    pub fn with_energy(&self, curvature: f64, energy: f64) -> Multipliers {
        self.steps(&momenta_inverse(&self.momenta, &self.held)).at(energy, curvature)
    }

    fn steps(&self, inverse: &SMatrix<f64, 6, 6>) -> Steps {
        let mixed = if self.held[6] { self.mixed } else { Momenta::zeros() };
        let (lean, plain) = (inverse * mixed, inverse * self.momenta_error);
        let square =
            self.square + 2.0 * plain.dot(&self.momenta_descent) + plain.dot(&(self.momenta * plain));
        Steps {
            rest: self.energy - mixed.dot(&lean),
            error: self.energy_error - lean.dot(&self.momenta_error),
            across: self.energy_descent - lean.dot(&self.momenta_descent),
            plain,
            lean,
            square,
        }
    }
}

/// All steps that bring the momenta to where they belong, by the multiplier of the energy.
struct Steps {
    /// Multipliers of the momenta where the energy's is 0, and by how much they fall with it.
    plain: Momenta,
    lean: Momenta,
    /// dᵀA d of the step without the energy's own part (J).
    square: f64,
    /// Its product with the energy's part (J).
    across: f64,
    /// What is left of S of the energy (J).
    rest: f64,
    /// Too much energy without the energy's part, but for the curvature (J).
    error: f64,
}

impl Steps {
    /// Coefficients of the energy that is expected to be too much (J), a polynomial in the energy's multiplier.
    fn energy(&self, curvature: f64) -> [f64; 3] {
        let k = curvature;
        [self.error + 0.5 * k * self.square, k * self.across - self.rest, 0.5 * k * self.rest]
    }

    fn at(&self, energy: f64, curvature: f64) -> Multipliers {
        let [a, b, c] = self.energy(curvature);
        let left = a + energy * (b + energy * c);
        let square = self.square + energy * (2.0 * self.across + energy * self.rest);
        let momenta = self.plain - self.lean * energy;
        Multipliers { momenta, energy, square, left, least: false, crosses: false }
    }
}

/// The inverse of the momenta's S where it has one, for the rows that are held.
pub fn momenta_inverse(momenta: &SMatrix<f64, 6, 6>, held: &[bool; 7]) -> SMatrix<f64, 6, 6> {
    momenta_inverse_above(momenta, held, LEAST_EIGENVALUE)
}

/// The same where eigenvalues of S, scaled to a diagonal of ones, count as zero up to `least`.
pub fn momenta_inverse_above(
    momenta: &SMatrix<f64, 6, 6>,
    held: &[bool; 7],
    least: f64,
) -> SMatrix<f64, 6, 6> {
    let scale = Momenta::from_fn(|k, _| {
        let diagonal = momenta[(k, k)];
        if held[k] && diagonal > 0.0 && diagonal.is_finite() { diagonal.sqrt().recip() } else { 0.0 }
    });
    let scaling = SMatrix::from_diagonal(&scale);
    let scaled = scaling * momenta * scaling;
    if !scaled.iter().all(|entry| entry.is_finite()) {
        return SMatrix::zeros(); // the step's own check reports it; an eigenvalue iteration would not end
    }
    let eigen = scaled.symmetric_eigen();
    let inverse = eigen.eigenvalues.map(|value| if value > least { value.recip() } else { 0.0 });
    let vectors = eigen.eigenvectors;
    scaling * (vectors * SMatrix::from_diagonal(&inverse) * vectors.transpose()) * scaling
}

/// The root of a + b λ + c λ² that λ = 0 leads to, c ≥ 0; where there is none, the least value and `true`.
fn near_root([a, b, c]: [f64; 3]) -> (f64, bool) {
    let discriminant = b * b - 4.0 * a * c;
    if discriminant <= 0.0 {
        return if c > 0.0 { (-b / (2.0 * c), true) } else { (0.0, false) };
    }
    // the smaller one in size, without a difference of near numbers
    (-2.0 * a / (b + discriminant.sqrt().copysign(b)), false)
}

/// The root to which H falls first and then rises again, the larger one: x ← x − λ A⁻¹C_H.
fn far_root([a, b, c]: [f64; 3]) -> Option<f64> {
    let discriminant = b * b - 4.0 * a * c;
    let root = (discriminant.sqrt() - b) / (2.0 * c);
    (discriminant > 0.0 && c > 0.0 && root.is_finite()).then_some(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elastic::sample::Noise;

    /// A system S = GᵀG of random gradients G, n×7, in a metric of ones.
    fn random(noise: &mut Noise, rows: usize) -> (SMatrix<f64, 7, 7>, KktSystem) {
        let gradients: Vec<SVector<f64, 7>> =
            (0..rows).map(|_| SVector::from_fn(|_, _| noise.next())).collect();
        let s: SMatrix<f64, 7, 7> = gradients.iter().map(|g| g * g.transpose()).sum();
        (s, split(&s, &SVector::from_fn(|_, _| 0.1 * noise.next())))
    }

    fn split(s: &SMatrix<f64, 7, 7>, r: &SVector<f64, 7>) -> KktSystem {
        KktSystem {
            momenta: s.fixed_view::<6, 6>(0, 0).into(),
            mixed: s.fixed_view::<6, 1>(0, 6).into(),
            energy: s[(6, 6)],
            momenta_error: r.fixed_rows::<6>(0).into(),
            energy_error: r[6],
            momenta_descent: Momenta::zeros(),
            energy_descent: 0.0,
            square: 0.0,
            held: [true; 7],
        }
    }

    #[test]
    fn a_regular_system_is_solved() {
        let mut noise = Noise(3);
        for _ in 0..50 {
            let (s, system) = random(&mut noise, 20);
            let Multipliers { momenta, energy, .. } = system.solve(0.0);
            let lambda = SVector::<f64, 7>::from_fn(|k, _| if k < 6 { momenta[k] } else { energy });
            let r =
                SVector::<f64, 7>::from_fn(
                    |k, _| {
                        if k < 6 { system.momenta_error[k] } else { system.energy_error }
                    },
                );
            // conditions up to 1e3, numbers of order one
            assert!((s * lambda - r).amax() < 1e-11, "{}", s * lambda - r);
        }
    }

    #[test]
    fn a_rigid_motion_leaves_the_energy_alone_and_the_momenta_right() {
        let mut noise = Noise(4);
        // ∇H is a combination of the momenta's gradients
        let mix: SVector<f64, 6> = SVector::from_fn(|_, _| noise.next());
        let gradients = (0..20).map(|_| {
            let g: SVector<f64, 6> = SVector::from_fn(|_, _| noise.next());
            SVector::<f64, 7>::from_fn(|k, _| if k < 6 { g[k] } else { g.dot(&mix) })
        });
        let s: SMatrix<f64, 7, 7> = gradients.map(|g| g * g.transpose()).sum();
        let system = split(&s, &SVector::from_element(1.0));
        let solved = system.solve(1.0);
        assert_eq!(solved.energy, 0.0);
        assert!((system.momenta * solved.momenta - system.momenta_error).amax() < 1e-11);
    }

    #[test]
    fn what_is_not_held_or_has_no_inertia_is_left_out() {
        let (_, mut system) = random(&mut Noise(5), 20);
        system.held = [true, true, true, false, true, false, false];
        let solved = system.solve(1.0);
        assert_eq!((solved.momenta[3], solved.momenta[5], solved.energy), (0.0, 0.0, 0.0));
        system.held = [true; 7];
        for k in 0..6 {
            (system.momenta[(4, k)], system.momenta[(k, 4)]) = (0.0, 0.0); // no spin about y
        }
        assert_eq!(system.solve(1.0).momenta[4], 0.0);
    }

    #[test]
    fn a_step_never_overshoots() {
        // energy off by −1e8 with a slope of one and the curvature's bound: the root, not a multiple of it
        let lambda = near_root([-1e8, -1.0, 0.5]).0;
        assert!((-1e8 - lambda + 0.5 * lambda * lambda).abs() < 1e-4, "{lambda}"); // 1e-12 of its terms
        assert!(lambda < 0.0, "energy is added along ∇H");
        assert_eq!(near_root([7.0, -1.0, 0.5]), (1.0, true), "the least energy along the step");
        assert_eq!(near_root([0.0, -1.0, 0.5]), (0.0, false));
        assert_eq!(near_root([0.25, -1.0, 0.0]), (0.25, false), "linear");
        assert_eq!(near_root([1.0, 0.0, 0.0]), (0.0, false));
    }

    #[test]
    fn a_quadratic_energy_is_met_in_one_step() {
        // H = |x|²/2 + e·x on R^n in the metric A = 1, P = the first six coordinates
        let n = 12;
        let mut noise = Noise(8);
        let mut vector = || (0..n).map(|_| noise.next()).collect::<Vec<f64>>();
        let (x, e, g) = (vector(), vector(), vector());
        let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
        let energy = |x: &[f64]| 0.5 * dot(x, x) + dot(&e, x);
        let c: Vec<f64> = x.iter().zip(&e).map(|(x, e)| x + e).collect();
        let wish = energy(&x) + 3.0;
        let system = KktSystem {
            momenta: SMatrix::identity(),
            mixed: Momenta::from_fn(|k, _| c[k]),
            energy: dot(&c, &c),
            momenta_error: Momenta::from_fn(|k, _| x[k] - g[k]), // to zero
            energy_error: energy(&x) - wish - dot(&c, &g),
            momenta_descent: Momenta::from_fn(|k, _| g[k]),
            energy_descent: dot(&c, &g),
            square: dot(&g, &g),
            held: [true; 7],
        };
        let solved = system.solve(1.0);
        let d: Vec<f64> = (0..n)
            .map(|k| -g[k] - solved.energy * c[k] - if k < 6 { solved.momenta[k] } else { 0.0 })
            .collect();
        let end: Vec<f64> = x.iter().zip(&d).map(|(x, d)| x + d).collect();
        // a dozen terms of order one
        assert!(end[..6].iter().all(|p| p.abs() < 1e-13), "{end:?}");
        assert!((energy(&end) - wish).abs() < 1e-12, "{}", energy(&end) - wish);
        assert!((solved.square - dot(&d, &d)).abs() < 1e-12);
    }

    #[test]
    fn numbers_that_are_not_finite_end_at_once() {
        let mut system = random(&mut Noise(6), 20).1;
        system.momenta[(2, 2)] = f64::NAN;
        system.energy = f64::INFINITY;
        let solved = system.solve(1.0);
        assert!(solved.energy == 0.0 || solved.energy.is_nan());
    }
}
