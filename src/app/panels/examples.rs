//! Damping by example: the list of shapes, and the damping along the selected one.

use crate::app::design::edit;
use crate::app::desk::Desk;
use crate::app::session::Command;
use crate::app::theme;
use crate::scene::{Example, Shape};
use egui::{Button, DragValue, RichText, Ui};

/// Damping models that examples can scale.
const MODELS: [&str; 2] = ["laplacian", "rayleigh"];

/// The page.
pub fn show(ui: &mut Ui, desk: &mut Desk) {
    theme::card(ui, |ui| {
        ui.label(RichText::new("Damping by example").strong().size(17.0));
        theme::quiet(ui, "Motion along these shapes is damped γ times as strongly as all other motion.");
        if has_base(ui, desk) {
            list(ui, desk);
            add(ui, desk);
        }
        faults(ui, desk);
    });
    if !desk.examples().is_empty() {
        views(ui, desk);
        super::strength::show(ui, desk);
        super::inverse::show(ui, desk);
    }
}

/// Whether the scene has such a damping model; otherwise offers one.
fn has_base(ui: &mut Ui, desk: &mut Desk) -> bool {
    let lane = desk.state.lanes.get(desk.designed());
    let damping = lane.map(|lane| &lane.loaded.scene.damping);
    let scales = |damping: &crate::scene::Damping| {
        MODELS.contains(&damping.model.as_str()) && (damping.mass != 0.0 || damping.stiffness != 0.0)
    };
    let has = damping.is_some_and(scales);
    if !has {
        theme::quiet(ui, "Examples scale Laplacian or Rayleigh damping; this scene has neither.");
        let button = ui.button("Laplacian damping");
        desk.spots.note("design:laplacian", button.rect);
        if button.clicked() {
            super::damping::choose(desk, "laplacian");
        }
    }
    has
}

fn list(ui: &mut Ui, desk: &mut Desk) {
    let examples = desk.examples();
    for (index, example) in examples.iter().enumerate() {
        ui.horizontal(|ui| {
            let picked = index == desk.design.picked;
            let width = ui.available_width() - if picked { 32.0 } else { 0.0 };
            let row = ui.add_sized([width, 26.0], row(example, picked));
            desk.spots.note(format!("example:{}", example.name), row.rect);
            if row.clicked() {
                (desk.design.picked, desk.design.point) = (index, None);
            }
            if picked && ui.small_button("×").on_hover_text("Remove this example").clicked() {
                desk.remove_example();
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
fn add(ui: &mut Ui, desk: &mut Desk) {
    choose_body(ui, desk);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let button = ui.button("+ mode");
        desk.spots.note("add:mode", button.rect);
        let clicked = button.on_hover_text("Vibration mode with this number, slowest first").clicked();
        ui.add(DragValue::new(&mut desk.design.mode).range(1..=60).speed(0.1));
        if clicked {
            let shape = Shape { mode: Some(desk.design.mode), ..Shape::default() };
            desk.add_example("mode", desk.body_name(desk.design.body), shape);
            desk.design.mode = (desk.design.mode + 1).min(60);
        }
        ui.add_space(6.0);
        let free = desk.design.posing.is_none();
        let button = ui.add_enabled(free, Button::new("+ current pose"));
        desk.spots.note("add:pose", button.rect);
        let help = "The body's current deformation, without its rotation: pause, pull or pin it, then click. \
                    Written to a file.";
        if button.on_hover_text(help).clicked() {
            desk.pose_as_example(desk.design.body);
        }
    });
}

/// The body for new examples, if there are several.
fn choose_body(ui: &mut Ui, desk: &mut Desk) {
    let Some(lane) = desk.state.lanes.get(desk.designed()) else { return };
    let names: Vec<String> = lane.loaded.scene.bodies.iter().map(|body| body.name.clone()).collect();
    desk.design.body = desk.design.body.min(names.len().saturating_sub(1));
    if names.len() > 1 {
        let now = names[desk.design.body].clone();
        egui::ComboBox::from_label("body").width(120.0).selected_text(now).show_ui(ui, |ui| {
            for (index, name) in names.iter().enumerate() {
                ui.selectable_value(&mut desk.design.body, index, name);
            }
        });
    }
}

/// What keeps the examples from taking effect.
fn faults(ui: &mut Ui, desk: &mut Desk) {
    let Some(lane) = desk.state.lanes.get(desk.designed()) else { return };
    if let Some(fault) = lane.fault.clone() {
        theme::wrong(ui, format!("not changed: {}", fault.message));
    } else if lane.building {
        theme::quiet(ui, "preparing …");
    }
}

/// Comparison with base damping, and release from the example's shape.
fn views(ui: &mut Ui, desk: &mut Desk) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let on = desk.is_design();
        let fill = if on { theme::ACCENT.gamma_multiply(0.75) } else { theme::LANES[1].gamma_multiply(0.45) };
        let button = ui.add(Button::new("three views").fill(fill));
        desk.spots.note("design:views", button.rect);
        let help = "Base damping, designed damping and the example's shape side by side, from the start.";
        if button.on_hover_text(help).clicked() {
            desk.show_three_views(!on);
        }
        let release = ui.button("release from");
        desk.spots.note("design:release", release.rect);
        let help = "Restart at rest, deformed by this multiple of the example's shape.";
        let clicked = release.on_hover_text(help).clicked();
        ui.add(DragValue::new(&mut desk.design.amount).range(-20.0..=20.0).speed(0.02).suffix(" ×"));
        if clicked {
            desk.send(Command::Release { example: desk.design.picked, amount: desk.design.amount });
        }
    });
}
