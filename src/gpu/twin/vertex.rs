use super::super::buffer::Contents;
use super::super::kernel::{Call, Magnitudes};

/// Twin of `predict`.
pub fn predict(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `gather_gradient`.
pub fn gather_gradient(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `measure_gradient`.
pub fn measure_gradient(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `reduce_gradient`.
pub fn reduce_gradient(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `chebyshev_update`.
pub fn chebyshev_update(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `measure_residual`.
pub fn measure_residual(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `reduce_residual`.
pub fn reduce_residual(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `apply_correction`.
pub fn apply_correction(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `advance`.
pub fn advance(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `measure_damping`.
pub fn measure_damping(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}
