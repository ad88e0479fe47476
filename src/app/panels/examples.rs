//! Damping by example: the list of shapes, and the damping along the selected one.

use crate::app::design::edit;
use crate::app::{Command, UiState, theme};
use crate::scene::{Example, Shape};
use egui::{Button, DragValue, RichText, Ui};

/// Damping models that examples can scale.
const MODELS: [&str; 2] = ["laplacian", "rayleigh"];

pub fn show(ui: &mut Ui, ui_state: &mut UiState) {
    theme::card(ui, |ui| {
        ui.label(RichText::new("Damping by example").strong().size(17.0));
        theme::quiet(ui, "Motion along these shapes is damped γ times as strongly as all other motion.");
        if has_base(ui, ui_state) {
            list(ui, ui_state);
            add(ui, ui_state);
        }
        faults(ui, ui_state);
    });
    if !ui_state.examples().is_empty() {
        views(ui, ui_state);
        super::strength::show(ui, ui_state);
        super::inverse::show(ui, ui_state);
    }
}

/// Whether the scene has such a damping model; otherwise offers one.
fn has_base(ui: &mut Ui, ui_state: &mut UiState) -> bool {
    let slot = ui_state.state.slots.get(ui_state.designed());
    let damping = slot.map(|slot| &slot.loaded.scene.damping);
    let scales = |damping: &crate::scene::Damping| {
        MODELS.contains(&damping.model.as_str()) && (damping.mass != 0.0 || damping.stiffness != 0.0)
    };
    let has = damping.is_some_and(scales);
    if !has {
        theme::quiet(ui, "Examples scale Laplacian or Rayleigh damping; this scene has neither.");
        let button = ui.button("Laplacian damping");
        ui_state.widget_rects.record("design:laplacian", button.rect);
        if button.clicked() {
            super::damping::choose(ui_state, "laplacian");
        }
    }
    has
}

fn list(ui: &mut Ui, ui_state: &mut UiState) {
    let examples = ui_state.examples();
    for (index, example) in examples.iter().enumerate() {
        ui.horizontal(|ui| {
            let picked = index == ui_state.design.picked;
            let width = ui.available_width() - if picked { 32.0 } else { 0.0 };
            let row = ui.add_sized([width, 26.0], row(example, picked));
            ui_state.widget_rects.record(format!("example:{}", example.name), row.rect);
            if row.clicked() {
                (ui_state.design.picked, ui_state.design.point) = (index, None);
            }
            if picked && ui.small_button("×").on_hover_text("Remove this example").clicked() {
                ui_state.remove_example();
            }
        });
    }
    if examples.is_empty() {
        theme::quiet(ui, "No examples yet. Add a vibration mode, or pull the body and add its current pose.");
    }
}

fn row(example: &Example, picked: bool) -> Button<'static> {
    let font = |size| egui::FontId::proportional(size);
    let format = |size, color| egui::TextFormat { font_id: font(size), color, ..Default::default() };
    let mut text = egui::text::LayoutJob::default();
    text.append(&example.name, 0.0, format(13.5, theme::TEXT));
    let body = example.body.as_ref().map(|body| format!("{body}, ")).unwrap_or_default();
    let source = format!("{body}{}", edit::source(&example.shape));
    text.append(&source, 8.0, format(11.5, if picked { theme::TEXT } else { theme::QUIET }));
    text.wrap.max_rows = 1;
    let fill = if picked { theme::ACCENT.gamma_multiply(0.5) } else { theme::WIDGET };
    Button::new(text).fill(fill).truncate()
}

/// Buttons for new examples: a mode, or the current pose.
fn add(ui: &mut Ui, ui_state: &mut UiState) {
    choose_body(ui, ui_state);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let button = ui.button("+ mode");
        ui_state.widget_rects.record("add:mode", button.rect);
        let clicked = button.on_hover_text("Vibration mode with this number, slowest first").clicked();
        ui.add(DragValue::new(&mut ui_state.design.mode).range(1..=60).speed(0.1));
        if clicked {
            let shape = Shape { mode: Some(ui_state.design.mode), ..Shape::default() };
            ui_state.add_example("mode", ui_state.body_name(ui_state.design.body), shape);
            ui_state.design.mode = (ui_state.design.mode + 1).min(60);
        }
        ui.add_space(6.0);
        let free = ui_state.design.posing.is_none();
        let button = ui.add_enabled(free, Button::new("+ current pose"));
        ui_state.widget_rects.record("add:pose", button.rect);
        let help = "The body's current deformation, without its rotation: pause, pull or pin it, then click. \
                    Written to a file.";
        if button.on_hover_text(help).clicked() {
            ui_state.pose_as_example(ui_state.design.body);
        }
    });
}

/// The body for new examples, if there are several.
fn choose_body(ui: &mut Ui, ui_state: &mut UiState) {
    let Some(slot) = ui_state.state.slots.get(ui_state.designed()) else { return };
    let names: Vec<String> = slot.loaded.scene.bodies.iter().map(|body| body.name.clone()).collect();
    ui_state.design.body = ui_state.design.body.min(names.len().saturating_sub(1));
    if names.len() > 1 {
        let now = names[ui_state.design.body].clone();
        egui::ComboBox::from_label("body").width(120.0).selected_text(now).show_ui(ui, |ui| {
            for (index, name) in names.iter().enumerate() {
                ui.selectable_value(&mut ui_state.design.body, index, name);
            }
        });
    }
}

/// What keeps the examples from taking effect.
fn faults(ui: &mut Ui, ui_state: &mut UiState) {
    let Some(slot) = ui_state.state.slots.get(ui_state.designed()) else { return };
    if let Some(fault) = slot.fault.clone() {
        theme::wrong(ui, format!("not changed: {}", fault.message));
    } else if slot.building {
        theme::quiet(ui, "preparing …");
    }
}

/// Comparison with base damping, and release from the example's shape.
fn views(ui: &mut Ui, ui_state: &mut UiState) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let on = ui_state.is_design();
        let fill = if on { theme::ACCENT.gamma_multiply(0.75) } else { theme::SLOTS[1].gamma_multiply(0.45) };
        let button = ui.add(Button::new("three views").fill(fill));
        ui_state.widget_rects.record("design:views", button.rect);
        let help = "Base damping, designed damping and the example's shape side by side, from the start.";
        if button.on_hover_text(help).clicked() {
            ui_state.show_three_views(!on);
        }
        let release = ui.button("release from");
        ui_state.widget_rects.record("design:release", release.rect);
        let help = "Restart at rest, deformed by this multiple of the example's shape.";
        let clicked = release.on_hover_text(help).clicked();
        ui.add(DragValue::new(&mut ui_state.design.amount).range(-20.0..=20.0).speed(0.02).suffix(" ×"));
        if clicked {
            ui_state
                .send(Command::Release { example: ui_state.design.picked, amount: ui_state.design.amount });
        }
    });
}
