//! Render targets: areas of a screen and their attachments.

use super::{Camera, Look, RenderScene, Renderer};

/// An area of a picture, in pixels from its upper left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// From the left.
    pub x: u32,
    /// From the top.
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

impl Area {
    /// A whole picture.
    pub fn whole(width: u32, height: u32) -> Self {
        Area { x: 0, y: 0, width, height }
    }

    pub fn aspect(&self) -> f64 {
        f64::from(self.width.max(1)) / f64::from(self.height.max(1))
    }

    /// Its intersection with a picture of this size, if any.
    pub(super) fn within(self, [width, height]: [u32; 2]) -> Option<Area> {
        let area = Area {
            width: self.width.min(width.saturating_sub(self.x)),
            height: self.height.min(height.saturating_sub(self.y)),
            ..self
        };
        (area.width > 0 && area.height > 0).then_some(area)
    }

    /// Splits it into panes side by side, in rows of up to two where that is squarer.
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

/// A render scene in an area of a picture.
pub struct Pane<'a> {
    pub render_scene: &'a mut RenderScene,
    pub camera: &'a Camera,
    pub look: &'a Look,
    pub area: Area,
}

/// Multisample and depth textures for pictures of one size.
pub struct Screen {
    width: u32,
    height: u32,
    pub(super) depth: wgpu::TextureView,
    /// `None` for one sample per pixel.
    pub(super) samples: Option<wgpu::TextureView>,
}

impl Screen {
    /// For pictures of this size.
    pub fn new(renderer: &Renderer, width: u32, height: u32) -> Self {
        let (size, usage) = ([width.max(1), height.max(1)], wgpu::TextureUsages::RENDER_ATTACHMENT);
        let (device, count) = (&renderer.context().device, renderer.samples());
        let view = |format| texture(device, size, count, format, usage).create_view(&Default::default());
        let samples = (count > 1).then(|| view(renderer.format()));
        Screen { width, height, depth: view(DEPTH), samples }
    }

    /// Its width and height (pixels).
    pub fn size(&self) -> [u32; 2] {
        [self.width, self.height]
    }
}

/// A texture of this many pixels.
pub fn texture(
    device: &wgpu::Device,
    [width, height]: [u32; 2],
    sample_count: u32,
    format: wgpu::TextureFormat,
    usage: wgpu::TextureUsages,
) -> wgpu::Texture {
    device.create_texture(&wgpu::TextureDescriptor {
        label: Some("picture"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}

pub(super) const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
