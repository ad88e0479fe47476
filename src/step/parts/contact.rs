//! Contact in a step: found after the prediction, resolved in every iteration after the direction is computed.

use super::conservation::external::ContactWrench;
use super::energy_guard::{EnergyGuard, MOST_MORE};
use super::{Part, Progress, Setup, Verdict, decode, encode};
use crate::contact::{ContactPoint, Contacts};
use crate::step::{Change, HostNeeds, LinearMap, Phase, Stage, StepCoefficients, StepContext};
use crate::{Result, Vec3};
use serde::{Deserialize, Serialize};

/// The contacts of a model and memory for them.
pub struct Contact {
    contacts: Contacts,
    guard: EnergyGuard,
    /// Whether the guard watches the stage being made.
    is_guarded: bool,
    /// x without contact (m).
    free: Vec<Vec3>,
    /// A⁻¹ F, the displacement by the forces of the last iteration (m).
    response: Vec<Vec3>,
    /// The metric that the contacts know.
    metric: u64,
}

/// What is kept from step to step.
#[derive(Serialize, Deserialize)]
struct Saved {
    forces: Vec<f64>,
    elastic: Option<f64>,
}

/// The part, if anything can touch.
pub fn make(setup: &Setup, _: &mut StepContext) -> Result<Option<Box<dyn Part>>> {
    let Some(contacts) = Contacts::new(setup.scene, setup.model)? else { return Ok(None) };
    let zeros = vec![Vec3::zeros(); setup.model.vertex_count()];
    Ok(Some(Box::new(Contact {
        contacts,
        guard: EnergyGuard::default(),
        is_guarded: false,
        free: zeros.clone(),
        response: zeros,
        metric: 0,
    })))
}

impl Contact {
    /// Which vertices touched something in the last step.
    pub fn touched(&self) -> Vec<ContactPoint> {
        self.contacts.contact_points()
    }

    /// Looks for contacts of a stage.
    fn find(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        let host = cx.backend.host()?;
        if self.metric != host.metric {
            self.contacts.invalidate_metric();
            self.metric = host.metric;
        }
        self.contacts.detect(stage.start, stage.coefficients.h, host.x, host.iterate);
        cx.shared.constraint_forces.clear();
        self.response.fill(Vec3::zeros());
        cx.shared.is_constrained = !self.contacts.is_empty();
        Ok(())
    }

    /// Makes the gradient that of g − F, with the forces F of the iteration before. After a solve by A the direction follows; a solve
    /// by another matrix has to be made with the gradient that this leaves.
    fn apply_forces(
        &self,
        coefficients: &StepCoefficients,
        solved: bool,
        cx: &mut StepContext,
    ) -> Result<()> {
        if cx.shared.constraint_forces.is_empty() {
            return Ok(());
        }
        let slope = coefficients.velocity_slope() * coefficients.h;
        let host = cx.backend.host()?;
        if solved {
            host.direction.iter_mut().zip(&self.response).for_each(|(d, response)| *d -= response);
        }
        for (v, force) in &cx.shared.constraint_forces {
            host.gradient[*v as usize] -= force;
            host.end_gradient[*v as usize] -= force * slope;
        }
        Ok(())
    }

    /// Finds the forces anew and corrects the direction, so that the iteration ends where nothing penetrates.
    fn solve(&mut self, coefficients: &StepCoefficients, cx: &mut StepContext) -> Result<()> {
        let weight = 1.0 / (coefficients.velocity_slope() * coefficients.h);
        let host = cx.backend.host()?;
        // x without contact, A⁻¹ F being `response`
        let directions = host.iterate.iter().zip(host.direction.iter()).zip(&self.response);
        self.free.iter_mut().zip(directions).for_each(|(free, ((x, d), response))| *free = x - d - response);
        let start = host.x.to_vec();
        let backend = cx.backend.as_mut();
        let mut inverse = |columns: &mut [Vec3]| backend.apply(LinearMap::InverseMetric, &mut [columns]);
        let forces = self.contacts.solve(&start, &self.free, weight, &mut inverse)?.to_vec();
        let mut response = vec![Vec3::zeros(); start.len()];
        if !forces.is_empty() {
            forces.iter().for_each(|(v, force)| response[*v as usize] = *force);
            cx.backend.apply(LinearMap::InverseMetric, &mut [&mut response])?;
        }
        let host = cx.backend.host()?;
        let changes = response.iter().zip(&self.response);
        host.direction.iter_mut().zip(changes).for_each(|(d, (new, old))| *d += old - new);
        self.response = response;
        cx.shared.constraint_forces = forces;
        Ok(())
    }

