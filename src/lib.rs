//! Dashpot simulates soft bodies and accounts for their energy.
//!
//! A [`scene`] names meshes and materials; [`model`] turns it into masses and elements; [`step`] moves it, with an
//! integrator from a table and a [`damping`] model from another; [`observe`] keeps the ledger.

pub mod app;
pub mod cli;
pub mod contact;
pub mod cpu;
pub mod damping;
pub mod design;
pub mod error;
pub mod gpu;
pub mod linear;
pub mod mesh;
pub mod model;
pub mod modes;
pub mod observe;
pub mod reduced;
pub mod scene;
pub mod step;
pub mod view;

/// Tests of the library and those of its users share files.
#[cfg(test)]
extern crate self as dashpot;

pub use error::{Error, Result};
pub use step::Simulation;

/// A point, displacement or velocity in space (m, m, m/s).
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3×3 matrix: a deformation gradient, a rotation, a rest shape.
pub type Mat3 = nalgebra::Matrix3<f64>;

/// The examples of the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
