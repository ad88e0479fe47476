use super::super::buffer::Contents;
use super::super::kernel::{Call, Magnitudes};

/// Twin of `project_triangle`.
pub fn project_triangle(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `project_spring`.
pub fn project_spring(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `project_bending`.
pub fn project_bending(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `project_attachment`.
pub fn project_attachment(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `observe_triangle`.
pub fn observe_triangle(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `observe_spring`.
pub fn observe_spring(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `observe_bending`.
pub fn observe_bending(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `observe_attachment`.
pub fn observe_attachment(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `measure_work`.
pub fn measure_work(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}
