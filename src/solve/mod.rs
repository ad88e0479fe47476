//! The global step: A⁻¹ g, and the metric A that changes with the stiffness of the bodies.

mod ahead;
mod choose;
pub mod global;
pub mod metric;
mod stage;
pub mod stiffness;
