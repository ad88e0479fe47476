//! How motion dies: every model of damping, and its design.

#[path = "../common/mod.rs"]
mod common;

mod design;
mod direct_damping;
mod direct_program;
mod example_damping;
mod figures;
mod longest_step;
mod non_oscillatory;
mod rayleigh;
mod strain_rate;
mod variational;
