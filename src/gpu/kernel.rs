//! The kernel table: WGSL file, buffers in binding order, number of workgroups, and twin.
//!
//! A new kernel is a new file in a folder of `shaders/`, a twin of the same name and one line here.

use super::buffer::Buffer::{self, *};
use super::buffer::{Contents, Kind};
use super::layout::{BLOCK, LANES, Sizes};
use super::twin;

/// A kernel.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// Its name, that of its file and of its twin.
    pub name: &'static str,
    /// Its file in `shaders/` without the extension: phase/name.
    pub file: &'static str,
    /// The buffers at bindings 0, 1, … of group 0.
    pub bindings: &'static [Buffer],
    /// Number of workgroups.
    pub workgroups: fn(&Sizes) -> u32,
    /// The same computation on the host, in double precision between single-precision buffers.
    pub twin: fn(&mut Contents, &Call) -> Magnitudes,
}

/// One dispatch of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Call {
    /// The entry of a [`super::buffer::Kind::Series`] it reads.
    pub series: usize,
    /// What a solve by fronts is made for.
    pub columns: Columns,
    /// Swaps Correction and CorrectionBefore: inner iterations overwrite the older of two iterates.
    pub swapped: bool,
    /// Which of the buffers of a [`super::buffer::Kind::Panels`] it reads.
    pub panels: usize,
    /// Its workgroups, where the stage of a solve decides; 0: as many as the table says.
    pub tasks: u32,
}

/// Right-hand sides of a solve by fronts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Columns {
    /// g: the global step.
    #[default]
    Gradient,
    /// Q of the angular momenta.
    Turn,
    /// c of the energies.
    Drive,
    /// π of the momenta.
    Weight,
}

/// All of them, in order.
pub const COLUMNS: [Columns; 4] = [Columns::Gradient, Columns::Turn, Columns::Drive, Columns::Weight];

impl Call {
    /// The buffer bound in place of `buffer`.
    pub fn at(&self, buffer: Buffer) -> Buffer {
        match (self.swapped, self.columns, buffer) {
            (true, _, Correction) => CorrectionBefore,
            (true, _, CorrectionBefore) => Correction,
            (_, Columns::Turn, Gradient) => TurnGradient,
            (_, Columns::Turn, FrontSolution) => TurnSolution,
            (_, Columns::Drive, Gradient) => DriveGradient,
            (_, Columns::Drive, FrontSolution) => DriveSolution,
            (_, Columns::Weight, Gradient) => WeightGradient,
            (_, Columns::Weight, FrontSolution) => WeightSolution,
            _ => buffer,
        }
    }
}

impl Kernel {
    /// Number of workgroups of a call.
    pub fn workgroups_of(&self, sizes: &Sizes, call: &Call) -> u32 {
        if call.tasks > 0 { call.tasks } else { (self.workgroups)(sizes) }
    }

    /// Whether any call of it binds a buffer.
    pub fn may_bind(&self, buffer: Buffer) -> bool {
        let calls = COLUMNS.map(|columns| Call { columns, ..Call::default() });
        self.bindings.iter().any(|own| calls.iter().any(|call| call.at(*own) == buffer))
    }

    /// Whether it reads one of several entries or buffers.
    pub fn binds(&self, kind: Kind) -> bool {
        self.bindings.iter().any(|buffer| buffer.described().kind == kind)
    }
}

/// For each buffer a twin wrote, the magnitude of the terms behind each of its numbers: the single-precision error is
/// a few ulps of that, however much cancels. The number of ulps is the kernel's tolerance.
pub type Magnitudes = Vec<(Buffer, Vec<f32>)>;

/// One thread per item.
fn items(n: u32) -> u32 {
    n.div_ceil(LANES)
}

/// One workgroup per block of items.
fn blocks(n: u32) -> u32 {
    n.div_ceil(BLOCK)
}

