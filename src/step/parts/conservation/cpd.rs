//! Energy and momenta held inside the solve: Constrained Projective Dynamics, body by body.
//!
//! With v'(x) = s (x − x_n) + o, r = x − pivot and j the impulses from outside (attachments, contacts):
//!
//!   c_P = Σ m v' − P̂ − Σ j            C_P = π e_k,          π = s m + s h² b c₂ k
//!   c_L = Σ m r × v' − L̂ − Σ r_e × j   C_L = Q × e_k,        Q = m (o − s (x_n − pivot) − h/2 a) − s h² b c₂ k (T_e − pivot)
//!   c_H = H(x) − Ĥ − W(x)              C_H = s M v' + ∇E − M a − F
//!
//! P and L are linear in x, so A⁻¹ C_P is made once for a metric and A⁻¹ C_L = (A⁻¹ Q) × e_k by one solve a step. Under
//! backward Euler without damping C_H = g + M v_n/h: A⁻¹ g is there anyway, A⁻¹ M v_n/h is one more solve a step.
//! Other integrators take their forces elsewhere: one local step and one solve more in each iteration.
//!
//! Where the user asks for less energy than the momenta need, the least energy K that they allow takes its place (the
//! paper lets a penalised variable choose between the two, Eq. 14); [`super::kkt`] keeps a step from overshooting.

use super::jacobian::{self, ConstraintJacobian};
use super::kkt::{self, Curvature, Side};
use super::measure::{Measured, Moved};
use super::targets::ConservationTargets;
use crate::Result;
use crate::model::Model;
use crate::step::integrator::BALLISTIC_EULER;
use crate::step::{Backend, StepCoefficients};

/// Corrects directions so that momenta and energies of all bodies come out right.
pub struct Cpd {
    jacobian: ConstraintJacobian,
    /// dᵀA d of each body's last step, 0 at first (J).
    pub(super) squares: Vec<f64>,
    /// Whether it went to the least energy there is, and that was still more than asked for.
    pub(super) least: Vec<bool>,
    /// How the corrected iterate of each body moves, where the correction has summed it up and it is still the iterate.
    pub(super) ahead: Vec<Option<Moved>>,
    /// What each body has at the iterate.
    pub(super) measured: Vec<Measured>,
    /// Energy of each body beyond what is asked for, when last measured (J).
    pub(super) excess: Vec<f64>,
    /// On which side of the energy's level the next iteration of each body ends.
    pub(super) sides: Vec<Side>,
    /// The share of the curvature that each body's last iteration counted on, if it went to the far side.
    pub(super) crossed: Vec<Option<f64>>,
    /// Whether attached bodies are left alone.
    pub(super) free_only: bool,
}

impl Cpd {
    /// For a model; with `free_only` attached bodies are left alone.
    pub fn new(model: &Model, free_only: bool) -> Self {
        let bodies = model.bodies.len();
        Cpd {
            free_only,
            jacobian: ConstraintJacobian::new(model),
            squares: vec![0.0; bodies],
            least: vec![false; bodies],
            ahead: vec![None; bodies],
            measured: vec![Measured::default(); bodies],
            excess: vec![0.0; bodies],
            sides: vec![Side::Near; bodies],
            crossed: vec![None; bodies],
        }
    }

    /// Whether A⁻¹ C_H follows from A⁻¹ g. Scenes with Newton's method, Rayleigh damping or examples are refused with CPD
    /// (`setup::check`), so g has no other terms.
    pub(super) fn shortcut(targets: &ConservationTargets) -> bool {
        Self::is_shortcut(&targets.coefficients)
    }

    /// The same of a stage.
    pub(super) fn is_shortcut(coefficients: &StepCoefficients) -> bool {
        let StepCoefficients { row, mass_damping, stiffness_damping, .. } = *coefficients;
        row == BALLISTIC_EULER && mass_damping == 0.0 && stiffness_damping == 0.0
    }

    /// Before a stage: the directions that it needs.
    pub fn begin(&mut self, targets: &ConservationTargets, backend: &mut dyn Backend) -> Result<()> {
        self.squares.fill(0.0);
        self.excess.fill(0.0);
        self.least.fill(false);
        self.ahead.fill(None);
        self.crossed.fill(None);
        self.sides.fill(Side::NearUnlessStalled(-targets.coefficients.projection_weight()));
        self.jacobian.begin(targets, targets.held[2] && Self::shortcut(targets), backend)
    }

    /// Whether nothing is corrected of a body in this step: bodies that touch are set right by [`super::rebound`], and
    /// non-oscillatory motion of an attached body comes to rest where it is attached.
    pub(super) fn leaves_alone(&self, targets: &ConservationTargets, body: usize) -> bool {
        let external = &targets.external;
        external.is_touched(body) || self.free_only && external.is_attached(body)
    }

    /// Adds to the direction what brings momenta and energies to where they belong. If it `may_move` the iterate along it, that saves a pass
    /// over the vertices; returns whether it has.
    pub fn correct(
        &mut self,
        targets: &ConservationTargets,
        may_move: bool,
        backend: &mut dyn Backend,
    ) -> Result<bool> {
        let (shortcut, coefficients) = (Self::shortcut(targets), &targets.coefficients);
        if targets.held[2] && !shortcut {
            self.jacobian.energy_direction(targets, backend)?;
        }
        let mut host = backend.host()?;
        let sums_up = host.exact && Moved::is_enough(coefficients);
        let moves = sums_up && may_move;
        for (body, part) in targets.model.bodies.iter().enumerate() {
            if self.leaves_alone(targets, body) {
                if moves {
                    part.vertices.clone().for_each(|i| host.iterate[i] -= host.direction[i]);
                }
                continue;
            }
            let range = part.vertices.clone();
            let mut system = match shortcut && targets.held[2] {
                true => self.jacobian.system_of_descent(range, body, &host),
                false => self.jacobian.system(range, body, &host),
            };
            system.held = targets.rows();
            let error = self.error(targets, body, &host);
            system.momenta_error += jacobian::stack(error.momentum, error.angular_momentum);
            system.energy_error += error.energy;
            let bend = targets.conserved[body].bend;
            let curvature = Curvature::new(coefficients.curvature(), bend);
            let side = self.sides[body];
            let multipliers = system.solve_with(self.jacobian.inverse(body), curvature, side, kkt::DOUBLE);
            let counted = if side == Side::Far { bend } else { 1.0 };
            self.crossed[body] = multipliers.crosses.then_some(counted);
            self.squares[body] = multipliers.square;
            self.least[body] = multipliers.least;
            let about = sums_up.then_some((targets.bodies[body].pivot, if moves { 1.0 } else { 0.0 }));
            self.ahead[body] =
                self.jacobian.add(part, &multipliers, shortcut, about, &targets.model, &mut host);
        }
        Ok(moves)
    }
}
