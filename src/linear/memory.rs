//! Memory for streaming: it begins at a cache line, and in large pages where the system gives them.

use super::panel::Real;
use crate::error::RunError;
use crate::memory::left;

/// Vectors of 256 bits that begin at a multiple of their size never straddle two of these (bytes).
const CACHE_LINE: usize = 64;

/// From here on it is asked whether the memory is there (bytes).
const LARGE: usize = 16 << 20;

/// Beside it the program needs this much at least (bytes).
const SPARE: u64 = 128 << 20;

/// A slice of zeros to begin with, aligned to a cache line.
#[derive(Debug)]
pub(super) struct Aligned<T> {
    storage: Vec<T>,
    begin: usize,
    len: usize,
}

impl<T: Real> Aligned<T> {
    /// The memory is asked for without alignment and a little too long: only so does it come from the system untouched,
    /// and pages take their size when they are touched first.
    pub fn zeroed(len: usize) -> Result<Self, RunError> {
        let spare = CACHE_LINE / size_of::<T>();
        let bytes = (len + spare) * size_of::<T>();
        let megabytes = bytes / 1_000_000;
        // a system that promises more than it has would take the memory page by page, and then end the program; and factoring takes as
        // much again in between
        if bytes > LARGE && left().is_some_and(|left| 2 * bytes as u64 + SPARE > left.bytes) {
            return Err(RunError::Memory { megabytes });
        }
        let mut storage: Vec<T> =
            bytemuck::try_zeroed_vec(len + spare).map_err(|()| RunError::Memory { megabytes })?;
        ask_for_large_pages(&mut storage);
        // Where a pointer cannot be aligned, the slice begins where the memory does: slower, not wrong.
        let begin =
            Some(storage.as_ptr().align_offset(CACHE_LINE)).filter(|&begin| begin <= spare).unwrap_or(0);
        Ok(Aligned { storage, begin, len })
    }

    pub fn as_slice(&self) -> &[T] {
        &self.storage[self.begin..self.begin + self.len]
    }

    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.storage[self.begin..self.begin + self.len]
    }
}

/// Asks for pages of 2 MiB before the memory is touched: a factor is read from end to end in every solve, and with
/// pages of 4 KiB looking up where they are costs a tenth of the time. Declined requests do no harm.
#[cfg(target_os = "linux")]
fn ask_for_large_pages<T>(memory: &mut [T]) {
    use std::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn madvise(address: *mut c_void, length: usize, advice: c_int) -> c_int;
    }
    /// From `asm-generic/mman-common.h`, the same on every architecture that Linux has pages of this kind for.
    const MADV_HUGEPAGE: c_int = 14;
    const PAGE: usize = 2 << 20;

    let begin = memory.as_mut_ptr() as usize;
    let (first, last) = (begin.next_multiple_of(PAGE), (begin + size_of_val(memory)) / PAGE * PAGE);
    if first < last {
        // SAFETY: the pages from `first` to `last` lie within `memory`, and the advice leaves their contents alone.
        unsafe { madvise(first as *mut c_void, last - first, MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages<T>(_memory: &mut [T]) {}