macro_rules! kernels {
    ($($folder:ident/$name:ident [$($buffer:ident),*] $workgroups:expr;)*) => {
        /// All kernels, in the order of a step.
        pub const KERNELS: &[Kernel] = &[
            $(Kernel { name: stringify!($name), file: concat!(stringify!($folder), "/", stringify!($name)), bindings: &[$($buffer),*], workgroups: $workgroups, twin: twin::$name }),*
        ];

        /// A kernel's number in [`KERNELS`].
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Id { $($name),* }

        /// All kernels' numbers, in the order of the table.
        pub const ALL: &[Id] = &[$(Id::$name),*];

        /// The text of every kernel's file.
        pub const SOURCES: &[(&str, &str)] =
            &[$((concat!(stringify!($folder), "/", stringify!($name), ".wgsl"), include_str!(concat!("../../shaders/", stringify!($folder), "/", stringify!($name), ".wgsl")))),*];
    };
}

kernels! {
    examples/measure_pose [ExampleChunks, Vertices, Motions, ExampleRests, ExamplePartials] |s| s.example_chunks;
    examples/reduce_pose [ExampleGroups, Vertices, Motions, ExamplePartials, ExampleStates] |s| s.example_groups;
    examples/measure_excitation [ExampleChunks, Vertices, Motions, ExampleRests, ExampleMeasures, ExampleStates, ExamplePartials] |s| s.example_chunks;
    examples/couple_examples [Step, ExampleStages, ExampleGroups, ExampleLaws, ExamplePieces, ExampleMatrices, ExamplePartials, ExampleShares, ExampleCouplings] |s| s.example_groups;
    step/predict [Step, Sizes, Vertices, Motions, LaplacianStarts, LaplacianEntries, Iterate, Target, TargetOffset, Viscosity] |s| items(s.vertices);
    step/add_start_force [Step, Sizes, Vertices, StartGradient, LaplacianStarts, LaplacianEntries, Viscosity, Iterate, Target, TargetOffset] |s| items(s.vertices);
    explicit/accelerate [Step, Sizes, Vertices, Gradient, Motions] |s| items(s.vertices);
    explicit/drift [Step, Sizes, Vertices, Motions, Gradient, Iterate, TargetOffset] |s| items(s.vertices);
    local/project_tet [Step, Sizes, Vertices, Iterate, Tets, Rotations, Rows, IterationState] |s| items(s.tets);
    local/project_tet_volume [Step, Sizes, Vertices, Iterate, Tets, Rotations, Rows, IterationState] |s| items(s.tets);
    local/project_tet_law [Step, Sizes, Vertices, Iterate, Tets, Rotations, Rows, IterationState, TetLaws, Curves] |s| items(s.tets);
    local/project_triangle [Step, Sizes, Vertices, Iterate, Triangles, Rows, Curves, IterationState] |s| items(s.triangles);
    local/project_spring [Step, Sizes, Vertices, Iterate, Springs, Rows, IterationState] |s| items(s.springs);
    local/project_bending [Step, Sizes, Vertices, Iterate, Bendings, BendingCorners, Rows, IterationState] |s| items(s.bendings);
    local/project_attachment [Step, Sizes, Vertices, Iterate, Attachments, Points, Rows] |s| items(s.attachments);
    local/gather_gradient [Step, Sizes, Vertices, Iterate, Target, GatherStarts, GatherRows, Rows, Gradient, Energies] |s| items(s.vertices);
    explicit/add_damping_force [Step, Sizes, Vertices, Motions, Iterate, LaplacianStarts, LaplacianEntries, Viscosity, Gradient] |s| items(s.vertices);
    examples/measure_along [Step, ExampleStages, ExampleChunks, Motions, TargetOffset, Gradient, ExampleForces, ExampleSolutions, ExampleStates, ExamplePartials] |s| s.example_chunks;
    examples/solve_along [Step, ExampleStages, ExampleGroups, Motions, TargetOffset, ExampleMatrices, ExampleStates, ExamplePartials, ExampleCouplings, ExampleShares] |s| s.example_groups;
    examples/add_example_force [ExampleChunks, ExampleForces, ExampleStates, ExampleShares, Gradient] |s| s.example_chunks;
    global/measure_gradient [Chunks, Gradient, Partials] |s| s.chunks;
    global/reduce_gradient [Sizes, Partials, Report] |_| 1;
    global/end_iterations [Sizes, IterationRule, Partials, IterationState, Report] |_| 1;
    global/chebyshev_update [Step, Sizes, Inner, Vertices, LaplacianStarts, LaplacianEntries, Gradient, Correction, CorrectionBefore] |s| items(s.vertices);
    global/measure_residual [Step, Chunks, Vertices, LaplacianStarts, LaplacianEntries, Gradient, Correction, Partials] |s| s.chunks;
    global/reduce_residual [Segments, Partials, Shifts] |s| s.bodies;
    global/apply_correction [Chunks, Shifts, Iterate, TargetOffset, Correction, CorrectionBefore] |s| s.chunks;
    global/solve_up [FrontStages, FrontTasks, FrontPanels, FrontOrder, FrontGather, Gradient, FrontUpdates, FrontSolution, IterationState] |s| s.front_tasks;
    global/solve_up_half [FrontStages, FrontTasks, FrontPanels, FrontOrder, FrontGather, Gradient, FrontUpdates, FrontSolution, IterationState] |s| s.front_tasks;
    global/solve_down [FrontStages, FrontTasks, FrontPanels, FrontPlaces, FrontSolution, IterationState] |s| s.front_tasks;
    global/solve_down_half [FrontStages, FrontTasks, FrontPanels, FrontPlaces, FrontSolution, IterationState] |s| s.front_tasks;
    examples/add_example_solution [ExampleStages, ExampleChunks, ExampleSolutions, ExampleStates, ExampleShares, FrontPosition, FrontSolution] |s| s.example_chunks;
    global/apply_solution [Sizes, FrontPosition, FrontSolution, Iterate, TargetOffset, IterationState] |s| items(s.vertices);
    contact/look_at_places [Sizes, Watched, Vertices, Places] |s| items(s.watched);
    contact/look_at_iterate [Sizes, Watched, FrontPosition, FrontSolution, Iterate, Look] |s| items(s.watched);
    contact/look_at_guess [Sizes, Watched, Iterate, Look] |s| items(s.watched);
    contact/look_at_solution [Sizes, Watched, FrontPosition, FrontSolution, Look] |s| items(s.watched);
    contact/scatter_loads [Loads, Gradient] |s| items(s.watched);
    contact/push_loads [Step, Loads, Vertices, Iterate, TargetOffset] |s| items(s.watched);
    contact/measure_constrained_gradient [Chunks, Gradient, ContactGradient, Partials] |s| s.chunks;
    contact/measure_step_energy [Step, Chunks, Vertices, Motions, Iterate, Energies, Partials] |s| s.chunks;
    conservation/measure_energy [Chunks, Vertices, Motions, Rigids, Energies, ConservationPartials] |s| s.chunks;
    conservation/aim_attachment [Sizes, Vertices, Attachments, Points, Rigids, AttachmentAims] |s| items(s.attachments);
    conservation/aim_body [Step, Segments, Partials, ConservationPartials, Rigids, BodyWishes, AttachmentAims, BodyAims] |s| s.bodies;
    conservation/aim_vertex [Step, Chunks, Vertices, Motions, Rigids, BodyAims, FrontPosition, WeightGradient, ConservedVertices] |s| s.chunks;
    conservation/write_columns [Step, Sizes, Chunks, GatherStarts, GatherRows, AttachmentAims, BodyAims, ConservedVertices, TurnGradient, DriveGradient] |s| s.chunks;
    conservation/measure_momenta [Chunks, ConservedVertices, TurnSolution, DriveSolution, WeightSolution, ConservedDirections, ConservationPartials] |s| s.chunks;
    conservation/reduce_momenta [Segments, ConservationPartials, BodyAims, BodySystems] |s| s.bodies;
    conservation/measure_conservation [Chunks, ConservedVertices, Iterate, FrontSolution, Gradient, Energies, BodyAims, ConservationPartials] |s| s.chunks;
    conservation/solve_conservation [Step, Segments, ConservationPartials, AttachmentAims, Iterate, BodySystems, IterationState, BodyAims] |s| s.bodies;
    conservation/apply_conservation [Chunks, BodyAims, FrontSolution, ConservedDirections, Iterate, TargetOffset, IterationState] |s| s.chunks;
    conservation/settle_conservation [Step, Segments, ConservationPartials, AttachmentAims, Iterate, IterationState, BodyAims] |s| s.bodies;
    conservation/measure_vibration [Chunks, Vertices, Motions, Rigids, ConservationPartials] |s| s.chunks;
    conservation/reduce_vibration [Segments, ConservationPartials, BodyAims] |s| s.bodies;
    conservation/take_excess [Step, Chunks, Vertices, Rigids, BodyAims, Motions] |s| s.chunks;
    conservation/report_conservation [BodyAims, IterationState, Report] |_| 1;
    global/move_iterate [Step, Sizes, Correction, Iterate, TargetOffset] |s| items(s.vertices);
    global/measure_merit [Chunks, Vertices, Iterate, Target, Energies, Gradient, Correction, Partials] |s| s.chunks;
    global/measure_strain [Step, Chunks, Iterate, LaplacianStarts, LaplacianEntries, Viscosity, Partials, IterationState] |s| s.chunks;
    global/measure_attachment_energy [Step, Sizes, Vertices, Iterate, Attachments, Points, Partials] |s| blocks(s.attachments);
    global/reduce_merit [Sizes, Partials, Report] |_| 1;
    global/choose_step [Step, Sizes, IterationRule, Partials, Slopes, IterationState, Report] |_| 1;
    global/measure_pairs [Sizes, IterationRule, Chunks, FrontPosition, FrontSolution, IterationState, Gradient, Correction, Pairs, PairPartials] |s| s.chunks;
    global/choose_direction [Sizes, IterationRule, PairPartials, IterationState, Curvature] |_| 1;
    global/take_step [Sizes, IterationRule, IterationState, Pairs, Curvature, Gradient, Correction, Iterate, TargetOffset, Slopes] |s| blocks(s.vertices);
    explicit/kick [Step, Sizes, Vertices, Gradient, TargetOffset] |s| items(s.vertices);
    step/store_end_force [Step, Sizes, Vertices, TargetOffset, StartGradient] |s| items(s.vertices);
    step/advance [Step, Sizes, Vertices, Motions, Iterate, TargetOffset] |s| items(s.vertices);
    step/offset_positions [Step, Sizes, Iterate, Vertices] |s| items(s.vertices);
    step/offset_velocities [Step, Sizes, Changes, Motions] |s| items(s.vertices);
    observe/measure_damping [Step, Chunks, Vertices, Motions, LaplacianStarts, LaplacianEntries, ExchangePartials, Viscosity] |s| s.chunks;
    examples/measure_drag [Step, ExampleChunks, Motions, ExampleForces, ExampleStates, ExamplePartials] |s| s.example_chunks;
    examples/reduce_drag [Step, ExampleGroups, ExamplePartials, ExampleCouplings, ExchangePartials] |s| s.example_groups;
    observe/measure_work [Step, Sizes, Vertices, Motions, Attachments, Points, ExchangePartials] |s| blocks(s.attachments);
    filters/filter_ether_drag [Step, Chunks, Vertices, Motions, ExchangePartials] |s| s.chunks;
    filters/measure_centre [Chunks, Vertices, Motions, Partials] |s| s.chunks;
    filters/reduce_centre [Segments, Partials, Rigids] |s| s.bodies;
    filters/measure_spin [Chunks, Vertices, Motions, Rigids, Partials] |s| s.chunks;
    filters/reduce_spin [Segments, Partials, Rigids] |s| s.bodies;
    filters/filter_pbd [Step, Chunks, Vertices, Motions, Rigids, ExchangePartials] |s| s.chunks;
    filters/filter_start [Step, Chunks, Vertices, Rigids, StartFilters, Motions] |s| s.chunks;
    filters/damp_body [Step, Chunks, Vertices, Motions, Rigids, Changes] |s| s.chunks;
    filters/damp_edge [Step, Sizes, Vertices, Changes, Edges, EdgeRows] |s| items(s.edges);
    filters/gather_edge [Sizes, Vertices, EdgeStarts, EdgeEnds, EdgeRows, Changes] |s| items(s.vertices);
    filters/measure_change [Chunks, Vertices, Motions, Rigids, Changes, Partials] |s| s.chunks;
    filters/reduce_change [Step, Segments, Partials, Rigids, Balances] |s| s.bodies;
    filters/damp_cluster [Step, Sizes, Vertices, Motions, Clusters, ClusterRows] |s| items(s.clusters);
    filters/gather_cluster [Sizes, Vertices, ClusterStarts, ClusterCorners, ClusterRows, Changes] |s| items(s.vertices);
    filters/filter_change [Step, Chunks, Vertices, Motions, Changes, Balances, ExchangePartials] |s| s.chunks;
    observe/reduce_exchange [Sizes, ExchangePartials, Report] |_| 1;
    observe/observe_vertex [Step, Chunks, Vertices, Motions, Partials] |s| s.chunks;
    observe/observe_tet [Sizes, Vertices, Tets, Rotations, Partials, TetLaws, Curves] |s| blocks(s.tets);
    observe/observe_triangle [Sizes, Vertices, Triangles, Partials, Curves] |s| blocks(s.triangles);
    observe/observe_spring [Sizes, Vertices, Springs, Partials] |s| blocks(s.springs);
    observe/observe_bending [Sizes, Vertices, Bendings, BendingCorners, Partials] |s| blocks(s.bendings);
    observe/reduce_stiffening [Sizes, Partials, Report] |_| 1;
    observe/observe_attachment [Sizes, Vertices, Attachments, Points, Partials] |s| blocks(s.attachments);
    observe/reduce_observation [Segments, Partials, Report] |s| s.segments;
}

