//! Records commands for the device and sends them in one submission.

mod copies;
mod host;
mod panels;
mod predicted;

use super::arena::Arena;
use super::kernel::{Call, Id};
use super::layout::Sizes;
use super::pipeline::Pipelines;
use super::profile::Profile;
use super::reload::{self, Watch};
use super::traffic::Traffic;
use super::{Buffer, Contents, Context, Library, Readback};
use crate::Result;
use crate::step::{DeviceUse, KernelTime, PHASES, Phase};
use std::sync::Arc;

enum Command {
    Phase(Phase),
    Kernel(Id, Call),
    Upload(Buffer, Vec<u8>),
    Clear(Buffer, u64),
    Copy(Buffer, Buffer),
    Download(Buffer, Arc<Readback>),
}

/// Commands for a device.
pub struct Stream {
    context: Arc<Context>,
    arena: Arena,
    pipelines: Pipelines,
    sizes: Sizes,
    traffic: Traffic,
    commands: Vec<Command>,
    counters: DeviceUse,
    profile: Option<Profile>,
    /// Kernels before this one in the table run as their twins on the host.
    gpu_from: Option<Id>,
    watch: Watch,
    last: Option<wgpu::SubmissionIndex>,
    /// Bytes that a submission may move, and those that the recorded commands move.
    most_bytes: Option<u64>,
    recorded_bytes: u64,
}

impl Stream {
    /// Uploads the contents of all buffers.
    pub fn new(context: Arc<Context>, contents: &Contents, library: Library) -> Result<Self> {
        let arena = Arena::new(&context, contents)?;
        let sizes = contents.small(Buffer::Sizes, 0);
        Ok(Stream {
            arena,
            watch: Watch::new(&library),
            last: None,
            most_bytes: predicted::most_bytes(&context.adapter),
            recorded_bytes: 0,
            pipelines: Pipelines::new(library),
            sizes,
            traffic: Traffic::new(contents),
            commands: Vec::new(),
            counters: DeviceUse::default(),
            profile: None,
            gpu_from: None,
            context,
        })
    }

    /// Runs the kernels before `id` in the table as their twins, to find the source of a deviation.
    pub fn set_gpu_from(&mut self, id: Option<Id>) {
        self.gpu_from = id;
    }

    /// Measures device time per phase from now on, where supported; costs one wait per submission.
    pub fn set_profiling(&mut self, on: bool) {
        self.profile = (on && self.context.adapter.timestamps).then(|| Profile::new(&self.context));
    }

    /// The same, with a pass for each kernel.
    pub fn profile_kernels(&mut self) {
        self.set_profiling(true);
        self.profile = self.profile.take().map(Profile::by_kernel);
    }

    /// Device time of each kernel since profiling began.
    pub fn kernel_times(&self) -> Vec<KernelTime> {
        self.profile.as_ref().map(Profile::kernel_times).unwrap_or_default()
    }

    /// Work so far, and device time per phase since profiling began, if enabled.
    pub fn usage(&self) -> DeviceUse {
        let phases_ms = self.profile.as_ref().map(|p| PHASES.map(|(phase, _)| p.milliseconds(phase)));
        DeviceUse { phases_ms, ..self.counters }
    }

    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// The counts of everything.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// Readback memory for a whole buffer.
    pub fn readback(&self, buffer: Buffer) -> Arc<Readback> {
        Readback::new(&self.context, self.arena.length(buffer))
    }

    /// Reloads changed shaders. An invalid one is reported, and its last good version stays in use.
    pub fn reload(&mut self) -> Result<()> {
        if self.watch.changed() {
            let reloaded = self.pipelines.reload(&self.context, &self.arena);
            self.context.check()?;
            reload::report(&reloaded);
        }
        Ok(())
    }

    /// Assigns the following commands to this phase.
    pub fn phase(&mut self, phase: Phase) {
        self.commands.push(Command::Phase(phase));
    }

    /// Dispatches a kernel over all its items; no-op if there are none.
    pub fn kernel(&mut self, id: Id) -> Result<()> {
        self.call(id, Call::default())
    }

    /// Compiles a kernel, unless it has no items.
    pub fn compile(&mut self, id: Id) -> Result<()> {
        if (id.kernel().workgroups)(&self.sizes) == 0 {
            return Ok(());
        }
        self.pipelines.prepare(&self.context, &self.arena, id)
    }

    /// Dispatches a kernel with a series entry and buffer order.
    pub fn call(&mut self, id: Id, call: Call) -> Result<()> {
        if id.kernel().workgroups_of(&self.sizes, &call) == 0 {
            return Ok(());
        }
        self.pipelines.prepare(&self.context, &self.arena, id)?;
        self.make_room(id, &call)?;
        self.commands.push(Command::Kernel(id, call));
        Ok(())
    }

    /// Writes to the start of a buffer, after the commands recorded so far.
    pub fn upload(&mut self, buffer: Buffer, bytes: &[u8]) {
        self.counters.uploaded += bytes.len() as u64;
        self.commands.push(Command::Upload(buffer, bytes.to_vec()));
    }

