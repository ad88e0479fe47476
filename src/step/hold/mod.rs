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
//! paper lets a penalised variable choose between the two, Eq. 14); [`system`] keeps a step from overshooting.

pub mod body;
pub mod bounce;
mod control;
pub mod fepr;
mod fields;
pub mod goals;
mod measure;
pub mod outside;
mod passes;
pub mod system;

use super::backend::{Backend, Targets};
use super::form::Form;
use super::integrator::BALLISTIC_EULER;
use crate::Result;
use crate::model::Model;
use crate::scene::{Conservation, Method, NON_OSCILLATORY, Quantity, Scene};
use fields::Fields;
use goals::Goals;
use measure::{Measured, Moved};

/// What is off most of all that is held.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Miss {
    /// The share that it is off by.
    pub share: f64,
    /// What of which body; `None` if all is exact.
    pub of: Option<(Quantity, usize)>,
}

impl Miss {
    /// P, L and H, in the order in which they stand everywhere.
    const QUANTITIES: [Quantity; 3] = [Quantity::Momentum, Quantity::AngularMomentum, Quantity::Energy];

    /// The worst of this and the shares that P, L and H of a body are off by.
    fn or(self, body: usize, shares: [f64; 3]) -> Self {
        let of_body = Self::QUANTITIES.into_iter().zip(shares);
        of_body.fold(self, |worst, (quantity, share)| {
            // what is not a number is worse than all numbers
            let worse = share > worst.share || share.is_nan() && !worst.share.is_nan();
            if worse { Miss { share, of: Some((quantity, body)) } } else { worst }
        })
    }
}

/// How well momenta and energies were held, over the steps of a run. Bodies that touch something are not counted: theirs are
/// set right after the step, by what velocities can give.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Record {
    /// The largest share that they were off by when a step had been solved.
    pub largest_off: f64,
    /// What of which body that was.
    #[serde(skip)]
    pub worst: Option<(Quantity, usize)>,
    /// Steps made.
    pub steps: u64,
    /// Steps after which they were off by more than the tolerance.
    pub steps_beyond: u64,
}

impl Record {
    /// One more step.
    pub(super) fn note(&mut self, Miss { share, of }: Miss, tolerance: f64) {
        if share > self.largest_off {
            (self.largest_off, self.worst) = (share, of);
        }
        self.steps += 1;
        self.steps_beyond += u64::from(share > tolerance);
    }
}

/// Holds momenta and energies of all bodies of a model.
pub struct Hold {
    goals: Goals,
    fields: Fields,
    /// dᵀA d of each body's last step, 0 at first (J).
    squares: Vec<f64>,
    /// Whether it went to the least energy there is, and that was still more than asked for.
    least: Vec<bool>,
    /// What the corrected iterate of each body moves, where that was seen on the way.
    ahead: Vec<Option<Moved>>,
    /// What each body has at the iterate.
    measured: Vec<Measured>,
    /// Energy of each body beyond what is asked for, when last measured (J).
    excess: Vec<f64>,
    /// Whether bodies that something holds are left alone.
    free_only: bool,
}

impl Hold {
    /// What the scene asks for; `None` if it holds nothing inside the solve.
    pub fn new(scene: &Scene, model: &Model) -> Option<Self> {
        // κ = 1 is backward Euler, and that loses spin
        let calm = scene.integrator.kind == NON_OSCILLATORY && scene.integrator.kappa != Some(1.0);
        let conservation = match (scene.conservation.method, calm) {
            (Method::Cpd, false) => scene.conservation.clone(),
            (_, true) => {
                let hold = vec![Quantity::Momentum, Quantity::AngularMomentum];
                Conservation { method: Method::Cpd, hold, ..scene.conservation.clone() }
            }
            _ => return None,
        };
        let bodies = model.bodies.len();
        Some(Hold {
            goals: Goals::new(&conservation, model),
            free_only: calm,
            fields: Fields::new(model),
            squares: vec![0.0; bodies],
            least: vec![false; bodies],
            ahead: vec![None; bodies],
            measured: vec![Measured::default(); bodies],
            excess: vec![0.0; bodies],
        })
    }

    /// What is aimed at.
    pub fn goals(&mut self) -> &mut Goals {
        &mut self.goals
    }

    /// Whether A⁻¹ C_H follows from A⁻¹ g.
    fn shortcut(form: &Form) -> bool {
        form.row == BALLISTIC_EULER && form.mass_damping == 0.0 && form.stiffness_damping == 0.0
    }

    /// Before a step from `times[0]` to `times[1]`: what it shall make of each body, and the directions that it needs.
    pub fn begin(
        &mut self,
        form: &Form,
        model: &Model,
        targets: &Targets,
        times: [f64; 2],
        backend: &mut dyn Backend,
    ) -> Result<()> {
        self.goals.begin(form, model, targets, times, backend)?;
        self.squares.fill(0.0);
        self.excess.fill(0.0);
        self.least.fill(false);
        self.ahead.fill(None);
        let energy = self.goals.held[2] && Self::shortcut(form);
        self.fields.begin(form, model, &self.goals, &self.rows(), energy, backend)
    }

    /// The iterate is not the one that was corrected to.
    pub(super) fn forget_ahead(&mut self) {
        self.ahead.fill(None);
    }

    /// Whether a body's momenta are its own affair in this step: those of bodies that touch are set right by [`bounce`], and
    /// non-oscillatory motion of a body that something holds comes to rest where it is held.
    fn leaves_alone(&self, body: usize) -> bool {
        let outside = &self.goals.outside;
        outside.is_touched(body) || self.free_only && outside.is_attached(body)
    }

    /// Which rows of the systems are held.
    fn rows(&self) -> [bool; 7] {
        let [p, l, h] = self.goals.held;
        [p, p, p, l, l, l, h]
    }

    /// After the solve: adds to the descent what brings momenta and energies to where they belong.
    pub fn correct(&mut self, form: &Form, model: &Model, backend: &mut dyn Backend) -> Result<()> {
        let shortcut = Self::shortcut(form);
        if self.goals.held[2] && !shortcut {
            self.fields.energy_direction(form, model, backend)?;
        }
        let mut view = backend.view();
        for (body, part) in model.bodies.iter().enumerate() {
            if self.leaves_alone(body) {
                continue;
            }
            let range = part.vertices.clone();
            let mut system = match shortcut && self.goals.held[2] {
                true => self.fields.system_of_descent(range, body, &view),
                false => self.fields.system(range, body, &view),
            };
            system.held = self.rows();
            let off = self.off(body, form, &view);
            system.momenta_error += fields::stack(off.momentum, off.angular_momentum);
            system.energy_error += off.energy;
            let curvature = form.curvature() * self.goals.kept[body].bend;
            let multipliers = system.solve_with(self.fields.inverse(body), curvature);
            self.squares[body] = multipliers.square;
            self.least[body] = multipliers.least;
            let about = (view.exact && Moved::is_enough(form)).then_some(self.goals.aims[body].pivot);
            self.ahead[body] =
                self.fields.add(part.vertices.clone(), &multipliers, shortcut, model, about, &mut view);
        }
        Ok(())
    }
}
