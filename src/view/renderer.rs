//! The pipelines, and the order in which a picture is drawn.

use super::camera::Camera;
use super::look::Look;
use super::measure::{self, Id};
use super::program::{How, Program};
use super::stage::Stage;
use crate::Result;
use crate::error::RunError;
use crate::gpu::context::Context;
use crate::gpu::layout::LANES;
use crate::gpu::pipeline::grid;
use crate::gpu::reload::{self, Watch};
use crate::gpu::shader::Library;
use std::ops::Range;
use std::sync::Arc;

/// A part of a picture, in pixels from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// From the left.
    pub x: u32,
    /// From the top.
    pub y: u32,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
}

impl Area {
    /// A whole picture.
    pub fn whole(width: u32, height: u32) -> Self {
        Area { x: 0, y: 0, width, height }
    }

    /// Width over height.
    pub fn aspect(&self) -> f64 {
        f64::from(self.width.max(1)) / f64::from(self.height.max(1))
    }

    /// The part of it that lies in a picture of this size, if any.
    fn within(self, [width, height]: [u32; 2]) -> Option<Area> {
        let area = Area {
            width: self.width.min(width.saturating_sub(self.x)),
            height: self.height.min(height.saturating_sub(self.y)),
            ..self
        };
        (area.width > 0 && area.height > 0).then_some(area)
    }

    /// So many panes side by side, in rows of up to two where that is squarer.
    pub fn split(self, panes: usize) -> Vec<Area> {
        let columns = match panes {
            0..=1 => 1,
            2 | 4 => 2,
            3 => 3,
            _ => (panes as f64).sqrt().ceil() as u32,
        };
        let rows = (panes as u32).div_ceil(columns).max(1);
        let area = |k: u32| {
            let (column, row) = (k % columns, k / columns);
            let [left, right] = [column, column + 1].map(|c| self.width * c / columns);
            let [top, bottom] = [row, row + 1].map(|r| self.height * r / rows);
            Area { x: self.x + left, y: self.y + top, width: right - left, height: bottom - top }
        };
        (0..panes as u32).map(area).collect()
    }
}

/// A stage in a part of a picture.
pub struct Pane<'a> {
    /// What is drawn.
    pub stage: &'a mut Stage,
    /// From where.
    pub camera: &'a Camera,
    /// How.
    pub look: &'a Look,
    /// And in which part of the picture.
    pub area: Area,
}

/// Memory for drawing a picture of one size: samples and depths.
pub struct Screen {
    width: u32,
    height: u32,
    depth: wgpu::TextureView,
    /// None where there is one sample a pixel.
    samples: Option<wgpu::TextureView>,
}

impl Screen {
    /// For pictures of this size.
    pub fn new(renderer: &Renderer, width: u32, height: u32) -> Self {
        let texture = |format: wgpu::TextureFormat| {
            let descriptor = wgpu::TextureDescriptor {
                label: Some("screen"),
                size: wgpu::Extent3d { width: width.max(1), height: height.max(1), depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: renderer.samples,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            };
            renderer.context.device.create_texture(&descriptor).create_view(&Default::default())
        };
        let samples = (renderer.samples > 1).then(|| texture(renderer.format));
        Screen { width, height, depth: texture(DEPTH), samples }
    }

    /// Its width and height (pixels).
    pub fn size(&self) -> [u32; 2] {
        [self.width, self.height]
    }
}

/// Format of depths.
pub(super) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// The shaders of the renderer, files of `shaders/render/` without what they share.
pub const SHADERS: [&str; 15] = [
    "background",
    "ground",
    "surface",
    "ribbon",
    "obstacle",
    "marker",
    "wire",
    "normals",
    "measure_tet",
    "measure_triangle",
    "measure_spring",
    "measure_bending",
    "measure_rigid",
    "measure_vertex",
    "measure_range",
];

/// The bind groups and numbers of what a stage draws.
#[derive(Default)]
pub(super) struct Draws {
    pub normals: Option<wgpu::BindGroup>,
    pub drawn_vertices: u32,
    pub background: Option<wgpu::BindGroup>,
    pub ground: Option<wgpu::BindGroup>,
    pub planes: u32,
    pub surface: Option<wgpu::BindGroup>,
    pub triangles: Option<wgpu::Buffer>,
    pub triangle_indices: u32,
    pub ribbon: Option<wgpu::BindGroup>,
    pub pieces: u32,
    pub obstacle: Option<wgpu::BindGroup>,
    /// Corners of the shape of each obstacle.
    pub obstacles: Vec<Range<u32>>,
    pub holder: Option<wgpu::BindGroup>,
    pub holders: u32,
    pub loose: Option<wgpu::BindGroup>,
    pub loose_count: u32,
    pub marker: Option<wgpu::BindGroup>,
    pub markers: u32,
    pub wire: Option<wgpu::BindGroup>,
    pub edges: Option<wgpu::Buffer>,
    pub edge_indices: u32,
    pub shadow: Option<wgpu::BindGroup>,
    pub shadow_map: Option<wgpu::TextureView>,
}

/// The kernels: normals, and what is measured for colours.
pub(super) struct Kernels {
    normals: (Program, wgpu::ComputePipeline),
    measures: Vec<(Program, wgpu::ComputePipeline)>,
}

impl Kernels {
    fn new(context: &Context, library: &Library) -> Result<Self> {
        let normals = Program::new(context, library, "normals")?;
        let pipeline = normals.compute(context)?;
        Ok(Kernels { normals: (normals, pipeline), measures: measure::programs(context, library)? })
    }

