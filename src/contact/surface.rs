//! Contact surfaces of bodies: which vertices can touch, their stiffness, and the offset of the surface from the mesh.

use crate::Vec3;
use crate::mesh::{Mesh, double_area_normal, six_volumes};
use crate::model::material::lame;
use crate::model::{Body, Model};
use crate::scene::{ContactLaw, Material, MatterKind, Scene};

/// A body's contact layer is as stiff as its material in a layer of this fraction of its size: under any load the
/// layer is compressed by this fraction of the body's own compression, for any mesh resolution.
const LAYER: f64 = 0.01;
/// Default thickness of cloth and strands, as a fraction of the mean edge length. Thinner ones could be pushed through
/// each other within a step, thicker ones would touch their own neighbours.
const THICKNESS_SHARE: f64 = 0.1;

/// The surface of one body.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactSurface {
    pub kind: MatterKind,
    /// Vertices that can touch, in model numbers, ascending.
    pub vertices: Vec<u32>,
    /// Area represented by each vertex (m²).
    pub areas: Vec<f64>,
    /// Triangles in model vertex numbers; oriented outward for a solid, none for strands.
    pub triangles: Vec<[u32; 3]>,
    /// Half the thickness (m): distance of the contact surface from the mesh.
    pub clearance: f64,
    /// Mean rest edge length (m).
    pub edge: f64,
    /// Stiffness per area: U' = κ a δ (N/m³) or κ a δ² (N/m⁴).
    pub stiffness: f64,
}

impl ContactSurface {
    /// The surfaces of all bodies.
    pub fn all(scene: &Scene, model: &Model) -> Vec<ContactSurface> {
        model
            .bodies
            .iter()
            .zip(&scene.bodies)
            .map(|(body, described)| ContactSurface::new(scene, model, body, &described.material))
            .collect()
    }

    fn new(scene: &Scene, model: &Model, body: &Body, material: &Material) -> ContactSurface {
        let first = body.vertices.start as u32;
        let mesh = &body.mesh;
        let kind = match (mesh.tets.is_empty(), mesh.triangles.is_empty()) {
            (false, _) => MatterKind::Solid,
            (true, false) => MatterKind::Cloth,
            (true, true) => MatterKind::Strands,
        };
        let triangles = mesh.surface();
        let areas = vertex_areas(mesh, &triangles, material);
        let touching: Vec<u32> = (0..areas.len() as u32).filter(|&v| areas[v as usize] > 0.0).collect();
        let edge = mean_edge(mesh);
        let thickness = scene.contact.thickness.unwrap_or(match kind {
            MatterKind::Solid => 0.0,
            MatterKind::Cloth | MatterKind::Strands => THICKNESS_SHARE * edge,
        });
        ContactSurface {
            kind,
            areas: touching.iter().map(|&v| areas[v as usize]).collect(),
            vertices: touching.into_iter().map(|v| v + first).collect(),
            triangles: triangles.into_iter().map(|t| t.map(|v| v + first)).collect(),
            clearance: thickness / 2.0,
            edge,
            stiffness: stiffness(scene.contact.law, young_modulus(model, body, material), size(mesh)),
        }
    }
}

/// κ of a layer with Young's modulus E and thickness `LAYER` · L: p = E δ / (LAYER · L). The cubic law has the same
/// pressure at a depth equal to the layer's thickness.
fn stiffness(law: ContactLaw, young_modulus: f64, size: f64) -> f64 {
    let layer = LAYER * size;
    match law {
        ContactLaw::Linear => young_modulus / layer,
        ContactLaw::Cubic => young_modulus / (layer * layer),
    }
}

/// Young's modulus E = μ (3λ + 2μ)/(λ + μ) (Pa), or that of a spring network with the same energy under uniform
/// stretch: Σ k r² / (3 V).
fn young_modulus(model: &Model, body: &Body, material: &Material) -> f64 {
    let (mu, lambda) = lame(material);
    if mu > 0.0 {
        return mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu);
    }
    let springs = model.springs.iter().filter(|s| body.vertices.contains(&(s.vertices[0] as usize)));
    let weight: f64 = springs.map(|spring| spring.energy_scale()).sum();
    weight / (3.0 * volume(&body.mesh, material))
}