/// One application of PBD damping, in order. The second pair of spin kernels removes the rounding error of the first:
/// without it the angular momentum grows by 600 ulps in 400 steps at k = 1, with it by less than one.
pub const PBD_DAMPING: &[Id] = &[
    Id::measure_centre,
    Id::reduce_centre,
    Id::measure_spin,
    Id::reduce_spin,
    Id::measure_spin,
    Id::reduce_spin,
    Id::filter_pbd,
];

/// What a step of non-oscillatory motion keeps of the velocities, in order; see [`PBD_DAMPING`].
pub const START_FILTER: &[Id] = &[
    Id::measure_centre,
    Id::reduce_centre,
    Id::measure_spin,
    Id::reduce_spin,
    Id::measure_spin,
    Id::reduce_spin,
    Id::filter_start,
];

/// Before the iterations of a step that conserves momenta or energy, in order.
pub const CONSERVATION_AIMS: &[Id] = &[Id::aim_attachment, Id::aim_body, Id::aim_vertex, Id::write_columns];

/// In the place of `apply_solution` in each of its iterations.
pub const CONSERVATION: &[Id] = &[Id::measure_conservation, Id::solve_conservation, Id::apply_conservation];

/// After its iterations.
pub const CONSERVATION_END: &[Id] =
    &[Id::measure_conservation, Id::settle_conservation, Id::report_conservation];

