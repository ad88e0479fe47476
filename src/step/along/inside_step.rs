//! Damping along shapes, at its places in a step.

use super::group::Group;
use super::{Along, narrow, spread};
use crate::damping::Damping;
use crate::error::InputError;
use crate::linear::reduce::sum;
use crate::scene::Curve;
use crate::step::Simulation;
use crate::step::backend::Backend;
use crate::step::clock::Phase;
use crate::step::form::Form;
use crate::{Mat3, Result, Vec3};
use std::ops::Range;

impl Simulation {
    /// Before a step: how strongly all motion is damped in it.
    pub(in crate::step) fn scale_damping(&mut self) {
        let Simulation { backend, along: Some(along), .. } = self else { return };
        if along.curve.is_some() {
            let view = backend.view();
            along.factor = along.measure_factor(view.x, view.v);
        }
    }

    /// Whether there are shapes along which damping is another.
    pub(in crate::step) fn has_shapes(&self) -> bool {
        self.along.as_ref().is_some_and(Along::has_shapes)
    }

    /// γ of all motion.
    pub(in crate::step) fn damping_factor(&self) -> f64 {
        self.along.as_ref().map_or(1.0, |along| along.factor)
    }

    /// After the metric is prepared: U, where it is another one, and Π of the state.
    pub(in crate::step) fn begin_along(&mut self) -> Result<()> {
        let Simulation { backend, along: Some(along), damping, clock, .. } = self else { return Ok(()) };
        if !along.has_shapes() {
            return Ok(());
        }
        clock.time(Phase::Predict, || {
            // K turns with the body, shapes must be turned for it; L is made for shapes at rest
            let turned = damping.tangent.stiffness != 0.0;
            let view = backend.view();
            let poses: Vec<_> = along.groups.iter().map(|group| group.pose(view.x)).collect();
            if along.changes || !along.is_made {
                for (group, pose) in along.groups.iter_mut().zip(&poses) {
                    let turn = if turned { pose.turn } else { Mat3::identity() };
                    let shapes = group.shapes(&turn);
                    let resisted = resisted(backend.as_mut(), damping, &group.vertices, &shapes)?;
                    group.resist(&shapes, &resisted).map_err(|i| undamped(group.examples[i].number))?;
                }
                along.is_made = true;
            }
            let view = backend.view();
            for (group, pose) in along.groups.iter_mut().zip(poses) {
                let gammas = group.begin(pose, turned, view.x, view.v);
                let numbers = group.examples.iter().map(|example| example.number);
                numbers.zip(gammas).for_each(|(number, gamma)| along.gammas[number] = gamma);
            }
            Ok(())
        })
    }

    /// What shapes add to a force taken at x_n (N); `None` if nothing.
    pub(in crate::step) fn force_along(&mut self) -> Option<Vec<Vec3>> {
        let Simulation { backend, along, .. } = self;
        let along = along.as_ref().filter(|along| along.has_shapes())?;
        let v = backend.view().v;
        let mut forces = vec![Vec3::zeros(); v.len()];
        along.groups.iter().for_each(|group| group.push(along.factor, v, &mut forces));
        Some(forces)
    }

    /// After the prediction: what the step starts with.
    pub(in crate::step) fn aim_along(&mut self, form: &Form) -> Result<()> {
        let Simulation { backend, along: Some(along), model, clock, .. } = self else { return Ok(()) };
        clock.time(Phase::Predict, || {
            let view = backend.view();
            for group in &mut along.groups {
                group.set_offset(|i| view.offset(form, model.gravity, i));
            }
            Ok(())
        })
    }

    /// Whether iterations look at the gradient, not only at its solve.
    pub(in crate::step) fn watch_along(&mut self, looks: bool) {
        self.along.iter_mut().for_each(|along| along.looks = looks);
    }

    /// A local step, with what shapes add to the gradient.
    pub(in crate::step) fn local(&mut self, form: &Form) -> Result<()> {
        let Simulation { backend, clock, along, .. } = self;
        clock.time(Phase::Local, || {
            let Some(along) = along.as_mut().filter(|along| along.has_shapes()) else {
                return backend.local(form);
            };
            if along.rides() {
                along.local(form, backend.as_mut())?
            } else {
                backend.local(form)?
            }
            let weight = form.dissipation_weight() * along.factor;
            let view = backend.view();
            let way = |i: usize| view.iterate[i] - view.x[i];
            along.groups.iter_mut().for_each(|group| group.resist_motion(form, weight, way));
            if along.looks { along.show(backend.as_mut()) } else { Ok(()) }
        })
    }

