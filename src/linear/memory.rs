//! Memory for streaming: it begins at a cache line, and in large pages where the system gives them.

use std::marker::PhantomData;

use bytemuck::{Pod, Zeroable};

use super::panel::Real;

/// Vectors of 256 bits that begin at a multiple of their size never straddle two of these.
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
        let mut lines = bytemuck::zeroed_vec((len * size_of::<T>()).div_ceil(size_of::<CacheLine>()));
        ask_for_large_pages(&mut lines);
        Aligned { lines, len, kind: PhantomData }
    }

    pub fn as_slice(&self) -> &[T] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }

    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}

/// Asks for pages of 2 MiB before the memory is touched: a factor is read from end to end in every solve, and with
/// pages of 4 KiB looking up where they are costs a fifth of the bandwidth. Declined requests do no harm.
#[cfg(target_os = "linux")]
fn ask_for_large_pages(lines: &mut [CacheLine]) {
    use std::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    /// From `asm-generic/mman-common.h`, the same on every architecture that Linux has pages of this kind for.
    const MADV_HUGEPAGE: c_int = 14;
    const PAGE: usize = 2 << 20;

    let begin = lines.as_mut_ptr() as usize;
    let (first, last) = (begin.next_multiple_of(PAGE), (begin + size_of_val(lines)) / PAGE * PAGE);
    if first < last {
        // SAFETY: the pages from `first` to `last` lie within `lines`, and the advice leaves their contents alone.
        unsafe { madvise(first as *mut c_void, last - first, MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages(_lines: &mut [CacheLine]) {}
