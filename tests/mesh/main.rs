//! Shapes: generated, filled with tetrahedra, read and written.

#[path = "../common/mod.rs"]
mod common;

mod character_scene;
mod characters;
mod fill;
mod fill_files;
mod fill_scene;
mod fill_surfaces;
mod mesh_generators;
mod mesh_nasty_input;
mod mesh_readers;
mod mesh_samples;
mod mesh_writers;
mod skin;
