//! What stands around the bodies, one file a panel.

mod compare;
mod damping;
mod help;
mod lanes;
mod ledger;
mod plots;
mod settings;
mod status;
mod timings;
mod toolbar;
mod widgets;

use super::desk::Desk;
use super::theme;
use egui::{CentralPanel, Frame, Margin, Panel, ScrollArea, Sense, TextureId, Ui};

/// Width of the panels on both sides (points).
const SIDE: f32 = 292.0;

/// The whole window. `scene` is the picture of the bodies, `None` before there is one.
pub fn show(ui: &mut Ui, desk: &mut Desk, scene: Option<TextureId>) {
    desk.spots.clear();
    let bar = Frame::new().fill(theme::GROUND).inner_margin(Margin::symmetric(10, 6));
    Panel::top("toolbar").frame(bar).show_separator_line(false).show(ui, |ui| toolbar::show(ui, desk));
    let bar = Frame::new().fill(theme::GROUND).inner_margin(Margin::symmetric(10, 4));
    Panel::bottom("status").frame(bar).show_separator_line(false).show(ui, |ui| status::show(ui, desk));
    let side = Frame::new().fill(theme::PANEL).inner_margin(Margin::symmetric(10, 8));
    Panel::left("settings").resizable(false).exact_size(SIDE).frame(side).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.set_max_width(SIDE - 2.0 * 10.0);
            damping::show(ui, desk);
            compare::show(ui, desk);
            ui.add_space(2.0);
            settings::show(ui, desk);
        });
    });
    Panel::right("curves").resizable(false).exact_size(SIDE).frame(side).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.set_max_width(SIDE - 2.0 * 10.0);
            plots::show(ui, desk);
            ledger::show(ui, desk);
            timings::show(ui, desk);
        });
    });
    CentralPanel::default().frame(Frame::new().fill(theme::GROUND)).show(ui, |ui| bodies(ui, desk, scene));
    help::show(ui.ctx(), desk);
}

/// The bodies, and the mouse over them.
fn bodies(ui: &mut Ui, desk: &mut Desk, scene: Option<TextureId>) {
    let rect = ui.available_rect_before_wrap();
    let scale = ui.ctx().pixels_per_point();
    let pixel = |points: f32| (points * scale).round().max(0.0) as u32;
    desk.stage = crate::view::Area {
        x: pixel(rect.min.x),
        y: pixel(rect.min.y),
        width: pixel(rect.width()).max(1),
        height: pixel(rect.height()).max(1),
    };
    if let Some(texture) = scene {
        let whole = egui::Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
        ui.painter().image(texture, rect, whole, egui::Color32::WHITE);
    }
    let response = ui.interact(rect, ui.scope_id().with("bodies"), Sense::click_and_drag());
    desk.spots.note("bodies", rect);
    desk.handle_mouse(ui, &response);
    lanes::show(ui, desk, rect);
}