    /// The kernel of normals.
    pub fn normals(&self) -> &Program {
        &self.normals.0
    }

    /// A kernel that measures.
    pub fn program(&self, id: Id) -> &Program {
        &self.measures[id as usize].0
    }

    /// Runs a kernel that measures on so many threads or a few more.
    pub fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, id: Id, group: &wgpu::BindGroup, threads: u32) {
        dispatch(pass, &self.measures[id as usize].1, group, threads);
    }

    /// Makes normals.
    pub fn dispatch_normals(&self, pass: &mut wgpu::ComputePass<'_>, group: &wgpu::BindGroup, threads: u32) {
        dispatch(pass, &self.normals.1, group, threads);
    }
}

fn dispatch(
    pass: &mut wgpu::ComputePass<'_>,
    pipeline: &wgpu::ComputePipeline,
    group: &wgpu::BindGroup,
    threads: u32,
) {
    if threads > 0 {
        let [x, y] = grid(threads.div_ceil(LANES));
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(x, y, 1);
    }
}

/// The shaders that draw.
pub(super) struct Programs {
    pub background: Program,
    pub ground: Program,
    pub surface: Program,
    pub ribbon: Program,
    pub obstacle: Program,
    pub marker: Program,
    pub wire: Program,
}

impl Programs {
    fn new(context: &Context, library: &Library) -> Result<Self> {
        let program = |name| Program::new(context, library, name);
        Ok(Programs {
            background: program("background")?,
            ground: program("ground")?,
            surface: program("surface")?,
            ribbon: program("ribbon")?,
            obstacle: program("obstacle")?,
            marker: program("marker")?,
            wire: program("wire")?,
        })
    }

    fn all(&self) -> [&Program; 7] {
        [
            &self.background,
            &self.ground,
            &self.surface,
            &self.ribbon,
            &self.obstacle,
            &self.marker,
            &self.wire,
        ]
    }
}

/// Their pipelines for one format.
struct Pipelines {
    background: wgpu::RenderPipeline,
    ground: wgpu::RenderPipeline,
    surface: wgpu::RenderPipeline,
    ribbon: wgpu::RenderPipeline,
    obstacle: wgpu::RenderPipeline,
    marker: wgpu::RenderPipeline,
    wire: wgpu::RenderPipeline,
    surface_shadow: wgpu::RenderPipeline,
    ribbon_shadow: wgpu::RenderPipeline,
    obstacle_shadow: wgpu::RenderPipeline,
}

impl Pipelines {
    fn new(
        context: &Context,
        programs: &Programs,
        format: wgpu::TextureFormat,
        samples: u32,
    ) -> Result<Self> {
        let topology = wgpu::PrimitiveTopology::TriangleList;
        let solid = How { format, samples, writes_depth: true, blend: false, topology };
        let behind = How { writes_depth: false, ..solid };
        let thin =
            How { blend: true, writes_depth: false, topology: wgpu::PrimitiveTopology::LineList, ..solid };
        Ok(Pipelines {
            background: programs.background.draw(context, &behind)?,
            ground: programs.ground.draw(context, &How { blend: true, ..solid })?,
            surface: programs.surface.draw(context, &solid)?,
            ribbon: programs.ribbon.draw(context, &solid)?,
            obstacle: programs.obstacle.draw(context, &solid)?,
            marker: programs.marker.draw(context, &solid)?,
            wire: programs.wire.draw(context, &thin)?,
            surface_shadow: programs.surface.shadow(context)?,
            ribbon_shadow: programs.ribbon.shadow(context)?,
            obstacle_shadow: programs.obstacle.shadow(context)?,
        })
    }
}

