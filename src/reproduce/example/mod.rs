//! Claims of *Example-Based Damping Design*.

mod anisotropy;
mod balls;
mod integrators;
mod inverse;
mod nonlinear;
mod open;
mod oscillator;
mod swing;
mod tables;
mod trunk;

use super::Claim;

/// In the paper's order.
pub const CLAIMS: &[Claim] = &[
    open::FIG_1,
    nonlinear::FIG_2B,
    inverse::FIG_2C,
    oscillator::LINEAR_BOUND,
    anisotropy::FIG_3,
    balls::FIG_4,
    balls::FIG_4_MATRIX,
    anisotropy::DISSIPATION,
    anisotropy::CAUGHEY,
    open::FIG_5,
    nonlinear::FIG_6,
    nonlinear::FIG_7,
    inverse::FIG_9,
    integrators::LINEAR,
    integrators::NONLINEAR,
    trunk::FIG_11,
    open::FIG_11,
    open::FIG_12,
    open::FIG_13,
    open::FIG_14,
    tables::TABLE_1,
    tables::TABLE_2,
];
