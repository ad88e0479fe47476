//! The mouse spring: a spring and a damper between the cursor and a small patch of vertices.
//!
//! The patch has mass m, position p and velocity u; the cursor is at c. Over a step h the force k (c − p') − d u' is
//! taken at its end, p' = p + h u':
//!
//!   u' = (u + h k/m (c − p)) / (1 + h d/m + h² k/m)
//!
//! which is finite for any k, d ≥ 0 and never overshoots the cursor in one step. The force is distributed over the
//! patch with weights w that decrease towards its border, so that it does not tear at single vertices: with p and u
//! the means weighted by m w, the patch has the mass m = (Σ m w)²/Σ m w², and a vertex changes by w (u' − u) Σ m w/Σ m
//! w².

use crate::Vec3;
use crate::model::Model;
use crate::step::Simulation;
use std::f64::consts::TAU;

/// Frequency of a free body on the mouse spring (1/s): k = M (2π f)².
const FREQUENCY: f64 = 2.0;

/// Radius of a patch, relative to the body's size.
const REACH: f64 = 0.2;

/// The same for pushes and pins.
const SMALL_REACH: f64 = 0.08;

/// Velocity that a push gives the whole body, in body sizes per second.
const BLOW: f64 = 1.5;

/// A body grabbed by the mouse.
#[derive(Debug, Clone)]
pub struct Grab {
    /// The central vertex.
    pub vertex: usize,
    /// Vertices and their weights, 1 at the centre.
    patch: Vec<(usize, f64)>,
    /// From the patch's centre to the grabbed point (m).
    offset: Vec3,
    /// The cursor's position (m).
    pub hand: Vec3,
    /// k (N/m) and d (N s/m).
    stiffness: f64,
    damping: f64,
}

/// Mass (kg) and size (m) of a vertex's body, and its vertex range.
fn body_of(model: &Model, vertex: usize) -> Option<(f64, f64, std::ops::Range<usize>)> {
    let body = model.bodies.iter().find(|body| body.vertices.contains(&vertex))?;
    let mass = model.mass[body.vertices.clone()].iter().sum();
    let low = body.mesh.positions.iter().fold(Vec3::repeat(f64::INFINITY), |a, b| a.inf(b));
    let high = body.mesh.positions.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |a, b| a.sup(b));
    Some((mass, (high - low).norm(), body.vertices.clone()))
}

/// Vertices of the body near `vertex`, including itself.
pub fn patch(model: &Model, positions: &[Vec3], vertex: usize) -> Vec<usize> {
    let Some((_, size, range)) = body_of(model, vertex) else { return Vec::new() };
    let near = |&i: &usize| (positions[i] - positions[vertex]).norm() <= SMALL_REACH * size;
    range.filter(near).collect()
}

impl Grab {
    /// Grabs the vertices around one, at the point hit; `strength` scales the spring's stiffness.
    pub fn new(model: &Model, positions: &[Vec3], vertex: usize, point: Vec3, strength: f64) -> Option<Grab> {
        let (mass, size, range) = body_of(model, vertex)?;
        let weight = |i: usize| {
            let away = (positions[i] - positions[vertex]).norm() / (REACH * size);
            (1.0 - away * away).max(0.0).powi(2)
        };
        let patch: Vec<(usize, f64)> = range.map(|i| (i, weight(i))).filter(|(_, w)| *w > 0.0).collect();
        let stiffness = strength * mass * (TAU * FREQUENCY).powi(2);
        let damping = 2.0 * (stiffness * mass).sqrt();
        let centre = Gathered::of(&model.mass, positions, positions, &patch)?.centre;
        Some(Grab { vertex, patch, offset: point - centre, hand: point, stiffness, damping })
    }

    /// Velocity changes of the patch over a step of h seconds.
    pub fn pull(&self, model: &Model, x: &[Vec3], v: &[Vec3], h: f64) -> Vec<(usize, Vec3)> {
        let Some(Gathered { mass, centre, drift, share }) = Gathered::of(&model.mass, x, v, &self.patch)
        else {
            return Vec::new();
        };
        let away = self.hand - (centre + self.offset);
        let change = implicit_pull(away, drift, h, self.stiffness / mass, self.damping / mass) / share;
        self.patch.iter().map(|&(i, weight)| (i, change * weight)).collect()
    }

    /// Pulls a simulation over its next frame.
    pub fn apply(&self, simulation: &mut Simulation, h: f64) -> crate::Result<()> {
        simulation.fetch()?;
        let changes = self.pull(simulation.model(), simulation.positions(), simulation.velocities(), h);
        simulation.apply_impulses(&changes)
    }
}

/// A patch as a point mass.
struct Gathered {
    /// (Σ m w)²/Σ m w² (kg).
    mass: f64,
    /// Mean position (m) and velocity (m/s), weighted by m w.
    centre: Vec3,
    drift: Vec3,
    /// Σ m w²/Σ m w: contribution of the central vertex's change to the mean.
    share: f64,
}

