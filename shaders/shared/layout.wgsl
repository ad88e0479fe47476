// What the buffers hold. `src/gpu/layout.rs` has the same structs; a test compares every offset.

// Position and mass of a vertex. Its place is position + low, so that edges and small steps keep their digits far from
// the origin: always subtract first, `difference` in vertex.wgsl.
struct Vertex {
    position: vec3<f32>, // m
    mass: f32,           // kg
    low: vec3<f32>,      // m
    attachment_stiffness: f32, // sum of the stiffnesses of its attachments (N/m)
}

struct Motion {
    velocity: vec3<f32>,        // v_n (m/s)
    filtered_x: f32,            // by how much filters changed v_n (m/s): x, y and z stand where there would be padding
    velocity_before: vec3<f32>, // v_{n-1} (m/s)
    filtered_y: f32,
    last_displacement: vec3<f32>, // x_n - x_{n-1} (m)
    filtered_z: f32,
}

// w_s/2 |F - R|^2 + w_v/2 |F - P|^2, F = [x1-x0, x2-x0, x3-x0] Dm^-1
struct Tet {
    vertices: vec4<u32>,
    rest_0: vec3<f32>, // first row of Dm^-1 (1/m)
    shape_weight: f32, // w_s (J)
    rest_1: vec3<f32>,
    volume_weight: f32, // w_v (J)
    rest_2: vec3<f32>,
    stiffening_gain: f32, // share of its energy that it gained when it was stiffened last: (s' - s)/s'
}

struct Triangle {
    vertices: vec3<u32>,
    weight: f32,             // w (J)
    inverse_rest: vec4<f32>, // Dm^-1, row by row (1/m)
    limits: vec2<f32>,       // least and greatest stretch that cost nothing; of another law lambda A t/w and mu A t/w
    stiffening_gain: f32,             // as of a tetrahedron
    law: u32,                // its number; PROJECTIVE with limits
}

// Laws by their numbers. The last one is a number for every set of curves: that of its first piece further.
const PROJECTIVE: u32 = 0u;
const ST_VENANT_KIRCHHOFF: u32 = 1u;
const NEO_HOOKEAN: u32 = 2u;
const COROTATED_LINEAR: u32 = 3u;
const VALANIS_LANDEL: u32 = 4u;

// A cubic piece of a curve less its value at 1: c0 + c1 u + c2 u^2 + c3 u^3, u = stretch - 1 - start. The first one of a curve
// is for all below its start.
struct CurvePiece {
    coefficients: vec4<f32>,
    start: f32,
    integral: f32, // of the curve from 1 to the start
    at_rest: f32,  // the curve's value at 1
    end: u32,      // one past the curve's last piece: there the next one begins
}

struct Spring {
    vertices: vec2<u32>,
    length: f32,    // m
    stiffness: f32, // N/m
    rest_direction: vec3<f32>,
    stiffening_gain: f32, // as of a tetrahedron
}

// Its corners are entries first..end of the corner buffer.
struct Bending {
    first: u32,
    end: u32,
    weight: f32,         // w (J m^2)
    rest_curvature: f32, // 1/m
    rest_direction: vec3<f32>,
    stiffening_gain: f32,         // as of a tetrahedron
}

// An entry of a sparse row: corner of a bending stencil, or column of L.
struct Entry {
    index: u32,
    value: f32,
}

struct Attachment {
    vertex: u32,
    stiffness: f32, // N/m
}

// Where an attachment holds: at `position + low` when the step begins, `travel` further when it ends (m).
struct Point {
    position: vec3<f32>,
    low: vec3<f32>,
    travel: vec3<f32>,
}

// An edge of a body's shape, for damping along it.
struct Edge {
    first: u32,
    second: u32,
    share: f32, // 1/(N_i/m_i + N_j/m_j), N edges meeting at an end (kg)
}

// An element as damping sees it: two to four corners, then NO_VERTEX, and which part of a corner's mass belongs to it.
struct Cluster {
    vertices: vec4<u32>,
    parts: vec4<f32>,
}

const NO_VERTEX: u32 = 0xffffffffu;

// Vertices first..end, all of one body: what a workgroup reduces.
struct Chunk {
    first: u32,
    end: u32,
    body: u32,
}

// Partial sums first..end: of one body, or of one kind of element.
struct Segment {
    first: u32,
    end: u32,
}

// Rigid motion of a body. Places and velocities are counted from those of its first vertex, so that they keep their digits
// far from the origin and at high speed: r = (x - origin) - centre, and its velocity is base + drift + spin x r.
struct Rigid {
    origin: vec3<f32>, // position of the first vertex, rounded (m)
    mass: f32,         // kg
    centre: vec3<f32>, // centre of mass, from there (m)
    base: vec3<f32>,   // velocity of the first vertex (m/s)
    drift: vec3<f32>,  // velocity of the centre, from there (m/s)
    spin: vec3<f32>,   // omega (1/s)
}

