//! The window: events in, pictures out, idle when nothing moves.

use super::painter::{Painter, Panels};
use super::report::Report;
use super::session::{Command, Hardware, Session};
use super::{Ended, Opening, UiState, panels, theme};
use crate::Result;
use crate::error::RunError;
use std::sync::Arc;
use std::time::{Duration, Instant};
use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::window::{Window, WindowId};

/// Minimum time between pictures: rendering must not use the whole processor.
const SHORTEST: Duration = Duration::from_millis(4);
/// The same for a software driver.
const SHORTEST_SOFTWARE: Duration = Duration::from_millis(45);

/// Wakes the event loop after a publication.
#[derive(Debug, Clone, Copy)]
struct Wake;

/// Opens the window and stays until it is closed.
pub fn run(opening: Opening) -> Result<Ended> {
    let event_loop = match EventLoop::<Wake>::with_user_event().build() {
        Ok(event_loop) => event_loop,
        Err(_) => return Ok(Ended::NoWindow("no display found (DISPLAY or WAYLAND_DISPLAY)".into())),
    };
    let mut app = App { opening, proxy: event_loop.create_proxy(), shown: None, ended: Ok(Ended::Closed) };
    match event_loop.run_app(&mut app) {
        Ok(()) => app.ended,
        Err(error) => Err(RunError::DeviceLost(format!("lost the display: {error}")).into()),
    }
}

/// The window and everything attached to it, once open.
struct Shown {
    window: Arc<Window>,
    painter: Painter,
    ui_state: UiState,
    egui: egui_winit::State,
    report: Option<Report>,
    /// Whether a redraw is needed.
    dirty: bool,
    /// When the panels want to be redrawn.
    repaint_at: Option<Instant>,
    drawn: Instant,
    shortest: Duration,
    hidden: bool,
}

struct App {
    opening: Opening,
    proxy: EventLoopProxy<Wake>,
    shown: Option<Shown>,
    ended: Result<Ended>,
}

impl App {
    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<Shown, String> {
        let [width, height] = self.opening.size;
        let attributes = Window::default_attributes()
            .with_title("Dashpot")
            .with_min_inner_size(LogicalSize::new(900, 520))
            .with_inner_size(LogicalSize::new(width, height));
        let window =
            event_loop.create_window(attributes).map_err(|e| format!("cannot open a window: {e}"))?;
        let window = Arc::new(window);
        let display = Box::new(event_loop.owned_display_handle());
        let instance =
            wgpu::Instance::new(wgpu::InstanceDescriptor::new_with_display_handle_from_env(display));
        let painter = Painter::new(instance, window.clone(), self.opening.adapter.as_deref())
            .map_err(|error| error.to_string())?;
        let machine =
            Hardware { context: Some(painter.context.clone()), options: self.opening.options.clone() };
        let session = Session::start(machine).map_err(|error| error.to_string())?;
        let proxy = self.proxy.clone();
        // fails only while the window is closing
        session.on_news(move || {
            let _ = proxy.send_event(Wake);
        });
        session.send(Command::Open(self.opening.slots.clone()));
        let adapter = painter.context.adapter.clone();
        let shortest = if adapter.software { SHORTEST_SOFTWARE } else { SHORTEST };
        let ui_state = UiState::new(session, adapter, self.opening.pictures.clone());
        let ctx = egui::Context::default();
        theme::apply(&ctx);
        let side = painter.context.device.limits().max_texture_dimension_2d as usize;
        let scale = window.scale_factor() as f32;
        let egui =
            egui_winit::State::new(ctx, egui::ViewportId::ROOT, &window, Some(scale), None, Some(side));
        let report = self.opening.report.clone().map(Report::new);
        Ok(Shown {
            window,
            painter,
            ui_state,
            egui,
            report,
            dirty: true,
            repaint_at: None,
            drawn: Instant::now(),
            shortest,
            hidden: false,
        })
    }
}

