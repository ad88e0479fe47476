//! The panels, one file each.

mod compare;
mod curve;
mod damping;
mod decay;
mod examples;
mod help;
mod inverse;
mod ledger;
mod plots;
mod settings;
mod slots;
mod status;
mod strength;
mod timings;
mod toolbar;
mod widgets;

use super::design::Page;
use super::theme;
use super::ui_state::UiState;
use egui::{CentralPanel, Frame, Margin, Panel, ScrollArea, Sense, TextureId, Ui};

/// Width of the side panels (points).
const SIDE: f32 = 292.0;

/// The whole window. `scene` is the picture of the bodies, `None` before the first.
pub fn show(ui: &mut Ui, ui_state: &mut UiState, scene: Option<TextureId>) {
    ui_state.widget_rects.clear();
    let bar = Frame::new().fill(theme::GROUND).inner_margin(Margin::symmetric(10, 6));
    Panel::top("toolbar").frame(bar).show_separator_line(false).show(ui, |ui| toolbar::show(ui, ui_state));
    let bar = Frame::new().fill(theme::GROUND).inner_margin(Margin::symmetric(10, 4));
    Panel::bottom("status").frame(bar).show_separator_line(false).show(ui, |ui| status::show(ui, ui_state));
    let side = Frame::new().fill(theme::PANEL).inner_margin(Margin::symmetric(10, 8));
    Panel::left("settings").resizable(false).exact_size(SIDE).frame(side).show(ui, |ui| {
        pages(ui, ui_state);
        ScrollArea::vertical().id_salt(ui_state.design.page).auto_shrink([false, false]).show(ui, |ui| {
            ui.set_max_width(SIDE - 2.0 * 10.0);
            match ui_state.design.page {
                Page::Settings => {
                    damping::show(ui, ui_state);
                    compare::show(ui, ui_state);
                    ui.add_space(2.0);
                    settings::show(ui, ui_state);
                }
                Page::Examples => examples::show(ui, ui_state),
            }
        });
    });
    Panel::right("curves").resizable(false).exact_size(SIDE).frame(side).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            ui.set_max_width(SIDE - 2.0 * 10.0);
            if ui_state.design.page == Page::Examples {
                decay::show(ui, ui_state);
            }
            plots::show(ui, ui_state);
            ledger::show(ui, ui_state);
            timings::show(ui, ui_state);
        });
    });
    CentralPanel::default()
        .frame(Frame::new().fill(theme::GROUND))
        .show(ui, |ui| bodies(ui, ui_state, scene));
    help::show(ui.ctx(), ui_state);
}

/// Tabs of the left side.
fn pages(ui: &mut Ui, ui_state: &mut UiState) {
    ui.horizontal(|ui| {
        let width = (ui.available_width() - 6.0) / 2.0;
        ui.spacing_mut().item_spacing.x = 6.0;
        for (page, name) in [(Page::Settings, "settings"), (Page::Examples, "examples")] {
            let chosen = ui_state.design.page == page;
            let fill = if chosen { theme::CARD } else { theme::PANEL };
            let colour = if chosen { theme::TEXT } else { theme::QUIET };
            let text = egui::RichText::new(name).color(colour);
            let button = ui.add_sized([width, 26.0], egui::Button::new(text).fill(fill));
            ui_state.widget_rects.record(format!("page:{name}"), button.rect);
            if button.clicked() {
                ui_state.design.page = page;
            }
        }
    });
    ui.add_space(4.0);
}

/// The picture of the bodies, with mouse interaction.
fn bodies(ui: &mut Ui, ui_state: &mut UiState, scene: Option<TextureId>) {
    let rect = ui.available_rect_before_wrap();
    let scale = ui.ctx().pixels_per_point();
    let pixel = |points: f32| (points * scale).round().max(0.0) as u32;
    ui_state.view_area = crate::view::Area {
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
    ui_state.widget_rects.record("bodies", rect);
    ui_state.handle_mouse(ui, &response);
    if ui_state.is_design() {
        // the example swings even while paused
        ui.ctx().request_repaint_after(std::time::Duration::from_millis(40));
    }
    slots::show(ui, ui_state, rect);
}
