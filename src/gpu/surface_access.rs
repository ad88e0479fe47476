//! Contact beside whole frames on a device: the host sees where some vertices go, and sends forces.

use super::buffer::Contents;
use super::contents::{WATCHED, watched};
use super::kernel::{Call, Columns};
use super::layout::{LANES, Load, Step};
use super::merit::BYTES as SUMS_BYTES;
use super::twin::wide;
use super::{Buffer, Gpu, Id, Readback};
use crate::elastic::Scalar;
use crate::error::RunError;
use crate::step::Phase;
use crate::step::surface::{LookAt, StepEnergies, SurfaceAccess, SurfaceLook};
use crate::{Result, Vec3};
use std::sync::Arc;

/// The vertices that the host looks at, and memory for what it sees.
pub(super) struct Watch {
    vertices: Vec<u32>,
    places: Arc<Readback>,
    /// Where they go, without and with where they are in the iteration.
    free: Arc<Readback>,
    iterate: Arc<Readback>,
    sums: Arc<Readback>,
    /// Solutions of other right-hand sides, as many as were ever asked for at once.
    solutions: Vec<Arc<Readback>>,
    /// Whether forces acted in this stage.
    pub has_forces: bool,
}

/// What has become of the direction A⁻¹ g of the last local step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum GlobalStep {
    /// It has not been computed.
    #[default]
    Open,
    /// It is in the buffer of the solution.
    Solved,
    /// The iterate has moved along it.
    Applied,
}

impl<T: Scalar> Gpu<T> {
    /// The direction of the last local step, unless it is there.
    fn solve_direction(&mut self) -> Result<()> {
        if self.global_step == GlobalStep::Open {
            self.solve_fronts(Columns::Gradient)?;
            self.add_examples_to_solution()?;
            self.global_step = GlobalStep::Solved;
        }
        Ok(())
    }

    /// x ← x − A⁻¹ g, unless that was done.
    pub(super) fn finish_global_step(&mut self) -> Result<()> {
        self.solve_direction()?;
        if self.global_step == GlobalStep::Solved {
            self.stream.phase(Phase::Global);
            match self.conserves {
                true => self.apply_conservation()?,
                false => self.move_along_solution()?,
            }
            self.global_step = GlobalStep::Applied;
        }
        Ok(())
    }

    /// Sends forces. Returns the workgroups of a kernel that reads them, 0 without any.
    fn send_loads(&mut self, loads: impl Iterator<Item = (u32, Vec3)>) -> Result<u32> {
        let mut items = vec![Load::default()];
        for (vertex, force) in loads {
            let single = force.map(|c| c as f32);
            if !single.iter().all(|c| c.is_finite()) {
                return Err(super::state::beyond("a contact force", force.amax()).into());
            }
            items.push(Load { force: single.into(), vertex });
        }
        let count = items.len() as u32 - 1;
        items[0].vertex = count;
        self.stream.phase(Phase::Global);
        if count > 0 {
            self.stream.upload(Buffer::Loads, bytemuck::cast_slice(&items));
        }
        Ok(count.div_ceil(LANES))
    }

    /// The gradient's buffer becomes these forces, and the solution that of A⁻¹.
    fn solve_loads(&mut self, loads: impl Iterator<Item = (u32, Vec3)>) -> Result<()> {
        let tasks = self.send_loads(loads)?;
        self.stream.clear(Buffer::Gradient, 12 * self.model.vertex_count() as u64);
        if tasks > 0 {
            self.stream.call(Id::scatter_loads, Call { tasks, ..Call::default() })?;
        }
        self.solve_fronts(Columns::Gradient)
    }

    fn watching(&mut self) -> Result<&mut Watch> {
        self.watch.as_mut().ok_or(RunError::HostNeeds.into())
    }

    fn read_places(&mut self) -> Result<Vec<Vec3>> {
        let Watch { places, vertices, .. } = self.watching()?;
        let count = vertices.len();
        places.take(|bytes| {
            let (positions, lows) = bytemuck::cast_slice::<u8, [f32; 3]>(bytes).split_at(count);
            positions.iter().zip(lows).map(|(position, low)| wide(position) + wide(low)).collect()
        })
    }

    fn read_energies(&mut self) -> Result<(StepEnergies, f64)> {
        self.watching()?.sums.take(|bytes| {
            let numbers: &[f32] = bytemuck::cast_slice(bytes);
            let sum = |slot: usize| f64::from(numbers[8 + slot]);
            let energies =
                StepEnergies { elastic: sum(0), kinetic: sum(1), kinetic_before: sum(2), fallen: sum(3) };
            (energies, f64::from(numbers[5]).sqrt())
        })
    }

    /// Sums the energies of the step into the report, and asks for them.
    fn request_energies(&mut self) -> Result<()> {
        self.stream.kernel(Id::measure_step_energy)?;
        self.stream.kernel(Id::reduce_merit)?;
        let sums = self.watching()?.sums.clone();
        self.stream.download(Buffer::Report, &sums);
        Ok(())
    }
}