/// All that drawing needs and that does not depend on what is drawn.
pub struct Renderer {
    pub(super) context: Arc<Context>,
    format: wgpu::TextureFormat,
    samples: u32,
    library: Library,
    watch: Watch,
    kernels: Kernels,
    programs: Programs,
    pipelines: Pipelines,
    shadow_sampler: wgpu::Sampler,
}

impl Renderer {
    /// For pictures of this colour format, sRGB or not, with 1 or 4 samples a pixel. Shaders are those built in.
    pub fn new(context: &Arc<Context>, format: wgpu::TextureFormat, samples: u32) -> Result<Self> {
        Self::with_library(context, format, samples, &Library::BuiltIn)
    }

    /// The same with shaders from elsewhere.
    pub fn with_library(
        context: &Arc<Context>,
        format: wgpu::TextureFormat,
        samples: u32,
        library: &Library,
    ) -> Result<Self> {
        // what WebGPU promises
        let samples = if samples >= 4 { 4 } else { 1 };
        let programs = Programs::new(context, library)?;
        let shadow_sampler = context.device.create_sampler(&wgpu::SamplerDescriptor {
            label: Some("shadow"),
            mag_filter: wgpu::FilterMode::Linear,
            min_filter: wgpu::FilterMode::Linear,
            compare: Some(wgpu::CompareFunction::LessEqual),
            ..wgpu::SamplerDescriptor::default()
        });
        Ok(Renderer {
            context: context.clone(),
            format,
            samples,
            library: library.clone(),
            watch: Watch::new(library),
            kernels: Kernels::new(context, library)?,
            pipelines: Pipelines::new(context, &programs, format, samples)?,
            programs,
            shadow_sampler,
        })
    }

    /// Loads shaders anew if their files have changed. One that is not valid is told of, and the last good ones go on.
    pub fn reload(&mut self) -> Result<()> {
        if self.watch.changed() {
            let renewed = self.renewed();
            self.context.check()?;
            reload::tell(&renewed.map(|renewed| *self = renewed));
        }
        Ok(())
    }

    fn renewed(&self) -> Result<Renderer> {
        let renewed = Self::with_library(&self.context, self.format, self.samples, &self.library)?;
        let pairs = self.programs.all().into_iter().zip(renewed.programs.all());
        let kernels = self.kernels.measures.iter().zip(&renewed.kernels.measures);
        let mut pairs = pairs.chain(kernels.map(|(old, new)| (&old.0, &new.0)));
        let changed = pairs.find(|(old, new)| !new.binds_like(old)).map(|(old, _)| old.file());
        drop(pairs);
        match changed {
            None => Ok(renewed),
            Some(file) => {
                let message = "its bindings have changed; start anew".into();
                Err(RunError::Shader { file, line: 0, message }.into())
            }
        }
    }

    /// Samples a pixel that suit an adapter: 4, or 1 for one in software.
    pub fn suitable_samples(context: &Context) -> u32 {
        if context.adapter.software { 1 } else { 4 }
    }

    /// The device.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// Samples a pixel.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// The colour format of its pictures.
    pub fn format(&self) -> wgpu::TextureFormat {
        self.format
    }

    pub(super) fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    pub(super) fn programs(&self) -> &Programs {
        &self.programs
    }

