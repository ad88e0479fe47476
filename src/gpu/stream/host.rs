//! Host side of a stream: immediate buffer reads, and twins in place of kernels.

use super::Stream;
use crate::Result;
use crate::gpu::buffer::{Buffer, Contents, Kind};
use crate::gpu::kernel::{Call, Id};
use crate::gpu::readback::Readback;

impl Stream {
    /// Runs a kernel as its twin: fetches its buffers and uploads the results.
    pub(super) fn run_twin(&mut self, id: Id, call: &Call) -> Result<()> {
        let mut contents = Contents::empty();
        for buffer in id.kernel().bindings {
            contents.set(*buffer, &self.read_bound(*buffer, call)?);
        }
        let mut call = Call { panels: 0, ..*call };
        // the device's series is spread out; the twin is given the one entry that it reads
        if let Some(series) = id.kernel().bindings.iter().find(|b| b.described().kind == Kind::Series) {
            let (stride, size) = (self.arena.series_stride() as usize, series.described().stride);
            let from = call.series * stride;
            let entry = contents.bytes(*series)[from..from + size].to_vec();
            contents.set(*series, &entry);
            call.series = 0;
        }
        for (buffer, _) in (id.kernel().twin)(&mut contents, &call) {
            let bytes = contents.bytes(buffer).to_vec();
            self.write(buffer, &bytes);
        }
        Ok(())
    }

    /// The items of a buffer now.
    pub fn read_items<I: bytemuck::Pod>(&mut self, buffer: Buffer) -> Result<Vec<I>> {
        Ok(bytemuck::pod_collect_to_vec(&self.read(buffer)?))
    }

    /// The bytes of a whole buffer now, but for what pads it. Commands that are not submitted yet are not waited for.
    pub fn read(&mut self, buffer: Buffer) -> Result<Vec<u8>> {
        self.read_bound(buffer, &Call::default())
    }

    /// The same of the buffer that a call binds; a swapped call still means the buffer itself.
    fn read_bound(&mut self, buffer: Buffer, call: &Call) -> Result<Vec<u8>> {
        let call = Call { swapped: false, ..*call };
        let bytes = self.arena.bound_length(buffer, &call);
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let readback = Readback::new(&self.context, bytes);
        let mut encoder =
            self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(self.arena.bound(buffer, &call), 0, readback.buffer(), 0, bytes);
        self.context.queue.submit([encoder.finish()]);
        self.counters.submissions += 1;
        self.counters.downloaded += bytes;
        readback.request();
        self.wait()?;
        readback.take(<[u8]>::to_vec)
    }
}
