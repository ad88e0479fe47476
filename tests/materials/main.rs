//! What bodies are made of: elements, laws of elasticity, joints and attachments, modes of vibration.

#[path = "../common/mod.rs"]
mod common;

mod attachments_in_time;
mod bars_at_rest_and_plucked;
mod changing_material;
mod continuum;
mod elements;
mod homogeneous;
mod hyperelastic;
mod joints;
mod modes;
mod patch;
mod plastic_laws;
mod plasticity;
mod valanis_landel;
