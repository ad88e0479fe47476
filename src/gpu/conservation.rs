//! Momenta and energies that the device conserves by itself, inside the solve.
//!
//! Once a step: the rigid motion of each body, what the step shall make of it, A⁻¹ of the derivatives of L and H (and of P, once a
//! metric), the small systems. In each iteration `measure_conservation` and `solve_conservation`, and `apply_conservation` in the
//! place of `apply_solution`. Targets stay on the device, as sums of two numbers: rounding does not add up.

use super::Gpu;
use super::buffer::{Buffer, Contents};
use super::contents::{CONSERVATION as BUFFERS, conservation};
use super::kernel::{
    CONSERVATION, CONSERVATION_AIMS, CONSERVATION_END, CONSERVATION_REBOUND, Columns, Id, START_FILTER,
};
use super::layout::{BodyAim, BodyWish, StartFilter, Step, conserved};
use super::state;
use crate::elastic::Scalar;
use crate::step::backend::StartVelocities;
use crate::step::clock::Phase;
use crate::step::coefficients::StepCoefficients;
use crate::step::parts::conservation::resident::{ConservationRequest, DeviceBody};
use crate::{Result, Vec3};

/// What the device has of conservation.
pub(super) struct DeviceConservation {
    /// As last sent.
    wishes: Vec<BodyWish>,
    /// What A⁻¹ π was made for: coefficients, metric, and which attachments hold.
    made_for: Option<(StepCoefficients, u64, Vec<bool>)>,
    /// Whether the energies of all bodies are known from the step before.
    knows_energies: bool,
    /// Whether what the device has is from a checkpoint of its own: then it is more exact than what the host knows of it.
    is_restored: bool,
    /// Of the largest error, as a share.
    pub tolerance: f32,
}

impl<T: Scalar> Gpu<T> {
    /// What a step of non-oscillatory motion keeps of the velocities: see [`crate::step::Resident`].
    pub(super) fn filter_start_velocities(
        &mut self,
        coefficients: &StepCoefficients,
        start: &StartVelocities,
    ) -> Result<()> {
        self.stream.phase(Phase::Predict);
        // filters of the step before count before this one
        self.close_exchange()?;
        self.set_numbers(state::numbers(coefficients, self.model.gravity, &self.numbers)?);
        let lost = (1.0 - start.kappa) as f32;
        let filter = |held: &bool| match held {
            true => StartFilter { loss: lost, weight: start.weight as f32, ..StartFilter::default() },
            false => StartFilter { share: lost, ..StartFilter::default() },
        };
        let filters: Vec<StartFilter> = start.held.iter().map(filter).collect();
        if self.start_filters != filters {
            self.stream.upload(Buffer::StartFilters, bytemuck::cast_slice(&filters));
            self.start_filters = filters;
        }
        START_FILTER.iter().try_for_each(|id| self.stream.kernel(*id))
    }

    /// Conserves momenta and energies of the stage.
    pub(super) fn begin_conservation(
        &mut self,
        coefficients: &StepCoefficients,
        request: &ConservationRequest,
    ) -> Result<()> {
        self.stream.phase(Phase::Aim);
        self.open_conservation()?;
        self.take_host_state(request);
        let measures = self.send_wishes(request) && request.held[2];
        self.restart_iterations();
        if measures {
            self.measure_energies()?;
        }
        let rigid = [Id::measure_centre, Id::reduce_centre, Id::measure_spin];
        rigid.into_iter().try_for_each(|id| self.stream.kernel(id))?;
        if measures {
            self.stream.kernel(Id::measure_energy)?;
        }
        self.send_weights(coefficients)?;
        CONSERVATION_AIMS.iter().try_for_each(|id| self.stream.kernel(*id))?;
        self.solve_fronts(Columns::Turn)?;
        if request.held[2] {
            self.solve_fronts(Columns::Drive)?;
        }
        self.stream.phase(Phase::Aim);
        self.stream.kernel(Id::measure_momenta)?;
        self.conserves = true;
        self.stream.kernel(Id::reduce_momenta)
    }

