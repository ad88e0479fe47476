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
}
