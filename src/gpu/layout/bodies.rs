//! Bodies, vertices and attachments as conservation and non-oscillatory motion see them: no padding, as in `arrays.rs`.

use super::array_structs;

array_structs! {
    /// How a step of non-oscillatory motion filters the velocities that a body starts with.
    pub struct StartFilter {
        /// Share of the motion beyond the rigid one that is taken.
        share: f32,
        /// Share of all motion.
        loss: f32,
        /// Factor of gravity (s).
        weight: f32,
        /// Nothing.
        spare: f32,
    }

    /// What conservation knows of a vertex in a step.
    pub struct ConservedVertex {
        /// r, from the body's centre of mass at the start of the step (m).
        arm: [f32; 3],
        /// Mass (kg).
        mass: f32,
        /// Q: C_L = Q × e_k (kg m/s).
        turn: [f32; 3],
        /// π: C_P = π e_k (kg/s).
        weight: f32,
        /// c: C_H = g + c (N).
        drive: [f32; 3],
        /// Its column of the factor.
        column: u32,
    }

    /// Directions that change momenta and energy of a vertex.
    pub struct ConservedDirection {
        /// A⁻¹ Q (m).
        turned: [f32; 3],
        /// A⁻¹ π (s).
        translation: f32,
        /// A⁻¹ c (m).
        push: [f32; 3],
        /// Its column of the factor.
        column: u32,
    }

    /// An attachment as conservation sees it in a step.
    pub struct AttachmentAim {
        /// From its point at the start of the step to the vertex at x_n (m).
        pull: [f32; 3],
        /// k (N/m).
        stiffness: f32,
        /// Way of the point in the step (m).
        travel: [f32; 3],
        vertex: u32,
        /// r of the vertex (m).
        arm: [f32; 3],
        body: u32,
    }

    /// What the host asks of a body in a step, and what it did to it before.
    pub struct BodyWish {
        /// P wished (kg m/s).
        momentum: [f32; 3],
        /// What counts: sum of the numbers of [`super::conserved`].
        flags: u32,
        /// L about the centre wished (kg m²/s).
        spin: [f32; 3],
        /// Energy wished, without the weight's (J).
        energy: f32,
        /// Given from outside since the step before (kg m/s).
        impulse: [f32; 3],
        /// Energy given with it (J).
        given: f32,
        /// Likewise (kg m²/s).
        angular_impulse: [f32; 3],
        /// Share of its elastic energy that the body gained by becoming stiffer.
        stiffened: f32,
        /// Its first attachment.
        first: u32,
        /// One past the last.
        end: u32,
        /// 1 − e^{−γh}.
        decay: f32,
        /// Of the largest error, as a share.
        tolerance: f32,
    }

    /// What is conserved of a body, what a step shall make of it, and how far it is; see the WGSL.
    pub struct BodyAim {
        /// V = P/M, or what it was for a body that is held (m/s).
        centre_velocity: [f32; 3],
        /// Sum of the numbers of [`super::conserved`]: what is kept from the step before.
        known: u32,
        /// What rounding left of V (m/s).
        centre_velocity_low: [f32; 3],
        /// ∇²H along the steps as a share of A, as last seen.
        bend: f32,
        /// L about the centre (kg m²/s).
        spin: [f32; 3],
        /// H without the energies of the centre's motion and weight (J).
        energy: f32,
        /// w: way of the centre in a free flight (m).
        reference: [f32; 3],
        /// Mass (kg).
        mass: f32,
        /// V' of the centre at the end of a free flight (m/s).
        velocity: [f32; 3],
        /// Ĥ, like `energy` (J).
        target_energy: f32,
        /// From [`super::Rigid`]'s centre to the centre (m).
        offset: [f32; 3],
        /// M |V'|²/2 (J).
        kinetic: f32,
        /// Velocity that C_H is taken without (m/s).
        frame: [f32; 3],
        /// Energy that errors are compared with at least (J).
        floor: f32,
        /// Angular velocity that C_H is taken without (1/s).
        rotation: [f32; 3],
        /// Of the largest error, as a share.
        tolerance: f32,
        /// q: Q = m (q − s r) (m/s).
        turn_offset: [f32; 3],
        /// Energy that γ takes (J).
        damped: f32,
        /// Point that torques are taken about, from the centre (m).
        pivot: [f32; 3],
        /// Energy that the user gives (J).
        given: f32,
        /// From there to the middle of the flight (m).
        pivot_shift: [f32; 3],
        /// Those of the wish.
        flags: u32,
        /// What the user changes P by (kg m/s).
        push: [f32; 3],
        /// Its first attachment.
        first: u32,
        /// Constant part of the error of L (kg m²/s).
        torque: [f32; 3],
        /// One past its last attachment.
        end: u32,
        /// L about the centre at the end of the step (kg m²/s).
        new_spin: [f32; 3],
        /// What rounding left of `energy` (J).
        energy_low: f32,
        /// λ of P (m/s).
        momentum_factor: [f32; 3],
        /// λ of H.
        energy_factor: f32,
        /// λ of L (1/s).
        spin_factor: [f32; 3],
        /// The largest error before the iteration, as a share.
        error: f32,
        /// Of what: 0 P, 1 L, 2 H.
        worst: u32,
        /// Iterations made.
        made: u32,
        /// Whether the step goes to the least energy, which is more than asked for.
        least: u32,
        /// dᵀA d of the step (J).
        square: f32,
        /// Energy beyond what is asked for (J).
        excess: f32,
        /// Energy that errors are compared with (J).
        scale: f32,
        /// Work of attachments that move (J).
        work: f32,
        /// Bound of the moments of inertia (kg m²).
        inertia: f32,
        /// Energy that the iterations have left beyond what there may be (J).
        too_much: f32,
        /// Kinetic energy that they lead to (J).
        end_kinetic: f32,
        /// Share of the motion beyond the rigid one that is taken after the step.
        shrink: f32,
        /// Share of all motion that is taken then.
        brake: f32,
        /// The share of the curvature that the last iteration counted on, if it went to the far side of the energy's level; or 0.
        crossed: f32,
        /// Energy beyond the spin's that γ could not take (J).
        unreachable: f32,
        /// Energy of the rigid spin at the end of the step (J).
        turning: f32,
        /// 1 once all errors are within the tolerance, or no iteration can lower them.
        settled: u32,
    }

    /// The small system of a body that does not change in a step.
    pub struct BodySystem {
        /// S of P and L.
        momenta: [[f32; 6]; 6],
        /// Its inverse, where it has one.
        inverse: [[f32; 6]; 6],
        /// S between P, L and c.
        mixed: [f32; 6],
        /// S of c (J).
        energy: f32,
        /// Nothing.
        spare: f32,
    }
}
