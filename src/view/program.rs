//! Compiled renderer shaders; bindings are read from the WGSL.

use super::screen::DEPTH;
use crate::Result;
use crate::error::RunError;
use crate::gpu::context::Context;
use crate::gpu::shader::{Library, Source};

/// A compiled file of `shaders/render/`.
pub(super) struct Program {
    name: &'static str,
    layouts: Vec<wgpu::BindGroupLayout>,
    entries: Vec<Vec<wgpu::BindGroupLayoutEntry>>,
    module: wgpu::ShaderModule,
}

impl Program {
    /// Compiles `shaders/render/NAME.wgsl`; errors name file and line.
    pub fn new(context: &Context, library: &Library, name: &'static str) -> Result<Self> {
        let source = Source::of(library, &format!("render/{name}"))?;
        let (module, _) = source.module()?;
        let compute = module.entry_points.iter().any(|entry| entry.stage == naga::ShaderStage::Compute);
        let groups = module.global_variables.iter().filter_map(|(_, v)| v.binding).map(|b| b.group + 1);
        let entries: Vec<Vec<_>> =
            (0..groups.max().unwrap_or(0)).map(|group| entries(&module, group, compute)).collect();
        let layout = |entries: &Vec<_>| {
            let descriptor = wgpu::BindGroupLayoutDescriptor { label: Some(name), entries };
            context.device.create_bind_group_layout(&descriptor)
        };
        let layouts = entries.iter().map(layout).collect();
        let scope = context.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let module = context.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(name),
            source: wgpu::ShaderSource::Wgsl(source.text.as_str().into()),
        });
        let program = Program { name, layouts, entries, module };
        program.check_errors(scope)?;
        Ok(program)
    }

    /// Whether another program accepts the same bind groups.
    pub fn binds_like(&self, other: &Program) -> bool {
        self.entries == other.entries
    }

    /// Buffers at the bindings 0, 1, … of group 0.
    pub fn bind(&self, context: &Context, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let bound = (0..).zip(buffers.iter().copied());
        let entries: Vec<_> = bound
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        context.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(self.name),
            layout: &self.layouts[0],
            entries: &entries,
        })
    }

    /// The layout of group 1, the shadow map, of a lit program.
    pub fn shadow_layout(&self) -> &wgpu::BindGroupLayout {
        &self.layouts[self.layouts.len() - 1]
    }

    pub fn file(&self) -> String {
        format!("render/{}.wgsl", self.name)
    }

    fn pipeline_layout(&self, context: &Context, groups: usize) -> wgpu::PipelineLayout {
        let layouts: Vec<_> = self.layouts.iter().take(groups).map(Some).collect();
        context.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(self.name),
            bind_group_layouts: &layouts,
            immediate_size: 0,
        })
    }

    /// The pipeline of a kernel.
    pub fn compute(&self, context: &Context) -> Result<wgpu::ComputePipeline> {
        let scope = context.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let pipeline = context.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(self.name),
            layout: Some(&self.pipeline_layout(context, 1)),
            module: &self.module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        self.check_errors(scope).map(|()| pipeline)
    }

    /// The pipeline that draws into a picture.
    pub fn draw(&self, context: &Context, how: &DrawOptions) -> Result<wgpu::RenderPipeline> {
        let blend = how.blend.then_some(wgpu::BlendState::ALPHA_BLENDING);
        let targets =
            [Some(wgpu::ColorTargetState { format: how.format, blend, write_mask: wgpu::ColorWrites::ALL })];
        let fragment = wgpu::FragmentState {
            module: &self.module,
            entry_point: Some("fragment"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            targets: &targets,
        };
        let depth = depth(how.writes_depth, wgpu::CompareFunction::LessEqual);
        self.render(context, "vertex", Some(fragment), depth, how.topology, how.samples)
    }

    /// The pipeline that draws into a shadow map.
    pub fn shadow(&self, context: &Context) -> Result<wgpu::RenderPipeline> {
        let bias = wgpu::DepthBiasState { constant: 2, slope_scale: 2.0, clamp: 0.0 };
        let depth = wgpu::DepthStencilState { bias, ..depth(true, wgpu::CompareFunction::Less) };
        self.render(context, "shadow", None, depth, wgpu::PrimitiveTopology::TriangleList, 1)
    }

    fn render(
        &self,
        context: &Context,
        entry: &str,
        fragment: Option<wgpu::FragmentState<'_>>,
        depth: wgpu::DepthStencilState,
        topology: wgpu::PrimitiveTopology,
        samples: u32,
    ) -> Result<wgpu::RenderPipeline> {
        let scope = context.device.push_error_scope(wgpu::ErrorFilter::Validation);
        // a shadow map is not read while it is drawn
        let groups = if fragment.is_some() { self.layouts.len() } else { 1 };
        let pipeline = context.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some(self.name),
            layout: Some(&self.pipeline_layout(context, groups)),
            vertex: wgpu::VertexState {
                module: &self.module,
                entry_point: Some(entry),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                buffers: &[],
            },
            primitive: wgpu::PrimitiveState { topology, ..wgpu::PrimitiveState::default() },
            depth_stencil: Some(depth),
            multisample: wgpu::MultisampleState { count: samples, ..wgpu::MultisampleState::default() },
            fragment,
            multiview_mask: None,
            cache: None,
        });
        self.check_errors(scope).map(|()| pipeline)
    }

    fn check_errors(&self, scope: wgpu::ErrorScopeGuard) -> Result<()> {
        match pollster::block_on(scope.pop()) {
            None => Ok(()),
            Some(error) => {
                Err(RunError::Shader { file: self.file(), line: 0, message: error.to_string() }.into())
            }
        }
    }
}

