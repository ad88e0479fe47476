//! The shape of elements, and which elements are about a vertex.

use crate::Vec3;
use crate::mesh::topology::{Faces, TET_FACES};
use crate::mesh::{Mesh, double_area_normal, six_volumes};

/// sin² of the angle between two faces that is nearest to 0° or 180°; below zero for an element that is inside out.
pub fn worst_sine(corners: &[Vec3; 4]) -> f64 {
    let volume = six_volumes(corners);
    if volume.is_nan() || volume <= 0.0 {
        return -1.0;
    }
    let normals = TET_FACES.map(|face| double_area_normal(&face.map(|corner| corners[corner])));
    let squares = normals.map(|n| n.norm_squared());
    let mut cosine = 0.0;
    for i in 0..4 {
        for j in 0..i {
            let dot = normals[i].dot(&normals[j]);
            cosine = f64::max(cosine, dot * dot / (squares[i] * squares[j]));
        }
    }
    1.0 - cosine
}

/// Lists of something, one a vertex.
struct Lists<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> Lists<T> {
    fn new(vertices: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) -> Lists<T> {
        let mut starts = vec![0; vertices + 1];
        pairs.clone().for_each(|(v, _)| starts[v as usize + 1] += 1);
        for v in 0..vertices {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut items = vec![T::default(); starts[vertices] as usize];
        for (v, item) in pairs {
            items[next[v as usize] as usize] = item;
            next[v as usize] += 1;
        }
        Lists { starts, items }
    }

    fn of(&self, v: u32) -> &[T] {
        &self.items[self.starts[v as usize] as usize..self.starts[v as usize + 1] as usize]
    }
}

/// The elements and the boundary triangles about every vertex.
pub struct Rings {
    tets: Lists<u32>,
    triangles: Lists<[u32; 3]>,
}

impl Rings {
    /// Of the tetrahedra of `mesh`.
    pub fn new(mesh: &Mesh) -> Rings {
        let boundary = Faces::of(&mesh.tets).boundary;
        let count = mesh.positions.len();
        let corners =
            mesh.tets.iter().enumerate().flat_map(|(t, tet)| tet.iter().map(move |&v| (v, t as u32)));
        let triangles = boundary.iter().flat_map(|triangle| triangle.iter().map(move |&v| (v, *triangle)));
        Rings { tets: Lists::new(count, corners), triangles: Lists::new(count, triangles) }
    }

    /// The elements about a vertex.
    pub fn tets(&self, v: u32) -> &[u32] {
        self.tets.of(v)
    }

    /// The boundary triangles about a vertex.
    pub fn triangles(&self, v: u32) -> &[[u32; 3]] {
        self.triangles.of(v)
    }

    /// Whether a vertex is on the boundary.
    pub fn on_boundary(&self, v: u32) -> bool {
        !self.triangles.of(v).is_empty()
    }

    /// Vertices on the boundary and up to two edges from it, in lists of which no two vertices share an element. The rest is
    /// lattice, and as good as it gets.
    pub fn colours(&self, tets: &[[u32; 4]], count: usize) -> Vec<Vec<u32>> {
        let mut near: Vec<bool> = (0..count as u32).map(|v| self.on_boundary(v)).collect();
        for _ in 0..2 {
            let touched = tets.iter().filter(|tet| tet.iter().any(|&v| near[v as usize]));
            let touched: Vec<u32> = touched.flatten().copied().collect();
            touched.into_iter().for_each(|v| near[v as usize] = true);
        }
        let mut colour_of = vec![u32::MAX; count];
        let mut colours: Vec<Vec<u32>> = Vec::new();
        for v in (0..count as u32).filter(|&v| near[v as usize]) {
            let neighbours = self.tets(v).iter().flat_map(|&t| tets[t as usize]);
            let taken = neighbours
                .fold(0u64, |taken, u| taken | 1u64.checked_shl(colour_of[u as usize]).unwrap_or(0));
            // A vertex with 64 colours about it stays where it is.
            let colour = taken.trailing_ones();
            if colour < 64 {
                colour_of[v as usize] = colour;
                if colours.len() <= colour as usize {
                    colours.push(Vec::new());
                }
                colours[colour as usize].push(v);
            }
        }
        colours
    }
}
