//! What a user sees: scenes, the command line, the files of a run.

#[path = "../common/mod.rs"]
mod common;

mod accuracy;
mod compare;
mod conserved_scenes;
mod contract;
mod durability;
mod durability_limits;
mod energy_guard;
mod energy_matrix;
mod exports;
mod exports_elsewhere;
mod memory_limits;
mod no_test_is_forgotten;
mod reproduce;
mod resume_anywhere;
mod rival_methods;
mod rooms;
mod sampled;
mod scene_errors;
mod scene_format;
mod scene_overrides;
mod scenes;
