//! Visible geometry of a model: surfaces with creases, strands, edges. Computed once, at rest.

use crate::Vec3;
use crate::gpu::layout::small_structs;
use crate::mesh::{Embedding, Mesh, double_area_normal};
use crate::model::Model;
use crate::scene::{Material, Scene};
use nalgebra::Vector4;

/// Edges sharper than this at rest are creases (degrees): the faces of a box are flat, a coarse ball is round.
const CREASE: f64 = 40.0;
/// Default radius of a strand, relative to the mean length of its segments.
const STRAND_SHARE: f64 = 0.06;

small_structs! {
    /// A piece of a strand, as `shaders/render/ribbon.wgsl` has it.
    pub(super) struct Piece {
        /// The piece is the second to the third; the others are its neighbours, or its ends again.
        vertices: Vector4<u32>,
        body: u32,
        /// (m)
        radius: f32,
    }

    /// What carries a vertex of a skin, as `shaders/render/skin_positions.wgsl` has it.
    pub(super) struct EmbeddedVertexItem as EmbeddedVertex {
        vertices: Vector4<u32>,
        weights: Vector4<f32>,
    }
}

/// The tetrahedra of bodies with a skin.
#[derive(Debug, Clone, Default)]
pub(super) struct Solid {
    pub tets: Vec<[u32; 4]>,
    /// Tetrahedra of vertex i: `own[starts[i]..starts[i + 1]]`, ascending.
    pub starts: Vec<u32>,
    pub own: Vec<u32>,
    /// Rest position of each vertex relative to its body's first (m).
    pub rest: Vec<[f32; 4]>,
}

/// Triangles with creases.
#[derive(Debug, Clone)]
pub(super) struct Surface {
    /// Corners of the triangles.
    pub triangles: Vec<[u32; 3]>,
    /// The same triangles in drawn-vertex numbers.
    pub drawn: Vec<[u32; 3]>,
    /// Vertex and body of each drawn vertex.
    pub corners: Vec<[u32; 2]>,
    /// Triangles of drawn vertex i: `fans[starts[i]..starts[i + 1]]`, ascending.
    pub starts: Vec<u32>,
    pub fans: Vec<u32>,
}

/// The visible parts of all bodies, in model vertex numbers.
#[derive(Debug, Clone, Default)]
pub(super) struct VisibleGeometry {
    /// Surfaces of bodies without a skin.
    pub bare: Surface,
    /// Surfaces of bodies with a skin, and the skins, with their own vertices.
    pub covered: Surface,
    pub fine: Surface,
    /// Rest normals of the skins' drawn vertices.
    pub fine_normals: Vec<[f32; 4]>,
    /// The embedding of each skin vertex.
    pub embedded_vertices: Vec<EmbeddedVertexItem>,
    /// The bodies below the skins.
    pub solid: Solid,
    /// Edges of the simulated surfaces, without duplicates.
    pub edges: Vec<[u32; 2]>,
    pub pieces: Vec<Piece>,
    /// Vertices of no visible element.
    pub loose: Vec<u32>,
}

impl VisibleGeometry {
    /// The visible geometry of a scene's model.
    pub fn new(scene: &Scene, model: &Model) -> Self {
        let mut skin = VisibleGeometry::default();
        for (number, body) in model.bodies.iter().enumerate() {
            let material = scene.bodies.get(number).map(|body| &body.material);
            let first = body.vertices.start as u32;
            let triangles = body.mesh.surface();
            let edges = crate::mesh::topology::triangle_edges(&triangles);
            skin.edges.extend(edges.into_iter().map(|(edge, _)| edge.map(|v| v + first)));
            let own = if body.skin.is_some() { &mut skin.covered } else { &mut skin.bare };
            own.add(&body.mesh.positions, &triangles, first, number as u32);
            if let Some(fine) = &body.skin {
                skin.add_fine(fine, &body.mesh, first, number as u32);
            }
            skin.add_strands(&body.mesh, first, number as u32, material);
            let mut seen = vec![false; body.vertices.len()];
            let parts = body.mesh.tets.iter().flatten().chain(body.mesh.triangles.iter().flatten());
            let links = body.mesh.links.iter().flat_map(|link| &link.vertices);
            parts.chain(links).for_each(|&v| seen[v as usize] = true);
            skin.loose.extend((0..seen.len()).filter(|&v| !seen[v]).map(|v| first + v as u32));
        }
        if !skin.embedded_vertices.is_empty() {
            skin.solid = Solid::new(model);
        }
        skin
    }

