//! Kernels compiled for a device on first use.

use super::arena::Arena;
use super::buffer::{Buffer, Kind};
use super::context::Context;
use super::disk_cache::DiskCache;
use super::kernel::{COLUMNS, Call, Id, KERNELS, Kernel};
use super::shader::{Library, Source};
use super::traffic::{Access, accesses};
use crate::error::RunError;
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A compiled kernel, without the buffers of a model.
#[derive(Debug, Clone)]
struct Compiled {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    /// What it does with each of its bindings.
    accesses: Arc<[Access]>,
}

/// The kernels that were compiled on a device, by name and text: all models on the device share them, and a text that has
/// changed is compiled anew.
#[derive(Debug, Default)]
pub struct Cache {
    compiled: Mutex<HashMap<(&'static str, String), Compiled>>,
}

/// A compiled kernel.
struct Ready {
    compiled: Compiled,
    /// The bind groups of a plain call and of a swapped one, or for each buffer of panels one for all kinds of columns.
    groups: Vec<wgpu::BindGroup>,
}

/// The kernels of a model on a device.
pub struct Pipelines {
    library: Library,
    ready: Vec<Option<Ready>>,
}

impl Pipelines {
    /// None compiled yet.
    pub fn new(library: Library) -> Self {
        Pipelines { library, ready: KERNELS.iter().map(|_| None).collect() }
    }

    /// Compiles a kernel, unless it is compiled already.
    pub fn prepare(&mut self, context: &Context, arena: &Arena, id: Id) -> Result<()> {
        if self.ready[id as usize].is_none() {
            self.ready[id as usize] = Some(compile(context, arena, &self.library, id.kernel())?);
        }
        Ok(())
    }

    /// Recompiles all kernels in use. A kernel that fails keeps its old version; returns the first error.
    pub fn reload(&mut self, context: &Context, arena: &Arena) -> Result<()> {
        let mut first = Ok(());
        for (kernel, slot) in KERNELS.iter().zip(&mut self.ready).filter(|(_, slot)| slot.is_some()) {
            match compile(context, arena, &self.library, kernel) {
                Ok(ready) => *slot = Some(ready),
                Err(error) if first.is_ok() => first = Err(error),
                Err(_) => {}
            }
        }
        first
    }

    /// Rebinds a buffer that was replaced.
    pub fn rebind(&mut self, context: &Context, arena: &Arena, buffer: Buffer) {
        for (kernel, slot) in KERNELS.iter().zip(&mut self.ready).filter(|(k, _)| k.may_bind(buffer)) {
            if let Some(ready) = slot {
                ready.groups = groups(context, arena, kernel, &ready.compiled.layout);
            }
        }
    }

    /// What a prepared kernel does with each of its bindings.
    pub fn accesses(&self, id: Id) -> &[Access] {
        self.ready[id as usize].as_ref().map_or(&[], |ready| &ready.compiled.accesses)
    }

    /// Dispatches a prepared kernel.
    pub fn dispatch(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        arena: &Arena,
        id: Id,
        call: &Call,
        workgroups: u32,
    ) {
        let Some(ready) = &self.ready[id as usize] else { return };
        let (series, panels) = (id.kernel().binds(Kind::Series), id.kernel().binds(Kind::Panels));
        let offset = [(call.series as u64 * arena.series_stride()) as u32];
        pass.set_pipeline(&ready.compiled.pipeline);
        let columns = COLUMNS.len() * call.panels + call.columns as usize;
        let group = if panels { columns } else { usize::from(call.swapped) };
        pass.set_bind_group(0, ready.groups.get(group), if series { &offset } else { &[] });
        let [x, y] = grid(workgroups);
        pass.dispatch_workgroups(x, y, 1);
    }
}

/// At least this many workgroups, in rows within the device limits.
pub(crate) fn grid(workgroups: u32) -> [u32; 2] {
    const LONGEST: u32 = 65535;
    let rows = workgroups.div_ceil(LONGEST).max(1);
    [workgroups.div_ceil(rows), rows]
}

/// Compiles a kernel; errors name the file in the library.
fn compile(context: &Context, arena: &Arena, library: &Library, kernel: &'static Kernel) -> Result<Ready> {
    let compiled = compiled(context, library, kernel).map_err(|error| match error {
        Error::Run(error) => library.named(error).into(),
        other => other,
    })?;
    Ok(Ready { groups: groups(context, arena, kernel, &compiled.layout), compiled })
}

/// A kernel from the device's cache, compiled if it is not there. The cache is locked meanwhile, so that no two threads
/// compile the same one.
fn compiled(context: &Context, library: &Library, kernel: &'static Kernel) -> Result<Compiled> {
    let source = Source::of(library, kernel.file)?;
    let mut cache = context.kernels.compiled.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (kernel.name, source.text.clone());
    if let Some(known) = cache.get(&key) {
        return Ok(known.clone());
    }
    let made = make(context, &source, kernel)?;
    cache.insert(key, made.clone());
    Ok(made)
}

fn make(context: &Context, source: &Source, kernel: &Kernel) -> Result<Compiled> {
    let (module, info) = source.module()?;
    let entries = layout_entries(kernel, &module)?;
    let device = &context.device;
    let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some(kernel.name),
        entries: &entries,
    });
    let scope = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let shader = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some(kernel.name),
        source: wgpu::ShaderSource::Wgsl(source.text.as_str().into()),
    });
    let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some(kernel.name),
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some(kernel.name),
        layout: Some(&pipeline_layout),
        module: &shader,
        entry_point: Some("main"),
        // every kernel writes its workgroup memory before it reads it
        compilation_options: wgpu::PipelineCompilationOptions {
            zero_initialize_workgroup_memory: false,
            ..wgpu::PipelineCompilationOptions::default()
        },
        cache: context.disk_cache.as_ref().map(DiskCache::of_new_pipeline),
    });
    match pollster::block_on(scope.pop()) {
        Some(error) => Err(fault(kernel, error.to_string()).into()),
        None => {
            let accesses = accesses(&module, &info, kernel.bindings.len()).into();
            Ok(Compiled { pipeline, layout, accesses })
        }
    }
}

