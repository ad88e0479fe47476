//! Claims of *Constrained Projective Dynamics: Real-Time Simulation of Deformable Objects with Energy-Momentum Conservation*.

mod bodies;
mod contact;
mod energy;
mod few_iterations;
mod let_go;
mod net;
mod table;
mod torus;

use super::Claim;

pub const CLAIMS: &[&[Claim]] =
    &[bodies::CLAIMS, contact::CLAIMS, energy::CLAIMS, net::CLAIMS, let_go::CLAIMS, table::CLAIMS];
