//! Damping along example shapes in a step (mathematics: [`crate::damping::example`], [`crate::step::minimise::low_rank`]).
//!
//! The backend damps by C. What shapes change of it is a low-rank update of the step's operator; this part computes U and P of
//! every stage, and books the energy that the update takes.

mod group;
mod resident;

use super::{Part, Setup};
use crate::damping::Damping;
use crate::damping::example::excitation::{Excitation, Follow, Pose};
use crate::error::InputError;
use crate::model::Model;
use crate::model::build::undeformed;
use crate::scene::{Curve, Over, Scene};
use crate::step::minimise::low_rank::LowRankUpdate;
use crate::step::minimise::operator::{StepOperator, narrow, spread};
use crate::step::{Backend, HostNeeds, LinearMap, Phase, Residency, Stage, StepContext};
use crate::{Mat3, Result, Vec3};
use group::{ExampleGroup, examples_of, follow};
use resident::OnDevice;
use std::ops::Range;

/// log₁₀ γ of the factor of all motion goes by steps of this size, 1.2 %: only another one asks for another metric.
const RUNG: f64 = 0.005;

/// Damping along shapes, and of all motion by how large it is.
pub struct ExampleDamping {
    /// In the order of the operator's updates.
    groups: Vec<ExampleGroup>,
    /// γ of the last step, in the order of the scene.
    gammas: Vec<f64>,
    /// The curve for all motion, and what measures how large that is, island by island.
    curve: Option<Curve>,
    islands: Vec<(Range<usize>, Excitation)>,
    /// Whether C is another one in every step.
    changes: bool,
    /// Whether U is known.
    is_made: bool,
    /// What a device that makes whole steps has to do with it.
    device: OnDevice,
}

/// The part, if the scene's damping has examples or a curve.
pub fn make(setup: &Setup, cx: &mut StepContext) -> Result<Option<Box<dyn Part>>> {
    let Setup { scene, model, .. } = setup;
    let given = &scene.damping;
    if given.examples.is_empty() && given.curve.is_none() {
        return Ok(None);
    }
    if model.examples.len() != given.examples.len() {
        let message = "the model was built without the shapes of these examples";
        return Err(InputError::field("damping.example", message).into());
    }
    let (groups, islands) = groups_and_islands(scene, model)?;
    cx.operator.updates = groups.iter().map(|group| LowRankUpdate::new(group.vertices.clone())).collect();
    cx.operator.strength = 1.0;
    let yields = scene.bodies.iter().any(|body| body.material.yield_stress.is_some());
    // attachments that take hold or let go change the metric, not C
    let stiffens = scene.bodies.iter().any(|body| body.material.keyframes.is_some());
    let mut part = ExampleDamping {
        groups,
        gammas: vec![1.0; given.examples.len()],
        curve: given.curve.clone(),
        islands,
        changes: cx.damping.tangent.stiffness != 0.0 || stiffens || yields,
        is_made: false,
        device: OnDevice::default(),
    };
    part.device.reason = part.find_reason(scene, cx)?;
    Ok(Some(Box::new(part)))
}

/// Bodies that move together, each with its examples; and what measures all motion.
type GroupsAndIslands = (Vec<ExampleGroup>, Vec<(Range<usize>, Excitation)>);

fn groups_and_islands(scene: &Scene, model: &Model) -> Result<GroupsAndIslands> {
    let rest = undeformed(scene, model);
    let follows = scene.damping.follow_rotation;
    let (mut groups, mut islands) = (Vec::new(), Vec::new());
    for vertices in model.islands() {
        let examples = examples_of(scene, model, &vertices);
        let (mass, rest) = (&model.mass[vertices.clone()], &rest[vertices.clone()]);
        let follow = || if follows { follow(model, &vertices) } else { Follow::Nothing };
        let measure = |shapes: &[Vec<Vec3>]| Excitation::new(mass, rest, shapes, follow());
        if !examples.is_empty() {
            let shapes: Vec<Vec<Vec3>> = examples.iter().map(|e| e.shape.clone()).collect();
            let excitation = measure(&shapes).map_err(|i| nothing_new(scene, examples[i].number, follows))?;
            let matrix = scene.damping.example_matrix;
            groups.push(ExampleGroup::new(vertices.clone(), examples, excitation, matrix));
        }
        if scene.damping.curve.is_some() {
            islands.extend(measure(&[]).ok().map(|excitation| (vertices, excitation)));
        }
    }
    Ok((groups, islands))
}