    /// Keeps what is conserved.
    pub(super) fn finish_conservation(&mut self) -> Result<()> {
        // energies where the last iteration has led to
        self.project()?;
        self.stream.phase(Phase::Constrain);
        self.conserves = false;
        CONSERVATION_END.iter().try_for_each(|id| self.stream.kernel(*id))?;
        // whatever is projected or solved next belongs to no iteration of this step
        self.restart_iterations();
        Ok(())
    }

    /// Takes from the velocities what the iterations were too few for.
    pub(super) fn take_excess_energy(&mut self) -> Result<()> {
        self.stream.phase(Phase::Constrain);
        CONSERVATION_REBOUND.iter().try_for_each(|id| self.stream.kernel(*id))
    }

    /// The corrected global step, after the solve.
    pub(super) fn apply_conservation(&mut self) -> Result<()> {
        self.stream.phase(Phase::Constrain);
        CONSERVATION.iter().try_for_each(|id| self.stream.kernel(*id))
    }

    /// Makes room for what conservation keeps.
    fn open_conservation(&mut self) -> Result<()> {
        if self.conservation.is_none() {
            let mut all = Contents::empty();
            all.set_small(Buffer::Sizes, &[*self.stream.sizes()]);
            conservation(&self.given, &mut all);
            self.stream.submit()?;
            self.stream.replace(&all, BUFFERS)?;
            self.conservation = Some(DeviceConservation {
                wishes: vec![BodyWish::default(); self.given.bodies.len()],
                made_for: None,
                knows_energies: false,
                is_restored: false,
                tolerance: 0.0,
            });
        }
        Ok(())
    }

    /// Continues with what the host knows, where the device has nothing of its own.
    fn take_host_state(&mut self, request: &ConservationRequest) {
        let Some(own) = &mut self.conservation else { return };
        let is_restored = std::mem::take(&mut own.is_restored);
        if let Some(bodies) = request.kept.as_ref().filter(|_| !is_restored) {
            let aims: Vec<BodyAim> = bodies.iter().map(aim).collect();
            own.knows_energies = bodies.iter().all(|body| body.knows_energy);
            self.stream.upload(Buffer::BodyAims, bytemuck::cast_slice(&aims));
        }
    }

    /// Sends what has changed of the wishes. Returns whether elastic energies at the start of the step are needed.
    fn send_wishes(&mut self, request: &ConservationRequest) -> bool {
        let Some(own) = &mut self.conservation else { return false };
        let mut first = 0;
        let mut wishes = Vec::with_capacity(request.bodies.len());
        for (number, body) in request.bodies.iter().enumerate() {
            let count =
                self.given.attachments[first..].iter().take_while(|a| self.given.body_of(a.vertex) == number);
            let end = first + count.count();
            let flag = |yes: bool, flag: u32| if yes { flag } else { 0 };
            let wished = [body.momentum.is_some(), body.spin.is_some(), body.energy.is_some()];
            let each =
                |yes: [bool; 3], flags: [u32; 3]| -> u32 { (0..3).map(|k| flag(yes[k], flags[k])).sum() };
            wishes.push(BodyWish {
                momentum: single(body.momentum.unwrap_or_default()),
                spin: single(body.spin.unwrap_or_default()),
                energy: body.energy.unwrap_or_default() as f32,
                flags: flag(body.is_free, conserved::FREE)
                    + flag(body.is_left_alone, conserved::ALONE)
                    + flag(request.forgets, conserved::FORGETS)
                    + flag(request.held[2] && request.decay > 0.0, conserved::DECAYS)
                    + each(request.held, conserved::HOLDS)
                    + each(wished, conserved::WISHES),
                impulse: single(body.impulse),
                given: body.given as f32,
                angular_impulse: single(body.angular_impulse),
                stiffened: body.stiffened as f32,
                first: first as u32,
                end: end as u32,
                decay: if request.held[2] { request.decay as f32 } else { 0.0 },
                tolerance: request.tolerance as f32,
            });
            first = end;
        }
        own.tolerance = request.tolerance as f32;
        if own.wishes != wishes {
            self.stream.upload(Buffer::BodyWishes, bytemuck::cast_slice(&wishes));
            own.wishes = wishes;
        }
        let known = std::mem::replace(&mut own.knows_energies, true);
        !known || request.forgets || request.bodies.iter().any(|body| body.stiffened != 0.0)
    }

