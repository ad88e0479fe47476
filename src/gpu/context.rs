//! Adapters and devices: discovery, description, errors.

use super::disk_cache::{self, DiskCache};
use super::pipeline::Cache;
use crate::Result;
use crate::error::RunError;
use serde::Serialize;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Name and kind of an adapter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Adapter {
    /// Its name, as the driver gives it.
    pub name: String,
    /// `discrete GPU`, `integrated GPU`, `virtual GPU`, `software (CPU)`, `unknown`.
    pub kind: &'static str,
    /// `vulkan`, `metal`, `dx12`, `gl`, …
    pub api: String,
    /// The driver and its version.
    pub driver: String,
    /// Whether it is a software driver: its timings say nothing about a GPU.
    pub software: bool,
    /// Largest buffer binding (bytes).
    pub largest_binding: u64,
    /// Whether it supports timestamp queries.
    pub timestamps: bool,
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, {}", self.name, self.kind, self.api)
    }
}

impl Adapter {
    fn of(adapter: &wgpu::Adapter) -> Self {
        let info = adapter.get_info();
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete GPU",
            wgpu::DeviceType::IntegratedGpu => "integrated GPU",
            wgpu::DeviceType::VirtualGpu => "virtual GPU",
            wgpu::DeviceType::Cpu => "software (CPU)",
            wgpu::DeviceType::Other => "unknown",
        };
        Adapter {
            name: info.name.clone(),
            kind,
            api: info.backend.to_string(),
            driver: format!("{} {}", info.driver, info.driver_info).trim().into(),
            software: info.device_type == wgpu::DeviceType::Cpu,
            largest_binding: adapter.limits().max_storage_buffer_binding_size,
            timestamps: adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY),
        }
    }
}

/// Installation hint for messages.
pub const WHAT_TO_INSTALL: &str = "install a graphics driver with Vulkan support (on Debian and Ubuntu: apt install libvulkan1 \
     mesa-vulkan-drivers, which includes a software driver); Metal and Direct3D 12 come with the operating system";

/// How long to wait for the reason of a refused command.
const TOLD_WITHIN: Duration = Duration::from_secs(1);

/// How long a device may be silent: operating systems reset a graphics driver after 2 to 10 s, so this one hangs.
const HARDWARE_PATIENCE: Duration = Duration::from_secs(30);

/// The same for a software driver, which nobody resets, and which may compute a large frame for minutes.
const SOFTWARE_PATIENCE: Duration = Duration::from_secs(900);

/// All adapters that can run compute shaders, hardware first.
pub fn adapters() -> Vec<Adapter> {
    found().iter().map(Adapter::of).collect()
}

fn found() -> Vec<wgpu::Adapter> {
    // OpenGL only as a fallback: it has tighter limits, and its libraries write to the terminal
    let first = found_by(wgpu::Backends::PRIMARY);
    if first.is_empty() { found_by(wgpu::Backends::GL) } else { first }
}

fn found_by(backends: wgpu::Backends) -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    descriptor.backends &= backends;
    if descriptor.backends.is_empty() {
        return Vec::new();
    }
    able(&wgpu::Instance::new(descriptor), backends)
}

/// The adapters of an instance that can run compute shaders, hardware first.
fn able(instance: &wgpu::Instance, backends: wgpu::Backends) -> Vec<wgpu::Adapter> {
    let all = pollster::block_on(instance.enumerate_adapters(backends));
    let computes = wgpu::DownlevelFlags::COMPUTE_SHADERS;
    let mut able: Vec<_> =
        all.into_iter().filter(|a| a.get_downlevel_capabilities().flags.contains(computes)).collect();
    able.sort_by_key(|adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    });
    able
}

/// A device, its queue, and its first error.
#[derive(Debug)]
pub struct Context {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    /// The adapter it belongs to.
    pub adapter: Adapter,
    /// Kernels that were compiled on it.
    pub(super) kernels: Cache,
    /// What is kept of them for the next run.
    pub(super) disk_cache: Option<DiskCache>,
    /// What the adapter offers; the device is opened with WebGPU's default limits.
    pub offered: wgpu::Limits,
    fault: Arc<Mutex<Option<RunError>>>,
}

impl Context {
    /// Opens the best adapter, or the first whose name contains `name` (case-insensitive).
    pub fn open(name: Option<&str>) -> Result<Arc<Context>> {
        Self::open_within(name, u64::MAX)
    }

    /// The same with a limit on buffer sizes, `largest` (bytes): emulates a smaller device.
    pub fn open_within(name: Option<&str>, largest: u64) -> Result<Arc<Context>> {
        Self::first_of(found(), name, largest)
    }

    /// Opens the best adapter of an instance that can present to a surface, or the first with that name.
    pub fn for_surface(
        instance: &wgpu::Instance,
        surface: &wgpu::Surface<'_>,
        name: Option<&str>,
    ) -> Result<(Arc<Context>, wgpu::Adapter)> {
        let mut all = able(instance, wgpu::Backends::all());
        all.retain(|adapter| adapter.is_surface_supported(surface));
        let context = Self::first_of(all.clone(), name, u64::MAX)?;
        let own = all.into_iter().find(|adapter| Adapter::of(adapter) == context.adapter);
        let own = own.ok_or_else(|| RunError::NoAdapter("the window's adapter has disappeared".into()))?;
        Ok((context, own))
    }

