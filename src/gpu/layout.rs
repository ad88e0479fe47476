//! What the device's buffers hold. `shaders/shared/layout.wgsl` has the same structs; a test compares every offset.

use bytemuck::{Pod, Zeroable};

/// A struct that lies in memory as its namesake in WGSL does.
pub trait Layout: Pod {
    /// Its name in WGSL.
    const NAME: &'static str;
    /// Names and offsets of its fields (bytes); padding not counted.
    const FIELDS: &'static [(&'static str, usize)];
}

macro_rules! layout {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty $(, pad $pad:ident: $pad_type:ty)?;)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Debug, Clone, Copy, PartialEq, Default, Pod, Zeroable)]
            pub struct $name {
                $($(#[$field_doc])* pub $field: $type, $(#[doc(hidden)] pub $pad: $pad_type,)?)*
            }

            impl Layout for $name {
                const NAME: &'static str = stringify!($name);
                const FIELDS: &'static [(&'static str, usize)] =
                    &[$((stringify!($field), std::mem::offset_of!($name, $field))),*];
            }
        )*

        /// Every struct with its name, size (bytes) and fields: the table that the test walks.
        pub const LAYOUTS: &[(&str, usize, &[(&str, usize)])] =
            &[$(($name::NAME, size_of::<$name>(), $name::FIELDS)),*];
    };
}