impl Gathered {
    /// `None` if the patch has no mass or vertices that do not exist.
    fn of(mass: &[f64], x: &[Vec3], v: &[Vec3], patch: &[(usize, f64)]) -> Option<Gathered> {
        let (mut total, mut square) = (0.0, 0.0);
        let (mut centre, mut drift) = (Vec3::zeros(), Vec3::zeros());
        for &(i, w) in patch {
            let (m, x, v) = (mass.get(i)?, x.get(i)?, v.get(i)?);
            total += m * w;
            square += m * w * w;
            centre += x * (m * w);
            drift += v * (m * w);
        }
        let gathered = Gathered {
            mass: total * total / square,
            centre: centre / total,
            drift: drift / total,
            share: square / total,
        };
        (square > 0.0).then_some(gathered)
    }
}

/// u' − u of a mass on a spring (k/m, 1/s²) with a damper (d/m, 1/s), `away` from its rest, at velocity u.
pub fn implicit_pull(away: Vec3, u: Vec3, h: f64, spring: f64, damper: f64) -> Vec3 {
    (u + away * (h * spring)) / (1.0 + h * damper + h * h * spring) - u
}

/// A push at a vertex along a direction: the patch takes the momentum, so that the whole body gets the push velocity.
pub fn push(model: &Model, positions: &[Vec3], vertex: usize, direction: Vec3) -> Vec<(usize, Vec3)> {
    let Some((mass, size, _)) = body_of(model, vertex) else { return Vec::new() };
    let patch = patch(model, positions, vertex);
    let share: f64 = patch.iter().map(|&i| model.mass[i]).sum::<f64>() / mass;
    // with the full momentum, a patch of a few vertices would be torn out of its body
    let change = direction * (BLOW * size / share.max(0.05));
    patch.into_iter().map(|i| (i, change)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pull_is_finite_and_does_not_pass_the_hand_however_stiff() {
        let (away, u, h) = (Vec3::new(0.3, -0.1, 0.0), Vec3::new(-2.0, 5.0, 1.0), 1.0 / 30.0);
        for spring in [0.0, 1.0, 1e4, 1e12, 1e30] {
            for damper in [0.0, 10.0, 1e6] {
                let new = u + implicit_pull(away, u, h, spring, damper);
                assert!(new.iter().all(|c| c.is_finite()));
                // u' is a mean of u, of the velocity that ends at the hand, and of rest, all weights positive
                let weights = [1.0, h * h * spring, h * damper];
                let sum: f64 = weights.iter().sum();
                let mean = (u * weights[0] + away / h * weights[1]) / sum;
                assert!((new - mean).norm() <= 1e-12 * (u.norm() + away.norm() / h), "{new} {mean}");
            }
        }
        let stiff = u + implicit_pull(away, u, h, 1e30, 0.0);
        assert!((stiff * h - away).norm() < 1e-12, "a rigid hand is reached in one step");
    }

    #[test]
    fn a_patch_moves_as_the_mass_that_it_stands_for() {
        let model = crate::setup::build(&crate::setup::load("bar", &[]).unwrap()).unwrap().model;
        let (x, v, h) = (&model.initial_positions, &model.initial_velocities, 1.0 / 30.0);
        let mut grab = Grab::new(&model, x, 300, x[300], 1.0).unwrap();
        grab.hand += Vec3::new(0.1, 0.2, 0.0);
        let changes = grab.pull(&model, x, v, h);
        let before = Gathered::of(&model.mass, x, v, &grab.patch).unwrap();
        let mut after = v.clone();
        changes.iter().for_each(|(i, change)| after[*i] += change);
        let drift = Gathered::of(&model.mass, x, &after, &grab.patch).unwrap().drift;
        let away = Vec3::new(0.1, 0.2, 0.0);
        let expected =
            implicit_pull(away, before.drift, h, grab.stiffness / before.mass, grab.damping / before.mass);
        // some hundred terms of order one
        assert!((drift - before.drift - expected).norm() < 1e-12 * expected.norm(), "{drift} {expected}");
        // and what it gained is the impulse of the force at the end of the step
        let momentum: Vec3 = changes.iter().map(|(i, change)| change * model.mass[*i]).sum();
        let force = (away - drift * h) * grab.stiffness - drift * grab.damping;
        assert!((momentum - force * h).norm() < 1e-9 * momentum.norm(), "{momentum} {force}");
        // in a model with fewer vertices there is nothing to pull
        let coarse = ["body.0.mesh.cells=[1, 1, 1]".to_string()];
        let few = crate::setup::build(&crate::setup::load("cube", &coarse).unwrap()).unwrap().model;
        assert!(grab.pull(&few, &few.initial_positions, &few.initial_velocities, h).is_empty());
    }
}
