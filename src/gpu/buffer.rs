//! The buffers of a model, by name, and what is in them at the start.

use super::layout::*;

macro_rules! buffers {
    ($($(#[$doc:meta])* $name:ident: $kind:ident<$type:ty>;)*) => {
        /// A buffer on the device.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Buffer { $($(#[$doc])* $name),* }

        /// All buffers, in the order of their numbers.
        pub const BUFFERS: &[Described] = &[
            $(Described { buffer: Buffer::$name, name: stringify!($name), kind: Kind::$kind, stride: <$type>::STRIDE }),*
        ];
    };
}

/// How a shader sees a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `var<uniform>`.
    Uniform,
    /// `var<uniform>`, one of several entries chosen by the dispatch.
    Series,
    /// `var<storage>`.
    Storage,
    /// `var<storage>`, one of several buffers chosen by the dispatch.
    Panels,
}

/// A line of the table of buffers.
#[derive(Debug, Clone, Copy)]
pub struct Described {
    /// Which.
    pub buffer: Buffer,
    /// Its name, for labels and messages.
    pub name: &'static str,
    /// How shaders see it.
    pub kind: Kind,
    /// Size of an item (bytes).
    pub stride: usize,
}

buffers! {
    /// The numbers of the step.
    Step: Uniform<Step>;
    /// How much there is of everything.
    Sizes: Uniform<Sizes>;
    /// The numbers of each inner iteration.
    Inner: Series<Inner>;
    /// Places and masses.
    Vertices: Storage<Vertex>;
    /// Velocities and last displacements.
    Motions: Storage<Motion>;
    /// d = x − x_n of the iterate x (m).
    Iterate: Storage<[f32; 4]>;
    /// x − y of the iterate x (m): what forces did in this step.
    TargetOffset: Storage<[f32; 4]>;
    /// ŷ − x_n (m).
    Target: Storage<[f32; 4]>;
    /// g (N), three packed numbers a vertex: what crosses to the host.
    Gradient: Storage<[f32; 3]>;
    /// −f (N), packed, f the force at the start of a step that is not explicit, or that of the next one.
    StartGradient: Storage<[f32; 3]>;
    /// s = A⁻¹ g (m), packed: what comes from the host, or the latest inner iterate.
    Correction: Storage<[f32; 3]>;
    /// The inner iterate before (m), packed.
    CorrectionBefore: Storage<[f32; 3]>;
    /// Which tasks each dispatch of a solve by fronts has; like all that follows about fronts, empty unless the device makes it.
    FrontStages: Series<FrontStage>;
    /// The tasks of all dispatches, a workgroup each.
    FrontTasks: Storage<FrontTask>;
    /// D⁻¹, U and Uᵀ of fronts in tiles (m/N), a buffer for each dispatch.
    FrontPanels: Panels<[f32; 4]>;
    /// The vertex of each column of the factor.
    FrontOrder: Storage<u32>;
    /// The column of each vertex.
    FrontPosition: Storage<u32>;
    /// For each row of each front where its list begins, then the lists: rows of `FrontUpdates`, children in order.
    FrontGather: Storage<u32>;
    /// Rows below the fronts, as columns of the factor.
    FrontPlaces: Storage<u32>;
    /// What fronts hand on to their parents (N), packed.
    FrontUpdates: Storage<[f32; 3]>;
    /// s = A⁻¹ g (m), packed, in the order of elimination.
    FrontSolution: Storage<[f32; 3]>;
    /// Chunks of vertices that example shapes move; like all that follows about them, empty unless the device damps along them.
    ExampleChunks: Storage<ExampleChunk>;
    /// Shapes of islands.
    ExampleGroups: Storage<ExampleGroup>;
    /// The metrics of the stages of a step.
    ExampleStages: Series<ExampleStage>;
    /// X − c₀ (m), and the weight of the vertex in what shapes follow, 0 where they do not follow it.
    ExampleRests: Storage<[f32; 4]>;
    /// M X̃ (X̃ᵀ M X̃)⁻¹, packed, column by column.
    ExampleMeasures: Storage<f32>;
    /// U, likewise.
    ExampleForces: Storage<f32>;
    /// B = A⁻¹U of both stages of a step, likewise.
    ExampleSolutions: Storage<f32>;
    /// R, R⁻¹, S = UᵀB of both stages and Σ U of each group.
    ExampleMatrices: Storage<f32>;
    /// γ, or the curve of it, example by example.
    ExampleLaws: Storage<ExampleLaw>;
    /// The curves' pieces.
    ExamplePieces: Storage<ExamplePiece>;
    /// Partial sums along shapes, two rows a chunk.
    ExamplePartials: Storage<[f32; 2 * SHAPES]>;
    /// Where groups are at the start of the stage.
    ExampleStates: Storage<ExampleState>;
    /// P = Π − I and (I + w P S)⁻¹ w P of each group, row by row.
    ExampleCouplings: Storage<[f32; 2 * SHAPES * SHAPES]>;
    /// For each group γ, what U is multiplied with in g, and B in the direction.
    ExampleShares: Storage<[f32; 3 * SHAPES]>;
    /// How far the iterations of a stage have come.
    IterationState: Storage<IterationState>;
    /// When they end.
    IterationRule: Uniform<IterationRule>;
    /// Parts of g·d where the last step began (J), a number a block of vertices; like what follows about pairs, empty unless the
    /// device searches along directions.
    Slopes: Storage<f32>;
    /// Pairs of L-BFGS, three vectors of packed numbers each: s = x' − x (m), y = g' − g (N) and A⁻¹ y (m); one more than count. Behind
    /// them nothing, g and A⁻¹ g of the iteration.
    Pairs: Storage<f32>;
    /// Products of the pairs, by chunk of vertices and pair.
    PairPartials: Storage<[f32; SLOTS]>;
    /// s_i·y_j and y_i·A⁻¹ y_j (J) of the pairs, and the shares of A⁻¹ y_i and s_i in the direction.
    Curvature: Storage<f32>;
    /// Vertices whose places the host looks at, for contact; like all that follows about them, empty unless it does.
    Watched: Storage<u32>;
    /// Their places (m), packed: all of them rounded, then what rounding left.
    Places: Storage<[f32; 3]>;
    /// Where they go, from x_n (m), packed: all of them after the global step, then before it. Or the solution of another right-hand side.
    Look: Storage<[f32; 3]>;
    /// Forces on some of them; the first item only says how many follow.
    Loads: Storage<Load>;
    /// −F (N), packed, F the forces of contacts in the iteration before.
    ContactGradient: Storage<[f32; 3]>;
    /// Gradients of elements at their corners (N), and their energies (J): of tetrahedra
    /// [`TET_NUMBERS`](super::layout::TET_NUMBERS) each, then four numbers a corner, the last one its equal part of the energy.
    Rows: Storage<[f32; 4]>;
    /// The vertices' parts of the elastic energy where the last local step was made (J).
    Energies: Storage<f32>;
    /// Rows of vertex i: `GatherRows[GatherStarts[i]..GatherStarts[i + 1]]`.
    GatherStarts: Storage<u32>;
    /// Numbers of rows, ascending for each vertex.
    GatherRows: Storage<u32>;
    /// Off-diagonal entries of row i of L: `LaplacianEntries[LaplacianStarts[i]..LaplacianStarts[i + 1]]`.
    LaplacianStarts: Storage<u32>;
    /// Columns and values (N/m), as stiff as the metric has it. The diagonal is minus the sum of a row.
    LaplacianEntries: Storage<Entry>;
    /// Factor of row i of L in the damping: how stiff the vertex's body is, over how stiff the metric has it.
    Viscosity: Storage<f32>;
    /// Tetrahedra.
    Tets: Storage<Tet>;
    /// The last rotation of each tetrahedron: unit quaternions w, x, y, z.
    Rotations: Storage<[f32; 4]>;
    /// The number of each tetrahedron's law.
    TetLaws: Storage<u32>;
    /// Pieces of curves: for every set f′, g′ and h′ of Valanis and Landel's law.
    Curves: Storage<CurvePiece>;
    Triangles: Storage<Triangle>;
    Springs: Storage<Spring>;
    /// Bending stencils.
    Bendings: Storage<Bending>;
    /// Their corners.
    BendingCorners: Storage<Entry>;
    Attachments: Storage<Attachment>;
    /// Where they hold.
    Points: Storage<Point>;
    /// Vertices in chunks that belong to one body.
    Chunks: Storage<Chunk>;
    /// Which partial sums belong together.
    Segments: Storage<Segment>;
    /// Partial sums of reductions, sixteen slots each.
    Partials: Storage<[f32; SLOTS]>;
    /// Partial sums of the energy exchanged: damped, work, filtered (J); chunks of vertices, then blocks of attachments.
    ExchangePartials: Storage<[f32; 4]>;
    /// Rigid motion of each body.
    Rigids: Storage<Rigid>;
    /// What damping does to the velocities (m/s), and how much longer it was before it was projected on edges.
    Changes: Storage<[f32; 4]>;
    /// How non-oscillatory motion filters the velocities of each body before a step.
    StartFilters: Storage<StartFilter>;
    /// Mean of a body's changes (m/s), and the factor that they are scaled with.
    Balances: Storage<[f32; 4]>;
    /// Edges of the shapes; like all that follows about them and about clusters, empty until a filter needs it.
    Edges: Storage<Edge>;
    /// Ends of edges at vertex i: `EdgeEnds[EdgeStarts[i]..EdgeStarts[i + 1]]`.
    EdgeStarts: Storage<u32>;
    /// 2e for the first end of edge e, 2e + 1 for the second.
    EdgeEnds: Storage<u32>;
    /// Impulse that an edge gives to its first end, and its size (kg m/s).
    EdgeRows: Storage<[f32; 4]>;
    /// Elements as damping sees them.
    Clusters: Storage<Cluster>;
    /// Corners of clusters at vertex i: `ClusterCorners[ClusterStarts[i]..ClusterStarts[i + 1]]`.
    ClusterStarts: Storage<u32>;
    /// 4c + k for corner k of cluster c.
    ClusterCorners: Storage<u32>;
    /// Impulses at the corners of clusters (kg m/s), four a cluster.
    ClusterRows: Storage<[f32; 4]>;
    /// What the host asks of each body; like all that follows about conservation, empty until it is on the device.
    BodyWishes: Storage<BodyWish>;
    /// What is conserved of each body, and what a step shall make of it.
    BodyAims: Storage<BodyAim>;
    /// The small system of each body.
    BodySystems: Storage<BodySystem>;
    /// The vertices as conservation sees them.
    ConservedVertices: Storage<ConservedVertex>;
    /// Where momenta and energy of the vertices lead.
    ConservedDirections: Storage<ConservedDirection>;
    /// The attachments as conservation sees them, body by body.
    AttachmentAims: Storage<AttachmentAim>;
    /// Partial sums of conservation: two of them a chunk.
    ConservationPartials: Storage<[f32; SLOTS]>;
    /// Q, packed: what [`Buffer::Gradient`] is to a solve for A⁻¹ Q.
    TurnGradient: Storage<[f32; 3]>;
    /// A⁻¹ Q, packed, in the order of elimination.
    TurnSolution: Storage<[f32; 3]>;
    /// c, packed.
    DriveGradient: Storage<[f32; 3]>;
    /// A⁻¹ c, packed, in the order of elimination.
    DriveSolution: Storage<[f32; 3]>;
    /// π in the first of three numbers.
    WeightGradient: Storage<[f32; 3]>;
    /// A⁻¹ π in the first of three numbers, in the order of elimination.
    WeightSolution: Storage<[f32; 3]>;
    /// Translation of each body that the inner iterations left out (m).
    Shifts: Storage<[f32; 4]>;
    /// What goes to the ledger: damped, work, filtered (J), at 3 the largest error of what is conserved, at 4 and 5 |g|² at the
    /// first and the last local step, at 6
    /// how many iterations the device has made where it ends them by itself, at 7 steps beyond the tolerance, from 8 to 14 the sums of a line search, at
    /// 15 what the largest error is of, then from 16 on sixteen sums a segment.
    Report: Storage<f32>;
}

impl Buffer {
    /// Its line of the table.
    pub fn described(self) -> &'static Described {
        &BUFFERS[self as usize]
    }
}

