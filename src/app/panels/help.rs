//! The help: what mouse and keys do.

use crate::app::keys::{KEYS, MOUSE};
use crate::app::{UiState, theme};
use egui::{Align2, Context, RichText, Window};

/// A window in the middle, while it is open.
pub fn show(ctx: &Context, ui_state: &mut UiState) {
    let mut open = ui_state.help;
    Window::new("Dashpot")
        .open(&mut open)
        .anchor(Align2::CENTER_CENTER, [0.0, 0.0])
        .collapsible(false)
        .resizable(false)
        .show(ctx, |ui| {
            ui.label("Soft-body simulation with a full energy budget.");
            theme::quiet(
                ui,
                "Pick a damping model on the left, pull a body, and watch the curves on the right.",
            );
            for (title, table) in [("Mouse", MOUSE), ("Keys", KEYS)] {
                ui.add_space(6.0);
                theme::heading(ui, title);
                egui::Grid::new(title).num_columns(2).spacing([16.0, 3.0]).show(ui, |ui| {
                    for (key, does) in table {
                        ui.label(RichText::new(*key).color(theme::ACCENT));
                        ui.label(*does);
                        ui.end_row();
                    }
                });
            }
        });
    ui_state.help = open;
}
