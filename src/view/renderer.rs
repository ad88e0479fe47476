//! The drawing order of a picture.

use super::pipelines::{Draws, Items, Kernels, Pipelines, PrepareKernel, Programs};
use super::vertex_quantities::Id;
use super::{Area, Look, Pane, RenderScene, Screen};
use crate::Result;
use crate::error::RunError;
use crate::gpu::reload::{self, Watch};
use crate::gpu::{Context, Library};
use std::sync::Arc;

/// The renderer's shaders: files of `shaders/render/` without the shared ones.
pub fn shaders() -> Vec<&'static str> {
    let drawn = ["background", "ground", "surface", "ribbon", "obstacle", "marker", "wireframe"];
    drawn.into_iter().chain(PrepareKernel::ALL).chain(Id::ALL.map(|(_, name)| name)).collect()
}

/// Everything drawing needs that does not depend on what is drawn.
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
    /// For pictures of this colour format (sRGB or linear) with 1 or 4 samples per pixel, using the built-in shaders.
    pub fn new(context: &Arc<Context>, format: wgpu::TextureFormat, samples: u32) -> Result<Self> {
        Self::with_library(context, format, samples, &Library::BuiltIn)
    }

    /// The same with other shaders.
    pub fn with_library(
        context: &Arc<Context>,
        format: wgpu::TextureFormat,
        samples: u32,
        library: &Library,
    ) -> Result<Self> {
        // guaranteed by WebGPU
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

    /// Reloads shaders whose files have changed. An invalid one is reported, and the last good version stays in use.
    pub fn reload(&mut self) -> Result<()> {
        if self.watch.changed() {
            let renewed = self.renewed();
            self.context.check()?;
            reload::report(&renewed.map(|renewed| *self = renewed));
        }
        Ok(())
    }

    fn renewed(&self) -> Result<Renderer> {
        let renewed = Self::with_library(&self.context, self.format, self.samples, &self.library)?;
        let pairs = self.programs.all().into_iter().zip(renewed.programs.all());
        let mut pairs = pairs.chain(self.kernels.all().zip(renewed.kernels.all()));
        let changed = pairs.find(|(old, new)| !new.binds_like(old)).map(|(old, _)| old.file());
        drop(pairs);
        match changed {
            None => Ok(renewed),
            Some(file) => {
                let message = "its bindings have changed; restart the program".into();
                Err(RunError::Shader { file, line: 0, message }.into())
            }
        }
    }

    /// Samples per pixel suitable for an adapter: 4, or 1 for a software driver.
    pub fn suitable_samples(context: &Context) -> u32 {
        if context.adapter.software { 1 } else { 4 }
    }

    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

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

    /// The shadow map as bind group 1 of the lit shaders.
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

    /// Draws panes into a picture (`target`, of the screen's size and the renderer's format). Areas without a pane
    /// show the background. The caller submits the commands.
    pub fn draw(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        screen: &Screen,
        target: &wgpu::TextureView,
        panes: &mut [Pane<'_>],
    ) -> Result<()> {
        for pane in panes.iter_mut() {
            pane.render_scene.set_frame(pane.camera, pane.look, &pane.area, self.format.is_srgb());
            pane.render_scene.measure(self, encoder, pane.look);
            self.cast_shadows(encoder, pane.render_scene, pane.look);
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
            self.draw_pane(&mut pass, &pane.render_scene.draws, pane.look);
        }
        drop(pass);
        self.context.check()
    }

    fn cast_shadows(&self, encoder: &mut wgpu::CommandEncoder, render_scene: &RenderScene, look: &Look) {
        let Some(map) = &render_scene.draws.shadow_map else { return };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadows"),
            color_attachments: &[],
            depth_stencil_attachment: Some(depth_attachment(map, wgpu::StoreOp::Store)),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        let p = &self.pipelines;
        draw_bodies(
            &mut pass,
            &render_scene.draws,
            look,
            [&p.surface_shadow, &p.ribbon_shadow, &p.obstacle_shadow],
        );
    }

    fn draw_pane(&self, pass: &mut wgpu::RenderPass<'_>, draws: &Draws, look: &Look) {
        let p = &self.pipelines;
        draw_items(pass, &p.background, &draws.background, 3);
        if let Some(shadow) = &draws.shadow {
            pass.set_bind_group(1, shadow, &[]);
        }
        draw_bodies(pass, draws, look, [&p.surface, &p.ribbon, &p.obstacle]);
        draw_items(pass, &p.marker, &draws.loose, 6);
        if look.attachments {
            draw_items(pass, &p.marker, &draws.attachments, 12);
        }
        if look.markers {
            draw_items(pass, &p.marker, &draws.markers, 12);
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
            // drawn last, since it is blended where it fades out
            draw_items(pass, &p.ground, &draws.ground, 6);
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

fn draw_items(pass: &mut wgpu::RenderPass<'_>, of: &wgpu::RenderPipeline, items: &Items, corners: u32) {
    if let Items { group: Some(group), count: count @ 1.. } = items {
        pass.set_pipeline(of);
        pass.set_bind_group(0, group, &[]);
        pass.draw(0..corners, 0..*count);
    }
}

/// Draws surfaces, strands and obstacles into a picture or a shadow map.
fn draw_bodies(
    pass: &mut wgpu::RenderPass<'_>,
    draws: &Draws,
    look: &Look,
    [surface, ribbon, obstacle]: [&wgpu::RenderPipeline; 3],
) {
    for sheet in draws.seen(look) {
        pass.set_pipeline(surface);
        pass.set_bind_group(0, &sheet.surface, &[]);
        pass.set_index_buffer(sheet.triangles.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..sheet.indices, 0, 0..1);
    }
    draw_items(pass, ribbon, &draws.ribbon, 6);
    if let Some(group) = &draws.obstacle {
        for (number, corners) in (0..).zip(&draws.obstacles) {
            pass.set_pipeline(obstacle);
            pass.set_bind_group(0, group, &[]);
            pass.draw(corners.clone(), number..number + 1);
        }
    }
}
