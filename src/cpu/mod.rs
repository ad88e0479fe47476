//! The backend on the CPU: elements in SIMD lanes, threads over blocks of them.

pub mod blocks;
pub mod gather;
pub mod lanes;
pub mod matrix;
pub mod projection;
pub mod real;
pub mod rotation;
pub mod tets;
pub mod volume;

#[cfg(test)]
mod sample;
