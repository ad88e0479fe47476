//! What acts on a body from outside: attachments and contacts, as impulses, work and potential of a step.

use super::body::ConservedState;
use crate::Vec3;
use crate::model::{Attachment, Body, Model};
use crate::step::{Stage, StepCoefficients};

/// What acts on the bodies of a model.
pub struct ExternalForces {
    /// The attachments of each body.
    attached: Vec<Vec<Spring>>,
    /// Contacts of each body that is touched, at the iterate now.
    pub touched: Vec<Option<ContactWrench>>,
    /// Potential of the contacts of each body at the end of the step before (J).
    potential: Vec<f64>,
    /// Stiffness of the attachments of each vertex (N/m), empty without any.
    stiffness: Vec<f64>,
    /// Σ k T_e of each vertex (N).
    pull: Vec<Vec3>,
    /// For each body the group of bodies that touch each other.
    pub groups: Vec<usize>,
    /// Those of the stage.
    coefficients: StepCoefficients,
}

/// An attachment and where its point is.
#[derive(Debug, Clone, Copy)]
struct Spring {
    index: usize,
    vertex: usize,
    /// As the scene gives it, and 0 while it does not hold (N/m).
    given: f64,
    stiffness: f64,
    before: Vec3,
    after: Vec3,
    /// Where the integrator takes the force.
    point: Vec3,
}

/// What contacts do to a body.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ContactWrench {
    /// Sum of the forces, as they stand in the gradient of Φ (N).
    pub force: Vec3,
    /// Their torque about the origin (N m).
    pub torque: Vec3,
    /// Their potential at the iterate (J).
    pub potential: f64,
    /// What friction takes (J).
    pub friction: f64,
    /// Work of moving obstacles (J).
    pub obstacle_work: f64,
    /// Force and torque about the origin of obstacles alone (N, N m).
    pub obstacles: [Vec3; 2],
    /// Where obstacles have let go in this step: force and torque about the centre of mass in the step before.
    pub released: [Vec3; 2],
}

impl ContactWrench {
    /// Force of obstacles, and torque about the `centre` of mass, also of those that have just let go.
    pub fn push(&self, centre: Vec3) -> [Vec3; 2] {
        let [force, torque] = self.obstacles;
        if self.obstacles == [Vec3::zeros(); 2] {
            self.released
        } else {
            [force, torque - centre.cross(&force)]
        }
    }

    /// Force and torque about the `centre` of mass of all contacts; of those that have just let go, if none acts.
    pub fn all(&self, centre: Vec3) -> [Vec3; 2] {
        if self.force == Vec3::zeros() {
            self.push(centre)
        } else {
            [self.force, self.torque - centre.cross(&self.force)]
        }
    }
}

/// What acts on a body in a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ExternalImpulse {
    /// Impulse (kg m/s).
    pub impulse: Vec3,
    /// Angular impulse about the pivot (kg m²/s).
    pub torque: Vec3,
    /// Energy of the attachments at the iterate (J).
    pub energy: f64,
    /// Energy given in the step by moving attachments, and by contacts and what they had stored (J).
    pub work: f64,
}

impl ExternalForces {
    /// The attachments of a model; contacts come later.
    pub fn new(model: &Model, coefficients: StepCoefficients) -> Self {
        let springs = |body: &Body| {
            let mine = |a: &Attachment| body.vertices.contains(&(a.vertex as usize));
            let spring = |(index, a): (usize, &Attachment)| {
                let [before, after, point] = [a.target(0.0); 3];
                let (vertex, given) = (a.vertex as usize, a.stiffness);
                Spring { index, vertex, given, stiffness: given, before, after, point }
            };
            model.attachments.iter().enumerate().filter(|(_, a)| mine(a)).map(spring).collect()
        };
        let n = if model.attachments.is_empty() { 0 } else { model.vertex_count() };
        ExternalForces {
            attached: model.bodies.iter().map(springs).collect(),
            touched: vec![None; model.bodies.len()],
            potential: vec![0.0; model.bodies.len()],
            stiffness: vec![0.0; n],
            pull: vec![Vec3::zeros(); n],
            groups: (0..model.bodies.len()).collect(),
            coefficients,
        }
    }

