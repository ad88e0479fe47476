//! Memory that the device writes and the host reads once it is ready.

use super::context::Context;
use crate::Result;
use crate::error::RunError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

const IDLE: u8 = 0;
const PENDING: u8 = 1;
const READY: u8 = 2;
const FAILED: u8 = 3;

/// How long another thread may take to call back.
const PATIENCE: Duration = Duration::from_secs(10);

/// A buffer in transit to the host.
#[derive(Debug)]
pub struct Readback {
    buffer: wgpu::Buffer,
    state: Arc<AtomicU8>,
}

impl Readback {
    /// Room for this many bytes.
    pub fn new(context: &Context, bytes: u64) -> Arc<Self> {
        let buffer = context.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size: bytes,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        Arc::new(Readback { buffer, state: Arc::new(AtomicU8::new(IDLE)) })
    }

    /// The copy destination on the device.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    pub fn bytes(&self) -> u64 {
        self.buffer.size()
    }

    /// Requests the mapping; it becomes ready once the device is done and polled.
    pub fn request(&self) {
        self.state.store(PENDING, Ordering::Release);
        let state = self.state.clone();
        self.buffer.map_async(wgpu::MapMode::Read, .., move |mapped| {
            state.store(if mapped.is_ok() { READY } else { FAILED }, Ordering::Release);
        });
    }

    /// Whether it was requested and not yet taken.
    pub fn is_requested(&self) -> bool {
        self.state.load(Ordering::Acquire) != IDLE
    }

    /// Whether it can be taken now, or has failed.
    pub fn arrived(&self) -> bool {
        matches!(self.state.load(Ordering::Acquire), READY | FAILED)
    }

    /// Waits for the callback of completed work. Another thread polling the same device may have received it and be
    /// about to notify us.
    pub fn settle(&self) {
        let since = Instant::now();
        while self.state.load(Ordering::Acquire) == PENDING && since.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
    }

    /// Reads the result and frees the buffer. The device must have been waited for.
    pub fn take<R>(&self, read: impl FnOnce(&[u8]) -> R) -> Result<R> {
        let lost = |why: &str| RunError::DeviceLost(why.into());
        self.settle();
        if self.state.swap(IDLE, Ordering::AcqRel) != READY {
            return Err(lost("its results could not be read").into());
        }
        let result = match self.buffer.get_mapped_range(..) {
            Ok(view) => Ok(read(&view)),
            Err(error) => Err(lost(&error.to_string()).into()),
        };
        self.buffer.unmap();
        result
    }
}
