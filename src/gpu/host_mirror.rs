//! The host's mirror of the device's step state.
//!
//! The mirror is exact. Positions, velocities and displacements come from the device; later changes of the iterate are
//! applied twice, on the device and to the mirrored d and x − y, in the same single precision.

use super::merit::Sums;
use super::twin::{place, wide};
use super::{Buffer, Gpu, Id, Readback};
use crate::elastic::Scalar;
use crate::step::clock::Phase;
use crate::{Result, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Vertices per task.
pub(super) const CHUNK: usize = 512;

/// The mirror. x_n and v_n are those last fetched.
pub(super) struct HostMirror {
    pub x_before: Vec<Vec3>,
    pub iterate: Vec<Vec3>,
    /// d = x − x_n and x − y of the iterate, as on the device (m).
    pub displacement: Vec<[f32; 3]>,
    pub target_offset: Vec<[f32; 3]>,
    pub gradient: Vec<Vec3>,
    pub end_gradient: Vec<Vec3>,
    pub descent: Vec<Vec3>,
    pub kick: Vec<Vec3>,
    pub energies: Vec<f64>,
    /// The last correction, as on the device (m).
    pub correction: Vec<[f32; 3]>,
    /// The line-search sums at the last local step, once measured.
    pub sums: Option<Sums>,
    pub energies_readback: Arc<Readback>,
    pub sums_readback: Arc<Readback>,
    /// Whether the last local step's gradient and energies have not been read yet.
    pub is_unread: bool,
    /// Whether x_n, v_n and x_{n−1} are up to date, and whether a step is in progress: then the iterate is valid, too.
    pub is_fresh: bool,
    pub in_step: bool,
}

impl<T: Scalar> Gpu<T> {
    /// Marks the mirror as out of date, with no step in progress.
    pub(super) fn invalidate_mirror(&mut self) {
        if let Some(mirror) = &mut self.mirror {
            (mirror.is_fresh, mirror.in_step, mirror.is_unread) = (false, false, false);
            mirror.kick.clear();
        }
    }

    /// Updates x_n, v_n, x_{n−1} and the results of the last local step, if the mirror is in use and out of date.
    pub(super) fn update_mirror(&mut self) -> Result<()> {
        let Some(mirror) = &mut self.mirror else { return Ok(()) };
        if !mirror.is_fresh {
            self.fetch_state()?;
        }
        self.fetch_gradient()
    }

    /// Fetches gradient and energies of the last local step, if they are missing. Without a mirror they are already in
    /// flight.
    pub(super) fn fetch_gradient(&mut self) -> Result<()> {
        let is_unread = match &mut self.mirror {
            Some(mirror) => std::mem::take(&mut mirror.is_unread),
            None => self.gradient_readback.is_requested(),
        };
        if !is_unread {
            return Ok(());
        }
        if self.mirror.is_some() {
            self.request_gradient()?;
        }
        self.receive_gradient()
    }

    /// Fetches x_n, v_n and, if the mirror is in use, x_{n−1}.
    pub(super) fn fetch_state(&mut self) -> Result<()> {
        self.stream.submit()?;
        let (vertices, motions) = self.stream.read_vertices()?;
        self.x = vertices.iter().map(place).collect();
        self.v = motions.iter().map(|m| wide(&m.velocity)).collect();
        if let Some(mirror) = &mut self.mirror {
            mirror.x_before =
                self.x.iter().zip(&motions).map(|(x, m)| x - wide(&m.last_displacement)).collect();
            mirror.is_fresh = true;
        }
        Ok(())
    }

    pub(super) fn mirror_first_guess(&mut self) -> Result<()> {
        self.update_mirror()?;
        let Some(mirror) = &mut self.mirror else { return Ok(()) };
        self.stream.submit()?;
        let ways = self.stream.read_items::<[f32; 4]>(Buffer::Iterate)?;
        mirror.displacement.iter_mut().zip(ways).for_each(|(way, [x, y, z, _])| *way = [x, y, z]);
        mirror.target_offset.fill([0.0; 3]);
        mirror.sums = None;
        mirror.in_step = true;
        mirror.update_positions(&self.x);
        Ok(())
    }

    /// Requests the gradient (and, with a mirror, the energies) and submits all commands.
    pub(super) fn request_gradient(&mut self) -> Result<()> {
        self.stream.download(Buffer::Gradient, &self.gradient_readback);
        if let Some(mirror) = &self.mirror {
            self.stream.download(Buffer::Energies, &mirror.energies_readback);
        }
        self.stream.submit()
    }

    /// Waits for the gradient g of a local step; the mirror keeps a copy before a solve overwrites it.
    pub(super) fn receive_gradient(&mut self) -> Result<()> {
        self.receive_energies()?;
        let gradient = &mut self.gradient;
        self.gradient_readback.take(|bytes| {
            let device: &[[f32; 3]] = bytemuck::cast_slice(bytes);
            gradient.iter_mut().zip(device).for_each(|(g, d)| *g = d.map(|c| T::of(f64::from(c))));
            if let Some(mirror) = &mut self.mirror {
                mirror.gradient.iter_mut().zip(device).for_each(|(g, d)| *g = wide(d));
            }
        })
    }

    /// Waits for a local step; with a mirror, sums its energies by body, in the order of the vertices.
    pub(super) fn receive_energies(&mut self) -> Result<()> {
        self.stream.wait()?;
        let Some(mirror) = &mut self.mirror else { return Ok(()) };
        let (bodies, energies) = (&self.model.bodies, &mut mirror.energies);
        mirror.energies_readback.take(|bytes| {
            let parts: &[f32] = bytemuck::cast_slice(bytes);
            for (energy, body) in energies.iter_mut().zip(bodies) {
                *energy = parts[body.vertices.clone()].iter().map(|part| f64::from(*part)).sum();
            }
        })
    }

    /// x ← x − s, on the device and in the mirror.
    pub(super) fn apply(&mut self, correction: Vec<[f32; 3]>) -> Result<()> {
        self.stream.phase(Phase::Global);
        self.stream.write(Buffer::Correction, bytemuck::cast_slice(&correction));
        match &mut self.mirror {
            None => self.stream.kernel(Id::apply_correction),
            Some(mirror) => {
                mirror.correction = correction;
                self.move_iterate(-1.0)
            }
        }
    }
}

impl HostMirror {
    /// Adds `part` of the last correction to d and x − y, rounded as on the device.
    pub fn move_iterate(&mut self, part: f32, x: &[Vec3]) {
        let add = |to: &mut [f32; 3], s: &[f32; 3]| (0..3).for_each(|axis| to[axis] += part * s[axis]);
        let copies = self.displacement.par_iter_mut().with_min_len(CHUNK).zip(&mut self.target_offset);
        copies.zip(&self.correction).for_each(|((way, target_offset), s)| {
            add(way, s);
            add(target_offset, s);
        });
        self.update_positions(x);
    }

    /// x = x_n + d.
    pub fn update_positions(&mut self, x: &[Vec3]) {
        let iterate = self.iterate.par_iter_mut().with_min_len(CHUNK);
        iterate.zip(&self.displacement).zip(x).for_each(|((iterate, way), x)| *iterate = x + wide(way));
    }
}
