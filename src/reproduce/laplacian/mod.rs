//! Claims of *Laplacian Damping for Projective Dynamics*.

mod compare;
mod cost;
mod filter;
mod limits;
mod penguin;
mod ribbon;
mod slow;
mod strands;

use super::Claim;
pub use cost::{in_turn, median};

/// Figures of motion.
pub const FIGURES: &[Claim] = &[
    penguin::EXPLODES,
    penguin::FIGURE_1,
    ribbon::FIGURE_2,
    slow::FIGURE_3,
    slow::FIGURE_5,
    strands::FIGURE_7,
    strands::FIGURE_8,
];

/// What the text says of momenta and integrators, and the limits.
pub const TEXT: &[Claim] = &[
    filter::HIGH_PASS,
    filter::DEFINITE,
    filter::ANY_INTEGRATOR,
    limits::MOMENTUM,
    limits::ANGULAR,
    limits::FILTERS,
    limits::MASS,
    limits::INTEGRATORS,
];

/// Times of the machine.
pub const TIMES: &[Claim] = &[cost::TABLE_1, cost::FIGURE_4, cost::FIGURE_6];
