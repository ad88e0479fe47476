//! The inside of a step on a device. The host solves, whatever the method of the global step.

use super::Gpu;
use super::backend::unprepared;
use super::buffer::Buffer;
use super::kernel::Id;
use super::layout::Step;
use super::merit;
use super::readback::Readback;
use super::seen::{CHUNK, Seen};
use super::twin::wide;
use crate::cpu::Scalar;
use crate::damping::{Damping, laplacian};
use crate::step::clock::Phase;
use crate::step::form::Form;
use crate::step::inside::{Inside, Merit, Trial, View};
use crate::{Result, Vec3};
use rayon::prelude::*;

impl<T: Scalar> Inside for Gpu<T> {
    fn open(&mut self, _: bool) -> Result<()> {
        if self.seen.is_some() {
            return Ok(());
        }
        let n = self.model.vertex_count();
        let (zeros, narrow) = (vec![Vec3::zeros(); n], vec![[0.0; 3]; n]);
        self.seen = Some(Seen {
            x_before: zeros.clone(),
            iterate: zeros.clone(),
            way: narrow.clone(),
            excess: narrow.clone(),
            correction: narrow,
            gradient: zeros.clone(),
            end_gradient: zeros.clone(),
            descent: zeros,
            kick: Vec::new(),
            energies: vec![0.0; self.model.bodies.len()],
            sums: None,
            energies_readback: self.stream.readback(Buffer::Energies),
            sums_readback: Readback::new(self.stream.context(), merit::BYTES),
            is_unread: false,
            is_fresh: false,
            in_step: false,
            fault: None,
        });
        // from now on the host solves
        self.inner = 0..0;
        self.refresh()
    }

    fn metric(&self) -> u64 {
        self.global.version()
    }

