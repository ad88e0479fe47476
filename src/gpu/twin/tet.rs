use super::super::buffer::Contents;
use super::super::kernel::{Call, Magnitudes};

/// Twin of `project_tet`.
pub fn project_tet(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `project_tet_volume`.
pub fn project_tet_volume(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `observe_tet`.
pub fn observe_tet(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}