    /// Writes to the start of a buffer, before all unsubmitted commands.
    pub fn write(&mut self, buffer: Buffer, bytes: &[u8]) {
        self.counters.uploaded += self.arena.write(&self.context, buffer, bytes);
    }

    /// Replaces the entries of a series.
    pub fn set_series(&mut self, buffer: Buffer, bytes: &[u8]) -> Result<()> {
        self.counters.uploaded += self.arena.replace_series(&self.context, buffer, bytes);
        self.pipelines.rebind(&self.context, &self.arena, buffer);
        self.context.check()
    }

    /// Recreates buffers for new contents and updates the counts. Unsubmitted commands use the new buffers.
    pub fn replace(&mut self, contents: &Contents, which: &[Buffer]) -> Result<()> {
        self.counters.uploaded += self.arena.replace(&self.context, contents, which)?;
        which.iter().for_each(|buffer| self.pipelines.rebind(&self.context, &self.arena, *buffer));
        self.sizes = contents.small(Buffer::Sizes, 0);
        self.traffic.set_fronts(contents);
        self.write(Buffer::Sizes, contents.bytes(Buffer::Sizes));
        self.context.check()
    }

    /// Zeroes the start of a buffer.
    pub fn clear(&mut self, buffer: Buffer, bytes: u64) {
        self.commands.push(Command::Clear(buffer, bytes));
    }

    /// Copies a buffer to another of the same length.
    pub fn copy(&mut self, from: Buffer, to: Buffer) {
        self.commands.push(Command::Copy(from, to));
    }

    /// Copies the start of a buffer to readback memory, after all commands.
    pub fn download(&mut self, buffer: Buffer, to: &Arc<Readback>) {
        self.counters.downloaded += to.bytes();
        self.commands.push(Command::Download(buffer, to.clone()));
    }

    /// Submits all commands. Requested readbacks will become ready.
    pub fn submit(&mut self) -> Result<()> {
        let commands = std::mem::take(&mut self.commands);
        self.recorded_bytes = 0;
        let gpu_from = self.gpu_from;
        let on_host = |command: &Command| matches!(command, Command::Kernel(id, _) if Some(*id) < gpu_from);
        let mut rest = &commands[..];
        while let Some(k) = rest.iter().position(on_host) {
            self.send(&rest[..k])?;
            if let Command::Kernel(id, call) = rest[k] {
                self.run_twin(id, &call)?;
            }
            rest = &rest[k + 1..];
        }
        self.send(rest)?;
        for command in &commands {
            if let Command::Download(_, readback) = command {
                readback.request();
            }
        }
        self.context.check()
    }

    pub fn discard(&mut self) {
        self.commands.clear();
        self.recorded_bytes = 0;
    }

    fn send(&mut self, commands: &[Command]) -> Result<()> {
        if commands.iter().all(|command| matches!(command, Command::Phase(_))) {
            return Ok(());
        }
        let mut encoder =
            self.context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let (uploads, mut uploaded) = (self.stage_uploads(commands), 0);
        let mut pass: Option<wgpu::ComputePass<'static>> = None;
        for command in commands {
            // a pass contains any number of kernels and nothing else
            if !matches!(command, Command::Kernel(..) | Command::Phase(_)) {
                pass = None;
            }
            match command {
                Command::Phase(phase) => {
                    if let Some(profile) = &mut self.profile {
                        profile.enter(*phase);
                        pass = None;
                    }
                }
                Command::Kernel(id, call) => {
                    let bytes = if self.profile.is_some() { self.bytes_of(*id, call) } else { 0 };
                    let profile = &mut self.profile;
                    if profile.as_mut().is_some_and(|profile| profile.enter_kernel(*id, bytes)) {
                        pass = None;
                    }
                    let pass = pass.get_or_insert_with(|| {
                        let timestamp_writes = profile.as_mut().and_then(Profile::next_pass);
                        let descriptor = wgpu::ComputePassDescriptor { label: None, timestamp_writes };
                        encoder.begin_compute_pass(&descriptor).forget_lifetime()
                    });
                    let workgroups = id.kernel().workgroups_of(&self.sizes, call);
                    self.pipelines.dispatch(pass, &self.arena, *id, call, workgroups);
                    self.counters.dispatches += 1;
                }
                copied => uploaded += self.copy_bytes(copied, uploads.as_ref(), uploaded, &mut encoder),
            }
        }
        drop(pass);
        if let Some(profile) = &mut self.profile {
            profile.resolve(&mut encoder);
        }
        self.last = Some(self.context.queue.submit([encoder.finish()]));
        self.counters.submissions += 1;
        if let Some(profile) = &mut self.profile {
            profile.collect()?;
        }
        Ok(())
    }

    /// Waits for all submissions.
    pub fn wait(&mut self) -> Result<()> {
        self.counters.waits += 1;
        self.context.wait()
    }

    /// The last submission, if any.
    pub fn last_submission(&self) -> Option<wgpu::SubmissionIndex> {
        self.last.clone()
    }

    /// Waits for one submission and those before it.
    pub fn wait_for(&mut self, submission: wgpu::SubmissionIndex) -> Result<()> {
        self.counters.waits += 1;
        self.context.wait_for(Some(submission))
    }
}
