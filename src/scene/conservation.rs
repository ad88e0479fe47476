//! What is held: momenta and energy, and how they may be steered.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How energy and momenta are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Not at all: the integrator does with them what it does.
    None,
    /// As constraints inside the solve: Constrained Projective Dynamics.
    Cpd,
    /// By a projection after every step: Fast Energy Projection.
    Fepr,
}

/// What can be held of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Quantity {
    /// Momentum.
    #[serde(rename = "P")]
    Momentum,
    /// Angular momentum.
    #[serde(rename = "L")]
    AngularMomentum,
    /// Energy.
    #[serde(rename = "H")]
    Energy,
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Quantity::Momentum => "P",
            Quantity::AngularMomentum => "L",
            Quantity::Energy => "H",
        })
    }
}

/// What is held of every body, and how well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conservation {
    /// How.
    pub method: Method,
    /// What: any of `P`, `L`, `H`.
    pub hold: Vec<Quantity>,
    /// Iterations of a time step end when what is held is off by less than this share of the body's energy, or of the
    /// momenta that the energy could give it.
    pub tolerance: f64,
    /// Iterations go on until the last one moves a body by less than this share of its energy, ½ dᵀA d. 1e-3 if not given; under
    /// backward Euler no limit, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_tolerance: Option<f64>,
    /// ε of `fepr` (kg m²): what it costs to give up momenta for the energy. A thousand times h² times the body's energy, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regularization: Option<f64>,
    /// Iterations per time step, at most 10000. Takes the place of `time.iterations` under `cpd`.
    pub iterations: usize,
    /// γ (1/s): the energy beyond that of the rigid motion decays at this rate. Needs `H`.
    pub gamma: f64,
    /// What the user wants momenta and energy of a body to be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub control: Vec<Control>,
}

impl Default for Conservation {
    fn default() -> Self {
        Conservation {
            method: Method::None,
            hold: vec![Quantity::Momentum, Quantity::AngularMomentum, Quantity::Energy],
            tolerance: 1e-4,
            step_tolerance: None,
            regularization: None,
            iterations: 30,
            gamma: 0.0,
            control: Vec::new(),
        }
    }
}

/// Momenta and energy of one body over time. From the first to the last keyframe they are set to what is written;
/// before and after, they follow from what acts on the body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// The body's name.
    pub body: String,
    /// P (kg m/s).
    pub momentum: Option<Keys<[f64; 3]>>,
    /// L about the body's centre of mass (kg m²/s).
    pub angular_momentum: Option<Keys<[f64; 3]>>,
    /// Kinetic and elastic energy (J), of the attachments too, without gravity and contact.
    pub energy: Option<Keys<f64>>,
}

/// Values at times, joined by straight lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys<V> {
    /// Ascending times (s).
    pub times: Vec<f64>,
    /// A value for each time.
    pub values: Vec<V>,
}

impl<V: Copy> Keys<V> {
    /// For a step from `now` to `then`: the values before and after, and how far it is between them; `None` before
    /// the first key and after the last. A single key acts in the one step that reaches it.
    pub fn around(&self, [now, then]: [f64; 2]) -> Option<(V, V, f64)> {
        let (first, last) = (*self.times.first()?, *self.times.last()?);
        // steps end at rounded sums: their last digits must not decide whether a key is reached
        let slack = 1e-6 * (then - now);
        if then < first - slack || now >= last - slack {
            return None;
        }
        let t = then.clamp(first, last);
        let after = self.times.partition_point(|&time| time <= t).min(self.times.len() - 1).max(1);
        let before = after - 1;
        let (from, start) = (self.values.get(before)?, self.times[before]);
        let (Some(to), Some(end)) = (self.values.get(after), self.times.get(after)) else {
            return Some((*from, *from, 0.0));
        };
        Some((*from, *to, ((t - start) / (end - start)).clamp(0.0, 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_hold_from_the_first_to_the_last_key_and_nowhere_else() {
        let keys = Keys { times: vec![1.0, 2.0, 4.0], values: vec![10.0, 20.0, 40.0] };
        let value = |t: f64| keys.around([t - 0.1, t]).map(|(a, b, share)| a + (b - a) * share);
        assert_eq!([0.9, 4.2].map(value), [None, None]);
        assert_eq!(
            [1.0, 1.5, 2.0, 3.0, 4.0, 4.05].map(value),
            [10.0, 15.0, 20.0, 30.0, 40.0, 40.0].map(Some)
        );
        let push = Keys { times: vec![1.0], values: vec![7.0] };
        let acts = |t: f64| push.around([t - 0.1, t]).is_some();
        assert_eq!([0.9, 1.0 - 1e-12, 1.0 + 1e-12, 1.05, 1.1].map(acts), [false, true, true, true, false]);
        assert_eq!(Keys::<f64> { times: vec![], values: vec![] }.around([0.0, 1.0]), None);
    }
}
