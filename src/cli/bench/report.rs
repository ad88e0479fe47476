//! `dashpot bench --report FILE`: everything about an adapter in one file, for those who want to tell how it fares.

use super::device::{self, OnDevice, Plan};
use super::roofline::{self, Assumed, Roofline};
use crate::Result;
use crate::backend::Device;
use serde::Serialize;

/// What is written.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Of the program.
    version: &'static str,
    system: &'static str,
    limits: Limits,
    /// The adapter, its driver and its figures, and the kernels of the exact step.
    roofline: Roofline,
    /// Times of frames: CPU, exact, Chebyshev, hybrid, in turn.
    frames: Vec<OnDevice>,
}

/// What the adapter offers.
#[derive(Debug, Serialize)]
struct Limits {
    max_buffer_size: u64,
    max_storage_buffer_binding_size: u64,
    max_storage_buffers_per_shader_stage: u32,
    max_compute_workgroup_storage_size: u32,
    max_compute_invocations_per_workgroup: u32,
    max_compute_workgroups_per_dimension: u32,
}

/// Measures everything, and prints it.
pub fn run(plan: &Plan, assumed: &[Assumed]) -> Result<Report> {
    let offered = plan.device.open()?.offered.clone();
    let roofline = roofline::run(plan, assumed)?;
    let frames = device::run(plan)?;
    let limits = Limits {
        max_buffer_size: offered.max_buffer_size,
        max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
        max_storage_buffers_per_shader_stage: offered.max_storage_buffers_per_shader_stage,
        max_compute_workgroup_storage_size: offered.max_compute_workgroup_storage_size,
        max_compute_invocations_per_workgroup: offered.max_compute_invocations_per_workgroup,
        max_compute_workgroups_per_dimension: offered.max_compute_workgroups_per_dimension,
    };
    let (version, system) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS);
    Ok(Report { version, system, limits, roofline, frames })
}
