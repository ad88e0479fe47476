//! Rest shapes that move: those of a body that yields are not the ones of its mesh any more.

use super::{Model, TetElement, TriangleElement};
use crate::linear::SparseMatrix;
use crate::{Mat3, Result};
use nalgebra::Matrix2;

/// Dm⁻¹ of every element that has one (1/m), in the order of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct RestShapes {
    pub tets: Vec<Mat3>,
    /// Of the triangles, each in its own plane.
    pub triangles: Vec<Matrix2<f64>>,
}

impl RestShapes {
    /// Those of a model.
    pub fn of(model: &Model) -> Self {
        RestShapes {
            tets: model.tets.iter().map(|e| e.inverse_rest).collect(),
            triangles: model.triangles.iter().map(|e| e.inverse_rest).collect(),
        }
    }

    /// All of them, nine numbers a tetrahedron and four a triangle: for a checkpoint.
    pub fn numbers(&self) -> Vec<f64> {
        let tets = self.tets.iter().flat_map(|shape| shape.iter());
        tets.chain(self.triangles.iter().flat_map(|shape| shape.iter())).copied().collect()
    }

    /// From such numbers; `None` if they are of another model.
    pub fn from_numbers(model: &Model, numbers: &[f64]) -> Option<Self> {
        let (tets, triangles) = numbers.split_at_checked(9 * model.tets.len())?;
        (triangles.len() == 4 * model.triangles.len()).then(|| RestShapes {
            tets: tets.chunks_exact(9).map(Mat3::from_column_slice).collect(),
            triangles: triangles.chunks_exact(4).map(Matrix2::from_column_slice).collect(),
        })
    }
}

impl Model {
    /// Gives the elements these rest shapes. Weights stay: no shape has another volume than it had.
    ///
    /// `self` is a copy that a backend computes with; the model of a simulation itself never changes.
    pub(crate) fn set_rest_shapes(&mut self, shapes: &RestShapes) {
        self.tets.iter_mut().zip(&shapes.tets).for_each(|(e, shape)| e.inverse_rest = *shape);
        self.triangles.iter_mut().zip(&shapes.triangles).for_each(|(e, shape)| e.inverse_rest = *shape);
    }

    /// L with these rest shapes (N/m): entries in the same places.
    pub fn laplacian_of(&self, shapes: &RestShapes) -> Result<SparseMatrix> {
        let tets = self.tets.iter().zip(&shapes.tets);
        let tets: Vec<TetElement> =
            tets.map(|(e, shape)| TetElement { inverse_rest: *shape, ..e.clone() }).collect();
        let triangles = self.triangles.iter().zip(&shapes.triangles);
        let triangles: Vec<TriangleElement> =
            triangles.map(|(e, shape)| TriangleElement { inverse_rest: *shape, ..e.clone() }).collect();
        self.laplacian_with(&tets, &triangles)
    }
}
