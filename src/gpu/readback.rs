//! Memory that the device writes and the host reads, when it is ready.

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

/// A buffer on its way to the host.
#[derive(Debug)]
pub struct Readback {
    buffer: wgpu::Buffer,
    state: Arc<AtomicU8>,
}

impl Readback {
    /// Room for so many bytes.
    pub fn new(context: &Context, bytes: u64) -> Arc<Self> {
        let buffer = context.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("readback"),
            size: bytes,
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        Arc::new(Readback { buffer, state: Arc::new(AtomicU8::new(IDLE)) })
    }

    /// The buffer that the device copies to.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.buffer.size()
    }

    /// Asks for it; it becomes ready when the device is done and is polled.
    pub fn request(&self) {
        self.state.store(PENDING, Ordering::Release);
        let state = self.state.clone();
        self.buffer.map_async(wgpu::MapMode::Read, .., move |mapped| {
            state.store(if mapped.is_ok() { READY } else { FAILED }, Ordering::Release);
        });
    }

    /// Whether it was asked for and is not taken yet.
    pub fn is_asked_for(&self) -> bool {
        self.state.load(Ordering::Acquire) != IDLE
    }

    /// Whether it can be taken now, or never.
    pub fn arrived(&self) -> bool {
        matches!(self.state.load(Ordering::Acquire), READY | FAILED)
    }

    /// Waits for the answer about what the device has finished. Another thread that polls the same device may have taken
    /// note of it and be just about to tell us.
    pub fn settle(&self) {
        let since = Instant::now();
        while self.state.load(Ordering::Acquire) == PENDING && since.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
    }

    /// Reads what arrived and makes the buffer free for the next use. The device must have been waited for.
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
