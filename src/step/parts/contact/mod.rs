//! Contact in a step: found after the prediction, resolved in every iteration after the direction is computed.

mod energy_guard;
mod on_device;

use super::conservation::{self, external::ContactWrench};
use super::{Part, Progress, Setup, Verdict, decode, encode};
use crate::contact::{ContactPoint, Contacts};
use crate::scene::{Scene, SolverKind};
use crate::step::{
    Change, HostNeeds, HostStep, LinearMap, Phase, Residency, Stage, StepCoefficients, StepContext,
};
use crate::{Result, Vec3};
use energy_guard::{EnergyGuard, MOST_MORE};
use on_device::Watched;
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
    /// What it sees of steps that a device makes.
    watched: Watched,
    /// What in the scene brings the host into every step, beside contact.
    beside: Option<&'static str>,
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
        watched: Watched::new(&contacts, setup.model),
        beside: host_reason(setup.scene, setup.model.is_projective()),
        contacts,
        guard: EnergyGuard::default(),
        is_guarded: false,
        free: zeros.clone(),
        response: zeros,
        metric: 0,
    })))
}

/// What goes together with contact on the host only.
fn host_reason(scene: &Scene, is_projective: bool) -> Option<&'static str> {
    let searches = scene.solver.kind == SolverKind::Newton
        || !is_projective
        || scene.solver.history.is_some_and(|most| most > 0);
    let reasons = [
        (conservation::is_asked(scene), "contact beside conservation"),
        (!scene.damping.examples.is_empty(), "contact beside example damping"),
        (searches, "contact beside a line search"),
        (scene.time.tolerance > 0.0, "contact beside a tolerance"),
    ];
    reasons.into_iter().find(|(applies, _)| *applies).map(|(_, reason)| reason)
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

    /// Steps in which something may touch are watched for energy that they gain.
    fn guard(
        &mut self,
        stage: &Stage,
        elastic_at_start: fn(&mut StepContext) -> Result<f64>,
        cx: &mut StepContext,
    ) -> Result<()> {
        self.is_guarded = self.guard.watch(stage, cx.shared.is_constrained, cx, elastic_at_start)?;
        if self.is_guarded {
            cx.shared.limits.most = cx.shared.limits.regular + MOST_MORE;
        }
        Ok(())
    }

    /// After a local step: whether the step has gained energy.
    fn gains(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<bool> {
        if cx.is_resident {
            return Ok(self.gains_at_surface(stage, cx));
        }
        let energies = energy_guard::energies(stage, cx)?;
        let host = cx.backend.host()?;
        let ways = [host.x, &*host.iterate];
        let stored = energy_guard::attachment_energy(stage, &cx.model, ways)
            + self.contacts.stored_and_friction_energy(host.x, host.iterate);
        Ok(self.guard.gains(&energies, stored))
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
        let mut inverse = |batch: &mut [Vec<Vec3>]| {
            let mut columns: Vec<&mut [Vec3]> = batch.iter_mut().map(|column| &mut column[..]).collect();
            backend.apply(LinearMap::InverseMetric, &mut columns)
        };
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
        let told =
            self.contacts.body_energies(host.iterate, mean_travel(coefficients, cx.model.gravity, &host));
        let obstacles = self.contacts.obstacle_forces(host.iterate);
        let forces = self.contacts.forces_by_body().iter().zip(obstacles);
        for (body, ((on, obstacles), told)) in forces.zip(told).enumerate() {
            if told.acts || external.is_touched(body) {
                let wrench = ContactWrench {
                    force: on.force * weight,
                    torque: on.torque * weight,
                    potential: told.potential,
                    friction: told.friction,
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

/// h (v_n + v')/2 of a vertex, without the half of a step's fall that belongs to the velocity of one that lies still (m).
fn mean_travel(coefficients: &StepCoefficients, gravity: Vec3, host: &HostStep) -> impl Fn(usize) -> Vec3 {
    let h = coefficients.h;
    let fall = gravity * (coefficients.row.velocity.acceleration * h * h);
    move |i| (host.v[i] + host.new_velocity(coefficients, gravity, i)) * (0.5 * h) - fall
}

impl Part for Contact {
    fn name(&self) -> &'static str {
        "contact"
    }

    fn needs(&self) -> HostNeeds {
        HostNeeds::Energies
    }

    fn host_reason(&self, device: &Residency) -> Option<String> {
        self.beside.or((!device.contact).then_some("contact")).map(Into::into)
    }

    fn predicted(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        if cx.is_resident {
            return Ok(());
        }
        cx.timed(Phase::Contact, |cx| self.find(stage, cx))?;
        if cx.scheme.explicit().is_none() {
            self.guard(stage, energy_guard::elastic_at_start, cx)?;
        }
        Ok(())
    }

    fn look(&mut self, stage: &Stage, progress: Progress, cx: &mut StepContext) -> Result<()> {
        cx.timed(Phase::Contact, |cx| self.look_at_surface(stage, progress, cx))
    }

    fn verdict(&mut self, stage: &Stage, progress: Progress, cx: &mut StepContext) -> Result<Verdict> {
        if cx.shared.conservation.as_ref().is_some_and(|targets| targets.is_inside_solve) {
            cx.timed(Phase::Contact, |cx| self.report(&stage.coefficients, cx))?;
        }
        let insists = progress.is_solved && self.is_guarded && self.gains(stage, cx)?;
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
            cx.timed(Phase::Contact, |cx| match cx.is_resident {
                true => self.push_surface(&stage.coefficients, cx),
                false => self.solve(&stage.coefficients, cx),
            })?;
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
        if cx.is_resident {
            return Ok(());
        }
        cx.timed(Phase::Contact, |cx| self.report(&stage.coefficients, cx))
    }

    fn finish(&mut self, _: &Stage, cx: &mut StepContext) -> Result<()> {
        if cx.is_resident {
            let done = self.contacts.exchange(&self.watched.start, &self.watched.iterate);
            cx.shared.exchange.contact += done.friction - done.obstacles;
            cx.shared.keeps_end_force &= self.contacts.is_empty();
            return Ok(());
        }
        let host = cx.backend.host()?;
        let lost = match &cx.shared.conservation {
            // what conservation counts with
            Some(targets) => targets.external.lost_in_contact(),
            None => {
                let done = self.contacts.exchange(host.x, host.iterate);
                done.friction - done.obstacles
            }
        };
        if let Some(proposal) = &mut cx.shared.proposal {
            let told = self.contacts.body_energies(&proposal.positions, |_| Vec3::zeros());
            proposal.penetrates = told.iter().map(|told| told.potential > 0.0).collect();
        }
        cx.shared.exchange.contact += lost;
        // x − y holds the push of contacts as well
        cx.shared.keeps_end_force &= self.contacts.is_empty();
        Ok(())
    }

    fn advanced(&mut self, _: &Stage, _: &mut StepContext) -> Result<()> {
        self.watched.knows_places = false;
        Ok(())
    }

    fn stored_energy(&mut self, cx: &mut StepContext) -> Result<f64> {
        if cx.is_resident {
            return self.energy_at_surface(cx);
        }
        cx.fetch()?;
        let potentials = self.contacts.potential(cx.time.now(), cx.backend.fetched().positions);
        Ok(potentials.iter().sum())
    }

    fn invalidate(&mut self, what: Change) {
        if matches!(what, Change::State | Change::Material) {
            self.guard.reached = None;
            self.watched.knows_places = false;
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
        self.watched.knows_places = false;
        Ok(())
    }
}
