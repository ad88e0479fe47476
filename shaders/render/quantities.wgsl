// Parameters of the vertex quantities. src/view/vertex_quantities.rs has the same struct.
//use shared/vertex.wgsl

struct QuantityParams {
    vertices: u32,
    tets: u32,
    triangles: u32,
    springs: u32,
    bendings: u32,
    // first rows of the kinds; the tetrahedra's begin at 0
    triangle_rows: u32,
    spring_rows: u32,
    bending_rows: u32,
    mass_damping: f32,      // a1 of D = a1 M + a2 L (1/s)
    stiffness_damping: f32, // a2 (s)
    // power of a filter v <- (1 - k) v, of the velocity that it left: m |v|^2 times (1/(1-k)^2 - 1)/(2 h) (1/s)
    filter_rate: f32,
    filter_kind: u32, // 0: none; 1: of the whole velocity; 2: beyond the rigid motion
    colour: u32,      // 1 to 4: strain, energy, speed, damping
    automatic: u32,   // 1: from zero to the largest value so far
    low: f32,
    high: f32,
    reset: u32, // 1: forget the largest value so far
}

// A row of an element: strain times weight, weight, and each corner's equal parts of energy (J) and damping power (W).
