//! Memory that begins at a cache line, so that vectors of 256 bits do not straddle two.

use std::marker::PhantomData;

use bytemuck::{Pod, Zeroable};

use super::panel::Real;

#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct CacheLine([u64; 8]);

/// A slice of zeros to begin with, aligned to 64 bytes.
#[derive(Debug)]
pub(super) struct Aligned<T> {
    lines: Vec<CacheLine>,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Real> Aligned<T> {
    pub fn zeroed(len: usize) -> Self {
        let lines = (len * size_of::<T>()).div_ceil(size_of::<CacheLine>());
        Aligned { lines: bytemuck::zeroed_vec(lines), len, kind: PhantomData }
    }

    pub fn as_slice(&self) -> &[T] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }

    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}