/// After the state has advanced: takes what its iterations have left too much.
pub const CONSERVATION_REBOUND: &[Id] = &[
    Id::measure_centre,
    Id::reduce_centre,
    Id::measure_spin,
    Id::reduce_spin,
    Id::measure_vibration,
    Id::reduce_vibration,
    Id::take_excess,
];

/// Direct damping of bodies, in order; the middle pair only if forces are projected on edges.
pub const DIRECT_DAMPING: [&[Id]; 3] = [
    &[Id::measure_centre, Id::reduce_centre, Id::damp_body],
    &[Id::damp_edge, Id::gather_edge],
    &[Id::measure_change, Id::reduce_change, Id::filter_change],
];

/// A sweep of spring damping, once [`SPRING_FRAME`] is known.
pub const SPRING_SWEEP: &[Id] = &[Id::damp_body, Id::damp_edge, Id::gather_edge, Id::filter_change];

/// The reference velocity of a sweep: a body's speed must not cost digits.
pub const SPRING_FRAME: &[Id] = &[Id::measure_centre, Id::reduce_centre];

/// Direct damping of elements.
pub const LOCAL_DAMPING: &[Id] = &[Id::damp_cluster, Id::gather_cluster, Id::filter_change];

impl Id {
    /// Its line of the table.
    pub fn kernel(self) -> &'static Kernel {
        &KERNELS[self as usize]
    }
}

/// The kernel of this name.
pub fn id(name: &str) -> Option<Id> {
    ALL.iter().copied().find(|id| id.kernel().name == name)
}
