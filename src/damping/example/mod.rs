//! Damping designed by example (Example paper): along chosen shapes motion is damped more, or less, than elsewhere.

pub mod coupling;
pub mod curve;
pub mod excitation;
