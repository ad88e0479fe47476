//! Dashpot simulates soft bodies and accounts for their energy.
//!
//! A [`scene`] names meshes and materials; [`setup`] reads and checks it and makes a [`model`] of it, masses and elements;
//! [`step`] moves it, with an integrator from a table and a [`damping`] model from another; the [`ledger`] says where its
//! energy went.
//!
//! Without default features this is all there is, on the CPU. The features `gpu`, `window` and `cli` add the backend on a
//! device with its pictures, the window, and the command line, each with the one before it.

#[cfg(feature = "window")]
pub mod app;
#[cfg(feature = "gpu")]
pub mod backend;
#[cfg(feature = "cli")]
pub mod cli;
mod colour;
pub mod contact;
pub mod cpu;
pub mod damping;
pub mod design;
pub mod disk;
pub mod elastic;
pub mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod ledger;
pub mod linear;
mod memory;
pub mod mesh;
pub mod model;
pub mod modes;
pub mod observe;
pub mod reduced;
#[cfg(feature = "gpu")]
pub mod reproduce;
pub mod scene;
pub mod setup;
pub mod solve;
pub mod step;
mod suggest;
#[cfg(feature = "gpu")]
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
