//! b(γ): what remains after one cycle, over the strength of the damping (Example paper, Fig. 9).
//!
//! The search of [`super::search`] rests on b falling as γ grows. For one oscillator it does. In a body slow, weakly damped
//! motion along a shape also feeds other modes, and the height of a peak depends on where theirs are: b may then rise a
//! little with γ, and targets near there have several answers or none.

use super::unload::Unloading;
use super::{LOG_GAMMA, MakeBackend, Remaining, TargetError, Trial, target};
use crate::Result;
use crate::error::InputError;
use crate::scene::LoadedScene;

/// A rise of b by less than this fraction of itself is not one: a peak between samples is found to about as much.
const LEAST_RISE: f64 = 3e-3;

/// b rises with γ, between these two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rise {
    /// γ and b where b is low,
    pub from: [f64; 2],
    /// and where, at a larger γ, it is higher.
    pub to: [f64; 2],
}

impl Rise {
    /// The largest one among pairs (γ, b) with ascending γ.
    pub fn find(samples: impl IntoIterator<Item = [f64; 2]>) -> Option<Self> {
        let (mut lowest, mut largest): (Option<[f64; 2]>, Option<Rise>) = (None, None);
        for sample in samples {
            let from = *lowest.get_or_insert(sample);
            let height = largest.map_or(LEAST_RISE * sample[1], |rise| rise.to[1] - rise.from[1]);
            if sample[1] - from[1] > height {
                largest = Some(Rise { from, to: sample });
            }
            if sample[1] <= from[1] {
                lowest = Some(sample);
            }
        }
        largest
    }
}

impl std::fmt::Display for Rise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Rise { from: [g, b], to: [h, c] } = self;
        write!(f, "not monotone: {b:.4} remains at γ = {g:.4}, {c:.4} at γ = {h:.4}")
    }
}

/// What is asked for: amplitudes of an example.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub example: String,
    /// |χ| at the start of the tests.
    pub amplitudes: Vec<f64>,
}

/// b(γ) from one amplitude.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    pub example: String,
    /// |χ| at the start.
    pub amplitude: f64,
    /// γ ascending, and what remains.
    pub samples: Vec<(f64, Remaining)>,
}

impl Sweep {
    /// Where b rises most, if it does.
    pub fn rise(&self) -> Option<Rise> {
        Rise::find(self.samples.iter().map(|(gamma, remaining)| [*gamma, remaining.amplitude]))
    }
}

/// Reads `ear: 1, 2, 3; belly: 0.8`.
pub fn parse(text: &str) -> Result<Vec<Request>, TargetError> {
    let mut requests = Vec::new();
    for part in text.split(';').filter(|part| !part.trim().is_empty()) {
        let (example, amplitudes) = target::named(part)?;
        let amplitudes = amplitudes.split(',').map(target::amplitude).collect::<Result<Vec<_>, _>>()?;
        requests.push(Request { example, amplitudes });
    }
    if requests.is_empty() { Err(TargetError::Nothing) } else { Ok(requests) }
}

/// Values of γ over the range of the search, so many for each factor of ten.
pub fn gammas(per_decade: usize) -> Vec<f64> {
    let [low, high] = LOG_GAMMA;
    let count = ((high - low) * per_decade as f64).round() as usize;
    (0..=count).map(|i| 10f64.powf(low + (high - low) * i as f64 / count.max(1) as f64)).collect()
}

/// Makes unloading tests at these γ (ascending), the same for all deformations; other examples stay as the scene has them.
/// `told` hears the tests made so far, and of how many.
pub fn sweep(
    loaded: &LoadedScene,
    requests: &[Request],
    gammas: &[f64],
    backend: MakeBackend<'_>,
    told: &mut dyn FnMut(usize, usize),
) -> Result<Vec<Sweep>> {
    let given = &loaded.scene.damping.examples;
    let refuse = |e: TargetError| InputError::field("sweep", e.to_string());
    let number = |request: &Request| target::find(&request.example, given).map_err(refuse);
    let numbers = requests.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    let placed = |e| loaded.place_error(e);
    let mut unloading = Unloading::new(loaded, backend).map_err(placed)?;
    let all = gammas.len() * requests.iter().map(|request| request.amplitudes.len()).sum::<usize>();
    let mut sweeps: Vec<Sweep> = Vec::new();
    let mut made = 0;
    for (request, number) in requests.iter().zip(numbers) {
        for &amplitude in &request.amplitudes {
            let mut samples = Vec::with_capacity(gammas.len());
            for &gamma in gammas {
                let mut examples = given.clone();
                (examples[number].gamma, examples[number].curve) = (gamma, None);
                samples.push((gamma, unloading.remaining(number, amplitude, &examples).map_err(placed)?));
                made += 1;
                told(made, all);
            }
            sweeps.push(Sweep { example: request.example.clone(), amplitude, samples });
        }
    }
    Ok(sweeps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_rise_is_found_and_noise_is_none() {
        let of = |values: &[f64]| Rise::find(values.iter().enumerate().map(|(i, b)| [i as f64, *b]));
        assert_eq!(of(&[3.0, 2.0, 1.0, 0.0, 0.0]), None);
        assert_eq!(of(&[3.0, 2.0, 2.001, 1.0]), None, "less than a peak is known to");
        assert_eq!(of(&[3.0, 2.0, 2.1, 1.0]), Some(Rise { from: [1.0, 2.0], to: [2.0, 2.1] }));
        // over several samples, and the largest of two
        assert_eq!(of(&[2.0, 2.1, 2.2, 1.0, 1.5]), Some(Rise { from: [3.0, 1.0], to: [4.0, 1.5] }));
        assert_eq!(of(&[2.0, 2.01, 2.2, 1.0]), Some(Rise { from: [0.0, 2.0], to: [2.0, 2.2] }));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn requests_are_read_and_gammas_span_the_range() {
        let asked = parse(" ear: 1, 2 ; left:arm: .5").unwrap();
        let expected = [("ear", vec![1.0, 2.0]), ("left:arm", vec![0.5])];
        assert!(asked.iter().map(|r| (r.example.as_str(), r.amplitudes.clone())).eq(expected));
        for text in ["", "ear", "ear: 0", "ear: 1->0.5", ": 1"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let gammas = gammas(4);
        assert!(gammas.len() == 25 && (gammas[0] - 1e-3).abs() < 1e-15 && (gammas[24] - 1e3).abs() < 1e-9);
    }
}
