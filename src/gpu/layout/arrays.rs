//! Large arrays: they cross as they lie in memory, so none of their structs has padding.

use super::array_structs;

array_structs! {
    /// Place (`position + low`, m), mass (kg) and attachments' stiffness (N/m) of a vertex.
    pub struct Vertex {
        /// The place, rounded (m).
        position: [f32; 3],
        /// Mass (kg).
        mass: f32,
        /// What rounding left of the place (m).
        low: [f32; 3],
        /// Sum of the stiffnesses of its attachments (N/m).
        attachment_stiffness: f32,
    }

    /// Velocities and the last displacement of a vertex.
    pub struct Motion {
        /// v_n (m/s).
        velocity: [f32; 3],
        /// By how much filters changed v_n (m/s); y and z follow further on, where there would be padding.
        filtered_x: f32,
        /// v_{n−1} (m/s).
        velocity_before: [f32; 3],
        /// See `filtered_x`.
        filtered_y: f32,
        /// x_n − x_{n−1} (m).
        last_displacement: [f32; 3],
        /// See `filtered_x`.
        filtered_z: f32,
    }

    pub struct Tet {
        vertices: [u32; 4],
        /// First row of Dm⁻¹ (1/m).
        rest_0: [f32; 3],
        /// w_s (J).
        shape_weight: f32,
        /// Second row.
        rest_1: [f32; 3],
        /// w_v (J).
        volume_weight: f32,
        /// Third row.
        rest_2: [f32; 3],
        /// Share of its energy that it gained when it was stiffened last.
        stiffening_gain: f32,
    }

    /// A triangle of a cloth.
    pub struct Triangle {
        vertices: [u32; 3],
        /// w (J).
        weight: f32,
        /// Dm⁻¹, row by row (1/m).
        inverse_rest: [f32; 4],
        /// Least and greatest stretch that cost nothing; of another law λ A t/w and μ A t/w.
        limits: [f32; 2],
        /// Share of its energy that it gained when it was stiffened last.
        stiffening_gain: f32,
        /// The number of its law, see [`law`]; `PROJECTIVE` with limits.
        law: u32,
    }

    /// A cubic piece of a curve of Valanis and Landel's law, see [`crate::model::law::curves::Piece`].
    pub struct CurvePiece {
        /// c₀ … c₃, less the curve's value at 1.
        coefficients: [f32; 4],
        /// Where u = 0, as stretch − 1.
        start: f32,
        /// The integral from 1 to the start.
        integral: f32,
        /// The curve's value at 1.
        at_rest: f32,
        /// One past the curve's last piece: there the next curve begins.
        end: u32,
    }

    pub struct Spring {
        vertices: [u32; 2],
        /// Rest length (m).
        length: f32,
        /// k (N/m).
        stiffness: f32,
        rest_direction: [f32; 3],
        /// Share of its energy that it gained when it was stiffened last.
        stiffening_gain: f32,
    }

    /// A bending stencil; its corners are `first..end` of the corner buffer.
    pub struct Bending {
        /// First corner.
        first: u32,
        /// One past the last.
        end: u32,
        /// w (J m²).
        weight: f32,
        /// |G x| at rest (1/m).
        rest_curvature: f32,
        /// Direction of G x at rest.
        rest_direction: [f32; 3],
        /// Share of its energy that it gained when it was stiffened last.
        stiffening_gain: f32,
    }

    /// An entry of a sparse row: corner of a bending stencil, or column of L.
    pub struct Entry {
        /// Vertex or column.
        index: u32,
        /// Coefficient (1/m²) or stiffness (N/m).
        value: f32,
    }

    /// What holds a vertex.
    pub struct Attachment {
        vertex: u32,
        /// k (N/m).
        stiffness: f32,
    }

    /// An edge of a body's shape, for damping along it.
    pub struct Edge {
        first: u32,
        second: u32,
        /// 1/(N_i/m_i + N_j/m_j) (kg).
        share: f32,
    }

    /// An element as damping sees it.
    pub struct Cluster {
        /// Its corners, then [`crate::damping::neighbours::NO_VERTEX`].
        vertices: [u32; 4],
        /// Part of each corner's mass.
        parts: [f32; 4],
    }

    /// Some rows of a front's matrix, [D⁻¹; U] up and Uᵀ down, that one workgroup multiplies: see [`crate::linear::Tile`].
    pub struct FrontTask {
        /// First quad in the panel.
        panel: u32,
        /// Rows with padding.
        height: u32,
        /// Rows.
        rows: u32,
        /// The first of them in the front.
        first_row: u32,
        /// Columns.
        columns: u32,
        /// The front's first column in the order of elimination.
        solution: u32,
        /// Up: the front's first row in the lists to gather; down: in those of its places.
        list: u32,
        /// The front's first row in what fronts hand on.
        update: u32,
    }

    /// Vertices `first..end`, all of one body: what a workgroup reduces.
    pub struct Chunk {
        /// First vertex.
        first: u32,
        /// One past the last.
        end: u32,
        body: u32,
    }

    /// Partial sums `first..end`: of one body, or of one kind of element.
    pub struct Segment {
        /// First partial sum.
        first: u32,
        /// One past the last.
        end: u32,
    }

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
        /// What counts: sum of the numbers of [`conserved`].
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
        /// Sum of the numbers of [`conserved`]: what is kept from the step before.
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
        /// From [`Rigid`]'s centre to the centre (m).
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
