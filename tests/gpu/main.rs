//! The device: kernels, runs against the CPU, pictures. These tests need an adapter; one in software will do.

#[path = "../common/mod.rs"]
mod common;

mod conserved_states;
mod golden_pictures;
mod gpu_conservation;
mod gpu_conserved;
mod gpu_contact;
mod gpu_direct;
mod gpu_errors;
mod gpu_exact;
mod gpu_example;
mod gpu_explicit;
mod gpu_figures;
mod gpu_filters;
mod gpu_half;
mod gpu_hold;
mod gpu_inside;
mod gpu_kernels;
mod gpu_laws;
mod gpu_let_go;
mod gpu_models;
mod gpu_portability;
mod gpu_profile;
mod gpu_runs;
mod gpu_scenes;
mod gpu_search;
mod gpu_shaders;
mod gpu_stiffening;
mod gpu_surfaces;
mod gpu_traffic;
mod pictures;
mod render_portability;
mod resident_examples;
mod resident_scenes;
mod session_gpu;
mod tint;
mod tolerances;
