//! The lattice and the stencils by themselves, before anything is fitted.

use super::lattice::{Lattice, owned_edges, owner};
use super::{CutLattice, stencil};
use crate::Vec3;
use crate::mesh::distance::shapes::Shape;
use crate::mesh::distance::{Distance, Figure, Part};
use crate::mesh::six_volumes;

/// Waves of all lengths, also shorter than a cell.
struct Waves {
    shift: f64,
}

impl Distance for Waves {
    fn distance(&self, p: Vec3) -> f64 {
        let p = p + Vec3::repeat(self.shift);
        let long = (7.3 * p.x).sin() * (9.1 * p.y).cos() + (8.3 * p.z).sin() * (5.1 * p.x).cos();
        let short = (31.0 * p.y + 27.0 * p.z).sin() * (29.0 * p.x).cos();
        (p.norm() - 0.9).max(0.02 * (long + 0.7 * short))
    }

    fn bounds(&self) -> [Vec3; 2] {
        [-0.9, 0.9].map(|x| Vec3::repeat(x - self.shift))
    }
}

/// Labelle and Shewchuk's bounds for these two limits: 10.78° and 164.74°.
#[test]
fn angles_of_stuffing_are_within_the_bounds_of_the_paper() {
    for shift in [0.0, 0.1, 0.23, 0.37] {
        let body = Waves { shift };
        let lattice = Lattice::new(&body, 0.06, Vec3::repeat(shift)).expect("sampled");
        let cut = CutLattice::new(&body, lattice);
        let mesh = stencil::tetrahedra(&cut);
        assert_eq!(mesh.tets.len(), stencil::count(&cut));
        assert!(mesh.tets.iter().all(|&t| six_volumes(&mesh.tet_corners(t)) > 0.0));
        let statistics = mesh.statistics();
        assert!(statistics.angles.min > 10.78 && statistics.angles.max < 164.75, "{:?}", statistics.angles);
        // Neighbours agree on the diagonals of their faces: the boundary is closed, and no face has three elements.
        assert_eq!((statistics.crowded, statistics.open_edges), (0, 0));
    }
}

#[test]
fn every_edge_has_one_owner() {
    for node in [[4, 6, 2], [5, 3, 9]] {
        for (number, step) in owned_edges(node).iter().enumerate() {
            let other = [0, 1, 2].map(|axis| node[axis] + step[axis]);
            assert_eq!(owner(node, other), (node, number));
            assert_eq!(owner(other, node), (node, number));
        }
    }
}

/// Blocks that are passed over have the sign of their middle: the same as if every node were looked at.
#[test]
fn nodes_that_are_passed_over_have_the_right_sign() {
    let torus = Shape::Torus { radius: 1.0, tube: 0.3 };
    let body = Figure::new(vec![Part { at: [0.2, 0.1, 0.0], turn: [20.0, 0.0, 40.0], ..Part::new(torus) }]);
    let lattice = Lattice::new(&body, 0.04, Vec3::zeros()).expect("sampled");
    let (mut kept, mut inside) = (0, 0);
    for z in 0..64 {
        for y in 0..64 {
            for x in 0..64 {
                let node = [2 * x + z % 2, 2 * y + z % 2, 2 * z + z % 2];
                let distance = body.distance(lattice.position(node));
                let sampled = lattice.slot(node).map_or(f64::INFINITY, |slot| lattice.values[slot]);
                assert_eq!(sampled < 0.0, distance < 0.0, "{node:?}: {sampled} {distance}");
                kept += usize::from(lattice.slot(node).is_some());
                inside += usize::from(distance < 0.0);
            }
        }
    }
    assert!(inside > 1000 && kept > inside && kept < 64 * 64 * 64);
}
