//! Time per frame by phase.

use crate::app::{UiState, theme};
use crate::step::clock::PHASES;
use egui::{Color32, CornerRadius, Rect, RichText, Ui, vec2};

/// Phase colours, dark to light.
fn colour(k: usize) -> Color32 {
    let [r, g, b] = crate::view::look::map(0.15 + 0.8 * k as f32 / PHASES.len() as f32);
    Color32::from_rgb(r, g, b)
}

/// A bar of phases, the largest ones by name, and iterations.
pub fn show(ui: &mut Ui, ui_state: &mut UiState) {
    let Some(slot) = ui_state.slot() else { return };
    let (phases, row) = (slot.phases, slot.row);
    let whole: f64 = phases.iter().sum();
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        theme::heading(ui, "Time per frame");
        theme::quiet(ui, format!("{} ms, {} iterations", theme::number(whole), row.iterations));
    });
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 12.0), egui::Sense::hover());
    ui.painter().rect_filled(rect, CornerRadius::same(3), theme::GROUND);
    let mut left = rect.min.x;
    for (k, time) in phases.iter().enumerate() {
        let width = if whole > 0.0 { rect.width() * (time / whole) as f32 } else { 0.0 };
        let part = Rect::from_min_size(egui::pos2(left, rect.min.y), vec2(width, rect.height()));
        ui.painter().rect_filled(part, 0.0, colour(k));
        left += width;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(6.0, 1.0);
        for (k, (time, (_, name))) in phases.iter().zip(PHASES).enumerate() {
            if *time > 0.01 * whole {
                let (square, _) = ui.allocate_exact_size(vec2(9.0, 12.0), egui::Sense::hover());
                ui.painter().rect_filled(square.shrink2(vec2(0.0, 2.0)), 2.0, colour(k));
                ui.label(RichText::new(format!("{name} {}", theme::number(*time))).small());
            }
        }
    });
}
