//! Queries: what a user can ask of a simulation.

use super::parts::attachments::Attachments;
use super::parts::conservation::{Conservation, ConstraintStats};
use super::parts::contact::Contact;
use super::parts::example_damping::ExampleDamping;
use super::parts::non_oscillatory::NonOscillatory;
use super::parts::plasticity::Plasticity;
use super::{Clock, DeviceUse, KernelTime, Profile, Simulation, StableStep};
use crate::contact::ContactPoint;
use crate::ledger::Row;
use crate::model::{Model, RestShapes};
use crate::scene::Curve;
use crate::{Result, Vec3};

impl Simulation {
    /// The number of the frame reached, reported or not: 0 at the start.
    pub fn frame_number(&self) -> usize {
        self.cx.time.steps.div_ceil(self.cx.time.substeps as u64) as usize
    }

    /// Time (s).
    pub fn time(&self) -> f64 {
        self.cx.time.now()
    }

    /// How well momenta and energies were conserved so far; `None` if they are not.
    pub fn conserved(&self) -> Option<ConstraintStats> {
        self.parts.find::<Conservation>().map(|part| part.stats)
    }

    /// What iterations have left unsolved so far, as a share of the motion: √(Σ of the energy left / Σ of that in motion). `None`
    /// where it is not estimated: on a device that makes whole steps, with a history of L-BFGS, by Newton's method, with momenta or energy held inside
    /// the solve, and where `time.tolerance` ends the iterations.
    pub fn unsolved(&self) -> Option<f64> {
        self.solve_stats.share()
    }

    /// Whether the backend makes whole steps by itself.
    pub fn is_resident(&self) -> bool {
        self.cx.is_resident
    }

    /// Why the host must see the steps, a reason for each part or method that does; empty where it need not.
    pub fn host_reasons(&self) -> &[String] {
        &self.cx.host_reasons
    }

    /// How long the steps of an explicit integrator may be; `None` if it is another.
    pub fn stable_step(&self) -> Option<StableStep> {
        self.stable_step
    }

    /// Whether the device makes whole steps, and the host looks at surfaces in between, for contact.
    pub fn looks_at_surfaces(&self) -> bool {
        self.cx.is_resident && self.can_touch()
    }

    pub fn can_touch(&self) -> bool {
        self.parts.find::<Contact>().is_some()
    }

    /// Which vertices touched something in the last step.
    pub fn touched(&self) -> Vec<ContactPoint> {
        self.parts.find::<Contact>().map(Contact::touched).unwrap_or_default()
    }

    /// Where each attachment of the model holds now (m): in the step made last, or at the start in the first one. `None` if
    /// it is not active.
    pub fn held_points(&self) -> Vec<Option<Vec3>> {
        self.parts.find::<Attachments>().map(|part| part.held_points(&self.cx)).unwrap_or_default()
    }

    /// τ of non-oscillatory motion (s), given or calibrated; `None` with another integrator.
    pub fn tau(&self) -> Option<f64> {
        self.parts.find::<NonOscillatory>().map(NonOscillatory::tau)
    }

    /// That the settling time may not be kept, or that τ does not go with contact.
    pub fn rest_warning(&self) -> Option<String> {
        self.parts.find::<NonOscillatory>()?.warning(&self.cx.time, self.can_touch())
    }

    /// The rest shapes now, once a body has yielded; `None` while they are those of the model.
    pub fn rest_shapes(&self) -> Option<&RestShapes> {
        self.parts.find::<Plasticity>()?.rest_shapes()
    }

    /// χ_i of the state, in the order of the scene's examples.
    pub fn excitations(&mut self) -> Result<Vec<f64>> {
        self.cx.fetch()?;
        let examples = self.parts.find::<ExampleDamping>();
        let state = self.cx.backend.fetched();
        Ok(examples.map(|part| part.excitations(state.positions)).unwrap_or_default())
    }

    /// χ̇_i of the state (1/s), in the order of the scene's examples.
    pub fn excitation_rates(&mut self) -> Result<Vec<f64>> {
        self.cx.fetch()?;
        let examples = self.parts.find::<ExampleDamping>();
        let state = self.cx.backend.fetched();
        Ok(examples.map(|part| part.rates(state.positions, state.velocities)).unwrap_or_default())
    }

    /// γ_i of the last time step, in the order of the scene's examples.
    pub fn gammas(&mut self) -> Result<Vec<f64>> {
        let Simulation { cx, parts, .. } = self;
        parts.find::<ExampleDamping>().map_or(Ok(Vec::new()), |part| part.gammas(cx))
    }

    /// From now on motion along an example is damped so; nothing happens if there is none of this number.
    pub fn set_example(&mut self, number: usize, gamma: f64, curve: Option<Curve>) {
        if let Some(examples) = self.parts.find_mut::<ExampleDamping>() {
            examples.set_example(number, gamma, curve);
        }
    }

    /// Brings positions and velocities of the frame reached to the host.
    pub fn fetch(&mut self) -> Result<()> {
        self.cx.fetch()
    }

    /// The last row of the ledger that was made.
    pub fn last_row(&self) -> Row {
        self.frames.book.last()
    }

    pub fn model(&self) -> &Model {
        &self.cx.model
    }

    /// Positions when last fetched (m).
    pub fn positions(&self) -> &[Vec3] {
        self.cx.backend.fetched().positions
    }

    /// Velocities when last fetched (m/s).
    pub fn velocities(&self) -> &[Vec3] {
        self.cx.backend.fetched().velocities
    }

    /// By how much the filter of the last step changed the velocities (m/s), where that is known on the host; empty if not.
    pub fn filtered(&self) -> &[Vec3] {
        self.cx.backend.fetched().filtered
    }

    /// The time spent so far, phase by phase.
    pub fn clock(&self) -> &Clock {
        &self.cx.clock
    }

    /// Where it computes, in a few words.
    pub fn describe(&self) -> String {
        self.cx.backend.describe()
    }

    /// What the device was asked to do since the start; `None` where there is none.
    pub fn device_use(&self) -> Option<DeviceUse> {
        self.cx.backend.usage().device
    }

    /// Measures the device's time phase by phase from now on, or no longer; see [`DeviceUse::phases_ms`].
    pub fn set_profiling(&mut self, on: bool) {
        self.cx.backend.set_profiling(if on { Profile::Phases } else { Profile::Off });
    }

    /// Measures the device's time kernel by kernel from now on.
    pub fn profile_kernels(&mut self) {
        self.cx.backend.set_profiling(Profile::Kernels);
    }

    /// The device's time kernel by kernel since then, where it has a clock.
    pub fn kernel_times(&self) -> Vec<KernelTime> {
        self.cx.backend.usage().kernels
    }

    /// Inner iterations of a global step; 0 where it is solved by a factor. Known once it is prepared.
    pub fn inner_iterations(&self) -> usize {
        self.cx.backend.usage().inner_iterations
    }
}