    /// Whether anything holds the body.
    pub fn is_attached(&self, body: usize) -> bool {
        self.attached[body].iter().any(|spring| spring.stiffness > 0.0)
    }

    /// Whether anything touched the body in this step.
    pub fn is_touched(&self, body: usize) -> bool {
        self.touched[body].is_some()
    }

    /// The start of a step, with what is kept from the one before.
    pub fn begin(&mut self, Stage { coefficients, targets, .. }: &Stage, kept: &[ConservedState]) {
        self.coefficients = *coefficients;
        for ((touched, potential), kept) in self.touched.iter_mut().zip(&mut self.potential).zip(kept) {
            *potential = kept.contact;
            // contact that ends gives back what it has stored, as contact does
            let released = kept.push.map(Vec3::from);
            *touched = (kept.contact > 0.0).then(|| ContactWrench { released, ..ContactWrench::default() });
        }
        self.pull.fill(Vec3::zeros());
        self.stiffness.fill(0.0);
        for spring in self.attached.iter_mut().flatten() {
            spring.stiffness = if targets.active[spring.index] { spring.given } else { 0.0 };
            self.stiffness[spring.vertex] += spring.stiffness;
            spring.before = targets.before[spring.index];
            spring.after = targets.after[spring.index];
            spring.point = spring.before + (spring.after - spring.before) * coefficients.force_share();
            self.pull[spring.vertex] += spring.point * spring.stiffness;
        }
    }

    /// k and Σ k T_e of a vertex.
    pub fn attachment(&self, vertex: usize) -> Option<(f64, Vec3)> {
        let stiffness = *self.stiffness.get(vertex)?;
        (stiffness > 0.0).then(|| (stiffness, self.pull[vertex]))
    }

    pub fn contacts(&self, body: usize) -> ContactWrench {
        self.touched[body].unwrap_or_default()
    }

    /// Whether any body was touched in this step.
    pub fn any_touched(&self) -> bool {
        self.touched.iter().any(Option::is_some)
    }

    /// Energy that contacts take from all bodies in this step: friction less the work of moving obstacles (J).
    pub fn lost_in_contact(&self) -> f64 {
        self.touched.iter().flatten().map(|touch| touch.friction - touch.obstacle_work).sum()
    }

    /// Energy of the attachments at the start of the step (J).
    pub fn energy_before(&self, body: usize, x: &[Vec3]) -> f64 {
        let springs = self.attached[body].iter();
        springs.map(|s| 0.5 * s.stiffness * (x[s.vertex] - s.before).norm_squared()).sum()
    }

    /// What acts on a body when the step ends at `iterate`, angular impulses about `pivot`.
    pub fn impulse(&self, body: usize, iterate: &[Vec3], x: &[Vec3], pivot: Vec3) -> ExternalImpulse {
        let (mut pushed, coefficients) = (ExternalImpulse::default(), &self.coefficients);
        let impulse_of_force = coefficients.velocity_slope() * coefficients.h * coefficients.h;
        let start_share = coefficients.start_share();
        for s in &self.attached[body] {
            let at = |share: f64| iterate[s.vertex] * share + x[s.vertex] * (1.0 - share);
            let evaluated = at(coefficients.force_share());
            let stretch = s.point - evaluated;
            let impulse = stretch * (impulse_of_force * coefficients.projection_weight() * s.stiffness);
            pushed.impulse += impulse;
            pushed.torque += (evaluated - pivot).cross(&impulse);
            if start_share != 0.0 {
                let impulse = (s.before - x[s.vertex]) * (start_share * coefficients.h * s.stiffness);
                pushed.impulse += impulse;
                pushed.torque += (x[s.vertex] - pivot).cross(&impulse);
            }
            pushed.energy += 0.5 * s.stiffness * (iterate[s.vertex] - s.after).norm_squared();
            let travel = s.after - s.before;
            let pull = s.before + travel * coefficients.work_share() - at(coefficients.work_share());
            pushed.work += s.stiffness * pull.dot(&travel);
        }
        if let Some(touch) = &self.touched[body] {
            pushed.impulse += touch.force * impulse_of_force;
            pushed.torque += (touch.torque - pivot.cross(&touch.force)) * impulse_of_force;
            pushed.work += self.potential[body] - touch.potential + touch.obstacle_work - touch.friction;
        }
        pushed
    }
}