    /// Writes down what contact does to the bodies if the step ends at the iterate, for conservation.
    fn report(&self, coefficients: &StepCoefficients, cx: &mut StepContext) -> Result<()> {
        let Some(targets) = &mut cx.shared.conservation else { return Ok(()) };
        let (host, external) = (cx.backend.host()?, &mut targets.external);
        let weight = 1.0 / (coefficients.velocity_slope() * coefficients.h);
        let told = self.contacts.body_energies(host.x, host.iterate);
        let obstacles = self.contacts.obstacle_forces(host.iterate);
        let forces = self.contacts.forces_by_body().iter().zip(obstacles);
        for (body, ((on, obstacles), told)) in forces.zip(told).enumerate() {
            if told.acts || external.is_touched(body) {
                let wrench = ContactWrench {
                    force: on.force * weight,
                    torque: on.torque * weight,
                    potential: told.potential,
                    work: told.obstacles - told.friction,
                    obstacle_work: told.obstacles,
                    obstacles: [obstacles.force, obstacles.torque],
                    released: external.contacts(body).released,
                };
                external.touched[body] = Some(wrench);
            }
        }
        external.groups = self.contacts.groups();
        Ok(())
    }
}

impl Part for Contact {
    fn name(&self) -> &'static str {
        "contact"
    }

    fn needs(&self) -> HostNeeds {
        HostNeeds::Energies
    }

    fn predicted(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        cx.timed(Phase::Contact, |cx| self.find(stage, cx))?;
        self.is_guarded =
            cx.scheme.explicit().is_none() && self.guard.watch(stage, cx.shared.is_constrained, cx)?;
        if self.is_guarded {
            cx.shared.limits.most = cx.shared.limits.regular + MOST_MORE;
        }
        Ok(())
    }

    fn verdict(&mut self, stage: &Stage, progress: Progress, cx: &mut StepContext) -> Result<Verdict> {
        if cx.shared.conservation.as_ref().is_some_and(|targets| targets.is_inside_solve) {
            cx.timed(Phase::Contact, |cx| self.report(&stage.coefficients, cx))?;
        }
        let insists = progress.is_solved && self.is_guarded && self.guard.gains(stage, &self.contacts, cx)?;
        Ok(if insists { Verdict::Insist } else { Verdict::Indifferent })
    }

    fn before_direction(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        self.guard.reached = None;
        if cx.shared.is_constrained && !cx.operator.is_metric(&stage.coefficients) {
            cx.timed(Phase::Contact, |cx| self.apply_forces(&stage.coefficients, false, cx))?;
        }
        Ok(())
    }

    fn after_direction(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        if cx.shared.is_constrained && cx.operator.is_metric(&stage.coefficients) {
            cx.timed(Phase::Contact, |cx| self.apply_forces(&stage.coefficients, true, cx))?;
        }
        Ok(())
    }

    fn constrain_direction(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        if cx.shared.is_constrained {
            cx.timed(Phase::Contact, |cx| self.solve(&stage.coefficients, cx))?;
        }
        Ok(())
    }

    /// Looks for contacts that were not predicted: where momenta and energy are conserved, bodies are livelier than predicted.
    fn iterated(&mut self, stage: &Stage, progress: Progress, cx: &mut StepContext) -> Result<()> {
        if progress.iterations == 1 && cx.shared.is_constrained && cx.shared.conservation.is_some() {
            cx.timed(Phase::Contact, |cx| -> Result<()> {
                let host = cx.backend.host()?;
                self.contacts.detect_more(stage.start, host.x, host.iterate);
                Ok(())
            })?;
        }
        Ok(())
    }

    fn solved(&mut self, stage: &Stage, _: Progress, cx: &mut StepContext) -> Result<()> {
        cx.timed(Phase::Contact, |cx| self.report(&stage.coefficients, cx))
    }

    fn finish(&mut self, _: &Stage, cx: &mut StepContext) -> Result<()> {
        let host = cx.backend.host()?;
        let done = self.contacts.exchange(host.x, host.iterate);
        if let Some(proposal) = &mut cx.shared.proposal {
            let told = self.contacts.body_energies(host.x, &proposal.positions);
            proposal.penetrates = told.iter().map(|told| told.potential > 0.0).collect();
        }
        cx.shared.exchange.contact += done.friction - done.obstacles;
        // x − y holds the push of contacts as well
        cx.shared.keeps_end_force &= self.contacts.is_empty();
        Ok(())
    }

    fn stored_energy(&mut self, cx: &mut StepContext) -> Result<f64> {
        cx.fetch()?;
        let potentials = self.contacts.potential(cx.time.now(), cx.backend.fetched().positions);
        Ok(potentials.iter().sum())
    }

    fn invalidate(&mut self, what: Change) {
        if matches!(what, Change::State | Change::Material) {
            self.guard.reached = None;
        }
    }

    fn save(&self, _: &StepContext) -> Option<Vec<u8>> {
        encode(&Saved { forces: self.contacts.warm_start(), elastic: self.guard.reached })
    }

    fn load(&mut self, saved: Option<&[u8]>, cx: &mut StepContext) -> Result<()> {
        let saved = decode(saved).unwrap_or(Saved { forces: Vec::new(), elastic: None });
        cx.shared.constraint_forces.clear();
        self.contacts.set_warm_start(&saved.forces);
        self.guard.reached = saved.elastic;
        Ok(())
    }
}
