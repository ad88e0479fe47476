//! Bodies that touch obstacles and each other.

#[path = "../common/mod.rs"]
mod common;

mod contact_bodies;
mod contact_extremes;
mod contact_obstacles;
mod held_contact;
mod held_friction;
mod pile;
