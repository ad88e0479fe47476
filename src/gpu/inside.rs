//! The inside of a step on a device: mirrors of its numbers on the host, where the solve is made, too.
//!
//! The mirrors are exact. Places, velocities and ways come from the device; what the host does to the iterate afterwards it
//! does twice, on the device and to its own d and x − y in the same single precision.

use super::Gpu;
use super::backend::unprepared;
use super::buffer::Buffer;
use super::contents::split;
use super::kernel::Id;
use super::layout::{Motion, Step, Vertex};
use super::readback::Readback;
use super::twin::{place, wide};
use crate::cpu::Scalar;
use crate::step::clock::Phase;
use crate::step::inside::{Inside, View};
use crate::{Error, Result, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Vertices that a task takes at once.
const CHUNK: usize = 512;

/// What the host sees. x_n and v_n are those fetched last.
pub(super) struct Seen {
    x_before: Vec<Vec3>,
    iterate: Vec<Vec3>,
    /// d = x − x_n and x − y of the iterate, as the device has them (m).
    way: Vec<[f32; 3]>,
    excess: Vec<[f32; 3]>,
    gradient: Vec<Vec3>,
    end_gradient: Vec<Vec3>,
    descent: Vec<Vec3>,
    energies: Vec<f64>,
    energies_readback: Arc<Readback>,
    /// Whether x_n, v_n and x_{n−1} are those of the device now, and whether a step is half made: then the iterate is, too.
    is_fresh: bool,
    in_step: bool,
    /// What went wrong while somebody looked, who could not be told.
    fault: Option<Error>,
}

impl<T: Scalar> Gpu<T> {
    /// The state has changed, and no step is half made.
    pub(super) fn outdate(&mut self) {
        if let Some(seen) = &mut self.seen {
            (seen.is_fresh, seen.in_step) = (false, false);
        }
    }

    /// Brings x_n, v_n and x_{n−1} to the host, if somebody looks and they are not there.
    pub(super) fn refresh(&mut self) -> Result<()> {
        match &mut self.seen {
            Some(seen) => match seen.fault.take() {
                Some(fault) => return Err(fault),
                None if seen.is_fresh => return Ok(()),
                None => {}
            },
            None => return Ok(()),
        }
        self.fetch_state()
    }

    /// Brings x_n, v_n and, if somebody looks, x_{n−1} to the host.
    pub(super) fn fetch_state(&mut self) -> Result<()> {
        self.stream.submit()?;
        let vertices = self.stream.read_items::<Vertex>(Buffer::Vertices)?;
        let motions = self.stream.read_items::<Motion>(Buffer::Motions)?;
        self.x = vertices.iter().map(place).collect();
        self.v = motions.iter().map(|m| wide(&m.velocity)).collect();
        if let Some(seen) = &mut self.seen {
            seen.x_before = self.x.iter().zip(&motions).map(|(x, m)| x - wide(&m.moved)).collect();
            seen.is_fresh = true;
        }
        Ok(())
    }

    /// After the device has made its first guess: the host's copy of it.
    pub(super) fn follow_guess(&mut self) -> Result<()> {
        self.refresh()?;
        let Some(seen) = &mut self.seen else { return Ok(()) };
        self.stream.submit()?;
        let ways = self.stream.read_items::<[f32; 4]>(Buffer::Iterate)?;
        seen.way.iter_mut().zip(ways).for_each(|(way, [x, y, z, _])| *way = [x, y, z]);
        seen.excess.fill([0.0; 3]);
        seen.in_step = true;
        seen.follow(&self.x);
        Ok(())
    }

    /// Asks for the gradient, and for the energies if somebody looks, and sends all commands.
    pub(super) fn ask_for_gradient(&mut self) -> Result<()> {
        self.stream.download(Buffer::Gradient, &self.gradient_readback);
        if let Some(seen) = &self.seen {
            self.stream.download(Buffer::Energies, &seen.energies_readback);
        }
        self.stream.submit()
    }

    /// Waits for the gradient g of a local step; where somebody looks, it is kept before a solve takes its place.
    pub(super) fn keep_gradient(&mut self) -> Result<()> {
        self.take_energies()?;
        let Some(seen) = &mut self.seen else { return Ok(()) };
        let (kept, gradient) = (&mut seen.gradient, &mut self.gradient);
        self.gradient_readback.take(|bytes| {
            let device: &[[f32; 3]] = bytemuck::cast_slice(bytes);
            for ((kept, g), device) in kept.iter_mut().zip(gradient).zip(device) {
                *kept = wide(device);
                *g = device.map(|c| T::of(f64::from(c)));
            }
        })
    }

    /// Waits for the energies of a local step and adds them up by body, in the order of the vertices.
    fn take_energies(&mut self) -> Result<()> {
        self.stream.wait()?;
        let Some(seen) = &mut self.seen else { return Ok(()) };
        let (bodies, energies) = (&self.model.bodies, &mut seen.energies);
        seen.energies_readback.take(|bytes| {
            let parts: &[f32] = bytemuck::cast_slice(bytes);
            for (energy, body) in energies.iter_mut().zip(bodies) {
                *energy = parts[body.vertices.clone()].iter().map(|part| f64::from(*part)).sum();
            }
        })
    }

    /// x ← x − s, on the device and in the host's copy.
    pub(super) fn apply(&mut self, correction: &[[f32; 3]]) -> Result<()> {
        self.stream.phase(Phase::Global);
        self.stream.write(Buffer::Correction, bytemuck::cast_slice(correction));
        self.stream.kernel(Id::apply_correction)?;
        if let Some(seen) = &mut self.seen {
            let less = |from: &mut [f32; 3], s: &[f32; 3]| (0..3).for_each(|axis| from[axis] -= s[axis]);
            let copies = seen.way.par_iter_mut().with_min_len(CHUNK).zip(&mut seen.excess);
            copies.zip(correction).for_each(|((way, excess), s)| {
                less(way, s);
                less(excess, s);
            });
            seen.follow(&self.x);
        }
        Ok(())
    }
}

impl Seen {
    /// x = x_n + d.
    fn follow(&mut self, x: &[Vec3]) {
        let iterate = self.iterate.par_iter_mut().with_min_len(CHUNK);
        iterate.zip(&self.way).zip(x).for_each(|((iterate, way), x)| *iterate = x + wide(way));
    }
}

impl<T: Scalar> Inside for Gpu<T> {
    fn open(&mut self) -> Result<()> {
        if self.seen.is_some() {
            return Ok(());
        }
        let n = self.model.vertex_count();
        let (zeros, narrow) = (vec![Vec3::zeros(); n], vec![[0.0; 3]; n]);
        self.seen = Some(Seen {
            x_before: zeros.clone(),
            iterate: zeros.clone(),
            way: narrow.clone(),
            excess: narrow,
            gradient: zeros.clone(),
            end_gradient: zeros.clone(),
            descent: zeros,
            energies: vec![0.0; self.model.bodies.len()],
            energies_readback: self.stream.readback(Buffer::Energies),
            is_fresh: false,
            in_step: false,
            fault: None,
        });
        // from now on the host solves; nobody else takes back what inner iterations on the device left
        self.inner.clear();
        self.stream.clear(Buffer::Shifts, 16 * self.model.bodies.len() as u64);
        self.refresh()
    }

    fn view(&mut self) -> View<'_> {
        let fault = self.refresh().err();
        let Gpu { seen, x, v, .. } = self;
        let Some(seen) = seen else {
            // nobody has opened it: there is nothing to see
            let [gradient, descent] = [&mut [][..], &mut []];
            return View {
                x,
                v,
                x_before: &[],
                iterate: &[],
                gradient,
                end_gradient: &[],
                descent,
                energies: &[],
            };
        };
        seen.fault = fault;
        View {
            x,
            v,
            x_before: &seen.x_before,
            iterate: &seen.iterate,
            gradient: &mut seen.gradient,
            end_gradient: &seen.end_gradient,
            descent: &mut seen.descent,
            energies: &seen.energies,
        }
    }

    fn descend(&mut self) -> Result<()> {
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
        self.apply(&correction)
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

    fn local_at_end(&mut self) -> Result<()> {
        self.refresh()?;
        let of_step = self.numbers;
        let plain = Step { share: 1.0, deformation: 1.0, projection: 1.0, inertia: 0.0, ..of_step };
        self.set_numbers(plain);
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

    fn place(&mut self, x: &[Vec3]) -> Result<()> {
        self.refresh()?;
        let Some(seen) = &mut self.seen else { return Err(unprepared()) };
        let single = |v: Vec3| -> [f32; 3] { v.map(|c| c as f32).into() };
        for (i, x) in x.iter().enumerate() {
            // x − y changes by as much as x, and keeps the digits that d has no room for; outside of a step it means nothing
            if seen.in_step {
                seen.excess[i] = single(wide(&seen.excess[i]) + (x - seen.iterate[i]));
            }
            seen.way[i] = single(x - self.x[i]);
        }
        seen.follow(&self.x);
        let padded =
            |ways: &[[f32; 3]]| -> Vec<[f32; 4]> { ways.iter().map(|[x, y, z]| [*x, *y, *z, 0.0]).collect() };
        self.stream.upload(Buffer::Iterate, bytemuck::cast_slice(&padded(&seen.way)));
        self.stream.upload(Buffer::Excess, bytemuck::cast_slice(&padded(&seen.excess)));
        Ok(())
    }

    fn shift(&mut self, ways: &[Vec3], changes: &[Vec3]) -> Result<()> {
        self.refresh()?;
        self.stream.submit()?;
        let mut vertices = self.stream.read_items::<Vertex>(Buffer::Vertices)?;
        let mut motions = self.stream.read_items::<Motion>(Buffer::Motions)?;
        let h = f64::from(self.numbers.h);
        let add = |to: &mut [f32; 3], change: Vec3| *to = (wide(to) + change).map(|c| c as f32).into();
        for (i, (vertex, motion)) in vertices.iter_mut().zip(&mut motions).enumerate() {
            (vertex.position, vertex.low) = split(place(vertex) + ways[i]);
            add(&mut motion.velocity, changes[i]);
            add(&mut motion.velocity_before, changes[i]);
            add(&mut motion.moved, changes[i] * h);
        }
        self.stream.write(Buffer::Vertices, bytemuck::cast_slice(&vertices));
        self.stream.write(Buffer::Motions, bytemuck::cast_slice(&motions));
        self.outdate();
        Ok(())
    }
}
