//! Contact beside whole frames on a device: the host sees the surfaces once an iteration, and sends forces.
//!
//!   x⁺ = x − A⁻¹ g + A⁻¹ F,      F of x_free = x − A⁻¹ g at the surface
//!
//! Steps in which nothing may touch cost one look, after the prediction.

use super::Contact;
use super::energy_guard::attachment_energy;
use crate::contact::Contacts;
use crate::error::RunError;
use crate::model::Model;
use crate::step::parts::Progress;
use crate::step::surface::{LookAt, StepEnergies, SurfaceAccess};
use crate::step::{Stage, StepCoefficients, StepContext};
use crate::{Result, Vec3};

/// What contact sees of a step. The arrays have all vertices, but only those watched mean anything.
pub(super) struct Watched {
    /// Those of surfaces and attachments, ascending.
    vertices: Vec<u32>,
    is_watching: bool,
    /// x_n (m), and whether it is that of the step to come.
    pub start: Vec<Vec3>,
    pub knows_places: bool,
    /// The iterate (m): as last seen, or as the forces since then have moved it.
    pub iterate: Vec<Vec3>,
    energies: StepEnergies,
}

impl Watched {
    pub fn new(contacts: &Contacts, model: &Model) -> Self {
        let mut vertices = contacts.vertices(model);
        vertices.extend(model.attachments.iter().map(|attachment| attachment.vertex));
        vertices.sort_unstable();
        vertices.dedup();
        let zeros = vec![Vec3::zeros(); model.vertex_count()];
        Watched {
            vertices,
            is_watching: false,
            start: zeros.clone(),
            knows_places: false,
            iterate: zeros,
            energies: StepEnergies::default(),
        }
    }

    /// The device, which watches these vertices from now on.
    fn access<'a>(&mut self, cx: &'a mut StepContext) -> Result<&'a mut dyn SurfaceAccess> {
        let surface = cx.backend.surface().ok_or(RunError::HostNeeds)?;
        if !self.is_watching {
            surface.watch(&self.vertices)?;
            self.is_watching = true;
        }
        Ok(surface)
    }

    fn set_places(&mut self, places: &[Vec3]) {
        self.vertices.iter().zip(places).for_each(|(v, place)| self.start[*v as usize] = *place);
        self.knows_places = true;
    }
}

impl Contact {
    /// After a local step. The first look of a stage also finds the contacts; if there are none, it is the only one.
    pub(super) fn look_at_surface(
        &mut self,
        stage: &Stage,
        progress: Progress,
        cx: &mut StepContext,
    ) -> Result<()> {
        let is_first = progress.iterations == 0;
        if !is_first && !cx.shared.is_constrained {
            return Ok(());
        }
        let what = LookAt {
            places: is_first && !self.watched.knows_places,
            iterate: is_first || self.is_guarded && progress.is_solved,
        };
        let seen = self.watched.access(cx)?.look(what)?;
        if what.places {
            self.watched.set_places(&seen.places);
        }
        let Watched { vertices, start, iterate, energies, .. } = &mut self.watched;
        for (k, v) in vertices.iter().map(|v| *v as usize).enumerate() {
            self.free[v] = start[v] + seen.free[k];
            if what.iterate {
                iterate[v] = start[v] + seen.iterate[k];
            }
        }
        *energies = seen.energies;
        if is_first {
            self.find_at_surface(stage, seen.metric, cx)?;
        }
        cx.shared.constrained_gradient = cx.shared.is_constrained.then_some(seen.gradient);
        Ok(())
    }

    fn find_at_surface(&mut self, stage: &Stage, metric: u64, cx: &mut StepContext) -> Result<()> {
        if self.metric != metric {
            self.contacts.invalidate_metric();
            self.metric = metric;
        }
        self.contacts.detect(stage.start, stage.coefficients.h, &self.watched.start, &self.watched.iterate);
        cx.shared.is_constrained = !self.contacts.is_empty();
        if cx.scheme.explicit().is_some() {
            return Ok(());
        }
        self.guard(stage, |cx| cx.backend.surface().ok_or(RunError::HostNeeds)?.elastic_energy_at_start(), cx)
    }

    /// Finds the forces and moves the iterate to where nothing penetrates.
    pub(super) fn push_surface(
        &mut self,
        coefficients: &StepCoefficients,
        cx: &mut StepContext,
    ) -> Result<()> {
        // what was reached is left now
        self.guard.reached = None;
        let weight = 1.0 / (coefficients.velocity_slope() * coefficients.h);
        let surface = self.watched.access(cx)?;
        let mut inverse = |batch: &mut [Vec<Vec3>]| surface.apply_inverse(batch);
        let forces = self.contacts.solve(&self.watched.start, &self.free, weight, &mut inverse)?.to_vec();
        surface.push(&forces)?;
        for v in self.contacts.constrained_vertices() {
            self.watched.iterate[v as usize] = self.free[v as usize] + self.contacts.displacement(v);
        }
        Ok(())
    }

    /// Whether the step has gained energy where the last look was.
    pub(super) fn gains_at_surface(&mut self, stage: &Stage, cx: &StepContext) -> bool {
        let Watched { start, iterate, energies, .. } = &self.watched;
        let stored = attachment_energy(stage, &cx.model, [start, iterate])
            + self.contacts.stored_and_friction_energy(start, iterate);
        self.guard.gains(energies, stored)
    }

    /// Energy that contacts store now (J).
    pub(super) fn energy_at_surface(&mut self, cx: &mut StepContext) -> Result<f64> {
        if !self.watched.knows_places {
            let places = self.watched.access(cx)?.places()?;
            self.watched.set_places(&places);
        }
        Ok(self.contacts.potential(cx.time.now(), &self.watched.start).iter().sum())
    }
}
