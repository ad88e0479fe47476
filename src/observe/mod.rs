//! What a run leaves behind.

pub mod npy;
pub mod point_cache;