/// The bind groups of a plain and of a swapped call, or of a call with each buffer of panels.
fn groups(
    context: &Context,
    arena: &Arena,
    kernel: &Kernel,
    layout: &wgpu::BindGroupLayout,
) -> Vec<wgpu::BindGroup> {
    let calls: Vec<Call> = match kernel.binds(Kind::Panels) {
        true => (0..arena.panel_count())
            .flat_map(|panels| COLUMNS.map(|columns| Call { panels, columns, ..Call::default() }))
            .collect(),
        false => [false, true].map(|swapped| Call { swapped, ..Call::default() }).into(),
    };
    let group = |call: &Call| {
        let bound = (0..).zip(kernel.bindings).map(|(binding, buffer)| bind(arena, binding, *buffer, call));
        let entries: Vec<_> = bound.collect();
        let descriptor = wgpu::BindGroupDescriptor { label: Some(kernel.name), layout, entries: &entries };
        context.device.create_bind_group(&descriptor)
    };
    calls.iter().map(group).collect()
}

fn bind<'a>(arena: &'a Arena, binding: u32, buffer: Buffer, call: &Call) -> wgpu::BindGroupEntry<'a> {
    let described = buffer.described();
    let size =
        (described.kind == Kind::Series).then(|| wgpu::BufferSize::new(described.stride as u64)).flatten();
    let resource = wgpu::BufferBinding { buffer: arena.bound(buffer, call), offset: 0, size };
    wgpu::BindGroupEntry { binding, resource: wgpu::BindingResource::Buffer(resource) }
}

/// The bindings declared by the shader, checked against the table.
fn layout_entries(kernel: &Kernel, module: &naga::Module) -> Result<Vec<wgpu::BindGroupLayoutEntry>> {
    let declared: Vec<_> =
        module.global_variables.iter().filter_map(|(_, v)| Some((v, v.binding?))).collect();
    if declared.len() != kernel.bindings.len() {
        let (has, wants) = (declared.len(), kernel.bindings.len());
        return Err(
            fault(kernel, format!("declares {has} bindings, the table of kernels has {wants}")).into()
        );
    }
    let entry = |(number, buffer): (u32, &Buffer)| {
        let found = declared.iter().find(|(_, binding)| binding.group == 0 && binding.binding == number);
        let (variable, _) = found
            .ok_or_else(|| fault(kernel, format!("@binding({number}) for {buffer:?} is not declared")))?;
        let ty = match (variable.space, buffer.described().kind) {
            (naga::AddressSpace::Uniform, Kind::Uniform | Kind::Series) => wgpu::BufferBindingType::Uniform,
            (naga::AddressSpace::Storage { access }, Kind::Storage | Kind::Panels) => {
                let read_only = !access.contains(naga::StorageAccess::STORE);
                wgpu::BufferBindingType::Storage { read_only }
            }
            _ => return Err(fault(kernel, format!("@binding({number}) is not what {buffer:?} is")).into()),
        };
        let has_dynamic_offset = buffer.described().kind == Kind::Series;
        Ok(wgpu::BindGroupLayoutEntry {
            binding: number,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
            count: None,
        })
    };
    (0..).zip(kernel.bindings).map(entry).collect()
}

fn fault(kernel: &Kernel, message: String) -> RunError {
    RunError::Shader { file: format!("{}.wgsl", kernel.file), line: 0, message }
}
