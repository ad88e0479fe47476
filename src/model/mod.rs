//! The physics of a body: built once, never changed while stepping. Knows no backend.

pub mod tet;
