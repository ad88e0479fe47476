//! A contact constraint: a vertex and the plane it must not cross, fixed during a time step.

use crate::Vec3;
use crate::scene::ContactLaw;

/// Marks the absence of a second body.
pub const NO_BODY: u32 = u32::MAX;

/// A plane that a point must not cross: gap = n·x − o.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plane {
    /// Unit normal n, towards the free side.
    pub normal: Vec3,
    /// o (m).
    pub offset: f64,
    /// Displacement of the surface during the step (m).
    pub motion: Vec3,
}

/// A vertex near a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactConstraint {
    /// The obstacle, or the number of obstacles plus the triangle.
    pub surface: u32,
    /// The bodies of the vertex and of the surface; [`NO_BODY`] for an obstacle.
    pub bodies: [u32; 2],
    /// The vertex, followed by the corners of the triangle if the surface belongs to a body.
    pub vertices: [u32; 4],
    /// w: 1 for the vertex, minus the barycentric coordinates for the corners.
    pub weights: [f64; 4],
    /// The plane; it has no motion of its own if the surface belongs to a body, whose corners move.
    pub plane: Plane,
    /// How far the vertex is predicted to move along the surface before it touches it: friction does not act on that (m).
    pub approach: Vec3,
    /// Coefficient of friction μ.
    pub friction: f64,
    /// k of the law (N/m or N/m²).
    pub stiffness: f64,
    /// The force on the vertex (N).
    pub force: Vec3,
}

impl ContactConstraint {
    /// The vertices and their weights.
    pub fn arms(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let count = if self.bodies[1] == NO_BODY { 1 } else { 4 };
        self.vertices.iter().zip(&self.weights).take(count).map(|(&v, &w)| (v as usize, w))
    }

    /// Σ w_k x_k: position of the vertex, relative to the contact point if the surface belongs to a body (m).
    pub fn relative_position(&self, x: &[Vec3]) -> Vec3 {
        self.arms().map(|(v, w)| x[v] * w).sum()
    }

    /// n·Σ w_k x_k − o: negative where the vertex has crossed the plane (m).
    pub fn gap(&self, place: &Vec3) -> f64 {
        self.plane.normal.dot(place) - self.plane.offset
    }

    /// The part of a displacement along the surface, seen from it (m).
    pub fn along_surface(&self, displacement: &Vec3) -> Vec3 {
        let moved = displacement - self.plane.motion;
        moved - self.plane.normal * self.plane.normal.dot(&moved)
    }

    /// Slip: the displacement along the surface between two relative positions, from when they touch (m).
    pub fn slip(&self, from: &Vec3, to: &Vec3) -> Vec3 {
        self.along_surface(&(to - from)) - self.approach
    }

    /// Notes how far it moves along the surface before it touches it, on a straight way from `x` to `y`.
    ///
    /// Else friction, which acts for the whole step, would stop what happens before the impact: where two strips clap together their
    /// planes are inclined to each other, and what sticks to both stays apart.
    pub fn note_approach(&mut self, [x, y]: [&[Vec3]; 2]) {
        let [from, to] = [x, y].map(|x| self.relative_position(x));
        let after = self.gap(&to);
        let before = after - self.plane.normal.dot(&(to - from - self.plane.motion));
        let share = if before > 0.0 && after < before { (before / (before - after)).min(1.0) } else { 0.0 };
        self.approach = self.along_surface(&(to - from)) * share;
    }
}

/// Energy and force of a contact law.
pub trait Law {
    /// U(δ) (J).
    fn energy(self, stiffness: f64, depth: f64) -> f64;
    /// U'(δ) (N).
    fn force(self, stiffness: f64, depth: f64) -> f64;
    /// The depth δ (m) at which the force is U'(δ) = f.
    fn depth(self, stiffness: f64, force: f64) -> f64;
    /// The force f that solves f = U'(depth − compliance · f), given the depth at zero force.
    fn implicit_force(self, stiffness: f64, compliance: f64, depth: f64) -> f64;
}

impl Law for ContactLaw {
    fn energy(self, stiffness: f64, depth: f64) -> f64 {
        let depth = depth.max(0.0);
        match self {
            ContactLaw::Linear => stiffness / 2.0 * depth * depth,
            ContactLaw::Cubic => stiffness / 3.0 * depth * depth * depth,
        }
    }

    fn force(self, stiffness: f64, depth: f64) -> f64 {
        let depth = depth.max(0.0);
        match self {
            ContactLaw::Linear => stiffness * depth,
            ContactLaw::Cubic => stiffness * depth * depth,
        }
    }

    fn depth(self, stiffness: f64, force: f64) -> f64 {
        let share = if stiffness > 0.0 { force.max(0.0) / stiffness } else { 0.0 };
        match self {
            ContactLaw::Linear => share,
            ContactLaw::Cubic => share.sqrt(),
        }
    }

    fn implicit_force(self, stiffness: f64, compliance: f64, depth: f64) -> f64 {
        let depth = depth.max(0.0);
        match self {
            // f = k (d − W f)
            ContactLaw::Linear => depth * stiffness / (1.0 + stiffness * compliance),
            // δ + W k δ² = d, in a form without cancellation
            ContactLaw::Cubic => {
                let root = (1.0 + 4.0 * compliance * stiffness * depth).sqrt();
                self.force(stiffness, 2.0 * depth / (1.0 + root))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forces_are_the_slopes_of_the_energy() {
        for law in [ContactLaw::Linear, ContactLaw::Cubic] {
            for depth in [-0.3, 0.01, 0.2, 3.0] {
                let (k, step) = (70.0, 1e-5);
                let slope = (law.energy(k, depth + step) - law.energy(k, depth - step)) / (2.0 * step);
                // central differences: step² k/3 from the third derivative, and rounding ε U / step
                let tolerance = step * step * k + 1e-11 * law.energy(k, depth) / step;
                assert!((slope - law.force(k, depth)).abs() <= tolerance, "{law:?} at {depth}");
                assert!((law.depth(k, law.force(k, depth)) - depth.max(0.0)).abs() < 1e-14 * (1.0 + depth));
            }
        }
    }

    #[test]
    fn an_implicit_force_is_that_of_the_depth_it_leaves() {
        for law in [ContactLaw::Linear, ContactLaw::Cubic] {
            for (k, compliance, depth) in
                [(1e3, 1e-3, 0.1), (1e12, 0.5, 2.0), (1.0, 1e-9, 1e-3), (5.0, 1.0, -1.0)]
            {
                let force = law.implicit_force(k, compliance, depth);
                let left = law.force(k, depth - compliance * force);
                // the depth that is left is a difference: it loses digits where the force takes most of it
                let tolerance = 1e-14 * (1.0 + k * compliance) * force + 1e-300;
                assert!((left - force).abs() <= tolerance, "{law:?}: {left} against {force}");
            }
        }
    }
}