impl<T: Scalar> SurfaceAccess for Gpu<T> {
    fn watch(&mut self, vertices: &[u32]) -> Result<()> {
        let mut all = Contents::empty();
        all.set_small(Buffer::Sizes, &[*self.stream.sizes()]);
        watched(vertices, &mut all);
        // pending commands still mean what is there now
        self.stream.submit()?;
        self.stream.replace(&all, WATCHED)?;
        let room = |sets: u64| Readback::new(self.stream.context(), 12 * sets * vertices.len() as u64);
        self.watch = Some(Watch {
            places: room(2),
            free: room(1),
            iterate: room(2),
            sums: Readback::new(self.stream.context(), SUMS_BYTES),
            solutions: Vec::new(),
            has_forces: false,
            vertices: vertices.to_vec(),
        });
        Ok(())
    }

    fn places(&mut self) -> Result<Vec<Vec3>> {
        let readback = self.watching()?.places.clone();
        self.stream.phase(Phase::Contact);
        self.stream.kernel(Id::look_at_places)?;
        self.stream.download(Buffer::Places, &readback);
        self.stream.submit()?;
        self.stream.wait()?;
        self.read_places()
    }

    fn look(&mut self, what: LookAt) -> Result<SurfaceLook> {
        if !self.is_explicit {
            self.solve_direction()?;
        }
        self.stream.phase(Phase::Contact);
        if what.places {
            self.stream.kernel(Id::look_at_places)?;
            let places = self.watching()?.places.clone();
            self.stream.download(Buffer::Places, &places);
        }
        self.stream.kernel(if self.is_explicit { Id::look_at_guess } else { Id::look_at_iterate })?;
        let watch = self.watching()?;
        let look = if what.iterate { watch.iterate.clone() } else { watch.free.clone() };
        let has_forces = watch.has_forces;
        self.stream.download(Buffer::Look, &look);
        if !self.is_explicit {
            let measure = if has_forces { Id::measure_constrained_gradient } else { Id::measure_gradient };
            self.stream.kernel(measure)?;
            self.stream.kernel(Id::reduce_gradient)?;
            self.request_energies()?;
        }
        self.stream.submit()?;
        self.stream.wait()?;
        let mut seen = SurfaceLook { metric: self.global.version(), ..SurfaceLook::default() };
        if what.places {
            seen.places = self.read_places()?;
        }
        if !self.is_explicit {
            (seen.energies, seen.gradient) = self.read_energies()?;
        }
        let count = self.watching()?.vertices.len();
        look.take(|bytes| {
            let ways: Vec<Vec3> = bytemuck::cast_slice::<u8, [f32; 3]>(bytes).iter().map(wide).collect();
            seen.iterate = ways[count..].to_vec();
            seen.free = ways[..count].to_vec();
        })?;
        Ok(seen)
    }

    fn elastic_energy_at_start(&mut self) -> Result<f64> {
        let of_step = self.numbers;
        self.set_numbers(Step { share: 0.0, ..of_step });
        let made = self.project().and_then(|()| self.request_energies());
        self.set_numbers(of_step);
        made?;
        self.stream.submit()?;
        self.stream.wait()?;
        self.read_energies().map(|(energies, _)| energies.elastic)
    }

    fn apply_inverse(&mut self, batch: &mut [Vec<Vec3>]) -> Result<()> {
        if self.is_explicit {
            // A = M/h²
            let h = f64::from(self.numbers.h);
            for columns in batch {
                columns.iter_mut().zip(&self.model.mass).for_each(|(c, mass)| *c *= h * h / mass);
            }
            return Ok(());
        }
        self.finish_global_step()?;
        let bytes = 12 * self.watching()?.vertices.len() as u64;
        for (k, loads) in batch.iter().enumerate() {
            let given = loads.iter().enumerate().filter(|(_, load)| **load != Vec3::zeros());
            self.solve_loads(given.map(|(vertex, load)| (vertex as u32, *load)))?;
            self.stream.phase(Phase::Contact);
            self.stream.kernel(Id::look_at_solution)?;
            let room = (self.watching()?.solutions.get(k).cloned())
                .unwrap_or_else(|| Readback::new(self.stream.context(), bytes));
            self.stream.download(Buffer::Look, &room);
            let watch = self.watching()?;
            if k == watch.solutions.len() {
                watch.solutions.push(room);
            }
        }
        self.stream.submit()?;
        self.stream.wait()?;
        let Some(watch) = &self.watch else { return Err(RunError::HostNeeds.into()) };
        for (solved, readback) in batch.iter_mut().zip(&watch.solutions) {
            readback.take(|bytes| {
                let rows = bytemuck::cast_slice::<u8, [f32; 3]>(bytes);
                watch.vertices.iter().zip(rows).for_each(|(v, row)| solved[*v as usize] = wide(row));
            })?;
        }
        Ok(())
    }

    fn push(&mut self, forces: &[(u32, Vec3)]) -> Result<()> {
        if self.is_explicit {
            let tasks = self.send_loads(forces.iter().copied())?;
            return match tasks {
                0 => Ok(()),
                _ => self.stream.call(Id::push_loads, Call { tasks, ..Call::default() }),
            };
        }
        self.finish_global_step()?;
        self.solve_loads(forces.iter().map(|(vertex, force)| (*vertex, -force)))?;
        self.stream.kernel(Id::apply_solution)?;
        self.stream.copy(Buffer::Gradient, Buffer::ContactGradient);
        self.watching()?.has_forces = true;
        Ok(())
    }
}
