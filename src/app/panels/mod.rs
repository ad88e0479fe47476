//! The panels, one file each.

mod compare;
mod curve;
mod damping;
mod decay;
mod examples;
mod help;
mod inverse;
mod lanes;
mod ledger;
mod plots;
mod settings;
mod status;
mod strength;
mod timings;
mod toolbar;
mod widgets;

use super::design::Page;
use super::desk::Desk;
use super::theme;
use egui::{CentralPanel, Frame, Margin, Panel, ScrollArea, Sense, TextureId, Ui};

/// Width of the side panels (points).
const SIDE: f32 = 292.0;

/// The whole window. `scene` is the picture of the bodies, `None` before the first.
pub fn show(ui: &mut Ui, desk: &mut Desk, scene: Option<TextureId>) {
    desk.spots.clear();
    let bar = Frame::new().fill(theme::GROUND).inner_margin(Margin::symmetric(10, 6));
    Panel::top("toolbar").frame(bar).show_separator_line(false).show(ui, |ui| toolbar::show(ui, desk));
    let bar = Frame::new().fill(theme::GROUND).inner_margin(Margin::symmetric(10, 4));
    Panel::bottom("status").frame(bar).show_separator_line(false).show(ui, |ui| status::show(ui, desk));
    let side = Frame::new().fill(theme::PANEL).inner_margin(Margin::symmetric(10, 8));
    Panel::left("settings").resizable(false).exact_size(SIDE).frame(side).show(ui, |ui| {
        pages(ui, desk);
        ScrollArea::vertical().id_salt(desk.design.page).auto_shrink([false, false]).show(ui, |ui| {
            ui.set_max_width(SIDE - 2.0 * 10.0);
            match desk.design.page {
                Page::Settings => {
                    damping::show(ui, desk);
                    compare::show(ui, desk);
                    ui.add_space(2.0);
                    settings::show(ui, desk);
                }
                Page::Examples => examples::show(ui, desk),
            }
        });
    });
    Panel::right("curves").resizable(false).exact_size(SIDE).frame(side).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.set_max_width(SIDE - 2.0 * 10.0);
            if desk.design.page == Page::Examples {
                decay::show(ui, desk);
            }
            plots::show(ui, desk);
            ledger::show(ui, desk);
            timings::show(ui, desk);
        });
    });
    CentralPanel::default().frame(Frame::new().fill(theme::GROUND)).show(ui, |ui| bodies(ui, desk, scene));
    help::show(ui.ctx(), desk);
}

/// Tabs of the left side.
fn pages(ui: &mut Ui, desk: &mut Desk) {
    ui.horizontal(|ui| {
        let width = (ui.available_width() - 6.0) / 2.0;
        ui.spacing_mut().item_spacing.x = 6.0;
        for (page, name) in [(Page::Settings, "settings"), (Page::Examples, "examples")] {
            let chosen = desk.design.page == page;
            let fill = if chosen { theme::CARD } else { theme::PANEL };
            let colour = if chosen { theme::TEXT } else { theme::QUIET };
            let text = egui::RichText::new(name).color(colour);
            let button = ui.add_sized([width, 26.0], egui::Button::new(text).fill(fill));
            desk.spots.note(format!("page:{name}"), button.rect);
            if button.clicked() {
                desk.design.page = page;
            }
        }
    });
    ui.add_space(4.0);
}

/// The picture of the bodies, with mouse interaction.
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
    if desk.is_design() {
        // the example swings even while paused
        ui.ctx().request_repaint_after(std::time::Duration::from_millis(40));
    }
    lanes::show(ui, desk, rect);
}
