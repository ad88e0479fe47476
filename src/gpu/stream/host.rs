//! Host side of a stream: immediate buffer reads, and twins in place of kernels.

use super::Stream;
use crate::Result;
use crate::gpu::buffer::{Buffer, Contents, Kind};
use crate::gpu::kernel::{Call, Id};
use crate::gpu::layout::{Motion, Vertex};
use crate::gpu::readback::Readback;

impl Stream {
    /// Runs a kernel as its twin: fetches its buffers and uploads the results.
    pub(super) fn run_twin(&mut self, id: Id, call: &Call) -> Result<()> {
        let mut contents = Contents::empty();
        for buffer in id.kernel().bindings {
            let [bytes] = self.read_bound([*buffer], call)?;
            contents.set(*buffer, &bytes);
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
            self.write(Call { swapped: false, ..call }.at(buffer), &bytes);
        }
        Ok(())
    }

    /// The items of a buffer now.
    pub fn read_items<I: bytemuck::Pod>(&mut self, buffer: Buffer) -> Result<Vec<I>> {
        Ok(bytemuck::pod_collect_to_vec(&self.read(buffer)?))
    }

    /// Positions and motions of all vertices now, in one round trip.
    pub fn read_vertices(&mut self) -> Result<(Vec<Vertex>, Vec<Motion>)> {
        let [vertices, motions] = self.read_bound([Buffer::Vertices, Buffer::Motions], &Call::default())?;
        Ok((bytemuck::pod_collect_to_vec(&vertices), bytemuck::pod_collect_to_vec(&motions)))
    }

    /// The bytes of a whole buffer now, but for what pads it. Commands that are not submitted yet are not waited for.
    pub fn read(&mut self, buffer: Buffer) -> Result<Vec<u8>> {
        self.read_bound([buffer], &Call::default()).map(|[bytes]| bytes)
    }

    /// The same of several buffers that a call binds, with one submission and one wait; a swapped call still means the buffers
    /// themselves.
    fn read_bound<const N: usize>(&mut self, buffers: [Buffer; N], call: &Call) -> Result<[Vec<u8>; N]> {
        let call = Call { swapped: false, ..*call };
        let filled = buffers.map(|buffer| (buffer, self.arena.bound_length(buffer, &call)));
        if filled.iter().all(|(_, bytes)| *bytes == 0) {
            return Ok([const { Vec::new() }; N]);
        }
        let mut encoder =
            self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let readbacks = filled.map(|(buffer, bytes)| {
            let readback = (bytes > 0).then(|| Readback::new(&self.context, bytes));
            if let Some(readback) = &readback {
                encoder.copy_buffer_to_buffer(
                    self.arena.bound(buffer, &call),
                    0,
                    readback.buffer(),
                    0,
                    bytes,
                );
            }
            self.counters.downloaded += bytes;
            readback
        });
        self.context.queue.submit([encoder.finish()]);
        self.counters.submissions += 1;
        readbacks.iter().flatten().for_each(|readback| readback.request());
        self.wait()?;
        let mut read = [const { Vec::new() }; N];
        for (bytes, readback) in read.iter_mut().zip(readbacks) {
            if let Some(readback) = readback {
                *bytes = readback.take(<[u8]>::to_vec)?;
            }
        }
        Ok(read)
    }
}
