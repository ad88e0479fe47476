//! Panels of the solve by fronts: a buffer for each dispatch.

use super::Stream;
use crate::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::kernel::Call;

impl Stream {
    /// Drops all panels; commands that use them must have been submitted.
    pub fn clear_panels(&mut self) {
        self.arena.clear_panels();
        self.pipelines.rebind(&self.context, &self.arena, Buffer::FrontPanels);
    }

    /// Adds buffers for panels of these sizes (bytes), to be written next.
    pub fn add_panels(&mut self, sizes: &[u64]) -> Result<()> {
        self.arena.add_panels(&self.context, sizes)?;
        self.pipelines.rebind(&self.context, &self.arena, Buffer::FrontPanels);
        Ok(())
    }

    /// Writes a buffer of panels, before all unsubmitted commands.
    pub fn write_panels(&mut self, panels: usize, bytes: &[u8]) -> Result<()> {
        let call = Call { panels, ..Call::default() };
        self.context.queue.write_buffer(self.arena.bound(Buffer::FrontPanels, &call), 0, bytes);
        self.counters.uploaded += bytes.len() as u64;
        // what waits to be copied lies in the memory a second time
        self.context.queue.submit([]);
        self.context.check()
    }
}
