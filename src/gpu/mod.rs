//! The backend in WGSL, on any device that wgpu finds.
//!
//! State is kept as differences: the unknown of a step is d = x − x_n, velocities come from d, and a place is the sum of
//! two single-precision numbers. So rounding is relative to how far a vertex moves in a step, not to where it is.

pub mod arena;
pub mod buffer;
pub mod contents;
pub mod context;
pub mod kernel;
pub mod layout;
pub mod pipeline;
pub mod profile;
pub mod readback;
pub mod shader;
pub mod stream;
pub mod twin;
