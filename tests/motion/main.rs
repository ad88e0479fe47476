//! How bodies move: integrators, the solvers of a step, what is conserved and held, the ledger, reduced bodies.

#[path = "../common/mod.rs"]
mod common;

mod chebyshev;
mod conservation;
mod explicit;
mod hand;
mod held;
mod held_controls;
mod held_hyperelastic;
mod held_projection;
mod independent_program;
mod initial_shape;
mod integrator_order;
mod ledger;
mod let_go;
mod linear_solve;
mod newmark;
mod newton_matrix;
mod one_step_is_the_minimum;
mod own_parts;
mod reduced;
mod reduced_motion;
mod solvers;
mod stability;
mod trace;
