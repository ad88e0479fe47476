//! Overlays of the pictures: titles, errors, legend.

use crate::app::{Command, UiState, theme};
use crate::view::{Colour, look};
use egui::{Align2, Color32, CornerRadius, FontId, Pos2, Rect, Stroke, StrokeKind, Ui, vec2};

/// Titles, frames and the colour legend.
pub fn show(ui: &mut Ui, ui_state: &mut UiState, whole: Rect) {
    let scale = ui.ctx().pixels_per_point();
    let several = ui_state.state.slots.len() > 1;
    for (k, pane) in ui_state.panes().into_iter().enumerate() {
        let [x, y, w, h] = [pane.x, pane.y, pane.width, pane.height].map(|p| p as f32 / scale);
        let rect = Rect::from_min_size(Pos2::new(x, y), vec2(w, h));
        if several {
            let width = if k == ui_state.active { 2.0 } else { 1.0 };
            let colour = if k == ui_state.active { theme::slot(k) } else { Color32::from_black_alpha(120) };
            ui.painter().rect_stroke(rect.shrink(0.5), 0.0, Stroke::new(width, colour), StrokeKind::Inside);
        }
        if k < ui_state.state.slots.len() {
            title(ui, ui_state, k, rect, several);
        } else {
            example_title(ui, ui_state, rect);
        }
    }
    legend(ui, ui_state, whole);
    hint(ui, ui_state, whole);
}

fn chip(ui: &Ui, at: Pos2, text: &str, colour: Color32) -> Rect {
    let galley = ui.painter().layout(text.into(), FontId::proportional(14.0), theme::TEXT, f32::INFINITY);
    let rect = Rect::from_min_size(at, galley.size() + vec2(30.0, 10.0));
    ui.painter().rect_filled(rect, CornerRadius::same(6), Color32::from_rgba_unmultiplied(24, 26, 31, 205));
    ui.painter().circle_filled(at + vec2(13.0, rect.height() / 2.0), 4.5, colour);
    ui.painter().galley(at + vec2(23.0, 5.0), galley, theme::TEXT);
    rect
}

fn title(ui: &mut Ui, ui_state: &mut UiState, k: usize, rect: Rect, several: bool) {
    let Some(slot) = ui_state.state.slots.get(k).cloned() else { return };
    let chip_rect = chip(ui, rect.min + vec2(10.0, 10.0), &ui_state.title(k), theme::slot(k));
    let mut below = chip_rect.left_bottom() + vec2(0.0, 4.0);
    if several {
        let close = Rect::from_min_size(chip_rect.right_top() + vec2(4.0, 2.0), vec2(22.0, 22.0));
        let button = egui::Button::new("×").fill(Color32::from_rgba_unmultiplied(24, 26, 31, 205));
        ui_state.widget_rects.record(format!("lane:{k}:close"), close);
        if ui.put(close, button).on_hover_text("Close this one").clicked() {
            ui_state.send(Command::Remove(k));
        }
    }
    if slot.building {
        chip(ui, below, "preparing the new settings …", theme::ACCENT);
        below.y += 30.0;
    }
    if let Some(text) = ui_state.failure(k) {
        let galley = ui.painter().layout(text, FontId::proportional(13.0), theme::WRONG, rect.width() - 50.0);
        let back = Rect::from_min_size(below, galley.size() + vec2(20.0, 12.0));
        ui.painter().rect_filled(
            back,
            CornerRadius::same(6),
            Color32::from_rgba_unmultiplied(24, 26, 31, 225),
        );
        ui.painter().galley(below + vec2(10.0, 6.0), galley, theme::WRONG);
    }
}

fn example_title(ui: &Ui, ui_state: &UiState, rect: Rect) {
    let examples = ui_state.examples();
    let name = examples.get(ui_state.design.picked).map_or("…", |example| example.name.as_str());
    chip(ui, rect.min + vec2(10.0, 10.0), &format!("example: {name}"), theme::slot(2));
}

fn legend(ui: &Ui, ui_state: &UiState, whole: Rect) {
    let colour = ui_state.look.colour;
    if colour == Colour::Body {
        return;
    }
    let rect = Rect::from_min_size(whole.right_bottom() - vec2(196.0, 50.0), vec2(180.0, 10.0));
    ui.painter().rect_filled(
        rect.expand2(vec2(8.0, 19.0)).translate(vec2(0.0, -1.0)),
        CornerRadius::same(6),
        Color32::from_rgba_unmultiplied(24, 26, 31, 205),
    );
    const PARTS: usize = 60;
    for k in 0..PARTS {
        let [r, g, b] = look::map(k as f32 / (PARTS - 1) as f32);
        let left = rect.min.x + rect.width() * k as f32 / PARTS as f32;
        let part = Rect::from_min_size(
            Pos2::new(left, rect.min.y),
            vec2(rect.width() / PARTS as f32 + 0.5, rect.height()),
        );
        ui.painter().rect_filled(part, 0.0, Color32::from_rgb(r, g, b));
    }
    let unit = if colour.unit() == "1" { String::new() } else { format!(" ({})", colour.unit()) };
    let text = |at: Pos2, align: Align2, text: String| {
        ui.painter().text(at, align, text, FontId::proportional(11.5), theme::TEXT);
    };
    text(rect.center_top() - vec2(0.0, 3.0), Align2::CENTER_BOTTOM, format!("{}{unit}", colour.name()));
    if let Some([low, high]) = ui_state.range {
        text(rect.left_bottom() + vec2(0.0, 2.0), Align2::LEFT_TOP, theme::number(f64::from(low)));
        text(rect.right_bottom() + vec2(0.0, 2.0), Align2::RIGHT_TOP, theme::number(f64::from(high)));
    }
}

/// A hint for new users.
fn hint(ui: &Ui, ui_state: &UiState, whole: Rect) {
    let text = if ui_state.state.slots.is_empty() {
        "preparing the scene …"
    } else if ui_state.state.slots.iter().all(|slot| slot.row.work == 0.0) && ui_state.grabs == 0 {
        "drag a body to pull it  ·  drag the background to orbit  ·  H for help"
    } else {
        return;
    };
    let at = Pos2::new(whole.center().x, whole.max.y - 16.0);
    let galley = ui.painter().layout(text.into(), FontId::proportional(12.5), theme::TEXT, f32::INFINITY);
    let rect = Rect::from_center_size(at - vec2(0.0, 6.0), galley.size() + vec2(20.0, 8.0));
    ui.painter().rect_filled(rect, CornerRadius::same(10), Color32::from_rgba_unmultiplied(24, 26, 31, 170));
    ui.painter().galley(rect.min + vec2(10.0, 4.0), galley, theme::TEXT);
}