/// Pipeline options of a drawing program.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrawOptions {
    /// Colour format of the picture.
    pub format: wgpu::TextureFormat,
    pub samples: u32,
    pub writes_depth: bool,
    pub blend: bool,
    pub topology: wgpu::PrimitiveTopology,
}

fn depth(writes: bool, compare: wgpu::CompareFunction) -> wgpu::DepthStencilState {
    wgpu::DepthStencilState {
        format: DEPTH,
        depth_write_enabled: Some(writes),
        depth_compare: Some(compare),
        stencil: wgpu::StencilState::default(),
        bias: wgpu::DepthBiasState::default(),
    }
}

/// The bindings of a group declared in the WGSL, in order.
fn entries(module: &naga::Module, group: u32, compute: bool) -> Vec<wgpu::BindGroupLayoutEntry> {
    let visibility = match (compute, group) {
        (true, _) => wgpu::ShaderStages::COMPUTE,
        (false, 0) => wgpu::ShaderStages::VERTEX_FRAGMENT,
        (false, _) => wgpu::ShaderStages::FRAGMENT,
    };
    let entry = |variable: &naga::GlobalVariable| {
        let binding = variable.binding.filter(|binding| binding.group == group)?;
        let buffer = |ty| wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
        let ty = match variable.space {
            naga::AddressSpace::Uniform => buffer(wgpu::BufferBindingType::Uniform),
            naga::AddressSpace::Storage { access } => {
                let read_only = !access.contains(naga::StorageAccess::STORE);
                buffer(wgpu::BufferBindingType::Storage { read_only })
            }
            _ => match module.types[variable.ty].inner {
                naga::TypeInner::Sampler { .. } => {
                    wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Comparison)
                }
                _ => wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Depth,
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: false,
                },
            },
        };
        Some(wgpu::BindGroupLayoutEntry { binding: binding.binding, visibility, ty, count: None })
    };
    let mut all: Vec<_> = module.global_variables.iter().filter_map(|(_, v)| entry(v)).collect();
    all.sort_by_key(|entry| entry.binding);
    all
}
