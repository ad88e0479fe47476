//! A line search, for laws whose curvature the metric does not bound.
//!
//! For projections A bounds the curvature of Φ and a full step x − A⁻¹ g never goes too far. St. Venant–Kirchhoff's law is
//! stiffer the more it is stretched. So after a step along d the slope of Φ is looked at, φ'(α) = −g(x − α d)·d: where it has
//! turned to more than half of what it was at the start, the way is cut to where the line through both slopes is zero.
//! Only gradients are needed, which the next iteration needs anyway: a way that is long enough costs nothing.

use super::Simulation;
use super::clock::Phase;
use super::form::Form;
use crate::linear::reduce::sum;
use crate::{Result, Vec3};

/// How much of the slope may be left, turned round.
const TURNED: f64 = 0.5;
/// Cuts of one way, at most.
const MOST_CUTS: usize = 12;

/// The way of an iteration.
pub(super) struct Way {
    start: Vec<Vec3>,
    /// d: the iterate is start − d (m).
    descent: Vec<Vec3>,
    /// g·d at the start (J).
    slope: f64,
}

impl Simulation {
    /// Before the way is gone: remembers it.
    pub(super) fn note_way(&mut self) {
        let view = self.backend.view();
        let (g, d) = (&*view.gradient, &*view.descent);
        let slope = sum(d.len(), |i| g[i].dot(&d[i]));
        self.way = Some(Way { start: view.iterate.to_vec(), descent: d.to_vec(), slope });
    }

    /// After the local step at its end: cuts the way if it was too long.
    pub(super) fn cut_way(&mut self, form: &Form) -> Result<()> {
        let Some(way) = self.way.take().filter(|way| way.slope > 0.0 && way.slope.is_finite()) else {
            return Ok(());
        };
        let (mut share, d) = (1.0, &way.descent);
        for _ in 0..MOST_CUTS {
            let g = &*self.backend.view().gradient;
            let slope = sum(d.len(), |i| g[i].dot(&d[i]));
            if slope >= -TURNED * way.slope {
                break;
            }
            // also where the slope is not a number: then by a tenth
            share *= (way.slope / (way.slope - slope)).max(0.1);
            let shorter: Vec<Vec3> = way.start.iter().zip(d).map(|(x, d)| x - d * share).collect();
            self.hold.iter_mut().for_each(|hold| hold.forget_ahead());
            let Simulation { backend, clock, .. } = self;
            clock.time(Phase::Local, || {
                backend.place(&shorter)?;
                backend.local(form)
            })?;
        }
        Ok(())
    }
}
