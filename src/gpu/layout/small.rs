//! Uniforms and small arrays, padded as WGSL pads them.

use super::small_structs;
use nalgebra::{Vector3, Vector4};

small_structs! {
    /// Where an attachment holds: `position + low` when the step begins, `travel` further when it ends (m).
    pub struct Point {
        /// The place, rounded (m).
        position: Vector3<f32>,
        /// What rounding left of it (m).
        low: Vector3<f32>,
        /// Way during the step (m).
        travel: Vector3<f32>,
    }

    /// How far the iterations of a stage have come, as the device knows it.
    pub struct IterationState {
        /// Whether they have ended (1) or go on (0): the iterate stays where it is once they have.
        done: u32,
        /// How many directions were taken.
        iterations: u32,
        /// 1 if the last step was too long, and the iterate goes back.
        rejected: u32,
        /// Points where a line search has decided.
        evaluations: u32,
        /// Cuts of the last step.
        cuts: u32,
        /// Where the next pair of L-BFGS goes.
        next_pair: u32,
        /// How many pairs count.
        pairs: u32,
        /// |g| at the first guess (N).
        first: f32,
        /// How much of the last direction the iterate has gone.
        share: f32,
        /// How much of it the iterate goes back by now.
        way: f32,
        /// How much of the direction before the iterate went.
        taken: f32,
        /// Σ m |x − ŷ|² where the last step began (kg m²).
        inertia: f32,
        /// Energy of elements and attachments there (J).
        elastic: f32,
        /// u·L u of u = x_e − x_n there (J).
        strain: f32,
        /// How much of Φ may be rounding there (J).
        noise: f32,
    }

    /// When the iterations of a stage end.
    pub struct IterationRule {
        /// Share of the first gradient that is small enough.
        tolerance: f32,
        /// Directions, at most.
        iterations: u32,
        /// Points where a line search decides, at most.
        evaluations: u32,
        /// Pairs of L-BFGS.
        history: u32,
    }

    /// Rigid motion of a body, counted from place and velocity of its first vertex: r = (x − origin) − centre has the
    /// velocity base + drift + ω × r.
    pub struct Rigid {
        /// Position of the first vertex, rounded (m).
        origin: Vector3<f32>,
        /// Mass (kg).
        mass: f32,
        /// Centre of mass, from there (m).
        centre: Vector3<f32>,
        /// Velocity of the first vertex (m/s).
        base: Vector3<f32>,
        /// Velocity of the centre, from there (m/s).
        drift: Vector3<f32>,
        /// ω (1/s).
        spin: Vector3<f32>,
    }

    /// The numbers of a step; see the WGSL for the formulas, [`crate::step::coefficients`] for where they come from.
    pub struct Step {
        /// Acceleration of gravity (m/s²).
        gravity: Vector3<f32>,
        /// h (s).
        h: f32,
        /// y − x_n: factor of the last displacement.
        target_displacement: f32,
        /// … of v_n (s).
        target_velocity: f32,
        /// … of v_{n−1} (s).
        target_velocity_before: f32,
        /// … of gravity (s²).
        target_acceleration: f32,
        /// s = dv'/dx (1/s).
        slope: f32,
        /// v'(y) − v_n: factor of v_{n−1} − v_n.
        free_velocity_before: f32,
        /// … of the last displacement over h, less v_n.
        free_velocity_displacement: f32,
        /// μ (1/s²).
        inertia: f32,
        /// c₂: x_e = x_n + c₂ d.
        share: f32,
        /// a − b: weight of the damping, which acts on x_e − x_n. (On x_e itself it would cost digits of the shape's size.)
        viscous: f32,
        /// b.
        projection: f32,
        /// Factor of L in A.
        laplacian: f32,
        /// Factor of the attachments' stiffness in A.
        attachment_weight: f32,
        /// α₁ (1/s).
        mass_damping: f32,
        /// α₂ (s).
        stiffness_damping: f32,
        /// d/μ (s²), ∇Ψ = d D v'.
        dissipation: f32,
        /// Factor of L moved in the known part of L v' (1/s).
        known_displacement: f32,
        /// Factor of L v_n.
        known_velocity: f32,
        /// The damping force is −`damping_force` D v'.
        damping_force: f32,
        /// k of a velocity filter, 0 to 1.
        filter_coefficient: f32,
        /// v'(y): factor of gravity (s).
        free_velocity_gravity: f32,
        /// Always 0, which no compiler knows: it keeps them from simplifying what rounding is about.
        zero: u32,
        /// What a velocity filter does, see [`mode`].
        filter_mode: u32,
        /// y − x_n: factor of M⁻¹ f_n, f_n the force at the start of the step (s²).
        target_force: f32,
        /// v': factor of M⁻¹ f_n (s).
        velocity_force: f32,
        /// Share of f_n in the impulse of the step.
        start_share: f32,
        /// What share of the host's correction an iterate moves by: −1 goes all of the way.
        correction_factor: f32,
    }

    /// How much there is of everything, and where each kind's rows and partial sums begin.
    pub struct Sizes {
        vertices: u32,
        /// Tetrahedra.
        tets: u32,
        triangles: u32,
        springs: u32,
        /// Bending stencils.
        bendings: u32,
        attachments: u32,
        /// First row of the triangles, in units of four numbers; the tetrahedra's begin at 0.
        triangle_rows: u32,
        /// First row of the springs.
        spring_rows: u32,
        /// First row of the bending corners.
        bending_rows: u32,
        /// First row of the attachments.
        attachment_rows: u32,
        /// Chunks of vertices.
        chunks: u32,
        /// First partial sum of the tetrahedra; the chunks' begin at 0.
        tet_partials: u32,
        /// First partial sum of the triangles.
        triangle_partials: u32,
        /// First partial sum of the springs.
        spring_partials: u32,
        /// First partial sum of the bendings.
        bending_partials: u32,
        /// First partial sum of the attachments.
        attachment_partials: u32,
        /// Segments: one a body, then tetrahedra, triangles, springs, bendings, attachments.
        segments: u32,
        bodies: u32,
        /// Edges of their shapes; 0 until a filter needs them.
        edges: u32,
        /// Clusters, likewise.
        clusters: u32,
        /// Tasks of a solve by fronts, 0 unless the device makes it.
        front_tasks: u32,
        /// Vertices whose places the host looks at, 0 unless it does.
        watched: u32,
        /// Chunks of vertices that example shapes move, 0 unless the device damps along them.
        example_chunks: u32,
        /// Groups of example shapes, likewise.
        example_groups: u32,
    }

    /// Tasks of a dispatch of the solve by fronts.
    pub struct FrontStage {
        /// The first one.
        first_task: u32,
        /// How many.
        tasks: u32,
    }

    /// Example shapes of an island.
    pub struct ExampleGroup {
        /// c₀, rounded (m).
        centre: Vector3<f32>,
        /// First vertex: places and velocities are counted from its own.
        first: u32,
        /// What rounding left of the centre (m).
        centre_low: Vector3<f32>,
        /// Shapes.
        shapes: u32,
        /// First chunk.
        first_chunk: u32,
        /// One past the last.
        end_chunk: u32,
        /// Where its matrices begin: R, R⁻¹, S of both stages of a step, Σ U; row by row.
        matrices: u32,
        /// Its first law.
        laws: u32,
        /// Sum of the weights of what it follows; 0 if that is nothing.
        followed: f32,
        /// The partial sum of the energy exchanged that its damping goes to.
        exchange: u32,
    }

    /// Rigid motion of a group, counted from place and velocity of its first vertex.
    pub struct ExampleState {
        /// T, as a quaternion w, x, y, z.
        turn: Vector4<f32>,
        /// c (m).
        centre: Vector3<f32>,
        /// Velocity of c (m/s).
        drift: Vector3<f32>,
        /// ω (1/s).
        spin: Vector3<f32>,
    }

    /// A piece of a curve of log₁₀ γ, as a Bézier polynomial.
    pub struct ExamplePiece {
        /// Its control values.
        control: Vector4<f32>,
        /// Where it begins.
        start: f32,
        /// 1 over its width.
        scale: f32,
    }

    /// Which metric a stage of a step has.
    pub struct ExampleStage {
        /// 0, or 1 for the second stage.
        stage: u32,
        /// Where its B begin.
        solutions: u32,
    }

    /// The numbers of an inner Chebyshev iteration.
    pub struct Inner {
        /// β.
        momentum: f32,
        /// γ.
        step: f32,
    }
}