/// Material volume (m³).
pub(crate) fn volume(mesh: &Mesh, material: &Material) -> f64 {
    let thickness = material.thickness.unwrap_or(Material::DEFAULT_THICKNESS);
    let solid: f64 = mesh.tets.iter().map(|&t| six_volumes(&mesh.tet_corners(t)).abs() / 6.0).sum();
    let cloth: f64 = mesh.triangles.iter().map(|&t| triangle_area(mesh, t) * thickness).sum();
    let section = std::f64::consts::FRAC_PI_4 * thickness * thickness;
    let strands: f64 = mesh.strand_pieces().iter().map(|&piece| piece_length(mesh, piece) * section).sum();
    solid + cloth + strands
}

/// A third of each triangle at a vertex; for strands, half of each segment times its thickness (m²).
fn vertex_areas(mesh: &Mesh, triangles: &[[u32; 3]], material: &Material) -> Vec<f64> {
    let mut areas = vec![0.0; mesh.positions.len()];
    for &triangle in triangles {
        let share = triangle_area(mesh, triangle) / 3.0;
        triangle.iter().for_each(|&v| areas[v as usize] += share);
    }
    let thickness = material.thickness.unwrap_or(Material::DEFAULT_THICKNESS);
    for piece in mesh.strand_pieces() {
        let share = piece_length(mesh, piece) * thickness / 2.0;
        piece.iter().for_each(|&v| areas[v as usize] += share);
    }
    areas
}

fn triangle_area(mesh: &Mesh, triangle: [u32; 3]) -> f64 {
    double_area_normal(&mesh.triangle_corners(triangle)).norm() / 2.0
}

fn piece_length(mesh: &Mesh, [from, to]: [u32; 2]) -> f64 {
    (mesh.positions[from as usize] - mesh.positions[to as usize]).norm()
}

fn mean_edge(mesh: &Mesh) -> f64 {
    let edges = mesh.edges();
    edges.iter().map(|&edge| piece_length(mesh, edge)).sum::<f64>() / edges.len().max(1) as f64
}

/// Diagonal of the bounding box (m).
fn size(mesh: &Mesh) -> f64 {
    let low = mesh.positions.iter().fold(Vec3::repeat(f64::INFINITY), |a, b| a.inf(b));
    let high = mesh.positions.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |a, b| a.sup(b));
    (high - low).norm()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::{build, load_text};

    fn contact_surface(mesh: &str, material: &str) -> ContactSurface {
        let text = format!("[[body]]\nmesh = {mesh}\nmaterial = {material}");
        let loaded = load_text("scene.toml", &text, &[]).unwrap();
        let model = build(&loaded).unwrap().model;
        ContactSurface::all(&loaded.scene, &model).remove(0)
    }

    #[test]
    fn a_finer_mesh_has_the_same_area_and_stiffness() {
        let material = "{ model = \"arap\", mu = 1000 }";
        let coarse = contact_surface("{ generate = \"box\", cells = [2, 2, 2], size = [1, 2, 2] }", material);
        let fine = contact_surface("{ generate = \"box\", cells = [4, 8, 6], size = [1, 2, 2] }", material);
        for contact_surface in [&coarse, &fine] {
            // 2 (1·2 + 2·2 + 1·2) m², as sums of a few hundred terms
            assert!((contact_surface.areas.iter().sum::<f64>() - 16.0).abs() < 1e-12);
        }
        // E = 2 μ for λ = 0, the diagonal of the box is 3 m
        assert!((coarse.stiffness - 2000.0 / 0.03).abs() < 1e-9);
        assert_eq!(coarse.stiffness, fine.stiffness);
        // all but the 1·1·1 inner vertices of the coarse box
        assert_eq!(coarse.vertices.len(), 27 - 1);
    }

    #[test]
    fn springs_have_a_modulus_too() {
        // A network of springs along the edges of a box has a modulus of the order of k / edge.
        let mesh = |n: usize| format!("{{ generate = \"box\", cells = [{n}, {n}, {n}], size = [1, 1, 1] }}");
        let coarse = contact_surface(&mesh(4), "{ model = \"spring\", stiffness = 100 }");
        let per_layer = coarse.stiffness * LAYER * 3f64.sqrt();
        assert!((100.0..4000.0).contains(&per_layer), "{per_layer}");
        let hair = "{ generate = \"hair\", strands = 3, segments = 4, length = 0.4, radius = 0.1 }";
        let hair = contact_surface(hair, "{ model = \"spring\", stiffness = 100, thickness = 0.01 }");
        assert!((hair.areas.iter().sum::<f64>() - 3.0 * 0.4 * 0.01).abs() < 1e-12);
        assert!(hair.stiffness > 0.0 && hair.triangles.is_empty());
    }
}
