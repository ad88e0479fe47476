//! The pipelines, and the order in which a picture is drawn.

use super::camera::Camera;
use super::look::Look;
use super::stage::Stage;
use crate::Result;
use crate::gpu::context::Context;
use crate::gpu::shader::Library;
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

/// All that drawing needs and that does not depend on what is drawn.
pub struct Renderer {
    pub(super) context: Arc<Context>,
    format: wgpu::TextureFormat,
    samples: u32,
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
        _library: &Library,
    ) -> Result<Self> {
        Ok(Renderer { context: context.clone(), format, samples: if samples >= 4 { 4 } else { 1 } })
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

    /// Draws panes into a picture (`target`, of the size of the screen and the renderer's format). What is not covered by a
    /// pane becomes background. The caller submits the commands.
    pub fn draw(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        screen: &Screen,
        target: &wgpu::TextureView,
        _panes: &mut [Pane<'_>],
    ) -> Result<()> {
        let (view, resolve_target) = match &screen.samples {
            Some(samples) => (samples, Some(target)),
            None => (target, None),
        };
        let clear = wgpu::Color { r: 0.8, g: 0.85, b: 0.9, a: 1.0 };
        encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("picture"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target,
                ops: wgpu::Operations { load: wgpu::LoadOp::Clear(clear), store: wgpu::StoreOp::Store },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &screen.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            timestamp_writes: None,
            occlusion_query_set: None,
            multiview_mask: None,
        });
        Ok(())
    }
}
