#![doc = "Dashpot simulates soft bodies and tells where their energy goes."]

pub mod error;
pub mod linear;
pub mod mesh;
pub mod scene;

pub use error::{Error, Result};

/// A point, displacement or velocity in space (m, m, m/s).
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3×3 matrix: a deformation gradient, a rotation, a rest shape.
pub type Mat3 = nalgebra::Matrix3<f64>;
