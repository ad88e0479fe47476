//! What a scene takes of memory on the processor, without the factor, from its numbers of vertices and elements.
//!
//! Measured with bodies of 30,000 to 750,000 elements and `solver.global = "chebyshev"`, model, state, matrices and workspace in all, and
//! rounded down. The factor is known when its matrix is analysed, and asked for then.

use crate::error::InputError;
use crate::memory::{self, Left};
use crate::mesh::Mesh;
use crate::mesh::spec::{Generator, MeshSpec};
use crate::scene::{self, Scene, SolverKind};

/// Bytes a vertex: places, velocities, masses, the row of the matrix.
const VERTEX: u64 = 200;
/// More of them where iterations are remembered, each of them.
const REMEMBERED: u64 = 48;
/// And where Newton's matrix is made: fifteen blocks of 3 × 3, and their pattern.
const HESSIAN: u64 = 1000;
const TET: u64 = 600;
const TRIANGLE: u64 = 450;
const BENDING: u64 = 330;
const SPRING: u64 = 200;

/// What the bodies so far take, and what was there before the first one.
pub(super) struct Needs {
    bytes: u64,
    vertices: usize,
    elements: usize,
    left: Option<Left>,
}

impl Needs {
    pub fn new() -> Self {
        Needs { bytes: 0, vertices: 0, elements: 0, left: memory::left() }
    }

    /// Adds a body, and refuses it if all of them do not fit. Errors name the field within the body.
    pub fn add(&mut self, scene: &Scene, body: &scene::Body, mesh: &Mesh) -> Result<(), InputError> {
        let newton = if scene.solver.kind == SolverKind::Newton { HESSIAN } else { 0 };
        let vertex = VERTEX + newton + REMEMBERED * scene.solver.history.unwrap_or(0) as u64;
        let springs = body.material.model == "spring";
        let bending =
            if body.material.bending.is_some_and(|bending| bending > 0.0) { BENDING * 3 / 2 } else { 0 };
        let (elements, each) = match (mesh.tets.len(), mesh.triangles.len(), mesh.links.len()) {
            (tets @ 1.., ..) => (tets, if springs { SPRING } else { TET }),
            (0, triangles @ 1.., links) if springs => (links.max(triangles), SPRING),
            (0, triangles @ 1.., _) => (triangles, TRIANGLE + bending),
            (0, 0, links) => (links, SPRING),
        };
        self.vertices += mesh.positions.len();
        self.elements += elements;
        self.bytes += mesh.positions.len() as u64 * vertex + elements as u64 * each;
        let what = format!("a scene of {} vertices and {} elements", self.vertices, self.elements);
        memory::check_with(field(&body.mesh), &what, self.bytes, self.left)
    }
}

/// The field that says how fine a mesh is.
fn field(mesh: &MeshSpec) -> &'static str {
    match mesh {
        MeshSpec::File(_) => "mesh.file",
        MeshSpec::Surface(_) => "mesh.surface",
        MeshSpec::Character(_) => "mesh.character",
        MeshSpec::Generate(Generator::Trapezoid { .. }) => "mesh.rows",
        MeshSpec::Generate(Generator::Annulus { .. }) => "mesh.edge",
        MeshSpec::Generate(Generator::Hair { .. }) => "mesh.strands",
        MeshSpec::Generate(_) => "mesh.cells",
    }
}