// The numbers of a step (src/step/coefficients.rs, in differences: x = x_n + d).
struct Step {
    gravity: vec3<f32>, // m/s^2
    h: f32,             // s
    // y - x_n = target_displacement last_displacement + target_velocity v + target_velocity_before v_before + target_acceleration gravity
    target_displacement: f32,
    target_velocity: f32,
    target_velocity_before: f32,
    target_acceleration: f32,
    // v' = v'(y) + slope (x - y), v'(y) = v + free_velocity_before (v_before - v) + free_velocity_displacement (last_displacement/h - v) + free_velocity_gravity gravity
    slope: f32,
    free_velocity_before: f32,
    free_velocity_displacement: f32,
    // g = inertia m (d - target) + sum of w G^T(projection (G x_e - p) + viscous G (x_e - x_n)), x_e = x_n + share d
    inertia: f32,
    share: f32,
    viscous: f32,
    projection: f32,
    // A = inertia M + laplacian L + attachment_weight K
    laplacian: f32,
    attachment_weight: f32,
    // D = mass_damping M + stiffness_damping L
    mass_damping: f32,
    stiffness_damping: f32,
    // target = (y - x_n) - dissipation (mass_damping v'(y) + stiffness_damping/m L(known_displacement last_displacement + known_velocity v))
    dissipation: f32,
    known_displacement: f32,
    known_velocity: f32,
    // the damping force is -damping_force D v'
    damping_force: f32,
    // k of a velocity filter
    filter_coefficient: f32,
    free_velocity_gravity: f32,
    // always 0, which no compiler knows: see `opaque` in place.wgsl
    zero: u32,
    // what a velocity filter does: sum of the numbers below
    filter_mode: u32,
    // y and v' get target_force and velocity_force times the force at the start of the step over m
    target_force: f32,
    velocity_force: f32,
    // share of that force in the step's impulse
    start_share: f32,
    // share of the host's correction that an iterate moves by
    correction_factor: f32,
}

// Impulses of an edge lie along it.
const PROJECTED: u32 = 1u;
// Impulses lie on the lines from the centre.
const RADIAL: u32 = 2u;
// Impulses are sums of those along edges, scaled so that none is larger than before, and so that no energy is added.
const SCALED: u32 = 4u;
// The mean of a body's changes is taken from them.
const BALANCED: u32 = 8u;

// Numbers that the gradient of a tetrahedron takes: the rows of corners 1 to 3 (N), and its energy (J).
const TET_NUMBERS: u32 = 10u;

// How much there is of everything. Rows of gradients: first the tetrahedra's, TET_NUMBERS each, then the others from where it says, in
// units of four numbers: a row (N) and the corner's part of the energy (J).
struct Sizes {
    vertices: u32,
    tets: u32,
    triangles: u32,
    springs: u32,
    bendings: u32,
    attachments: u32,
    triangle_rows: u32,
    spring_rows: u32,
    bending_rows: u32,
    attachment_rows: u32,
    // Partial sums: one a chunk of vertices, then one a block of elements from where it says.
    chunks: u32,
    tet_partials: u32,
    triangle_partials: u32,
    spring_partials: u32,
    bending_partials: u32,
    attachment_partials: u32,
    segments: u32,
    bodies: u32,
    edges: u32,
    clusters: u32,
    front_tasks: u32,
    watched: u32,
    example_chunks: u32,
    example_groups: u32,
}

// Vertices first..end, all of one group of example shapes. The vector of shape j at vertex i begins at number
// columns + 3 (vertices j + i - origin).
struct ExampleChunk {
    first: u32,
    end: u32,
    group: u32,
    origin: u32,     // first vertex of the group
    vertices: u32,   // of the group
    shapes: u32,
    columns: u32,
    velocities: u32, // bit j: the curve of shape j is over the velocity
}

// Example shapes of an island. Places and velocities are counted from those of its first vertex.
struct ExampleGroup {
    centre: vec3<f32>, // c0, rounded (m)
    first: u32,
    centre_low: vec3<f32>,
    shapes: u32,
    first_chunk: u32,
    end_chunk: u32,
    matrices: u32, // R, R^-1, S of both stages of a step, sum of U; row by row
    laws: u32,
    followed: f32, // sum of the weights of what it follows, 0 if nothing
    exchange: u32, // where its damping goes
}