    /// The shadow map as group 1 of the shaders that shade.
    pub(super) fn bind_shadow(&self, map: &wgpu::TextureView) -> wgpu::BindGroup {
        let resources =
            [wgpu::BindingResource::TextureView(map), wgpu::BindingResource::Sampler(&self.shadow_sampler)];
        let entries: Vec<_> = (0..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let layout = self.programs.surface.shadow_layout();
        self.context.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("shadow map"),
            layout,
            entries: &entries,
        })
    }

    /// Draws panes into a picture (`target`, of the size of the screen and the renderer's format). What is not covered by a
    /// pane becomes background. The caller submits the commands.
    pub fn draw(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        screen: &Screen,
        target: &wgpu::TextureView,
        panes: &mut [Pane<'_>],
    ) -> Result<()> {
        for pane in panes.iter_mut() {
            pane.stage.set_frame(pane.camera, pane.look, &pane.area, self.format.is_srgb());
            pane.stage.measure(self, encoder, pane.look);
            self.cast_shadows(encoder, pane.stage);
        }
        let (view, resolve_target) = match &screen.samples {
            Some(samples) => (samples, Some(target)),
            None => (target, None),
        };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("picture"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color { r: 0.8, g: 0.82, b: 0.84, a: 1.0 }),
                    store: wgpu::StoreOp::Store,
                },
            })],
            depth_stencil_attachment: Some(depth_attachment(&screen.depth, wgpu::StoreOp::Discard)),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        for pane in panes.iter() {
            let Some(Area { x, y, width, height }) = pane.area.within(screen.size()) else { continue };
            pass.set_viewport(x as f32, y as f32, width as f32, height as f32, 0.0, 1.0);
            pass.set_scissor_rect(x, y, width, height);
            self.draw_pane(&mut pass, &pane.stage.draws, pane.look);
        }
        drop(pass);
        self.context.check()
    }

    fn cast_shadows(&self, encoder: &mut wgpu::CommandEncoder, stage: &Stage) {
        let Some(map) = &stage.draws.shadow_map else { return };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadows"),
            color_attachments: &[],
            depth_stencil_attachment: Some(depth_attachment(map, wgpu::StoreOp::Store)),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        let p = &self.pipelines;
        draw_bodies(&mut pass, &stage.draws, [&p.surface_shadow, &p.ribbon_shadow, &p.obstacle_shadow]);
    }

    fn draw_pane(&self, pass: &mut wgpu::RenderPass<'_>, draws: &Draws, look: &Look) {
        let p = &self.pipelines;
        let background = (&p.background, &draws.background);
        draw_items(pass, background, 3, 1);
        if let Some(shadow) = &draws.shadow {
            pass.set_bind_group(1, shadow, &[]);
        }
        draw_bodies(pass, draws, [&p.surface, &p.ribbon, &p.obstacle]);
        draw_items(pass, (&p.marker, &draws.loose), 6, draws.loose_count);
        if look.attachments {
            draw_items(pass, (&p.marker, &draws.holder), 12, draws.holders);
        }
        if look.markers {
            draw_items(pass, (&p.marker, &draws.marker), 12, draws.markers);
        }
        if let (true, Some(group), Some(edges), 1..) =
            (look.wireframe, &draws.wire, &draws.edges, draws.edge_indices)
        {
            pass.set_pipeline(&p.wire);
            pass.set_bind_group(0, group, &[]);
            pass.set_index_buffer(edges.slice(..), wgpu::IndexFormat::Uint32);
            pass.draw_indexed(0..draws.edge_indices, 0, 0..1);
        }
        if look.ground {
            // last, for what is behind shines through where it fades
            draw_items(pass, (&p.ground, &draws.ground), 6, draws.planes);
        }
    }
}

fn depth_attachment(
    view: &wgpu::TextureView,
    store: wgpu::StoreOp,
) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    let depth_ops = Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store });
    wgpu::RenderPassDepthStencilAttachment { view, depth_ops, stencil_ops: None }
}

fn draw_items(
    pass: &mut wgpu::RenderPass<'_>,
    (pipeline, group): (&wgpu::RenderPipeline, &Option<wgpu::BindGroup>),
    corners: u32,
    items: u32,
) {
    if let (Some(group), 1..) = (group, items) {
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.draw(0..corners, 0..items);
    }
}

/// Surfaces, strands and obstacles, into a picture or a shadow map.
fn draw_bodies(
    pass: &mut wgpu::RenderPass<'_>,
    draws: &Draws,
    [surface, ribbon, obstacle]: [&wgpu::RenderPipeline; 3],
) {
    if let (Some(group), Some(triangles), 1..) = (&draws.surface, &draws.triangles, draws.triangle_indices) {
        pass.set_pipeline(surface);
        pass.set_bind_group(0, group, &[]);
        pass.set_index_buffer(triangles.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..draws.triangle_indices, 0, 0..1);
    }
    draw_items(pass, (ribbon, &draws.ribbon), 6, draws.pieces);
    if let Some(group) = &draws.obstacle {
        for (number, corners) in (0..).zip(&draws.obstacles) {
            pass.set_pipeline(obstacle);
            pass.set_bind_group(0, group, &[]);
            pass.draw(corners.clone(), number..number + 1);
        }
    }
}
