//! The global step: sparse symmetric systems A X = B, prepared once and solved thousands of times.
//!
//! ```text
//! SparseMatrix ─► Symbolic (order, supernodes, tasks) ─► Factor<f64 | f32> ─► solve, ten times a frame
//!            ├──► FrontPlan (fronts in bands) ─► FrontPanels<f32> ─► a device solves
//!            └──► System ─► Spectrum ─► Chebyshev ─► solve, nearly, without a factor
//! ```
//!
//! The matrix is a scalar one that acts on x, y and z alike, so the three right-hand sides go through the factor
//! together and each of its entries is read from memory once for all three.
//!
//! Newton's matrix is not a scalar one: [`BlockMatrix`] mixes x, y and z. It goes through the same factor with three rows for
//! each vertex.

mod bands;
mod block_pattern;
mod blocks;
mod chebyshev;
mod eigen;
mod elimination;
mod factor;
mod front_panels;
mod fronts;
mod hessian;
mod kernels;
mod lanczos;
pub mod lanes;
mod layout;
mod memory;
pub mod multi_vector;
pub mod newton;
mod numeric;
mod ordering;
mod panel;
pub mod products;
pub mod reduce;
mod sparse;
mod supernodes;
mod sweep;
mod symbolic;
mod system;
mod tasks;
mod vectors;

pub use block_pattern::BlockPattern;
pub use blocks::{BlockFactor, BlockMatrix};
pub use chebyshev::{Chebyshev, ChebyshevScratch, Coefficients, MOST_ITERATIONS, Spectrum, inner_iterations};
pub use eigen::diagonalise;
use elimination::{Graph, NONE};
pub use factor::{Factor, Scratch};
pub use front_panels::FrontPanels;
pub use fronts::{Direction, FrontCall, FrontPlan, LARGEST_BINDING, Tile};
pub use hessian::Hessian;
pub use lanczos::largest_eigenvalue;
use layout::Layout;
pub use panel::Real;
use panel::Shape;
pub use sparse::SparseMatrix;
use symbolic::Plan;
pub use symbolic::Symbolic;
pub use system::System;
use system::TASK_ROWS;
use tasks::Visit;
pub(crate) use vectors::Instructions;