// Rigid motion of a group: x = first + centre + T (X - c0), its velocity that of the first + drift + spin x (x - centre).
struct ExampleState {
    turn: vec4<f32>, // quaternion w, x, y, z
    centre: vec3<f32>,
    drift: vec3<f32>,
    spin: vec3<f32>,
}

// gamma of an example, or the pieces first..end of its curve.
struct ExampleLaw {
    gamma: f32,
    first: u32,
    end: u32,
}

// log10 gamma from start to start + 1/scale, a Bezier polynomial with these control values.
struct ExamplePiece {
    control: vec4<f32>,
    start: f32,
    scale: f32,
}

// Which metric a stage of a step has: its number, and where its B begin.
struct ExampleStage {
    stage: u32,
    solutions: u32,
}

// The numbers of an inner iteration.
struct Inner {
    momentum: f32,
    step: f32,
}

// How far the iterations of a stage have come: done is 1 once they have ended, and the iterate stays where it is.
struct IterationState {
    done: u32,
    iterations: u32,  // directions taken
    // Of a line search. rejected: 1 if the last step was too long, and the iterate goes back; the other iterations wait.
    rejected: u32,
    evaluations: u32, // points where the search has decided
    cuts: u32,        // of the last step
    // Of L-BFGS: where the next pair goes, and how many count.
    next_pair: u32,
    pairs: u32,
    first: f32,       // |g| at the first guess (N)
    share: f32,       // how much of the last direction the iterate has gone
    way: f32,         // how much of it the iterate goes back by now
    taken: f32,       // how much of the direction before the iterate went
    // Where the last step began: sum of m |x - target|^2 (kg m^2), energy of elements and attachments, u . L u, what may be noise (J).
    inertia: f32,
    elastic: f32,
    strain: f32,
    noise: f32,
}

// When the iterations of a stage end.
struct IterationRule {
    tolerance: f32,   // share of the first gradient
    iterations: u32,  // directions, at most
    evaluations: u32, // points of a line search, at most
    history: u32,     // pairs of L-BFGS
}

// A force on a vertex (N).
struct Load {
    force: vec3<f32>,
    vertex: u32,
}

// Tasks of a dispatch of the solve by fronts.
struct FrontStage {
    first_task: u32,
    tasks: u32,
}

// Some rows of a front's matrix, [D^-1; U] up and U^T down, that one workgroup multiplies. Numbers stand by quads of columns:
// panels[panel + quad height + row].
struct FrontTask {
    panel: u32,
    height: u32,    // rows with padding
    rows: u32,
    first_row: u32, // in the front
    columns: u32,   // the front's columns up, the rows below them down
    solution: u32,  // the front's first column in the order of elimination
    list: u32,      // up: the front's first row in the lists to gather, down: in those of its places
    update: u32,    // the front's first row in what fronts hand on
}

// How a step of non-oscillatory motion filters the velocities that a body starts with.
struct StartFilter {
    share: f32,  // of the motion beyond the rigid one that is taken
    loss: f32,   // of all motion
    weight: f32, // of gravity (s)
    spare: f32,
}

// What conservation knows of a vertex in a step, from the centre of its body on.
struct ConservedVertex {
    arm: vec3<f32>,   // r, from the centre of mass at the start of the step (m)
    mass: f32,        // kg
    turn: vec3<f32>,  // Q: C_L = Q x e_k (kg m/s)
    weight: f32,      // pi: C_P = pi e_k (kg/s)
    drive: vec3<f32>, // c: C_H = g + c (N)
    column: u32,      // of the factor
}

// Directions that change momenta and energy of a vertex.
struct ConservedDirection {
    turned: vec3<f32>, // A^-1 Q (m)
    translation: f32,  // A^-1 pi (s)
    push: vec3<f32>,   // A^-1 c (m)
    column: u32,       // of the factor
}

// An attachment as conservation sees it in a step.
struct AttachmentAim {
    pull: vec3<f32>,   // from its point at the start of the step to the vertex at x_n (m)
    stiffness: f32,    // N/m
    travel: vec3<f32>, // of the point in the step (m)
    vertex: u32,
    arm: vec3<f32>, // r of the vertex (m)
    body: u32,
}

// What the host asks of a body in a step, and what it did to it before.
struct BodyWish {
    momentum: vec3<f32>, // P wished (kg m/s)
    flags: u32,          // sum of the numbers below
    spin: vec3<f32>,     // L about the centre wished (kg m^2/s)
    energy: f32,         // wished, without the weight's (J)
    impulse: vec3<f32>,  // given from outside since the step before (kg m/s)
    given: f32,          // energy given with it (J)
    angular_impulse: vec3<f32>, // kg m^2/s
    stiffened: f32,      // share of its elastic energy that the body gained by becoming stiffer
    first: u32,          // its attachments
    end: u32,
    decay: f32,          // 1 - exp(-gamma h)
    tolerance: f32,      // of the largest error, as a share
}

