//! Rendering of the window: its surface, the picture of the bodies, and the panels on top.

use super::example_animation::ExampleAnimation;
use super::session::{SlotState, StateSource};
use super::ui_state::UiState;
use crate::error::RunError;
use crate::gpu::{Context, Readback};
use crate::view::screen::texture;
use crate::view::{
    Area, Bounds, Colour, Look, Marker, Pane, Picture, RenderScene, Renderer, Screen, Source, look,
};
use crate::{Result, damping};
use egui::TextureId;
use egui_wgpu::{RendererOptions, ScreenDescriptor};
use std::sync::Arc;
use winit::window::Window;

/// Format of the picture of the bodies: egui blends in sRGB space.
const PICTURE: wgpu::TextureFormat = wgpu::TextureFormat::Rgba8Unorm;

/// Colour of the grabbed point (sRGB).
const HAND: [u8; 3] = [255, 240, 150];

/// A slot on the device.
struct Shown {
    build: u64,
    /// Serial number of the last state it received.
    serial: u64,
    pointed: Vec<Marker>,
    /// `None` if it cannot be drawn.
    render_scene: Option<RenderScene>,
}

/// The picture of the bodies.
struct Canvas {
    size: [u32; 2],
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    screen: Screen,
}

/// Panel geometry to draw.
pub struct Panels {
    /// Triangles.
    pub primitives: Vec<egui::ClippedPrimitive>,
    pub textures: egui::TexturesDelta,
    /// Pixels per point.
    pub scale: f32,
}

pub struct Painter {
    /// The device, shared with the solver.
    pub context: Arc<Context>,
    instance: wgpu::Instance,
    window: Arc<Window>,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    panels: egui_wgpu::Renderer,
    renderer: Renderer,
    canvas: Option<Canvas>,
    /// The picture of the bodies as an egui texture.
    pub scene: Option<TextureId>,
    render_scenes: Vec<Shown>,
    example: ExampleAnimation,
}

fn refused(what: impl std::fmt::Display) -> crate::Error {
    RunError::NoAdapter(what.to_string()).into()
}

impl Painter {
    /// For a window, on the best adapter that can present to it.
    pub fn new(instance: wgpu::Instance, window: Arc<Window>, adapter: Option<&str>) -> Result<Painter> {
        let surface = instance.create_surface(window.clone()).map_err(refused)?;
        let (context, found) = Context::for_surface(&instance, &surface, adapter)?;
        let size = window.inner_size();
        let mut config = surface
            .get_default_config(&found, size.width.max(1), size.height.max(1))
            .ok_or_else(|| refused(format!("{} cannot draw in this window", context.adapter)))?;
        let formats = surface.get_capabilities(&found).formats;
        config.format = suitable_format(&formats).ok_or_else(|| {
            refused(format!("{} has no surface format with 8 bits per channel", context.adapter))
        })?;
        config.present_mode = wgpu::PresentMode::AutoVsync;
        surface.configure(&context.device, &config);
        context.check()?;
        let samples = Renderer::suitable_samples(&context);
        Ok(Painter {
            panels: egui_wgpu::Renderer::new(&context.device, config.format, RendererOptions::default()),
            renderer: Renderer::new(&context, PICTURE, samples)?,
            canvas: None,
            scene: None,
            render_scenes: Vec::new(),
            example: ExampleAnimation::default(),
            instance,
            window,
            surface,
            config,
            context,
        })
    }

    /// Width and height (pixels).
    pub fn size(&self) -> [u32; 2] {
        [self.config.width, self.config.height]
    }

    /// The window has another size. Nothing is drawn in one without any.
    pub fn resize(&mut self, width: u32, height: u32) {
        let most = self.context.device.limits().max_texture_dimension_2d;
        if width > 0 && height > 0 {
            (self.config.width, self.config.height) = (width.min(most), height.min(most));
            self.surface.configure(&self.context.device, &self.config);
        }
    }

