//! Velocity filters as kernels.

use super::contents::{self, NEIGHBOURS};
use super::kernel::{DIRECT_DAMPING, Id, LOCAL_DAMPING, PBD_DAMPING, SPRING_FRAME, SPRING_SWEEP};
use super::layout::{Step, mode};
use super::twin::{place, wide};
use super::{Buffer, Contents, Gpu};
use crate::damping::strain_rate::Viscosity;
use crate::damping::{Filter, Neighbours, direct, strain_rate};
use crate::elastic::Scalar;
use crate::scene::{Scope, Torque};
use crate::{Result, Vec3};

impl<T: Scalar> Gpu<T> {
    /// Applies a filter to the velocities.
    pub(super) fn damp(&mut self, filter: &Filter) -> Result<()> {
        match *filter {
            Filter::EtherDrag { coefficient } => self.run(&[Id::filter_ether_drag], coefficient, 0),
            Filter::Pbd { coefficient } => self.run(PBD_DAMPING, coefficient, 0),
            Filter::Spring { gamma, sweeps, projected } => {
                self.send_neighbours()?;
                let mode = if projected { mode::PROJECTED } else { 0 };
                self.run(SPRING_FRAME, gamma, mode)?;
                (0..sweeps).try_for_each(|_| self.run(SPRING_SWEEP, gamma, mode))
            }
            Filter::StrainRate { viscosity } => self.damp_strain_rate(viscosity),
            Filter::Direct { gamma, global, local } => {
                self.send_neighbours()?;
                global.map_or(Ok(()), |torque| self.damp_bodies(gamma, torque))?;
                local.map_or(Ok(()), |torque| self.damp_elements(gamma, torque))
            }
        }
    }

    fn run(&mut self, kernels: &[Id], coefficient: f64, filter_mode: u32) -> Result<()> {
        self.set_numbers(Step { filter_coefficient: coefficient as f32, filter_mode, ..self.numbers });
        kernels.iter().try_for_each(|id| self.stream.kernel(*id))
    }

    /// Direct damping of whole bodies.
    fn damp_bodies(&mut self, gamma: f64, torque: Torque) -> Result<()> {
        let [before, edges, after] = DIRECT_DAMPING;
        let mode = mode::BALANCED
            | match torque {
                Torque::LinearProgram => return self.damp_by_programs(gamma, Scope::Global),
                Torque::Edges => mode::PROJECTED | mode::SCALED,
                Torque::Radial => mode::RADIAL,
                Torque::None => 0,
            };
        self.run(before, gamma, mode)?;
        if torque == Torque::Edges {
            self.run(edges, gamma, mode)?;
        }
        self.run(after, gamma, mode)
    }

    /// Direct damping of single elements.
    fn damp_elements(&mut self, gamma: f64, torque: Torque) -> Result<()> {
        match torque {
            Torque::LinearProgram => self.damp_by_programs(gamma, Scope::Local),
            Torque::Edges => self.run(LOCAL_DAMPING, gamma, mode::SCALED),
            Torque::Radial => self.run(LOCAL_DAMPING, gamma, mode::RADIAL),
            Torque::None => self.run(LOCAL_DAMPING, gamma, 0),
        }
    }

    /// Direct damping by linear programs.
    fn damp_by_programs(&mut self, gamma: f64, scope: Scope) -> Result<()> {
        self.damp_on_host(|gpu, x, v| {
            let (Some(neighbours), model) = (&gpu.neighbours, &gpu.model) else { return };
            match scope {
                Scope::Local => direct::local(neighbours, &model.mass, x, v, gamma, Torque::LinearProgram),
                _ => direct::global(model, neighbours, x, v, gamma, Torque::LinearProgram),
            }
        })
    }

    fn damp_strain_rate(&mut self, viscosity: Viscosity) -> Result<()> {
        let h = f64::from(self.numbers.h);
        self.send_neighbours()?; // also allocates the change buffer
        if self.viscous_parts.is_none() {
            self.viscous_parts = Some(strain_rate::Parts::new(&self.given, viscosity));
        }
        self.damp_on_host(|gpu, x, v| {
            if let Some(parts) = &gpu.viscous_parts {
                strain_rate::filter(parts, &gpu.model.mass, x, v, h);
            }
        })
    }

    /// Filters without kernels: positions and velocities come to the host (80 n bytes), changes go back (16 n bytes).
    fn damp_on_host(&mut self, damp: impl Fn(&Self, &[Vec3], &mut [Vec3])) -> Result<()> {
        self.stream.submit()?;
        let (places, motions) = self.stream.read_vertices()?;
        let x: Vec<Vec3> = places.iter().map(place).collect();
        let old: Vec<Vec3> = motions.iter().map(|motion| wide(&motion.velocity)).collect();
        let mut v = old.clone();
        damp(self, &x, &mut v);
        let change = |(new, old): (&Vec3, &Vec3)| -> [f32; 4] {
            let change = (new - old).map(|c| c as f32);
            [change.x, change.y, change.z, 0.0]
        };
        let changes: Vec<[f32; 4]> = v.iter().zip(&old).map(change).collect();
        self.stream.upload(Buffer::Changes, bytemuck::cast_slice(&changes));
        self.run(&[Id::filter_change], 1.0, 0)
    }

    /// Uploads edges and clusters on first use.
    fn send_neighbours(&mut self) -> Result<()> {
        if self.neighbours.is_some() {
            return Ok(());
        }
        let neighbours = Neighbours::new(&self.model);
        let mut all = Contents::empty();
        all.set_small(Buffer::Sizes, &[*self.stream.sizes()]);
        contents::neighbours(&neighbours, &mut all)?;
        self.stream.replace(&all, &NEIGHBOURS)?;
        self.neighbours = Some(neighbours);
        Ok(())
    }
}