/// Words (4 bytes) of every buffer, in the order of [`BUFFERS`]: what is uploaded at the start, and where twins compute.
#[derive(Debug, Clone, PartialEq)]
pub struct Contents {
    words: Vec<Vec<u32>>,
}

impl Contents {
    pub fn empty() -> Self {
        Contents { words: vec![Vec::new(); BUFFERS.len()] }
    }

    pub fn items<T: bytemuck::Pod>(&self, buffer: Buffer) -> &[T] {
        bytemuck::cast_slice(&self.words[buffer as usize])
    }

    /// The items of a buffer, to be changed.
    pub fn items_mut<T: bytemuck::Pod>(&mut self, buffer: Buffer) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.words[buffer as usize])
    }

    pub fn set<T: bytemuck::Pod>(&mut self, buffer: Buffer, items: &[T]) {
        self.words[buffer as usize] = bytemuck::pod_collect_to_vec(items);
    }

    /// Item `k` of a buffer of small structs.
    pub fn small<T: Small>(&self, buffer: Buffer, k: usize) -> T {
        decode(self.bytes(buffer), k)
    }

    /// Sets all items of a buffer of small structs.
    pub fn set_small<T: Small>(&mut self, buffer: Buffer, items: &[T]) {
        self.set(buffer, &encode(items));
    }

    /// How many items a buffer has.
    pub fn count(&self, buffer: Buffer) -> usize {
        self.bytes(buffer).len() / buffer.described().stride
    }

    pub fn bytes(&self, buffer: Buffer) -> &[u8] {
        bytemuck::cast_slice(&self.words[buffer as usize])
    }
}
