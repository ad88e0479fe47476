//! Twins of the kernels of conservation.

use super::super::buffer::Contents;
use super::super::kernel::{Call, Magnitudes};

/// Twin of `measure_energy`.
pub fn measure_energy(_: &mut Contents, _: &Call) -> Magnitudes { Vec::new() }
/// Twin of `aim_attachment`.
pub fn aim_attachment(_: &mut Contents, _: &Call) -> Magnitudes { Vec::new() }
/// Twin of `aim_body`.
pub fn aim_body(_: &mut Contents, _: &Call) -> Magnitudes { Vec::new() }
/// Twin of `aim_vertex`.
pub fn aim_vertex(_: &mut Contents, _: &Call) -> Magnitudes { Vec::new() }
/// Twin of `write_columns`.
pub fn write_columns(_: &mut Contents, _: &Call) -> Magnitudes { Vec::new() }
/// Twin of `measure_momenta`.
pub fn measure_momenta(_: &mut Contents, _: &Call) -> Magnitudes { Vec::new() }
/// Twin of `reduce_momenta`.
pub fn reduce_momenta(_: &mut Contents, _: &Call) -> Magnitudes { Vec::new() }
/// Twin of `measure_conservation`.
pub fn measure_conservation(_: &mut Contents, _: &Call) -> Magnitudes { Vec::new() }
/// Twin of `solve_conservation`.
pub fn solve_conservation(_: &mut Contents, _: &Call) -> Magnitudes { Vec::new() }
/// Twin of `apply_conservation`.
pub fn apply_conservation(_: &mut Contents, _: &Call) -> Magnitudes { Vec::new() }
/// Twin of `settle_conservation`.
pub fn settle_conservation(_: &mut Contents, _: &Call) -> Magnitudes { Vec::new() }
/// Twin of `report_conservation`.
pub fn report_conservation(_: &mut Contents, _: &Call) -> Magnitudes { Vec::new() }
