//! What commands are predicted to cost.

use super::Stream;
use crate::gpu::kernel::{Call, Id};

impl Stream {
    /// Bytes that a call of a compiled kernel moves through memory, see [`crate::gpu::traffic`].
    pub fn bytes_of(&self, id: Id, call: &Call) -> u64 {
        let length = |buffer| self.arena.bound_length(buffer, call);
        self.traffic.bytes(id, call, &self.sizes, self.pipelines.accesses(id), length)
    }
}