    /// Adds the skin of a body whose vertices start at `first`.
    fn add_fine(&mut self, skin: &Embedding, mesh: &Mesh, first: u32, body: u32) {
        let here = self.embedded_vertices.len() as u32;
        let rest = skin.positions(&mesh.positions);
        let from = self.fine.corners.len();
        self.fine.add(&rest, &skin.triangles, here, body);
        for fan in self.fine.starts[from..].windows(2) {
            let mine = &self.fine.fans[fan[0] as usize..fan[1] as usize];
            let corners = |t: &u32| self.fine.triangles[*t as usize].map(|v| rest[(v - here) as usize]);
            let normal: Vec3 = mine.iter().map(|t| double_area_normal(&corners(t))).sum();
            let normal = normal.try_normalize(0.0).unwrap_or_default();
            self.fine_normals.push([normal.x as f32, normal.y as f32, normal.z as f32, 0.0]);
        }
        self.embedded_vertices.extend(skin.embedded_vertices.iter().map(|embedded| EmbeddedVertexItem {
            vertices: embedded.vertices.map(|v| v + first).into(),
            weights: embedded.weights.map(|w| w as f32).into(),
        }));
    }

    fn add_strands(&mut self, mesh: &Mesh, first: u32, body: u32, material: Option<&Material>) {
        let strands = mesh.strands();
        let lengths = strands
            .iter()
            .flat_map(|strand| strand.windows(2))
            .map(|ends| (mesh.positions[ends[0] as usize] - mesh.positions[ends[1] as usize]).norm());
        let (count, sum) = lengths.fold((0usize, 0.0), |(n, sum), length| (n + 1, sum + length));
        let thickness = material.and_then(|material| material.thickness).unwrap_or(0.0);
        // micrometre-thin hair would be invisible; a simulated strand stands for a wisp
        let radius = (0.5 * thickness).max(STRAND_SHARE * sum / count.max(1) as f64) as f32;
        for strand in strands {
            for k in 0..strand.len() - 1 {
                let at = |k: usize| first + strand[k.min(strand.len() - 1)];
                let vertices = Vector4::new(at(k.saturating_sub(1)), at(k), at(k + 1), at(k + 2));
                self.pieces.push(Piece { vertices, body, radius });
            }
        }
    }
}

impl Solid {
    fn new(model: &Model) -> Self {
        let mut solid = Solid { rest: Vec::with_capacity(model.vertex_count()), ..Solid::default() };
        for body in &model.bodies {
            let origin = body.mesh.positions.first().copied().unwrap_or_default();
            let place = |p: &Vec3| [0, 1, 2, 3].map(|k| if k < 3 { (p[k] - origin[k]) as f32 } else { 0.0 });
            solid.rest.extend(body.mesh.positions.iter().map(place));
            solid.rest.resize(body.vertices.end, [0.0; 4]);
            if body.skin.is_some() {
                let first = body.vertices.start as u32;
                solid.tets.extend(body.mesh.tets.iter().map(|tet| tet.map(|v| v + first)));
            }
        }
        let mut ends: Vec<(u32, u32)> =
            (0..).zip(&solid.tets).flat_map(|(number, tet)| tet.map(|v| (v, number))).collect();
        ends.sort_unstable();
        let start = |v: usize| ends.partition_point(|(vertex, _)| (*vertex as usize) < v) as u32;
        solid.starts = (0..=solid.rest.len()).map(start).collect();
        solid.own = ends.into_iter().map(|(_, number)| number).collect();
        solid
    }
}

impl Default for Surface {
    fn default() -> Self {
        let [triangles, drawn] = [(); 2].map(|()| Vec::new());
        Surface { triangles, drawn, corners: Vec::new(), starts: vec![0], fans: Vec::new() }
    }
}