impl ExampleDamping {
    /// γ of all motion in a state, on its rung.
    fn measure_factor(&self, curve: &Curve, x: &[Vec3], v: &[Vec3]) -> f64 {
        let (mut square, mut mass) = (0.0, 0.0);
        for (vertices, island) in &self.islands {
            let (x, v) = (&x[vertices.clone()], &v[vertices.clone()]);
            mass += island.total();
            square += match curve.over {
                Over::Deformation => island.displacement_norm_squared(x),
                Over::Velocity => island.velocity_norm_squared(x, v),
            };
        }
        let log = curve.log_gamma((square / mass).sqrt());
        10f64.powf((log / RUNG).round() * RUNG)
    }

    /// U, where it is another one, and P of the state.
    fn begin_updates(&mut self, cx: &mut StepContext) -> Result<()> {
        let StepContext { backend, operator, damping, .. } = cx;
        // K turns with the body, so shapes must be turned for it; L is made for shapes at rest
        let turned = damping.tangent.stiffness != 0.0;
        let host = backend.host()?;
        let poses: Vec<_> = self.groups.iter().map(|group| group.pose(host.x)).collect();
        if self.changes || !self.is_made {
            let turn = |pose: &Pose| if turned { pose.turn } else { Mat3::identity() };
            let turns: Vec<Mat3> = poses.iter().map(turn).collect();
            self.make_columns(&turns, backend.as_mut(), operator, damping)?;
        }
        let host = backend.host()?;
        let pairs = self.groups.iter().zip(&mut operator.updates);
        for ((group, update), pose) in pairs.zip(poses) {
            let gammas = group.begin(pose, turned, host.x, host.v, update);
            let numbers = group.examples.iter().map(|example| example.number);
            numbers.zip(gammas).for_each(|(number, gamma)| self.gammas[number] = gamma);
        }
        Ok(())
    }

    /// U of shapes that are turned so.
    fn make_columns(
        &mut self,
        turns: &[Mat3],
        backend: &mut dyn Backend,
        operator: &mut StepOperator,
        damping: &Damping,
    ) -> Result<()> {
        let pairs = self.groups.iter_mut().zip(&mut operator.updates);
        for ((group, update), turn) in pairs.zip(turns) {
            let shapes = group.shapes(turn);
            let damped = damp(backend, damping, &group.vertices, &shapes)?;
            let made = group.orthogonalise(&shapes, &damped, update);
            made.map_err(|i| undamped(group.examples[i].number))?;
        }
        self.is_made = true;
        Ok(())
    }

    /// χ_i of a state.
    pub fn excitations(&self, x: &[Vec3]) -> Vec<f64> {
        self.in_order(|group| group.excitations(x))
    }

    /// χ̇_i of a state (1/s).
    pub fn rates(&self, x: &[Vec3], v: &[Vec3]) -> Vec<f64> {
        self.in_order(|group| group.rates(x, v))
    }

    /// Numbers of all groups in the order of the scene.
    fn in_order(&self, of: impl Fn(&ExampleGroup) -> Vec<f64>) -> Vec<f64> {
        let mut all = vec![0.0; self.gammas.len()];
        for group in &self.groups {
            let numbers = of(group);
            group.examples.iter().zip(numbers).for_each(|(example, number)| all[example.number] = number);
        }
        all
    }

    /// γ_i of the last time step.
    pub fn gammas(&self, cx: &mut StepContext) -> Result<Vec<f64>> {
        if cx.is_resident && self.device.is_sent {
            self.gammas_on_device(cx)
        } else {
            Ok(self.gammas.clone())
        }
    }