impl ApplicationHandler<Wake> for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.shown.is_some() {
            return;
        }
        match self.open(event_loop) {
            Ok(shown) => self.shown = Some(shown),
            Err(reason) => {
                self.ended = Ok(Ended::NoWindow(reason));
                event_loop.exit();
            }
        }
    }

    fn user_event(&mut self, _: &ActiveEventLoop, _: Wake) {
        self.shown.iter_mut().for_each(|shown| shown.dirty = true);
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(shown) = &mut self.shown else { return };
        if event != WindowEvent::RedrawRequested {
            let answer = shown.egui.on_window_event(&shown.window, &event);
            shown.dirty |= answer.repaint;
        }
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(size) => {
                shown.hidden = size.width == 0 || size.height == 0;
                shown.painter.resize(size.width, size.height);
                shown.dirty = true;
            }
            WindowEvent::Occluded(hidden) => {
                (shown.hidden, shown.dirty) = (hidden, true);
            }
            WindowEvent::RedrawRequested => {
                if let Err(error) = shown.draw() {
                    self.ended = Err(error);
                    event_loop.exit();
                }
            }
            _ => {}
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Some(shown) = &mut self.shown else { return };
        event_loop.set_control_flow(shown.wait());
    }

    fn exiting(&mut self, _: &ActiveEventLoop) {
        if let Some(shown) = &mut self.shown
            && let Some(Err(error)) = shown.ui_state.recording.finish()
            && self.ended.is_ok()
        {
            self.ended = Err(error);
        }
        self.shown = None;
    }
}

impl Shown {
    /// Requests a redraw if one is due; otherwise returns how long to wait.
    fn wait(&mut self) -> ControlFlow {
        let now = Instant::now();
        let recording = self.ui_state.recording.next();
        for due in [self.repaint_at, recording].into_iter().flatten() {
            self.dirty |= due <= now;
        }
        let earliest = self.drawn + self.shortest;
        if self.hidden {
            return ControlFlow::Wait;
        }
        if self.dirty && now >= earliest {
            self.dirty = false;
            self.window.request_redraw();
            return ControlFlow::Wait;
        }
        let next =
            if self.dirty { Some(earliest) } else { self.repaint_at.into_iter().chain(recording).min() };
        next.map_or(ControlFlow::Wait, ControlFlow::WaitUntil)
    }

    fn draw(&mut self) -> Result<()> {
        let now = Instant::now();
        let passed = (now - self.drawn).as_secs_f64().max(1e-3);
        self.ui_state.frame_rate += (1.0 / passed - self.ui_state.frame_rate) * 0.1;
        self.drawn = now;
        self.ui_state.poll_session();
        self.ui_state.poll_recording();
        let input = self.egui.take_egui_input(&self.window);
        let ctx = self.egui.egui_ctx().clone();
        let scene = self.painter.scene;
        let ui_state = &mut self.ui_state;
        let output = ctx.run_ui(input, |ui| {
            ui_state.handle_keys(ui.ctx());
            panels::show(ui, ui_state, scene);
        });
        self.egui.handle_platform_output(&self.window, output.platform_output);
        let scale = output.pixels_per_point;
        let primitives = ctx.tessellate(output.shapes, scale);
        let delay = output.viewport_output.get(&egui::ViewportId::ROOT).map(|view| view.repaint_delay);
        self.repaint_at = delay
            .and_then(|delay| now.checked_add(delay))
            .filter(|_| delay < Some(Duration::from_secs(3600)));
        if self.ui_state.message.is_some() || self.ui_state.recording.progress().is_some() {
            let soon = now + Duration::from_millis(500);
            self.repaint_at = Some(self.repaint_at.map_or(soon, |at| at.min(soon)));
        }
        let panels = Panels { primitives, textures: output.textures_delta, scale };
        self.painter.draw(&mut self.ui_state, panels)?;
        if let Some(report) = &mut self.report {
            report.write(&self.ui_state, self.painter.size());
        }
        Ok(())
    }
}