    /// |g| of the last local step, where the host knows it.
    pub(in crate::step) fn gradient_norm(&mut self) -> Result<Option<f64>> {
        let Simulation { backend, clock, along, .. } = self;
        clock.time(Phase::Local, || match along.as_mut().filter(|along| along.has_shapes()) {
            None => backend.gradient_norm(),
            Some(along) if along.looks => {
                along.show(backend.as_mut())?;
                let g = &*backend.view().gradient;
                Ok(Some(sum(g.len(), |i| g[i].norm_squared()).sqrt()))
            }
            Some(along) => {
                if backend.gradient_norm()?.is_none() {
                    return Ok(None);
                }
                let g = &*backend.view().gradient;
                let apart = along.vertices_apart(g.len());
                let apart =
                    apart.map(|vertices| sum(vertices.len(), |i| g[vertices.start + i].norm_squared()));
                let own = along.groups.iter().map(|group| group.squared(|i| g[i]));
                Ok(Some(own.chain(apart).sum::<f64>().sqrt()))
            }
        })
    }

    /// The global step, if shapes take part in the backend's own; `false` if not.
    pub(in crate::step) fn global_along(&mut self, form: &Form) -> Result<bool> {
        let Simulation { backend, clock, along, .. } = self;
        let Some(along) = along.as_mut().filter(|along| along.rides()) else { return Ok(false) };
        clock.time(Phase::Global, || along.global(form, backend.as_mut()))?;
        Ok(true)
    }

    /// The iterate was not changed by the descent alone.
    pub(in crate::step) fn lose_way_along(&mut self) {
        self.along.iter_mut().flat_map(|along| &mut along.groups).for_each(Group::lose_way);
    }

    /// Φ's share of shapes (J), 0 without any; `None` where they have no potential.
    pub(in crate::step) fn potential_along(&self, form: &Form) -> Option<f64> {
        let Some(along) = &self.along else { return Some(0.0) };
        along.groups.iter().map(|group| group.potential(form)).sum()
    }

    /// What shapes take in the step about to end.
    pub(in crate::step) fn book_along(&mut self, form: &Form) {
        let Simulation { backend, along: Some(along), exchanged, clock, .. } = self else { return };
        let taken: f64 = clock.time(Phase::Advance, || {
            let view = backend.view();
            let way = |i: usize| view.iterate[i] - view.x[i];
            along.groups.iter().map(|group| group.dissipated(form, view.v, way)).sum()
        });
        exchanged.damped += form.damping_force_weight() * along.factor * taken;
    }

    /// χ_i of the state, in the order of the scene's examples.
    pub fn excitations(&mut self) -> Vec<f64> {
        self.excited(Group::excitations)
    }

    /// χ̇_i of the state (1/s), in the order of the scene's examples.
    pub fn excitation_rates(&mut self) -> Vec<f64> {
        self.excited(Group::rates)
    }

    fn excited(&mut self, of: fn(&Group, &[Vec3], &[Vec3]) -> Vec<f64>) -> Vec<f64> {
        let Simulation { backend, along: Some(along), .. } = self else { return Vec::new() };
        let view = backend.view();
        let mut all = vec![0.0; along.gammas.len()];
        for group in &along.groups {
            let numbers = of(group, view.x, view.v);
            group.examples.iter().zip(numbers).for_each(|(example, number)| all[example.number] = number);
        }
        all
    }

    /// γ_i of the last time step, in the order of the scene's examples.
    pub fn gammas(&self) -> &[f64] {
        self.along.as_ref().map_or(&[], |along| &along.gammas)
    }

    /// From now on motion along an example is damped so; nothing happens if there is none of this number.
    pub fn set_example(&mut self, number: usize, gamma: f64, curve: Option<Curve>) {
        let examples =
            self.along.iter_mut().flat_map(|along| &mut along.groups).flat_map(|g| &mut g.examples);
        if let Some(example) = examples.into_iter().find(|example| example.number == number) {
            (example.gamma, example.curve) = (gamma, curve);
        }
    }
}

/// C X, C = α₁ M + α₂ L or α₁ M + α₂ K(x_n).
fn resisted(
    backend: &mut dyn Backend,
    damping: &Damping,
    vertices: &Range<usize>,
    shapes: &[Vec<Vec3>],
) -> Result<Vec<Vec<Vec3>>> {
    let n = backend.view().x.len();
    let mut columns = spread(n, vertices, shapes.to_vec());
    for column in &mut columns {
        backend.resist(damping, column)?;
    }
    Ok(narrow(vertices, columns))
}

fn undamped(number: usize) -> InputError {
    let message = "the damping of the scene does nothing to this shape, or nothing that it does not do to those before it";
    InputError::field(format!("damping.example.{number}.shape"), message)
}
