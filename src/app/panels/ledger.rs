//! Energy budget: one bar per slot, all to the same scale.

use crate::app::{UiState, theme};
use crate::ledger::Row;
use egui::{Color32, CornerRadius, Rect, RichText, Stroke, StrokeKind, Ui, vec2};

/// Labels for loss and gain, and the energy lost (J).
type Share = (&'static str, &'static str, fn(&Row) -> f64);

/// Where the energy of a slot went.
const SHARES: [Share; 5] = [
    ("lost to damping", "gained from damping", |row| row.damped),
    ("lost to integrator", "gained from integrator", |row| row.numerical),
    ("lost to contact", "gained from contact", |row| row.contact_loss),
    ("lost to yielding", "gained from yielding", |row| row.plastic),
    ("removed by work", "added by work", |row| -row.work),
];

/// Height of a bar (points).
const BAR: f32 = 18.0;

/// The bars and their legend.
pub fn show(ui: &mut Ui, ui_state: &mut UiState) {
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        theme::heading(ui, "Where the energy went");
        theme::quiet(ui, "solid: lost, outline: gained");
    });
    let rows: Vec<Row> = ui_state.state.slots.iter().map(|slot| slot.row).collect();
    let sum =
        |row: &Row| SHARES.iter().map(|(_, _, of)| of(row).abs()).filter(|x| x.is_finite()).sum::<f64>();
    let largest = rows.iter().map(sum).fold(0.0, f64::max);
    for (slot, row) in rows.iter().enumerate() {
        bar(ui, ui_state, slot, row, largest.max(1e-12));
    }
    if let Some(row) = rows.get(ui_state.active) {
        amounts(ui, row);
    }
}

fn bar(ui: &mut Ui, ui_state: &mut UiState, slot: usize, row: &Row, scale: f64) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), BAR), egui::Sense::hover());
    ui.painter().rect_filled(rect, CornerRadius::same(4), theme::GROUND);
    let mut left = rect.min.x;
    if ui_state.state.slots.len() > 1 {
        ui.painter().circle_filled(rect.left_center() + vec2(7.0, 0.0), 4.0, theme::slot(slot));
        left += 16.0;
    }
    let room = f64::from(rect.max.x - left);
    for ((_, _, of), colour) in SHARES.iter().zip(theme::LEDGER) {
        let amount = of(row);
        if !amount.is_finite() || amount == 0.0 {
            continue;
        }
        let width = (amount.abs() / scale * room) as f32;
        let part = Rect::from_min_size(egui::pos2(left, rect.min.y + 2.0), vec2(width, BAR - 4.0));
        match amount > 0.0 {
            true => drop(ui.painter().rect_filled(part, 0.0, colour)),
            false => {
                ui.painter().rect_filled(part, 0.0, colour.gamma_multiply(0.18));
                ui.painter().rect_stroke(part, 0.0, Stroke::new(1.2, colour), StrokeKind::Inside);
            }
        }
        left += width;
    }
    ui_state.widget_rects.record(format!("ledger:{slot}"), rect);
    response.on_hover_text(ui_state.title(slot));
}

/// The amounts of a slot as numbers.
fn amounts(ui: &mut Ui, row: &Row) {
    egui::Grid::new("amounts").num_columns(2).spacing([10.0, 2.0]).show(ui, |ui| {
        for ((taken, given, of), colour) in SHARES.iter().zip(theme::LEDGER) {
            let amount = of(row);
            let name = if amount >= 0.0 { taken } else { given };
            line(ui, colour, if amount == 0.0 { taken } else { name }, amount.abs());
        }
        line(ui, Color32::WHITE, "total now", row.total);
    });
}

fn line(ui: &mut Ui, colour: Color32, name: &str, amount: f64) {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(10.0, 12.0), egui::Sense::hover());
        ui.painter().circle_filled(rect.center(), 4.0, colour);
        ui.label(RichText::new(name).small());
        ui.add_space(6.0);
    });
    ui.label(RichText::new(format!("{} J", theme::number(amount))).small());
    ui.end_row();
}
