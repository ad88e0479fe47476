//! Off-screen pictures.

use super::renderer::Renderer;
use super::screen::{Pane, Screen, texture};
use crate::gpu::readback::Readback;
use crate::observe::write_whole;
use crate::{Error, Result};
use std::path::Path;
use std::sync::Arc;

/// Format of pictures that are read back: bytes as in a PNG.
pub const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8UnormSrgb;

/// A picture on the host: rows from the top, four bytes per pixel (sRGB and alpha).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    /// `4 · width · height` bytes.
    pub rgba: Vec<u8>,
}

impl Picture {
    /// Writes a PNG without alpha.
    pub fn write_png(&self, path: &Path) -> Result<()> {
        write_whole(path, &self.png().map_err(Error::write(path))?)
    }

    /// The same as bytes.
    pub fn png(&self) -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        let rgb: Vec<u8> = self.rgba.chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect();
        let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&rgb));
        written.map_err(|e| std::io::Error::other(e.to_string()))?;
        Ok(bytes)
    }
}

/// A picture on the device that can be read back.
pub struct Canvas {
    screen: Screen,
    texture: wgpu::Texture,
    readback: Arc<Readback>,
    /// Bytes from a row to the next in the readback.
    stride: u32,
}

impl Canvas {
    /// For a renderer of the format [`FORMAT`].
    pub fn new(renderer: &Renderer, width: u32, height: u32) -> Self {
        let context = renderer.context();
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
        let texture = texture(&context.device, [width, height], 1, renderer.format(), usage);
        let stride = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let readback = Readback::new(context, u64::from(stride) * u64::from(height));
        Canvas { screen: Screen::new(renderer, width, height), texture, readback, stride }
    }

    /// Draws panes and reads the picture back.
    pub fn draw(&mut self, renderer: &Renderer, panes: &mut [Pane<'_>]) -> Result<Picture> {
        let context = renderer.context();
        let [width, height] = self.screen.size();
        let mut encoder = context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let view = self.texture.create_view(&wgpu::TextureViewDescriptor::default());
        renderer.draw(&mut encoder, &self.screen, &view, panes)?;
        let bytes_per_row = Some(self.stride);
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row, rows_per_image: None };
        let to = wgpu::TexelCopyBufferInfo { buffer: self.readback.buffer(), layout };
        encoder.copy_texture_to_buffer(self.texture.as_image_copy(), to, self.texture.size());
        context.queue.submit([encoder.finish()]);
        self.readback.request();
        context.wait()?;
        let rgba = self.readback.take(|bytes| {
            let rows = bytes.chunks(self.stride as usize);
            rows.flat_map(|row| &row[..4 * width as usize]).copied().collect()
        })?;
        Ok(Picture { width, height, rgba })
    }
}
