//! Normals at triangle corners: averaged around a vertex on smooth surfaces, split at creases.

use crate::Vec3;
use crate::mesh::double_area_normal;

/// Triangles that meet at a larger angle at rest (degrees) form a crease: a box keeps its flat sides, a coarse ball is
/// smooth.
const CREASE: f64 = 50.0;

/// Which triangle corners share a normal.
#[derive(Debug, Clone, Default)]
pub struct VertexNormals {
    /// For each triangle: the normals of its corners.
    corners: Vec<[u32; 3]>,
    count: usize,
}

impl VertexNormals {
    /// For `triangles` with these rest positions.
    pub fn new(triangles: &[[u32; 3]], rest: &[Vec3]) -> VertexNormals {
        let normals: Vec<Vec3> =
            triangles.iter().map(|t| double_area_normal(&t.map(|v| rest[v as usize])).normalize()).collect();
        let mut edges: Vec<([u32; 2], bool, usize, usize)> = Vec::with_capacity(3 * triangles.len());
        for (number, t) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (from, to) = (t[k], t[(k + 1) % 3]);
                edges.push(([from.min(to), from.max(to)], from < to, number, k));
            }
        }
        edges.sort_unstable();
        let mut roots: Vec<u32> = (0..3 * triangles.len() as u32).collect();
        for pair in edges.chunk_by(|a, b| a.0 == b.0) {
            // two triangles that traverse the edge in opposite directions face the same side
            if let [one, other] = pair
                && one.1 != other.1
                && normals[one.2].dot(&normals[other.2]) > CREASE.to_radians().cos()
            {
                let corner = |e: &([u32; 2], bool, usize, usize), k: usize| 3 * e.2 as u32 + (k % 3) as u32;
                join(&mut roots, corner(one, one.3), corner(other, other.3 + 1));
                join(&mut roots, corner(one, one.3 + 1), corner(other, other.3));
            }
        }
        let mut numbers = vec![u32::MAX; roots.len()];
        let mut count = 0;
        let mut number = |corner: usize| {
            let root = root(&mut roots, corner as u32) as usize;
            if numbers[root] == u32::MAX {
                numbers[root] = count;
                count += 1;
            }
            numbers[root]
        };
        let corners = (0..triangles.len()).map(|t| std::array::from_fn(|k| number(3 * t + k))).collect();
        VertexNormals { corners, count: count as usize }
    }

    /// Area-weighted unit normals with vertices at `place`; zero for degenerate triangles.
    pub fn normals(&self, triangles: &[[u32; 3]], place: impl Fn(u32) -> Vec3) -> Vec<Vec3> {
        let mut sums = vec![Vec3::zeros(); self.count];
        for (triangle, corners) in triangles.iter().zip(&self.corners) {
            let normal = double_area_normal(&triangle.map(&place));
            corners.iter().for_each(|&c| sums[c as usize] += normal);
        }
        sums.iter_mut().for_each(|sum| *sum = sum.try_normalize(0.0).unwrap_or_default());
        sums
    }

    /// Indices of the normals of a triangle's corners.
    pub fn of(&self, triangle: u32) -> [u32; 3] {
        self.corners[triangle as usize]
    }
}

fn root(roots: &mut [u32], mut corner: u32) -> u32 {
    while roots[corner as usize] != corner {
        roots[corner as usize] = roots[roots[corner as usize] as usize];
        corner = roots[corner as usize];
    }
    corner
}

fn join(roots: &mut [u32], a: u32, b: u32) {
    let (a, b) = (root(roots, a), root(roots, b));
    roots[a.max(b) as usize] = a.min(b);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::mesh::spec::Generator;

    fn shaded(generator: Generator) -> (Mesh, Vec<[u32; 3]>, VertexNormals) {
        let mesh = generator.build().unwrap();
        let triangles = mesh.surface();
        let vertex_normals = VertexNormals::new(&triangles, &mesh.positions);
        (mesh, triangles, vertex_normals)
    }

    #[test]
    fn a_box_keeps_its_flat_sides() {
        let (mesh, triangles, vertex_normals) =
            shaded(Generator::Box { cells: [3; 3], size: [1.0, 2.0, 3.0] });
        assert_eq!(vertex_normals.count, 6 * 16, "each side has its own normals");
        let normals = vertex_normals.normals(&triangles, |v| mesh.positions[v as usize]);
        for (number, t) in triangles.iter().enumerate() {
            let flat = double_area_normal(&mesh.triangle_corners(*t)).normalize();
            for corner in vertex_normals.of(number as u32) {
                // sums of six equal vectors
                assert!((normals[corner as usize] - flat).norm() < 1e-15);
            }
        }
    }

    #[test]
    fn a_ball_is_smooth() {
        let (mesh, triangles, vertex_normals) = shaded(Generator::Ball { radius: 1.0, cells: 8 });
        let mut on_surface: Vec<u32> = triangles.iter().flatten().copied().collect();
        on_surface.sort_unstable();
        on_surface.dedup();
        assert_eq!(vertex_normals.count, on_surface.len(), "one normal a vertex");
        let normals = vertex_normals.normals(&triangles, |v| mesh.positions[v as usize]);
        for (number, t) in triangles.iter().enumerate() {
            for (corner, &v) in vertex_normals.of(number as u32).iter().zip(t) {
                let radial = mesh.positions[v as usize].normalize();
                // triangles of different sizes around a vertex tilt the mean by a part of the angle between them
                assert!(normals[*corner as usize].dot(&radial) > 0.98);
            }
        }
    }
}
