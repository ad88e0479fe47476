//! Mouse interaction with the bodies: grab, push, pin; orbit, pan, zoom.

use super::session::Command;
use super::ui_state::{Tool, UiState};
use crate::Vec3;
use crate::view::{Area, Ray};
use egui::{PointerButton, Pos2, Response, Ui};

/// Camera rotation per pixel (rad).
const TURN: f64 = 0.008;

/// Zoom per pixel of scrolling.
const ZOOM: f64 = 0.002;

/// Current mouse drag.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Drag {
    /// Nothing.
    #[default]
    None,
    /// Waiting for the session's answer to a grab request.
    Asked(u64),
    /// Pulls a body in the view plane through this point (m).
    Holds {
        slot: usize,
        through: Vec3,
    },
    Orbits,
}

/// Intersection of a ray with the plane through a point with this normal; `None` if parallel.
pub fn on_plane(ray: &Ray, through: Vec3, normal: Vec3) -> Option<Vec3> {
    let towards = ray.direction.dot(&normal);
    let distance = (through - ray.origin).dot(&normal) / towards;
    (distance.is_finite() && distance > 0.0).then(|| ray.at(distance))
}

impl UiState {
    /// The slot at a window position (points), and the ray through it.
    pub fn ray_at(&self, at: Pos2, scale: f32) -> Option<(usize, Ray)> {
        let pixel = [at.x * scale, at.y * scale].map(f64::from);
        let inside = |area: &Area| {
            let [x, y] = [pixel[0] - f64::from(area.x), pixel[1] - f64::from(area.y)];
            x >= 0.0 && y >= 0.0 && x < f64::from(area.width) && y < f64::from(area.height)
        };
        let (slot, area) = self.panes().into_iter().enumerate().find(|(_, area)| inside(area))?;
        Some((slot, self.ray_in(&area, at, scale)))
    }

    fn ray_in(&self, area: &Area, at: Pos2, scale: f32) -> Ray {
        let pixel = [at.x * scale - area.x as f32, at.y * scale - area.y as f32].map(f64::from);
        self.camera.ray(pixel, [f64::from(area.width), f64::from(area.height)])
    }

    /// Handles the session's answer to a grab request.
    pub fn update_grab(&mut self) {
        if let Drag::Asked(serial) = self.drag
            && self.state.answered >= serial
        {
            self.drag = match self.state.held {
                Some(held) => Drag::Holds { slot: held.slot, through: held.hand },
                None => Drag::Orbits,
            };
        }
    }

    /// Handles mouse input over the bodies.
    pub fn handle_mouse(&mut self, ui: &Ui, response: &Response) {
        let scale = ui.ctx().pixels_per_point();
        let modifiers = ui.input(|input| input.modifiers);
        let tool = match (modifiers.shift, modifiers.command) {
            (true, false) => Tool::Push,
            (false, true) => Tool::Pin,
            _ => self.tool,
        };
        // the press itself, not egui's drag, which starts a few pixels later
        let pressed = ui.input(|input| input.pointer.button_pressed(PointerButton::Primary));
        if pressed && response.contains_pointer() {
            let at = ui.input(|input| input.pointer.interact_pos());
            self.press(at.and_then(|at| self.ray_at(at, scale)), tool);
        }
        if ui.input(|input| !input.pointer.button_down(PointerButton::Primary)) && self.drag != Drag::None {
            self.drag = Drag::None;
            self.send(Command::Drop);
        }
        let moved = response.drag_delta() * scale;
        let moved = [moved.x, moved.y].map(f64::from);
        match self.drag {
            Drag::Holds { slot, through } => self.pull(ui, slot, through, scale),
            Drag::Orbits => self.camera = self.camera.orbited(-moved[0] * TURN, moved[1] * TURN),
            _ => {}
        }
        if response.dragged_by(PointerButton::Secondary) && !modifiers.shift {
            self.camera = self.camera.orbited(-moved[0] * TURN, moved[1] * TURN);
        } else if response.dragged_by(PointerButton::Middle) || response.dragged_by(PointerButton::Secondary)
        {
            let height = self.panes().first().map_or(1, |pane| pane.height);
            self.camera = self.camera.panned(moved, f64::from(height));
        }
        if response.contains_pointer() {
            let (scrolled, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
            let factor = (-f64::from(scrolled) * ZOOM).exp() / f64::from(pinch);
            if factor != 1.0 {
                self.camera = self.camera.zoomed(factor);
            }
        }
    }

    fn press(&mut self, at: Option<(usize, Ray)>, tool: Tool) {
        let Some((slot, ray)) = at else { return };
        if slot < self.state.slots.len() {
            self.active = slot;
        }
        match tool {
            Tool::Grab => {
                self.grabs += 1;
                self.drag = Drag::Asked(self.grabs);
                self.send(Command::Grab { slot, ray, serial: self.grabs });
            }
            Tool::Push => self.send(Command::Push { slot, ray }),
            Tool::Pin => self.send(Command::Pin { slot, ray }),
        }
    }

    fn pull(&self, ui: &Ui, slot: usize, through: Vec3, scale: f32) {
        let Some(at) = ui.input(|input| input.pointer.latest_pos()) else { return };
        let Some(area) = self.panes().get(slot).copied() else { return };
        let ray = self.ray_in(&area, at, scale);
        if let Some(to) = on_plane(&ray, through, self.camera.axes()[2])
            && self.state.held.is_none_or(|held| held.hand != to)
        {
            self.send(Command::Move(to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Camera;

    #[test]
    fn the_hand_stays_under_the_cursor_in_the_plane_that_faces_the_eye() {
        let (camera, size) = (Camera::default(), [640.0, 480.0]);
        let through = camera.target + Vec3::new(0.3, 0.1, -0.2);
        let ray = camera.ray([500.0, 100.0], size);
        let at = on_plane(&ray, through, camera.axes()[2]).unwrap();
        assert!((at - through).dot(&camera.axes()[2]).abs() < 1e-12);
        let ([x, y], _) = camera.project(&at, size).unwrap();
        assert!((x - 500.0).abs() < 1e-9 && (y - 100.0).abs() < 1e-9);
        assert!(
            on_plane(&ray, camera.eye() + camera.axes()[2], camera.axes()[2]).is_none(),
            "behind the eye"
        );
    }
}