layout! {
    /// Place (`position + low`, m), mass (kg) and attachments' stiffness (N/m) of a vertex.
    Vertex {
        /// The place, rounded (m).
        position: [f32; 3];
        /// Mass (kg).
        mass: f32;
        /// What rounding left of the place (m).
        low: [f32; 3];
        /// Sum of the stiffnesses of its attachments (N/m).
        held: f32;
    }
    /// Velocities and the last displacement of a vertex.
    Motion {
        /// v_n (m/s).
        velocity: [f32; 3];
        /// By how much filters changed v_n (m/s); y and z follow further on, where there would be padding.
        filtered_x: f32;
        /// v_{n−1} (m/s).
        velocity_before: [f32; 3];
        /// See `filtered_x`.
        filtered_y: f32;
        /// x_n − x_{n−1} (m).
        moved: [f32; 3];
        /// See `filtered_x`.
        filtered_z: f32;
    }
    /// A tetrahedron.
    Tet {
        /// Its corners.
        vertices: [u32; 4];
        /// First row of Dm⁻¹ (1/m).
        rest_0: [f32; 3];
        /// w_s (J).
        shape_weight: f32;
        /// Second row.
        rest_1: [f32; 3];
        /// w_v (J).
        volume_weight: f32;
        /// Third row.
        rest_2: [f32; 3];
        /// Share of its energy that it gained when it was stiffened last.
        gained: f32;
    }
    /// A triangle of a cloth.
    Triangle {
        /// Its corners.
        vertices: [u32; 3];
        /// w (J).
        weight: f32;
        /// Dm⁻¹, row by row (1/m).
        inverse_rest: [f32; 4];
        /// Least and greatest stretch that cost nothing; of another law λ A t/w and μ A t/w.
        limits: [f32; 2];
        /// Share of its energy that it gained when it was stiffened last.
        gained: f32;
        /// The number of its law, see [`law`]; `PROJECTIVE` with limits.
        law: u32;
    }
    /// A cubic piece of a curve of Valanis and Landel's law, see [`crate::model::law::curves::Piece`].
    CurvePiece {
        /// c₀ … c₃, less the curve's value at 1.
        coefficients: [f32; 4];
        /// Where u = 0, as stretch − 1.
        start: f32;
        /// The integral from 1 to the start.
        integral: f32;
        /// The curve's value at 1.
        at_rest: f32;
        /// One past the curve's last piece: there the next curve begins.
        end: u32;
    }
    /// A spring.
    Spring {
        /// Its ends.
        vertices: [u32; 2];
        /// Rest length (m).
        length: f32;
        /// k (N/m).
        stiffness: f32;
        /// Direction at rest.
        rest_direction: [f32; 3];
        /// Share of its energy that it gained when it was stiffened last.
        gained: f32;
    }
    /// A bending stencil; its corners are `first..end` of the corner buffer.
    Bending {
        /// First corner.
        first: u32;
        /// One past the last.
        end: u32;
        /// w (J m²).
        weight: f32;
        /// |G x| at rest (1/m).
        rest_curvature: f32;
        /// Direction of G x at rest.
        rest_direction: [f32; 3];
        /// Share of its energy that it gained when it was stiffened last.
        gained: f32;
    }
    /// An entry of a sparse row: corner of a bending stencil, or column of L.
    Entry {
        /// Vertex or column.
        index: u32;
        /// Coefficient (1/m²) or stiffness (N/m).
        value: f32;
    }
    /// What holds a vertex.
    Attachment {
        /// The vertex.
        vertex: u32;
        /// k (N/m).
        stiffness: f32;
    }
    /// Where an attachment holds: `position + low` when the step begins, `travel` further when it ends (m).
    Point {
        /// The place, rounded (m).
        position: [f32; 3], pad pad0: f32;
        /// What rounding left of it (m).
        low: [f32; 3], pad pad1: f32;
        /// Way during the step (m).
        travel: [f32; 3], pad pad2: f32;
    }
    /// An edge of a body's shape, for damping along it.
    Edge {
        /// One end.
        first: u32;
        /// The other.
        second: u32;
        /// 1/(N_i/m_i + N_j/m_j) (kg).
        share: f32;
    }
    /// An element as damping sees it.
    Cluster {
        /// Its corners, then [`crate::damping::neighbours::NOBODY`].
        vertices: [u32; 4];
        /// Part of each corner's mass.
        parts: [f32; 4];
    }
    /// Vertices `first..end`, all of one body: what a workgroup reduces.
    Chunk {
        /// First vertex.
        first: u32;
        /// One past the last.
        end: u32;
        /// The body.
        body: u32;
    }
    /// Partial sums `first..end`: of one body, or of one kind of element.
    Segment {
        /// First partial sum.
        first: u32;
        /// One past the last.
        end: u32;
    }
    /// Rigid motion of a body, counted from place and velocity of its first vertex: r = (x − origin) − centre has the
    /// velocity base + drift + ω × r.
    Rigid {
        /// Position of the first vertex, rounded (m).
        origin: [f32; 3];
        /// Mass (kg).
        mass: f32;
        /// Centre of mass, from there (m).
        centre: [f32; 3], pad pad0: f32;
        /// Velocity of the first vertex (m/s).
        base: [f32; 3], pad pad1: f32;
        /// Velocity of the centre, from there (m/s).
        drift: [f32; 3], pad pad2: f32;
        /// ω (1/s).
        spin: [f32; 3], pad pad3: f32;
    }
    /// The numbers of a step; see the WGSL for the formulas, [`crate::step::coefficients`] for where they come from.
    Step {
        /// Acceleration of gravity (m/s²).
        gravity: [f32; 3];
        /// h (s).
        h: f32;
        /// y − x_n: factor of the last displacement.
        target_moved: f32;
        /// … of v_n (s).
        target_velocity: f32;
        /// … of v_{n−1} (s).
        target_velocity_before: f32;
        /// … of gravity (s²).
        target_acceleration: f32;
        /// s = dv'/dx (1/s).
        slope: f32;
        /// v'(y) − v_n: factor of v_{n−1} − v_n.
        drift_before: f32;
        /// … of the last displacement over h, less v_n.
        drift_moved: f32;
        /// μ (1/s²).
        inertia: f32;
        /// c₂: x_e = x_n + c₂ d.
        share: f32;
        /// a.
        deformation: f32;
        /// b.
        projection: f32;
        /// Factor of L in A.
        laplacian: f32;
        /// Factor of the attachments' stiffness in A.
        holding: f32;
        /// α₁ (1/s).
        mass_damping: f32;
        /// α₂ (s).
        stiffness_damping: f32;
        /// d/μ (s²), ∇Ψ = d D v'.
        dissipation: f32;
        /// Factor of L x_n in the known part of L v' (1/s).
        known_position: f32;
        /// Factor of L moved (1/s).
        known_moved: f32;
        /// Factor of L v_n.
        known_velocity: f32;
        /// The damping force is −`damping_force` D v'.
        damping_force: f32;
        /// k of a velocity filter, 0 to 1.
        filter_coefficient: f32;
        /// v'(y): factor of gravity (s).
        drift_acceleration: f32;
        /// Always 0, which no compiler knows: it keeps them from simplifying what rounding is about.
        zero: u32;
        /// What a velocity filter does, see [`mode`].
        filter_mode: u32;
        /// y − x_n: factor of M⁻¹ f_n, f_n the force at the start of the step (s²).
        target_force: f32;
        /// v': factor of M⁻¹ f_n (s).
        velocity_force: f32;
        /// Share of f_n in the impulse of the step.
        start_share: f32;
        /// What share of the host's correction an iterate moves by: −1 goes all of the way.
        way: f32;
    }
    /// How much there is of everything, and where each kind's rows and partial sums begin.
    Sizes {
        /// Vertices.
        vertices: u32;
        /// Tetrahedra.
        tets: u32;
        /// Triangles.
        triangles: u32;
        /// Springs.
        springs: u32;
        /// Bending stencils.
        bendings: u32;
        /// Attachments.
        attachments: u32;
        /// First row of the triangles; the tetrahedra's begin at 0.
        triangle_rows: u32;
        /// First row of the springs.
        spring_rows: u32;
        /// First row of the bending corners.
        bending_rows: u32;
        /// First row of the attachments.
        attachment_rows: u32;
        /// Chunks of vertices.
        chunks: u32;
        /// First partial sum of the tetrahedra; the chunks' begin at 0.
        tet_partials: u32;
        /// First partial sum of the triangles.
        triangle_partials: u32;
        /// First partial sum of the springs.
        spring_partials: u32;
        /// First partial sum of the bendings.
        bending_partials: u32;
        /// First partial sum of the attachments.
        attachment_partials: u32;
        /// Segments: one a body, then tetrahedra, triangles, springs, bendings, attachments.
        segments: u32;
        /// Bodies.
        bodies: u32;
        /// Edges of their shapes; 0 until a filter needs them.
        edges: u32;
        /// Clusters, likewise.
        clusters: u32;
    }
    /// The numbers of an inner Chebyshev iteration.
    Inner {
        /// β.
        momentum: f32;
        /// γ.
        step: f32;
    }
}

