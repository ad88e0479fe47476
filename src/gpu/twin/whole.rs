use super::super::buffer::Contents;
use super::super::kernel::{Call, Magnitudes};

/// Twin of `filter_ether_drag`.
pub fn filter_ether_drag(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `measure_centre`.
pub fn measure_centre(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `reduce_centre`.
pub fn reduce_centre(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `measure_spin`.
pub fn measure_spin(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `reduce_spin`.
pub fn reduce_spin(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `filter_pbd`.
pub fn filter_pbd(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `reduce_exchange`.
pub fn reduce_exchange(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `observe_vertex`.
pub fn observe_vertex(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}

/// Twin of `reduce_observation`.
pub fn reduce_observation(_all: &mut Contents, _call: &Call) -> Magnitudes {
    Vec::new()
}
