//! Compiled shaders: compute kernels, drawing programs, their pipelines; and the bind groups of a render scene.

use super::look::Look;
use super::program::{DrawOptions, Program};
use super::vertex_quantities::Id;
use crate::Result;
use crate::gpu::layout::LANES;
use crate::gpu::pipeline::grid;
use crate::gpu::{Context, Library};
use std::ops::Range;

/// In which look a surface is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Always,
    WithoutSkins,
    WithSkins,
}

/// A kernel that prepares drawing data from the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PrepareKernel {
    SkinPositions,
    SkinCofactors,
    SurfaceNormals,
    SkinNormals,
}

impl PrepareKernel {
    /// Their file names.
    pub const ALL: [&'static str; 4] =
        ["skin_positions", "skin_cofactors", "surface_normals", "skin_normals"];
}

/// A surface bound to its buffers.
pub(super) struct SurfaceDraw {
    pub shown: Shown,
    /// Kernels to run before drawing, in order, with their numbers of threads.
    pub before: Vec<(PrepareKernel, wgpu::BindGroup, u32)>,
    pub surface: wgpu::BindGroup,
    pub triangles: wgpu::Buffer,
    pub indices: u32,
}

impl Draws {
    /// The surfaces visible in a look.
    pub fn seen(&self, look: &Look) -> impl Iterator<Item = &SurfaceDraw> {
        let hidden = if look.shows_skins() { Shown::WithoutSkins } else { Shown::WithSkins };
        self.surfaces.iter().filter(move |sheet| sheet.shown != hidden)
    }
}

/// Items that are drawn at once; none without a bind group.
#[derive(Default)]
pub(super) struct Items {
    pub group: Option<wgpu::BindGroup>,
    pub count: u32,
}

/// What a render scene draws.
#[derive(Default)]
pub(super) struct Draws {
    pub surfaces: Vec<SurfaceDraw>,
    /// Positions of all skin vertices, and their number.
    pub skins: Option<(wgpu::Buffer, u32)>,
    pub background: Items,
    pub ground: Items,
    pub ribbon: Items,
    pub obstacle: Option<wgpu::BindGroup>,
    /// Corner range of each obstacle's shape.
    pub obstacles: Vec<Range<u32>>,
    pub attachments: Items,
    pub loose: Items,
    pub markers: Items,
    pub wire: Option<wgpu::BindGroup>,
    pub edges: Option<wgpu::Buffer>,
    pub edge_indices: u32,
    pub shadow: Option<wgpu::BindGroup>,
    pub shadow_map: Option<wgpu::TextureView>,
}

/// Compute kernels: drawing preparation and vertex quantities.
pub(super) struct Kernels {
    makes: Vec<(Program, wgpu::ComputePipeline)>,
    quantities: Vec<(Program, wgpu::ComputePipeline)>,
}

impl Kernels {
    pub fn new(context: &Context, library: &Library) -> Result<Self> {
        let kernel = |name| {
            let program = Program::new(context, library, name)?;
            let pipeline = program.compute(context)?;
            Ok((program, pipeline))
        };
        let makes = PrepareKernel::ALL.into_iter().map(kernel).collect::<Result<_>>()?;
        let quantities = Id::ALL.into_iter().map(|(_, name)| kernel(name)).collect::<Result<_>>()?;
        Ok(Kernels { makes, quantities })
    }

    pub fn all(&self) -> impl Iterator<Item = &Program> {
        self.makes.iter().chain(&self.quantities).map(|(program, _)| program)
    }

    pub fn make(&self, make: PrepareKernel) -> &Program {
        &self.makes[make as usize].0
    }

    /// Runs the kernels of a surface.
    pub fn prepare(&self, pass: &mut wgpu::ComputePass<'_>, sheet: &SurfaceDraw) {
        for (make, group, threads) in &sheet.before {
            dispatch(pass, &self.makes[*make as usize].1, group, *threads);
        }
    }

    /// A quantity kernel.
    pub fn program(&self, id: Id) -> &Program {
        &self.quantities[id as usize].0
    }

    /// Runs a quantity kernel on at least this many threads.
    pub fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, id: Id, group: &wgpu::BindGroup, threads: u32) {
        dispatch(pass, &self.quantities[id as usize].1, group, threads);
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

/// The drawing shaders.
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
    pub fn new(context: &Context, library: &Library) -> Result<Self> {
        let program = |name| Program::new(context, library, name);
        Ok(Programs {
            background: program("background")?,
            ground: program("ground")?,
            surface: program("surface")?,
            ribbon: program("ribbon")?,
            obstacle: program("obstacle")?,
            marker: program("marker")?,
            wire: program("wireframe")?,
        })
    }

    pub fn all(&self) -> [&Program; 7] {
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
pub(super) struct Pipelines {
    pub background: wgpu::RenderPipeline,
    pub ground: wgpu::RenderPipeline,
    pub surface: wgpu::RenderPipeline,
    pub ribbon: wgpu::RenderPipeline,
    pub obstacle: wgpu::RenderPipeline,
    pub marker: wgpu::RenderPipeline,
    pub wire: wgpu::RenderPipeline,
    pub surface_shadow: wgpu::RenderPipeline,
    pub ribbon_shadow: wgpu::RenderPipeline,
    pub obstacle_shadow: wgpu::RenderPipeline,
}

impl Pipelines {
    pub fn new(
        context: &Context,
        programs: &Programs,
        format: wgpu::TextureFormat,
        samples: u32,
    ) -> Result<Self> {
        let topology = wgpu::PrimitiveTopology::TriangleList;
        let solid = DrawOptions { format, samples, writes_depth: true, blend: false, topology };
        let behind = DrawOptions { writes_depth: false, ..solid };
        let thin = DrawOptions {
            blend: true,
            writes_depth: false,
            topology: wgpu::PrimitiveTopology::LineList,
            ..solid
        };
        Ok(Pipelines {
            background: programs.background.draw(context, &behind)?,
            ground: programs.ground.draw(context, &DrawOptions { blend: true, ..solid })?,
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
