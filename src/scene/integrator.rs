//! Which integrator, and its numbers.

use serde::{Deserialize, Serialize};

/// The name of Newmark's integrator, whose row depends on β and γ.
pub const NEWMARK: &str = "newmark";

/// The name of the integrator that minimises KE + (τ/h) PE.
pub const NON_OSCILLATORY: &str = "non-oscillatory";

/// Which integrator, by its name in the table of `step::integrator`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Integrator {
    /// `backward-euler`, `implicit-midpoint`, `bdf2`, `newmark`, `trapezoidal`, `bathe`, `non-oscillatory`, or an explicit one.
    pub kind: String,
    /// τ of `non-oscillatory` (s): the time to rest goes as 1/τ.
    pub tau: Option<f64>,
    /// The time to rest of `non-oscillatory` (s): a trial finds τ. Default 1, if there is no `tau` either.
    pub rest_time: Option<f64>,
    /// κ of `non-oscillatory`, 0 to 1: the share of the oscillating motion that a step keeps.
    pub kappa: Option<f64>,
    /// β of `newmark`: the share of the acceleration at the end of a step in its way, of 1/2. Default (γ + 1/2)²/4.
    pub beta: Option<f64>,
    /// γ of `newmark`: the share of the acceleration at the end of a step in its impulse. Default 1/2.
    pub gamma: Option<f64>,
}

impl Default for Integrator {
    fn default() -> Self {
        let kind = "implicit-midpoint".into();
        Integrator { kind, tau: None, rest_time: None, kappa: None, beta: None, gamma: None }
    }
}

impl Integrator {
    /// Time to rest where nothing is said (s).
    pub const DEFAULT_REST_TIME: f64 = 1.0;

    /// Writes out the defaults that matter for this integrator.
    pub(super) fn fill_defaults(&mut self) {
        if self.kind == NON_OSCILLATORY {
            self.kappa.get_or_insert(0.0);
            if self.tau.is_none() {
                self.rest_time.get_or_insert(Self::DEFAULT_REST_TIME);
            }
        }
        if self.kind == NEWMARK {
            let [beta, gamma] = self.newmark();
            (self.beta, self.gamma) = (Some(beta), Some(gamma));
        }
    }

    /// β and γ of `newmark`. Without a β of its own γ chooses one under which every step is stable and the fastest modes decay
    /// most; γ = 1/2, which damps nothing, has the trapezoidal rule's.
    pub fn newmark(&self) -> [f64; 2] {
        let gamma = self.gamma.unwrap_or(0.5);
        [self.beta.unwrap_or(damping_beta(gamma)), gamma]
    }
}

/// β that damps the fastest modes most among those that stay stable, for this γ: (γ + 1/2)²/4.
const fn damping_beta(gamma: f64) -> f64 {
    0.25 * (gamma + 0.5) * (gamma + 0.5)
}