    /// The next surface texture; `None` if there is none, such as in a hidden window.
    fn next_texture(&mut self) -> Result<Option<wgpu::SurfaceTexture>> {
        use wgpu::CurrentSurfaceTexture as Current;
        for _ in 0..2 {
            match self.surface.get_current_texture() {
                Current::Success(texture) => return Ok(Some(texture)),
                Current::Suboptimal(texture) => {
                    drop(texture);
                    self.surface.configure(&self.context.device, &self.config);
                }
                Current::Outdated => self.surface.configure(&self.context.device, &self.config),
                Current::Lost => {
                    self.context.check()?;
                    self.surface = self.instance.create_surface(self.window.clone()).map_err(refused)?;
                    self.surface.configure(&self.context.device, &self.config);
                }
                Current::Timeout | Current::Occluded => return Ok(None),
                Current::Validation => {
                    self.context.check()?;
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    pub fn draw(&mut self, ui_state: &mut UiState, panels: Panels) -> Result<()> {
        self.update_render_scenes(ui_state)?;
        let device = self.context.device.clone();
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.draw_bodies(ui_state, &mut encoder)?;
        for (id, deltas) in &panels.textures.set {
            for delta in deltas {
                self.panels.update_texture(&device, &self.context.queue, *id, delta);
            }
        }
        let screen = ScreenDescriptor { size_in_pixels: self.size(), pixels_per_point: panels.scale };
        let more = self.panels.update_buffers(
            &device,
            &self.context.queue,
            &mut encoder,
            &panels.primitives,
            &screen,
        );
        let shot = std::mem::take(&mut ui_state.screenshot).then(|| self.offscreen());
        if let Some(texture) = &shot {
            self.draw_panels(&mut encoder, &texture.create_view(&Default::default()), &panels, &screen);
        }
        let frame = self.next_texture()?;
        if let Some(frame) = &frame {
            self.draw_panels(&mut encoder, &frame.texture.create_view(&Default::default()), &panels, &screen);
        }
        self.context.queue.submit(more.into_iter().chain([encoder.finish()]));
        if let Some(frame) = frame {
            self.window.pre_present_notify();
            self.context.queue.present(frame);
        }
        self.update_range(ui_state)?;
        panels.textures.free.iter().for_each(|id| self.panels.free_texture(id));
        self.take_pictures(ui_state, shot)?;
        self.context.check()
    }

    /// The ends of the colour map: in one pane its own, in several those that show the largest value of all, so that
    /// equal colours are equal values.
    fn update_range(&mut self, ui_state: &mut UiState) -> Result<()> {
        let (mut largest, mut own, mut all_told) = (0f32, None, true);
        for render_scene in self.render_scenes.iter_mut().filter_map(|shown| shown.render_scene.as_mut()) {
            own = render_scene.range(false)?;
            all_told &= own.is_some();
            largest = largest.max(render_scene.largest().unwrap_or(0.0));
        }
        let several = self.render_scenes.len() > 1 && ui_state.look.range.is_none();
        let common = all_told.then(|| [0.0, look::rounded_up(largest)]);
        let before = std::mem::replace(&mut ui_state.range, if several { common } else { own });
        if ui_state.look.colour != Colour::Body && (!all_told || several && ui_state.range != before) {
            // the picture just drawn has other colours than its legend
            self.window.request_redraw();
        }
        Ok(())
    }

    fn draw_panels(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        view: &wgpu::TextureView,
        panels: &Panels,
        screen: &ScreenDescriptor,
    ) {
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("panels"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })],
            ..Default::default()
        });
        self.panels.render(&mut pass.forget_lifetime(), &panels.primitives, screen);
    }

    /// A slot's stage for every slot, with its last state.
    fn update_render_scenes(&mut self, ui_state: &mut UiState) -> Result<()> {
        let state = ui_state.state.clone();
        self.render_scenes.truncate(state.slots.len());
        ui_state.draw_errors.resize(state.slots.len(), None);
        for (k, slot) in state.slots.iter().enumerate() {
            if self.render_scenes.get(k).is_none_or(|shown| shown.build != slot.build) {
                let render_scene = self.render_scene_of(slot);
                ui_state.draw_errors[k] = render_scene.as_ref().err().map(ToString::to_string);
                let shown = Shown {
                    build: slot.build,
                    serial: 0,
                    pointed: Vec::new(),
                    render_scene: render_scene.ok(),
                };
                match self.render_scenes.get_mut(k) {
                    Some(old) => *old = shown,
                    None => self.render_scenes.push(shown),
                }
            }
            let Shown { serial, pointed, render_scene: Some(render_scene), .. } = &mut self.render_scenes[k]
            else {
                continue;
            };
            if *serial != state.serial {
                if let StateSource::Host(positions, velocities, filtered) = &slot.state_source {
                    render_scene.set_filtered_state(positions, velocities, filtered);
                }
                render_scene.set_time(slot.row.time);
                render_scene.set_held(&slot.held);
                *serial = state.serial;
            }
            let marker = |held: super::session::state::GrabState| Marker {
                vertex: held.vertex as u32,
                line: held.hand.map(|c| c as f32).into(),
                absolute: true,
                colour: HAND,
            };
            let touched = slot.contact_points.iter().filter(|_| ui_state.contacts).map(Marker::contact);
            let held = state.held.filter(|held| held.slot == k || ui_state.is_design()).map(marker);
            let markers: Vec<Marker> = held.into_iter().chain(touched).collect();
            if *pointed != markers {
                render_scene.set_markers(&self.renderer, &markers)?;
                *pointed = markers;
            }
        }
        self.example.update(&self.renderer, ui_state);
        let bounds =
            self.render_scenes.iter().filter_map(|shown| Some(shown.render_scene.as_ref()?.bounds()));
        let all = bounds.reduce(|all: Bounds, one| all.union(&one));
        if let (Some(_), Some(all)) = (ui_state.framing, all) {
            ui_state.frame_camera(all);
        }
        Ok(())
    }

