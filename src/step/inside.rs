//! What lies between the phases of a step, for those who constrain it: momenta and energy held, contacts.
//!
//! They work on the host and in f64, whatever computes the rest; a device hands over what they need.

use super::form::Form;
use crate::damping::Damping;
use crate::linear::reduce::sum;
use crate::{Result, Vec3};

/// The numbers of a step half made, of all vertices.
pub struct View<'a> {
    /// x_n (m).
    pub x: &'a [Vec3],
    /// v_n (m/s).
    pub v: &'a [Vec3],
    /// x_{n−1} (m).
    pub x_before: &'a [Vec3],
    /// The iterate x (m).
    pub iterate: &'a [Vec3],
    /// g at the iterate, of the last local step (N).
    pub gradient: &'a mut [Vec3],
    /// ∇E(x), elastic elements and attachments, of the last [`Inside::local_at_end`] (N).
    pub end_gradient: &'a mut [Vec3],
    /// The way back to go, A⁻¹ g after [`Inside::descend`] (m).
    pub descent: &'a mut [Vec3],
    /// What v' has besides, of the force at the end of an explicit step or at the start of another (m/s); empty without.
    pub kick: &'a [Vec3],
    /// Elastic energy of each body where the last local step was made (J).
    pub energies: &'a [f64],
    /// Whether [`Inside::correct`] takes all digits of the descent; a device may round them.
    pub exact: bool,
}

impl View<'_> {
    /// v'(x) of the iterate, at vertex i (m/s).
    #[inline]
    pub fn new_velocity(&self, form: &Form, gravity: Vec3, i: usize) -> Vec3 {
        (self.iterate[i] - self.x[i]) * form.velocity_slope() + self.offset(form, gravity, i)
    }

    /// o of v' = s (x − x_n) + o, at vertex i (m/s).
    #[inline]
    pub fn offset(&self, form: &Form, gravity: Vec3, i: usize) -> Vec3 {
        let row = &form.row.velocity;
        let mut offset = gravity * (row.acceleration * form.h);
        if let Some(kick) = self.kick.get(i) {
            offset += kick;
        }
        if row.velocity != 0.0 {
            offset += self.v[i] * row.velocity;
        }
        if row.position_before != 0.0 {
            offset += (self.x_before[i] - self.x[i]) * (row.position_before / form.h);
        }
        offset
    }
}

/// Φ at the iterate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merit {
    /// Φ (J), up to a constant of the step.
    pub value: f64,
    /// How far rounding may have it off (J).
    pub noise: f64,
}

/// What a line search sees of a point on its way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Φ there, where it was asked for and the backend knows.
    pub merit: Option<Merit>,
    /// g·d there, d the whole way (J).
    pub slope: f64,
}

/// Operations inside a step. All but `open` ask that it was called.
pub trait Inside {
    /// From now on the host looks into the steps; at the bodies' elastic energies only if it asks for them, since they cost time.
    fn open(&mut self, energies: bool) -> Result<()>;
    /// The number of the metric A: another one as soon as A is.
    fn metric(&self) -> u64;
    /// The numbers now. Before a step `iterate`, `gradient` and `descent` mean nothing.
    fn view(&mut self) -> View<'_>;
    /// descent = A⁻¹ g, or H⁻¹ g with the Hessian at the iterate.
    fn descend(&mut self, form: &Form) -> Result<()>;
    /// x ← x − descent.
    fn correct(&mut self) -> Result<()>;
    /// columns ← A⁻¹ columns: three scalar columns at once.
    fn invert(&mut self, columns: &mut [Vec3]) -> Result<()>;
    /// vectors ← A⁻¹ vectors with the matrix of the last [`Inside::descend`], also where it mixes the coordinates: the Hessian, or a
    /// metric that damping has part in.
    fn precondition(&mut self, vectors: &mut [Vec<Vec3>]) -> Result<()>;
    /// vector ← C vector, C = α₁ M + α₂ L or α₁ M + α₂ K(x_n) as `damping` has it, K that of the last `prepare`.
    fn resist(&mut self, damping: &Damping, vector: &mut [Vec3]) -> Result<()>;
    /// A local step at the iterate itself, wherever the integrator takes its forces: end gradient and energies, the
    /// attachments' points being those of the end of the step. The gradient g stays.
    fn local_at_end(&mut self) -> Result<()>;
    /// Φ where the last local step was made; `None` where the backend does not know.
    fn merit(&mut self, form: &Form) -> Result<Option<Merit>>;
    /// Φ, if asked for, and the slope where the last local step was made, on the way of the last [`Inside::correct`], whose
    /// descent this is.
    fn weigh(&mut self, form: &Form, descent: &[Vec3], with_merit: bool) -> Result<Trial> {
        let merit = if with_merit { self.merit(form)? } else { None };
        let g = &*self.view().gradient;
        Ok(Trial { merit, slope: sum(descent.len(), |i| g[i].dot(&descent[i])) })
    }
    /// Back on that way: the iterate is `start` less a share of the descent, and becomes that less another share.
    fn retreat(&mut self, start: &[Vec3], descent: &[Vec3], [_, share]: [f64; 2]) -> Result<()> {
        let shorter: Vec<Vec3> = start.iter().zip(descent).map(|(x, d)| x - d * share).collect();
        self.place(&shorter)
    }
    /// Sets the iterate.
    fn place(&mut self, x: &[Vec3]) -> Result<()>;
    /// After a step: x ← x + `ways`, v ← v + `changes`, all along the history that an integrator keeps.
    fn shift(&mut self, ways: &[Vec3], changes: &[Vec3]) -> Result<()>;
}