    /// From now on motion along an example is damped so.
    pub fn set_example(&mut self, number: usize, gamma: f64, curve: Option<Curve>) {
        let examples = self.groups.iter_mut().flat_map(|group| &mut group.examples);
        if let Some(example) = examples.into_iter().find(|example| example.number == number) {
            (example.gamma, example.curve) = (gamma, curve);
            self.device.has_new_laws = true;
        }
    }
}

impl Part for ExampleDamping {
    fn name(&self) -> &'static str {
        "example damping"
    }

    fn needs(&self) -> HostNeeds {
        HostNeeds::Gradient
    }

    fn host_reason(&self, device: &Residency) -> Option<String> {
        if device.low_rank { self.device.reason.clone() } else { Some(self.name().into()) }
    }

    fn restored(&mut self, cx: &mut StepContext) -> Result<()> {
        // before the first step, so that the device's kernels are compiled with all others
        if cx.is_resident { self.send(cx) } else { Ok(()) }
    }

    /// How strongly all motion is damped in the step.
    fn before_step(&mut self, cx: &mut StepContext) -> Result<()> {
        if let Some(curve) = &self.curve {
            cx.fetch()?;
            let state = cx.backend.fetched();
            let factor = self.measure_factor(curve, state.positions, state.velocities);
            (cx.shared.damping_factor, cx.operator.strength) = (factor, factor);
        }
        Ok(())
    }

    fn begin(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        if self.groups.is_empty() {
            return Ok(());
        }
        if cx.is_resident {
            return self.begin_on_device(&stage.coefficients, cx);
        }
        cx.timed(Phase::Predict, |cx| self.begin_updates(cx))
    }

    fn predicted(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        if cx.is_resident {
            return Ok(());
        }
        let StepContext { backend, operator, model, clock, .. } = cx;
        clock.time(Phase::Predict, || {
            let host = backend.host()?;
            for update in &mut operator.updates {
                update.set_offset(|i| host.offset(&stage.coefficients, model.gravity, i));
            }
            Ok(())
        })
    }

    fn finish(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        if cx.is_resident {
            return Ok(()); // its report has it
        }
        let StepContext { backend, operator, clock, shared, .. } = cx;
        let taken: f64 = clock.time(Phase::Advance, || -> Result<f64> {
            let host = backend.host()?;
            let moved = |i: usize| host.iterate[i] - host.x[i];
            let updates = operator.updates.iter();
            Ok(updates.map(|update| update.dissipated(&stage.coefficients, host.v, moved)).sum())
        })?;
        shared.exchange.damped += stage.coefficients.damping_force_weight() * operator.strength * taken;
        Ok(())
    }
}

fn nothing_new(scene: &Scene, number: usize, follows: bool) -> InputError {
    let name = &scene.damping.examples[number].name;
    let rigid = if follows {
        ", or moves the body as a whole, which shapes that follow its rotation cannot see (damping.follow_rotation)"
    } else {
        ""
    };
    let message = format!("the shape of `{name}` is nothing, or a combination of those before it{rigid}");
    InputError::field(format!("damping.example.{number}.shape"), message)
}

/// C X, C = α₁ M + α₂ L or α₁ M + α₂ K(x_n).
fn damp(
    backend: &mut dyn Backend,
    damping: &Damping,
    vertices: &Range<usize>,
    shapes: &[Vec<Vec3>],
) -> Result<Vec<Vec<Vec3>>> {
    let n = backend.fetched().positions.len();
    let mut columns = spread(n, vertices, shapes.to_vec());
    for column in &mut columns {
        backend.apply(LinearMap::Damping(damping), &mut [column])?;
    }
    Ok(narrow(vertices, columns))
}

fn undamped(number: usize) -> InputError {
    let message = "this shape is undamped, or linearly dependent on earlier examples";
    InputError::field(format!("damping.example.{number}.shape"), message)
}