impl Surface {
    /// Adds the triangles of a body whose vertices start at `first`.
    fn add(&mut self, positions: &[Vec3], triangles: &[[u32; 3]], first: u32, body: u32) {
        let normal = |t: &[u32; 3]| double_area_normal(&t.map(|v| positions[v as usize]));
        let normals: Vec<_> =
            triangles.iter().map(|t| normal(t).try_normalize(0.0).unwrap_or_default()).collect();
        let base = self.triangles.len();
        let mut at_vertex: Vec<Vec<usize>> = vec![Vec::new(); positions.len()];
        for (number, triangle) in triangles.iter().enumerate() {
            triangle.iter().for_each(|&v| at_vertex[v as usize].push(number));
        }
        let mut drawn = vec![[0; 3]; triangles.len()];
        let smooth = CREASE.to_radians().cos();
        for (vertex, mine) in at_vertex.iter().enumerate() {
            let joined = |a: usize, b: usize| {
                let shared = triangles[a].iter().filter(|v| triangles[b].contains(v)).count();
                shared >= 2 && normals[a].dot(&normals[b]) >= smooth
            };
            for side in sides(mine, joined) {
                let number = self.corners.len() as u32;
                for &triangle in &side {
                    let corner = triangles[triangle].iter().position(|&v| v as usize == vertex);
                    drawn[triangle][corner.unwrap_or(0)] = number;
                    self.fans.push((base + triangle) as u32);
                }
                self.corners.push([first + vertex as u32, body]);
                self.starts.push(self.fans.len() as u32);
            }
        }
        self.drawn.extend(drawn);
        self.triangles.extend(triangles.iter().map(|t| t.map(|v| v + first)));
    }
}

/// Connected groups of triangles around a vertex, each ascending.
fn sides(mine: &[usize], joined: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut side: Vec<usize> = (0..mine.len()).collect();
    for a in 0..mine.len() {
        for b in a + 1..mine.len() {
            if side[a] != side[b] && joined(mine[a], mine[b]) {
                let (kept, gone) = (side[a].min(side[b]), side[a].max(side[b]));
                side.iter_mut().filter(|s| **s == gone).for_each(|s| *s = kept);
            }
        }
    }
    let groups = (0..mine.len()).map(|group| {
        let members = mine.iter().zip(&side).filter(|(_, s)| **s == group);
        members.map(|(&triangle, _)| triangle).collect::<Vec<_>>()
    });
    groups.filter(|group| !group.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::{build, load_text};

    fn skin(mesh: &str, material: &str) -> VisibleGeometry {
        let text = format!("[[body]]\nmesh = {mesh}\nmaterial = {material}");
        let loaded = load_text("scene.toml", &text, &[]).unwrap();
        VisibleGeometry::new(&loaded.scene, &build(&loaded).unwrap().model)
    }

    #[test]
    fn a_box_has_six_flat_sides_and_a_ball_none() {
        let solid = "{ model = \"arap\", mu = 1000 }";
        let cube = skin("{ generate = \"box\", cells = [2, 2, 2], size = [1, 1, 1] }", solid);
        // six faces of 3 x 3 vertices each, nothing shared between them
        assert_eq!(cube.bare.corners.len(), 6 * 9);
        assert_eq!(cube.bare.triangles.len(), 6 * 4 * 2);
        assert_eq!(cube.bare.fans.len(), 3 * cube.bare.triangles.len());
        let ball = skin("{ generate = \"ball\", radius = 1, cells = 8 }", solid);
        let mut vertices: Vec<u32> = ball.bare.triangles.iter().flatten().copied().collect();
        vertices.sort_unstable();
        vertices.dedup();
        assert_eq!(ball.bare.corners.len(), vertices.len(), "one drawn vertex each");
    }

    #[test]
    fn drawn_triangles_are_the_surface() {
        let cloth = skin(
            "{ generate = \"cloth\", cells = [3, 2], size = [1, 1] }",
            "{ model = \"spring\", stiffness = 1 }",
        );
        for (drawn, triangle) in cloth.bare.drawn.iter().zip(&cloth.bare.triangles) {
            assert_eq!(drawn.map(|k| cloth.bare.corners[k as usize][0]), *triangle);
        }
        assert!(cloth.pieces.is_empty() && cloth.loose.is_empty());
    }

    #[test]
    fn strands_know_their_neighbours() {
        let hair = "{ generate = \"hair\", strands = 2, segments = 3, length = 0.3, radius = 0.1 }";
        let hair = skin(hair, "{ model = \"spring\", stiffness = 1, thickness = 0.02 }");
        assert_eq!(hair.pieces.len(), 2 * 3);
        let [p, a, b, n] = hair.pieces[1].vertices.into();
        assert!(p != a && b != n && hair.pieces[0].vertices[0] == hair.pieces[0].vertices[1]);
        assert_eq!(hair.pieces[0].radius, 0.01);
        assert!(hair.bare.triangles.is_empty() && a != b);
    }
}
