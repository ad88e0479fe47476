//! Distances from rest over time, the two measures of the Non-oscillatory thesis (Eq. 4.1, 4.2).

use super::{Curve, Study};
use crate::{Result, Simulation};

/// d₁ and d₂ (m) over time (s).
pub(super) struct Distances {
    pub name: String,
    pub points: Vec<[f64; 3]>,
}

impl Distances {
    /// Runs a scene for `time` (s) and looks how far it is from rest (Eq. 4.1, 4.2).
    pub(super) fn of(study: &Study, scene: &str, settings: &[&str], name: String, time: f64) -> Result<Self> {
        let mut simulation = study.simulate(scene, settings)?;
        let rest = simulation.model().bodies[0].mesh.positions.clone();
        let look = |s: &Simulation| {
            let squares: Vec<f64> =
                s.positions().iter().zip(&rest).map(|(x, p)| (x - p).norm_squared()).collect();
            [s.time(), squares.iter().sum::<f64>().sqrt(), squares.iter().copied().fold(0.0, f64::max).sqrt()]
        };
        let mut points = vec![look(&simulation)];
        while simulation.time() < time * (1.0 - 1e-9) {
            simulation.frame()?;
            points.push(look(&simulation));
        }
        Ok(Distances { name, points })
    }

    /// When this share of the first distance is exceeded for the last time (s): `which` is 1 or 2.
    pub(super) fn rest(&self, which: usize, share: f64) -> f64 {
        let most = share * self.points[0][which];
        self.points.iter().rposition(|point| point[which] > most).map_or(0.0, |k| {
            match self.points.get(k + 1) {
                // between two frames by exponentials
                Some(next) => {
                    let point = self.points[k];
                    point[0]
                        + (next[0] - point[0]) * (point[which] / most).ln()
                            / (point[which] / next[which]).ln()
                }
                None => f64::INFINITY,
            }
        })
    }

    /// In how many frames a distance grows.
    pub(super) fn rises(&self, which: usize) -> f64 {
        self.points.windows(2).filter(|pair| pair[1][which] > pair[0][which] * (1.0 + 1e-9)).count() as f64
    }

    pub(super) fn curves(&self) -> [Curve; 2] {
        let of = |k: usize| self.points.iter().map(|point| (point[0], point[k])).collect();
        [
            Curve::new(format!("d1, {}", self.name), of(1)),
            Curve::new(format!("d2, {}", self.name), of(2)).dashed(),
        ]
    }
}