    /// Elastic energies at x_n.
    fn measure_energies(&mut self) -> Result<()> {
        let of_step = self.numbers;
        self.set_numbers(Step { share: 0.0, ..of_step });
        let made = self.project();
        self.set_numbers(of_step);
        self.stream.phase(Phase::Aim);
        made
    }

    /// π and A⁻¹ π, unless the device has them.
    fn send_weights(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        let form = Some((*coefficients, self.global.version(), self.stiffness.active.clone()));
        let Some(own) = &mut self.conservation else { return Ok(()) };
        if own.made_for == form {
            return Ok(());
        }
        own.made_for = form;
        let h = coefficients.h;
        let of_stiffness = h * h * coefficients.projection_weight() * coefficients.row.c2;
        let held = self.model.attachment_stiffness();
        let weight = |(m, k): (&f64, &f64)| coefficients.velocity_slope() * (m + k * of_stiffness);
        let weights = self.model.mass.iter().zip(&held).map(weight);
        let columns: Vec<[f32; 3]> = weights.map(|weight| [weight as f32, 0.0, 0.0]).collect();
        self.stream.upload(Buffer::WeightGradient, bytemuck::cast_slice(&columns));
        self.solve_fronts(Columns::Weight)?;
        self.stream.phase(Phase::Aim);
        Ok(())
    }

    /// What is conserved, for a checkpoint; empty if nothing is.
    pub(super) fn conserved_state(&mut self) -> Result<Vec<f64>> {
        if self.conservation.is_none() {
            return Ok(Vec::new());
        }
        let aims = self.stream.read_items::<BodyAim>(Buffer::BodyAims)?;
        Ok(aims.iter().flat_map(|aim| body(aim).numbers()).collect())
    }

    /// Continues with what a checkpoint has; with what the bodies have, if it has nothing.
    pub(super) fn restore_conserved(&mut self, numbers: &[f64]) -> Result<()> {
        let bodies: Vec<DeviceBody> =
            numbers.chunks(DeviceBody::NUMBERS).filter_map(DeviceBody::of).collect();
        let fits = bodies.len() == self.given.bodies.len();
        if fits {
            self.open_conservation()?;
        }
        let Some(own) = &mut self.conservation else { return Ok(()) };
        (own.is_restored, own.made_for) = (fits, None);
        own.knows_energies = fits && bodies.iter().all(|body| body.knows_energy);
        // the device may have lost the last uploads
        own.wishes.fill(BodyWish::default());
        let aims = match fits {
            true => bodies.iter().map(aim).collect(),
            false => vec![BodyAim::default(); self.given.bodies.len()],
        };
        self.stream.upload(Buffer::BodyWishes, bytemuck::cast_slice(&own.wishes));
        self.stream.upload(Buffer::BodyAims, bytemuck::cast_slice(&aims));
        Ok(())
    }
}

/// What the device keeps of a body.
fn aim(body: &DeviceBody) -> BodyAim {
    let known =
        [(body.knows_momenta, conserved::KNOWS_MOMENTA), (body.knows_energy, conserved::KNOWS_ENERGY)];
    let [high, low] = body.velocity;
    BodyAim {
        known: known.iter().filter(|(yes, _)| *yes).map(|(_, bit)| bit).sum(),
        centre_velocity: high.map(|c| c as f32),
        centre_velocity_low: low.map(|c| c as f32),
        spin: body.spin.map(|c| c as f32),
        energy: body.energy[0] as f32,
        energy_low: body.energy[1] as f32,
        bend: body.bend as f32,
        unreachable: body.unreachable as f32,
        ..BodyAim::default()
    }
}

fn body(aim: &BodyAim) -> DeviceBody {
    DeviceBody {
        knows_momenta: aim.known & conserved::KNOWS_MOMENTA != 0,
        knows_energy: aim.known & conserved::KNOWS_ENERGY != 0,
        velocity: [aim.centre_velocity.map(f64::from), aim.centre_velocity_low.map(f64::from)],
        spin: aim.spin.map(f64::from),
        energy: [f64::from(aim.energy), f64::from(aim.energy_low)],
        bend: f64::from(aim.bend),
        unreachable: f64::from(aim.unreachable),
    }
}

fn single(v: Vec3) -> [f32; 3] {
    v.map(|c| c as f32).into()
}
