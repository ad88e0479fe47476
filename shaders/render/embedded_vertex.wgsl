// The embedding of a skin vertex. src/view/visible_geometry.rs has the same struct.

struct EmbeddedVertex {
    vertices: vec4<u32>, // of a tetrahedron
    weights: vec4<f32>,  // barycentric; some are negative outside of it
}

// cof F, which maps area vectors from rest to the current state: its columns.
struct Cofactor {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
}
