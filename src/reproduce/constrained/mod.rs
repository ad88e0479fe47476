//! Claims of *Constrained Projective Dynamics: Real-Time Simulation of Deformable Objects with Energy-Momentum Conservation*.

mod bodies;
mod contact;
mod table;

use super::Claim;

pub const CLAIMS: &[&[Claim]] = &[bodies::CLAIMS, contact::CLAIMS, table::CLAIMS];