    fn view(&mut self) -> View<'_> {
        let fault = self.refresh().err();
        let Gpu { seen, x, v, .. } = self;
        let Some(seen) = seen else {
            // nobody has opened it: there is nothing to see
            let [gradient, end_gradient, descent] = [&mut [][..], &mut [], &mut []];
            return View {
                x,
                v,
                x_before: &[],
                iterate: &[],
                gradient,
                end_gradient,
                descent,
                kick: &[],
                energies: &[],
                exact: false,
            };
        };
        seen.fault = fault;
        View {
            x,
            v,
            x_before: &seen.x_before,
            iterate: &seen.iterate,
            gradient: &mut seen.gradient,
            end_gradient: &mut seen.end_gradient,
            descent: &mut seen.descent,
            kick: &seen.kick,
            energies: &seen.energies,
            exact: false,
        }
    }

    fn descend(&mut self, _: &Form) -> Result<()> {
        self.refresh()?;
        let Some(seen) = &mut self.seen else { return Err(unprepared()) };
        let mut descent = std::mem::take(&mut seen.descent);
        descent.copy_from_slice(&seen.gradient);
        let done = self.invert(&mut descent);
        if let Some(seen) = &mut self.seen {
            seen.descent = descent;
        }
        done
    }

    fn correct(&mut self) -> Result<()> {
        self.refresh()?;
        let Some(seen) = &self.seen else { return Err(unprepared()) };
        let correction: Vec<[f32; 3]> =
            seen.descent.iter().map(|s| [s.x as f32, s.y as f32, s.z as f32]).collect();
        // commands that wait to be sent still mean the correction before
        self.stream.submit()?;
        self.apply(correction)
    }

    fn invert(&mut self, columns: &mut [Vec3]) -> Result<()> {
        self.refresh()?;
        let narrow = self.gradient.par_iter_mut().with_min_len(CHUNK).zip(&*columns);
        narrow.for_each(|(g, c)| *g = [T::of(c.x), T::of(c.y), T::of(c.z)]);
        if !self.global.solve(&mut self.gradient) {
            return Err(unprepared());
        }
        let solution = columns.par_iter_mut().with_min_len(CHUNK).zip(&self.gradient);
        solution.for_each(|(c, s)| *c = Vec3::new(s[0].wide(), s[1].wide(), s[2].wide()));
        Ok(())
    }

    fn precondition(&mut self, vectors: &mut [Vec<Vec3>]) -> Result<()> {
        vectors.iter_mut().try_for_each(|vector| self.invert(vector))
    }

    fn resist(&mut self, damping: &Damping, vector: &mut [Vec3]) -> Result<()> {
        let laplacian = self.laplacian.scaled_rows(&self.given.by_vertex(&self.stiffness.factors));
        let resisted = laplacian::resist(damping, &self.model.mass, &laplacian, vector);
        vector.copy_from_slice(&resisted);
        Ok(())
    }

    fn local_at_end(&mut self) -> Result<()> {
        self.refresh()?;
        let of_step = self.numbers;
        let plain = Step { share: 1.0, deformation: 1.0, projection: 1.0, inertia: 0.0, ..of_step };
        self.set_numbers(plain);
        self.has_force = false;
        let made = self.project();
        self.set_numbers(of_step);
        made?;
        self.ask_for_gradient()?;
        self.take_energies()?;
        let Some(seen) = &mut self.seen else { return Err(unprepared()) };
        let end_gradient = &mut seen.end_gradient;
        self.gradient_readback.take(|bytes| {
            let device: &[[f32; 3]] = bytemuck::cast_slice(bytes);
            end_gradient.iter_mut().zip(device).for_each(|(g, device)| *g = wide(device));
        })
    }

    fn merit(&mut self, form: &Form) -> Result<Option<Merit>> {
        self.sums(form).map(|sums| Some(sums.merit(form)))
    }

    fn weigh(&mut self, form: &Form, _: &[Vec3], with_merit: bool) -> Result<Trial> {
        let sums = self.sums(form)?;
        Ok(Trial { merit: with_merit.then(|| sums.merit(form)), slope: sums.slope })
    }

    fn retreat(&mut self, _: &[Vec3], _: &[Vec3], [from, to]: [f64; 2]) -> Result<()> {
        self.walk((from - to) as f32)
    }

    fn place(&mut self, x: &[Vec3]) -> Result<()> {
        self.refresh()?;
        let Some(seen) = &mut self.seen else { return Err(unprepared()) };
        for (i, x) in x.iter().enumerate() {
            // x − y changes by as much as x, and keeps the digits that d has no room for; outside of a step it means nothing
            if seen.in_step {
                seen.excess[i] = single(wide(&seen.excess[i]) + (x - seen.iterate[i]));
            }
            seen.way[i] = single(x - self.x[i]);
        }
        seen.follow(&self.x);
        self.stream.upload(Buffer::Iterate, bytemuck::cast_slice(&padded(seen.way.iter().copied())));
        self.stream.upload(Buffer::Excess, bytemuck::cast_slice(&padded(seen.excess.iter().copied())));
        Ok(())
    }

    fn shift(&mut self, ways: &[Vec3], changes: &[Vec3]) -> Result<()> {
        self.stream.phase(Phase::Advance);
        if ways.iter().any(|way| *way != Vec3::zeros()) {
            self.stream
                .upload(Buffer::Iterate, bytemuck::cast_slice(&padded(ways.iter().map(|way| single(*way)))));
            self.stream.kernel(Id::offset_positions)?;
            self.has_force = false;
        }
        self.stream.upload(
            Buffer::Changes,
            bytemuck::cast_slice(&padded(changes.iter().map(|change| single(*change)))),
        );
        self.stream.kernel(Id::offset_velocities)?;
        self.outdate();
        Ok(())
    }
}

fn single(v: Vec3) -> [f32; 3] {
    v.map(|c| c as f32).into()
}

/// Vectors as they lie in the device's arrays.
fn padded(vectors: impl Iterator<Item = [f32; 3]>) -> Vec<[f32; 4]> {
    vectors.map(|[x, y, z]| [x, y, z, 0.0]).collect()
}
