//! The inside of a step on the CPU.

use super::{CHUNK, Cpu, Scalar, fill};
use crate::error::RunError;
use crate::step::inside::{Inside, View};
use crate::{Result, Vec3};
use rayon::prelude::*;

/// What the host sees, in f64. Empty until somebody looks.
#[derive(Default)]
pub(super) struct Seen {
    gradient: Vec<Vec3>,
    end_gradient: Vec<Vec3>,
    descent: Vec<Vec3>,
    /// The attachments' points at the end of the step (m).
    pub points: Vec<Vec3>,
}

impl Seen {
    pub(super) fn is_open(&self) -> bool {
        !self.gradient.is_empty()
    }
}

impl<T: Scalar> Cpu<T> {
    /// Keeps g for the host before a solve takes its place.
    pub(super) fn keep_gradient(&mut self) {
        let gradient = &self.gradient;
        fill(&mut self.seen.gradient, |i| wide(&gradient[i]));
    }
}

impl<T: Scalar> Inside for Cpu<T> {
    fn open(&mut self) -> Result<()> {
        let zeros = vec![Vec3::zeros(); self.x.len()];
        self.seen = Seen {
            gradient: zeros.clone(),
            end_gradient: zeros.clone(),
            descent: zeros,
            points: self.points.clone(),
        };
        self.local.open(&self.model);
        Ok(())
    }

    fn metric(&self) -> u64 {
        self.global.version()
    }

    fn view(&mut self) -> View<'_> {
        View {
            x: &self.x,
            v: &self.v,
            x_before: &self.x_before,
            iterate: &self.iterate,
            gradient: &mut self.seen.gradient,
            end_gradient: &mut self.seen.end_gradient,
            descent: &mut self.seen.descent,
            energies: self.local.energies(),
        }
    }

    fn descend(&mut self) -> Result<()> {
        // others have used the memory of g since, and contacts have joined it
        self.seen.descent.copy_from_slice(&self.seen.gradient);
        let mut descent = std::mem::take(&mut self.seen.descent);
        let done = self.invert(&mut descent);
        self.seen.descent = descent;
        done
    }

    fn correct(&mut self) -> Result<()> {
        let descent = &self.seen.descent;
        self.iterate.par_iter_mut().with_min_len(CHUNK).zip(descent).for_each(|(x, d)| *x -= d);
        Ok(())
    }

    fn invert(&mut self, columns: &mut [Vec3]) -> Result<()> {
        fill(&mut self.gradient, |i| [T::of(columns[i].x), T::of(columns[i].y), T::of(columns[i].z)]);
        if !self.global.solve(&mut self.gradient) {
            return Err(unprepared());
        }
        let solution = &self.gradient;
        fill(columns, |i| wide(&solution[i]));
        Ok(())
    }

    fn local_at_end(&mut self) -> Result<()> {
        self.local.element_gradients(&self.model, &self.iterate, &self.seen.points, 1.0, 1.0);
        self.local.gather(&mut self.gradient, |_| Vec3::zeros());
        let gradient = &self.gradient;
        fill(&mut self.seen.end_gradient, |i| wide(&gradient[i]));
        Ok(())
    }

    fn place(&mut self, x: &[Vec3]) -> Result<()> {
        self.iterate.copy_from_slice(x);
        Ok(())
    }

    fn shift(&mut self, ways: &[Vec3], changes: &[Vec3]) -> Result<()> {
        let h = self.last_step;
        for i in 0..self.x.len() {
            self.x[i] += ways[i];
            self.v[i] += changes[i];
            self.x_before[i] += ways[i] - changes[i] * h;
            self.v_before[i] += changes[i];
        }
        self.viscous = None; // its products are of the state before
        Ok(())
    }
}

fn unprepared() -> crate::Error {
    RunError::Factorisation("it was not prepared".into()).into()
}

fn wide<T: Scalar>(v: &[T; 3]) -> Vec3 {
    Vec3::new(v[0].wide(), v[1].wide(), v[2].wide())
}
