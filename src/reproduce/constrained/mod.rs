//! Claims of *Constrained Projective Dynamics: Real-Time Simulation of Deformable Objects with Energy-Momentum Conservation*.

mod energy;
mod let_go;
mod net;

use super::Claim;

pub const CLAIMS: &[&[Claim]] = &[energy::CLAIMS, let_go::CLAIMS, net::CLAIMS];