    /// Opens the first of these that can be opened, or the first whose name contains `name`.
    fn first_of(mut all: Vec<wgpu::Adapter>, name: Option<&str>, largest: u64) -> Result<Arc<Context>> {
        if let Some(name) = name {
            let names: Vec<String> = all.iter().map(|adapter| adapter.get_info().name).collect();
            all.retain(|adapter| adapter.get_info().name.to_lowercase().contains(&name.to_lowercase()));
            if all.is_empty() && !names.is_empty() {
                let reason = format!("no adapter is called `{name}`; found: {}", names.join("; "));
                return Err(RunError::NoAdapter(reason).into());
            }
        }
        let mut reasons = Vec::new();
        for adapter in &all {
            match Self::of(adapter, largest) {
                Ok(context) => return Ok(Arc::new(context)),
                Err(reason) => reasons.push(reason),
            }
        }
        let none = || format!("no adapter that runs compute shaders was found; {WHAT_TO_INSTALL}");
        let reason = if reasons.is_empty() { none() } else { reasons.join("; ") };
        Err(RunError::NoAdapter(reason).into())
    }

    /// Opens an adapter, or returns the reason why it cannot be opened.
    fn of(found: &wgpu::Adapter, largest: u64) -> std::result::Result<Context, String> {
        let adapter = Adapter::of(found);
        let offered = found.limits();
        // WebGPU's default limits, so that every shader runs everywhere; only buffer sizes follow the adapter
        let required_limits = wgpu::Limits {
            max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size.min(largest),
            max_buffer_size: offered.max_buffer_size.min(largest),
            ..wgpu::Limits::default()
        };
        let required_features =
            found.features() & wgpu::Features::TIMESTAMP_QUERY | disk_cache::feature(found);
        let descriptor = wgpu::DeviceDescriptor {
            required_limits,
            required_features,
            ..wgpu::DeviceDescriptor::default()
        };
        let (device, queue) = pollster::block_on(found.request_device(&descriptor))
            .map_err(|e| format!("{adapter} cannot be opened: {e}"))?;
        let fault = Arc::new(Mutex::new(None));
        let keep = fault.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| note(&keep, failure(&error))));
        let keep = fault.clone();
        device.set_device_lost_callback(move |reason, message| {
            let why = if message.is_empty() { format!("{reason:?}").to_lowercase() } else { message };
            note(&keep, RunError::DeviceLost(why));
        });
        let disk_cache = DiskCache::open(&device, &found.get_info());
        Ok(Context { device, queue, adapter, kernels: Cache::default(), disk_cache, offered, fault })
    }

    /// The first error, if any. A lost device takes precedence over the errors that follow from it.
    pub fn check(&self) -> Result<()> {
        match self.fault()? {
            None => Ok(()),
            Some(RunError::Device(_)) => {
                // a lost device may refuse commands before the loss is reported: wait for that report
                let timeout = Some(TOLD_WITHIN);
                let _ = self.device.poll(wgpu::PollType::Wait { submission_index: None, timeout });
                self.fault()?.map_or(Ok(()), |error| Err(error.into()))
            }
            Some(error) => Err(error.into()),
        }
    }

    fn fault(&self) -> Result<Option<RunError>> {
        match self.fault.lock() {
            Ok(fault) => Ok(fault.clone()),
            Err(_) => Err(RunError::DeviceLost("its error handler failed".into()).into()),
        }
    }

    /// Waits until all submitted work is done and its callbacks have run.
    pub fn wait(&self) -> Result<()> {
        self.wait_for(None)
    }

    /// The same for one submission and those before it.
    pub fn wait_for(&self, submission_index: Option<wgpu::SubmissionIndex>) -> Result<()> {
        let patience = if self.adapter.software { SOFTWARE_PATIENCE } else { HARDWARE_PATIENCE };
        self.wait_at_most(submission_index, patience)
    }

    fn wait_at_most(
        &self,
        submission_index: Option<wgpu::SubmissionIndex>,
        patience: Duration,
    ) -> Result<()> {
        let waited = self.device.poll(wgpu::PollType::Wait { submission_index, timeout: Some(patience) });
        self.check()?;
        waited.map(|_| ()).map_err(|error| {
            let why = match error {
                wgpu::PollError::Timeout => {
                    format!("it has not answered for {} s, its driver hangs", patience.as_secs())
                }
                other => other.to_string(),
            };
            RunError::DeviceLost(why).into()
        })
    }

    /// Runs the callbacks of completed work, without waiting.
    pub fn poll(&self) -> Result<()> {
        let polled = self.device.poll(wgpu::PollType::Poll);
        self.check()?;
        polled.map(|_| ()).map_err(|e| RunError::DeviceLost(e.to_string()).into())
    }
}

fn note(keep: &Mutex<Option<RunError>>, error: RunError) {
    if let Ok(mut first) = keep.lock() {
        let follows_from_loss =
            matches!((&*first, &error), (Some(RunError::Device(_)), RunError::DeviceLost(_)));
        if first.is_none() || follows_from_loss {
            *first = Some(error);
        }
    }
}

fn failure(error: &wgpu::Error) -> RunError {
    match error {
        wgpu::Error::OutOfMemory { .. } => RunError::DeviceMemory("a buffer".into()),
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            RunError::Device(description.clone())
        }
    }
}