    fn render_scene_of(&self, slot: &SlotState) -> Result<RenderScene> {
        let scene = &slot.loaded.scene;
        let source = match &slot.state_source {
            StateSource::Host(..) => Source::Host,
            StateSource::Device(shared) => Source::Device(shared.clone()),
        };
        let mut render_scene = RenderScene::new(&self.renderer, scene, &slot.model, source)?;
        render_scene
            .set_damping(&damping::make(&scene.damping)?, scene.time.step / scene.time.substeps as f64);
        Ok(render_scene)
    }

    fn draw_bodies(&mut self, ui_state: &mut UiState, encoder: &mut wgpu::CommandEncoder) -> Result<()> {
        let size = ui_state.picture_size();
        if self.canvas.as_ref().is_none_or(|canvas| canvas.size != size) {
            self.make_canvas(size);
        }
        let Some(canvas) = &self.canvas else { return Ok(()) };
        let plain = Look { colour: Colour::Body, attachments: false, ..ui_state.look.clone() };
        let areas = Area::whole(size[0], size[1]).split(ui_state.panes().len());
        let common = ui_state.range.filter(|_| self.render_scenes.len() > 1);
        let look = Look { range: ui_state.look.range.or(common), ..ui_state.look.clone() };
        let render_scenes = self.render_scenes.iter_mut().map(|shown| shown.render_scene.as_mut());
        let pane = |(render_scene, area)| {
            Some(Pane { render_scene: render_scene?, camera: &ui_state.camera, look: &look, area })
        };
        let mut panes: Vec<Pane<'_>> = render_scenes.zip(areas.iter().copied()).filter_map(pane).collect();
        if let (Some(render_scene), Some(area)) = (self.example.render_scene(), areas.last()) {
            panes.push(Pane { render_scene, camera: &ui_state.camera, look: &plain, area: *area });
        }
        self.renderer.draw(encoder, &canvas.screen, &canvas.view, &mut panes)
    }

    fn make_canvas(&mut self, size: [u32; 2]) {
        let device = &self.context.device;
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT
            | wgpu::TextureUsages::TEXTURE_BINDING
            | wgpu::TextureUsages::COPY_SRC;
        let texture = texture(device, size, 1, PICTURE, usage);
        let view = texture.create_view(&Default::default());
        let filter = wgpu::FilterMode::Linear;
        match self.scene {
            Some(id) => self.panels.update_egui_texture_from_wgpu_texture(device, &view, filter, id),
            None => self.scene = Some(self.panels.register_native_texture(device, &view, filter)),
        }
        let screen = Screen::new(&self.renderer, size[0], size[1]);
        self.canvas = Some(Canvas { size, texture, view, screen });
    }

    /// A picture of the whole window.
    fn offscreen(&self) -> wgpu::Texture {
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC;
        texture(&self.context.device, self.size(), 1, self.config.format, usage)
    }

    /// Reads back what is asked for: a picture of the window, and of the bodies for a recording.
    fn take_pictures(&self, ui_state: &mut UiState, shot: Option<wgpu::Texture>) -> Result<()> {
        if let Some(texture) = shot {
            ui_state.save_picture(&self.read(&texture)?);
        }
        if let (Some(size), Some(canvas)) = (ui_state.recording.due(), &self.canvas)
            && canvas.size == size
        {
            ui_state.record(self.read(&canvas.texture)?);
        }
        Ok(())
    }

    fn read(&self, texture: &wgpu::Texture) -> Result<Picture> {
        let (width, height) = (texture.width(), texture.height());
        let stride = (4 * width).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let readback = Readback::new(&self.context, u64::from(stride) * u64::from(height));
        let mut encoder = self.context.device.create_command_encoder(&Default::default());
        let layout =
            wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(stride), rows_per_image: None };
        let to = wgpu::TexelCopyBufferInfo { buffer: readback.buffer(), layout };
        encoder.copy_texture_to_buffer(texture.as_image_copy(), to, texture.size());
        self.context.queue.submit([encoder.finish()]);
        readback.request();
        self.context.wait()?;
        use wgpu::TextureFormat as Format;
        let blue_first = matches!(texture.format(), Format::Bgra8Unorm | Format::Bgra8UnormSrgb);
        let rgba = readback.take(|bytes| {
            let rows = bytes.chunks(stride as usize);
            let pixels = rows.flat_map(|row| row[..4 * width as usize].chunks_exact(4));
            pixels
                .flat_map(|p| if blue_first { [p[2], p[1], p[0], 255] } else { [p[0], p[1], p[2], 255] })
                .collect()
        })?;
        Ok(Picture { width, height, rgba })
    }
}

/// The format of the window's picture: one with eight bits a colour, of these those that store colours as egui mixes them
/// first.
fn suitable_format(offered: &[wgpu::TextureFormat]) -> Option<wgpu::TextureFormat> {
    use wgpu::TextureFormat as Format;
    let wished = [Format::Bgra8Unorm, Format::Rgba8Unorm, Format::Bgra8UnormSrgb, Format::Rgba8UnormSrgb];
    wished.into_iter().find(|format| offered.contains(format))
}