// Nothing holds the body.
const FREE: u32 = 1u;
// Nothing of the body is corrected.
const ALONE: u32 = 2u;
const HOLDS_MOMENTUM: u32 = 4u;
const HOLDS_SPIN: u32 = 8u;
const HOLDS_ENERGY: u32 = 16u;
const WISHES_MOMENTUM: u32 = 32u;
const WISHES_SPIN: u32 = 64u;
const WISHES_ENERGY: u32 = 128u;
// What was conserved so far counts no more.
const FORGETS: u32 = 256u;
// C_H is taken without the rigid motion, which the momenta have.
const WITHOUT_RIGID: u32 = 512u;
// gamma lets its energy decay.
const DECAYS: u32 = 1024u;

// Bits of `known`: P and L, and H, are kept from the step before.
const KNOWS_MOMENTA: u32 = 1u;
const KNOWS_ENERGY: u32 = 2u;

// What is conserved of a body, what a step shall make of it, and how far it is.
struct BodyAim {
    // from step to step: V = P/M, L about the centre and the energy without that of the centre's motion and weight, as sums of two numbers
    centre_velocity: vec3<f32>, // m/s; of a body that is held what it had
    known: u32,
    centre_velocity_low: vec3<f32>,
    bend: f32, // second derivative of H along the steps as a share of A
    spin: vec3<f32>, // kg m^2/s
    energy: f32,     // J
    // of the step
    reference: vec3<f32>, // w: way of the centre in a free flight (m)
    mass: f32,            // kg
    velocity: vec3<f32>, // V' of the centre at the end of a free flight (m/s)
    target_energy: f32,  // without what acts from outside (J)
    offset: vec3<f32>,   // from Rigid's centre to the centre (m)
    kinetic: f32,        // M |V'|^2/2 (J)
    frame: vec3<f32>,    // velocity that C_H is taken without (m/s)
    floor: f32,          // energy that errors are compared with at least (J)
    rotation: vec3<f32>, // angular velocity that C_H is taken without (1/s)
    tolerance: f32,
    turn_offset: vec3<f32>, // q: Q = m (q - s r) (m/s)
    damped: f32,            // energy that gamma takes (J)
    pivot: vec3<f32>,       // point that torques are taken about, from the centre (m)
    given: f32,             // energy that the user gives (J)
    pivot_shift: vec3<f32>, // from there to the middle of the flight (m)
    flags: u32,             // those of the wish
    push: vec3<f32>,        // what the user changes P by (kg m/s)
    first: u32,             // attachments
    torque: vec3<f32>,      // constant part of the error of L (kg m^2/s)
    end: u32,
    new_spin: vec3<f32>, // L about the centre at the end (kg m^2/s)
    energy_low: f32,     // second number of the conserved energy (J)
    // of the iteration: multipliers and the error before it
    momentum_factor: vec3<f32>, // m/s
    energy_factor: f32,
    spin_factor: vec3<f32>, // 1/s
    error: f32,             // as a share
    worst: u32,             // of what: 0 P, 1 L, 2 H
    made: u32,              // iterations
    least: u32,             // 1: the step goes to the least energy, which is more than asked for
    square: f32,            // d^T A d of the step (J)
    excess: f32,            // energy beyond what is asked for (J)
    scale: f32,             // energy that errors are compared with (J)
    work: f32,              // of attachments that move (J)
    inertia: f32,           // bound of the moments of inertia (kg m^2)
    // after the last iteration
    too_much: f32,    // energy that the iterations have left beyond what there may be (J)
    end_kinetic: f32, // kinetic energy that they lead to (J)
    shrink: f32,      // share of the motion beyond the rigid one that is taken
    brake: f32,       // share of all motion that is taken then
    // in the iterations
    crossed: f32,     // share of the curvature that the last iteration counted on, if it went to the far side; or 0
    unreachable: f32, // energy beyond the spin's that gamma could not take (J)
    turning: f32,     // energy of the rigid spin at the end of the step (J)
    settled: u32,     // 1: all errors are within the tolerance, or no iteration can lower them
}

// The small system of a body that does not change in a step.
struct BodySystem {
    momenta: array<f32, 36>, // S of P and L
    inverse: array<f32, 36>, // its inverse, where it has one
    mixed: array<f32, 6>,    // S between P, L and c
    energy: f32,             // S of c (J)
    spare: f32,
}

// One workgroup's threads, and how many items a workgroup of a reduction takes: four a thread.
const LANES: u32 = 64u;
const BLOCK: u32 = 256u;
