//! Keyboard shortcuts. The table is both shown in the help and obeyed.

use super::session::Command;
use super::ui_state::{Framing, UiState};
use crate::view::Colour;
use egui::Key;

/// Shortcuts, shown as written here.
pub const KEYS: &[(&str, &str)] = &[
    ("space", "play or pause"),
    (". or right", "advance one frame"),
    ("R", "restart"),
    ("1 – 5", "colours: body, strain, energy, speed, damping power"),
    ("W", "wireframe"),
    ("K", "show skins or the simulated meshes"),
    ("C", "contacts"),
    ("F", "frame the whole scene"),
    ("S", "save a picture of the window"),
    ("Ctrl + Z", "undo an example edit; with Shift: redo"),
    ("H", "this help"),
];

pub const MOUSE: &[(&str, &str)] = &[
    ("drag a body", "pull it; the ledger records the work"),
    ("Shift + click", "push it"),
    ("Ctrl + click", "pin it in place, or release it"),
    ("drag the background", "orbit the camera (right button: anywhere)"),
    ("middle button", "pan the camera"),
    ("wheel", "zoom"),
];

const COLOURS: [Key; 5] = [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5];

impl UiState {
    /// Handles key presses, unless text is being typed.
    pub fn handle_keys(&mut self, ctx: &egui::Context) {
        // the curve editor takes arrows and a few other keys
        let in_curve = ctx.memory(|memory| memory.focused()).is_some_and(|id| self.design.editor == Some(id));
        if ctx.egui_wants_keyboard_input() && !in_curve {
            return;
        }
        if ctx.input(|input| input.modifiers.command && input.key_pressed(Key::Z)) {
            self.undo(ctx.input(|input| input.modifiers.shift));
        }
        let pressed = |key: Key| ctx.input(|input| input.key_pressed(key) && input.modifiers.is_none());
        if pressed(Key::Space) {
            self.send(Command::Pause(!self.state.paused));
        }
        if pressed(Key::Period) || pressed(Key::ArrowRight) && !in_curve {
            self.send(Command::Step);
        }
        if pressed(Key::R) {
            self.send(Command::Reset);
        }
        if pressed(Key::W) {
            self.look.wireframe = !self.look.wireframe;
        }
        if pressed(Key::K) {
            self.look.skin = !self.look.skin;
        }
        if pressed(Key::C) {
            self.contacts = !self.contacts;
        }
        if pressed(Key::F) {
            self.framing = Some(Framing::Fresh);
        }
        if pressed(Key::S) {
            self.screenshot = true;
        }
        if pressed(Key::H) || pressed(Key::F1) {
            self.help = !self.help;
        }
        if pressed(Key::Escape) {
            self.help = false;
        }
        for (key, colour) in COLOURS.into_iter().zip(Colour::ALL) {
            if pressed(key) {
                self.look.colour = colour;
            }
        }
    }
}