/// Numbers of laws of elasticity.
pub mod law {
    /// Projections; of triangles limits.
    pub const PROJECTIVE: u32 = 0;
    /// St. Venant–Kirchhoff's.
    pub const ST_VENANT_KIRCHHOFF: u32 = 1;
    /// Stable neo-Hookean.
    pub const NEO_HOOKEAN: u32 = 2;
    /// Corotated linear.
    pub const COROTATED_LINEAR: u32 = 3;
    /// Valanis and Landel's with the curves that begin at the first piece; those at piece k have this and k.
    pub const VALANIS_LANDEL: u32 = 4;
}

/// Numbers that [`Step::filter_mode`] is a sum of.
pub mod mode {
    /// Impulses of an edge lie along it.
    pub const PROJECTED: u32 = 1;
    /// Impulses lie on the lines from the centre.
    pub const RADIAL: u32 = 2;
    /// Impulses are sums of those along edges, scaled so that none is larger than before, and so that no energy is added.
    pub const SCALED: u32 = 4;
    /// The mean of a body's changes is taken from them.
    pub const BALANCED: u32 = 8;
}

/// Threads of a workgroup.
pub const LANES: u32 = 64;
/// Items that a workgroup of a reduction takes.
pub const BLOCK: u32 = 256;
/// Numbers in a partial sum; the last one is a minimum, the others are sums.
pub const SLOTS: usize = 16;
