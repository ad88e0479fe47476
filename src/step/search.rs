//! A line search, for laws whose curvature the metric does not bound, and for Newton's way.
//!
//! For projections A bounds the curvature of Φ and a full step x − A⁻¹ g never goes too far. Other laws are stiffer the more they
//! are stretched, or bend the other way. So after a step along d it is looked whether Φ has fallen by a share of what its slope
//! had promised (Armijo); where it has not, the way is cut to where the line through both slopes φ'(α) = −g(x − α d)·d is
//! zero. A way that is long enough costs nothing: the gradient and the energy there are needed anyway.
//!
//! In contact the forces F of an iteration stay as they are while its way is cut: what falls is then Φ(x) − F·x.
//!
//! Near the end Φ changes by less than its rounding. There, and where something is held, so that Φ alone is not what falls,
//! the slopes decide: the way was too long if they have turned to more than half of what they were.

use super::Simulation;
use super::clock::Phase;
use super::form::Form;
use super::inside::{Merit, Trial};
use crate::linear::reduce::sum;
use crate::{Result, Vec3};

/// The share of the promised fall that is enough.
const ARMIJO: f64 = 1e-4;
/// How much of the slope may be left, turned round.
const TURNED: f64 = 0.5;
/// Cuts of one way, at most.
const MOST_CUTS: usize = 20;

/// The way of an iteration.
pub(super) struct Way {
    start: Vec<Vec3>,
    /// d: the iterate is start − d (m).
    descent: Vec<Vec3>,
    /// g·d at the start (J).
    slope: f64,
    /// Φ at the start, where it decides.
    merit: Option<Merit>,
    /// F·d of contacts (J): in contact it is Φ(x) − F·x that falls, with the forces F of the iteration.
    push: f64,
}

impl Way {
    /// Whether a share of it is not too long: this is what was found there.
    fn is_enough(&self, share: f64, &Trial { merit, slope }: &Trial) -> bool {
        let slope = slope - self.push;
        let turned = slope < -TURNED * self.slope || !slope.is_finite();
        match self.merit.zip(merit) {
            Some((before, now)) => {
                let change = now.value - before.value + share * self.push;
                let noise = before.noise.max(now.noise);
                change <= -ARMIJO * share * self.slope || change <= noise && !turned
            }
            None => !turned,
        }
    }
}

impl Simulation {
    /// Before the way is gone: remembers it. `felt` are the contacts' forces that are in the gradient already.
    pub(super) fn note_way(&mut self, form: &Form, felt: &[(u32, Vec3)]) -> Result<()> {
        let merit = if self.hold.is_none() { self.merit(form)? } else { None };
        let view = self.backend.view();
        let (g, d) = (&*view.gradient, &*view.descent);
        let along = |forces: &[(u32, Vec3)]| forces.iter().map(|(v, f)| f.dot(&d[*v as usize])).sum::<f64>();
        let push = self.touching.as_ref().map_or(0.0, |touching| along(touching.forces()));
        let slope = sum(d.len(), |i| g[i].dot(&d[i])) + along(felt) - push;
        self.way = Some(Way { start: view.iterate.to_vec(), descent: d.to_vec(), slope, merit, push });
        Ok(())
    }

    /// Φ at the iterate, where there is one.
    fn merit(&mut self, form: &Form) -> Result<Option<Merit>> {
        let Some(along) = self.potential_along(form) else { return Ok(None) };
        let merit = self.backend.merit(form)?;
        // U is in single precision, but its products are as good as their terms
        let noise = |merit: &Merit| merit.noise + 1e-13 * along.abs();
        Ok(merit.map(|merit| Merit { value: merit.value + along, noise: noise(&merit) }))
    }

    /// Φ, where it decides, and the slope at the iterate.
    fn weigh(&mut self, form: &Form, way: &Way) -> Result<Trial> {
        let Simulation { backend, clock, along, .. } = self;
        if along.is_none() {
            return clock.time(Phase::Local, || backend.weigh(form, &way.descent, way.merit.is_some()));
        }
        // a device does not know what shapes add
        let g = &*backend.view().gradient;
        let slope = sum(g.len(), |i| g[i].dot(&way.descent[i]));
        let merit = if way.merit.is_some() { self.merit(form)? } else { None };
        Ok(Trial { merit, slope })
    }

    /// After the local step at its end: cuts the way if it was too long.
    pub(super) fn cut_way(&mut self, form: &Form) -> Result<()> {
        let Some(way) = self.way.take().filter(|way| way.slope > 0.0 && way.slope.is_finite()) else {
            return Ok(());
        };
        let mut share = 1.0;
        for _ in 0..MOST_CUTS {
            let trial = self.weigh(form, &way)?;
            if way.is_enough(share, &trial) {
                break;
            }
            // where the slope is not a number, or has not turned although Φ has risen: by a tenth, by half
            let zero = way.slope / (way.slope - (trial.slope - way.push));
            let cut = share * if zero.is_nan() { 0.1 } else { zero.clamp(0.1, 0.5) };
            self.hold.iter_mut().for_each(|hold| hold.forget_ahead());
            let Simulation { backend, clock, .. } = self;
            clock.time(Phase::Local, || backend.retreat(&way.start, &way.descent, [share, cut]))?;
            self.lose_way_along();
            self.local(form)?;
            share = cut;
        }
        Ok(())
    }
}
