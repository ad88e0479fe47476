//! How strongly motion along the example that is picked is damped: a number, or a curve.

use super::curve::{self, Held};
use super::decay;
use crate::app::design::{edit, points};
use crate::app::session::ExampleMotion;
use crate::app::{UiState, theme};
use crate::scene::{Curve, CurveKind, Example, Over};
use egui::{Button, DragValue, RichText, Slider, Ui};

pub fn show(ui: &mut Ui, ui_state: &mut UiState) {
    theme::card(ui, |ui| strength(ui, ui_state));
}

fn strength(ui: &mut Ui, ui_state: &mut UiState) {
    let Some(example) = ui_state.examples().get(ui_state.design.picked).cloned() else { return };
    ui.horizontal(|ui| {
        rename(ui, ui_state, &example.name);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| undo(ui, ui_state));
    });
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        let curved = example.curve.is_some();
        let constant = ui.selectable_label(!curved, "constant γ");
        ui_state.widget_rects.record("design:constant", constant.rect);
        if constant.clicked() && curved {
            ui_state.change_example(false, |example| example.curve = None);
        }
        let curve = ui.selectable_label(curved, "curve");
        ui_state.widget_rects.record("design:curve", curve.rect);
        if curve.clicked() && !curved {
            ui_state.change_example(false, |example| example.curve = Some(edit::curve_of(example.gamma)));
        }
        now(ui, ui_state);
    });
    match example.curve {
        Some(_) => curved(ui, ui_state, &example),
        None => constant(ui, ui_state, example.gamma),
    }
    ui.horizontal(|ui| {
        let save = ui.button("save scene");
        ui_state.widget_rects.record("design:save", save.rect);
        if save.on_hover_text("Save the scene with all examples to the picture folder").clicked() {
            ui_state.save_scene();
        }
    });
}

/// The name, which can be changed.
fn rename(ui: &mut Ui, ui_state: &mut UiState, now: &str) {
    let mut name = ui_state.design.name.clone().unwrap_or_else(|| now.to_string());
    let edit = egui::TextEdit::singleline(&mut name).desired_width(118.0).font(egui::TextStyle::Button);
    let response = ui.add(edit).on_hover_text("Name");
    if response.has_focus() {
        ui_state.design.name = Some(name);
    } else if let Some(typed) = ui_state.design.name.take() {
        let typed = typed.trim().to_string();
        let taken = ui_state.examples().iter().any(|example| example.name == typed);
        if !typed.is_empty() && !taken {
            ui_state.design.rows.iter_mut().filter(|row| row.example == now).for_each(|row| {
                row.example.clone_from(&typed);
            });
            ui_state.change_example(false, |example| example.name = typed);
        }
    }
}

/// χ and γ of now.
fn now(ui: &mut Ui, ui_state: &UiState) {
    let Some(along) = along(ui_state) else { return };
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        let text = format!("χ {:+.2}  γ {}", along.excitation, theme::number(along.gamma));
        ui.label(RichText::new(text).small().color(theme::slot(1)))
            .on_hover_text("Current excitation of the shape, and how strongly it is damped");
    });
}

fn along(ui_state: &UiState) -> Option<ExampleMotion> {
    ui_state.state.slots.get(ui_state.designed())?.example_motion.get(ui_state.design.picked).copied()
}

fn undo(ui: &mut Ui, ui_state: &mut UiState) {
    let [back, forward] = ui_state.design.can_undo();
    let redo = ui.add_enabled(forward, Button::new("redo").small()).on_hover_text("Ctrl + Shift + Z");
    if redo.clicked() {
        ui_state.undo(true);
    }
    let undo = ui.add_enabled(back, Button::new("undo").small());
    ui_state.widget_rects.record("design:undo", undo.rect);
    if undo.on_hover_text("Ctrl + Z").clicked() {
        ui_state.undo(false);
    }
}

fn constant(ui: &mut Ui, ui_state: &mut UiState, gamma: f64) {
    let mut changed = gamma;
    ui.spacing_mut().slider_width = (ui.available_width() - 70.0).max(60.0);
    // what a scene gives may lie beyond the ends
    let slider = Slider::new(&mut changed, gamma.min(1e-3)..=gamma.max(1e3))
        .logarithmic(true)
        .smallest_positive(1e-4)
        .custom_formatter(|value, _| theme::number(value))
        .custom_parser(|text| text.trim().parse().ok());
    let response = ui.add(slider).on_hover_text("1: same damping as other motion");
    ui_state.widget_rects.record("design:gamma", response.rect);
    if response.changed() {
        ui_state.change_example(response.dragged(), |example| example.gamma = changed);
    }
    if !response.dragged() {
        ui_state.design.end_gesture();
    }
}

fn curved(ui: &mut Ui, ui_state: &mut UiState, example: &Example) {
    let Some(curve) = &example.curve else { return };
    let mut kind = (curve.kind, curve.over);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().button_padding.x = 5.5;
        for (of, name, help) in [
            (CurveKind::Bezier, "smooth", "Cubic Bézier segments between points"),
            (CurveKind::Linear, "straight", "Straight lines between points"),
        ] {
            ui.selectable_value(&mut kind.0, of, name).on_hover_text(help);
        }
        ui.separator();
        for (of, name, help) in [
            (Over::Deformation, "by size", "γ depends on the size of the deformation"),
            (Over::Velocity, "by speed", "γ depends on the rate of deformation"),
        ] {
            let button = ui.selectable_value(&mut kind.1, of, name).on_hover_text(help);
            ui_state.widget_rects.record(format!("design:{name}"), button.rect);
        }
    });
    if kind != (curve.kind, curve.over) {
        ui_state.change_example(false, |example| {
            example.curve.iter_mut().for_each(|curve| (curve.kind, curve.over) = kind);
        });
    }
    let reached = decay::reached(ui_state, curve.over);
    let now = along(ui_state);
    let design = &mut ui_state.design;
    let held = Held { point: &mut design.point, dragged: &mut design.held, right: &mut design.right };
    let edited = curve::edit(ui, curve, held, now, reached);
    ui_state.design.editor = Some(edited.response.id);
    ui_state.widget_rects.record("design:editor", edited.response.rect);
    for (index, point) in curve.points.iter().enumerate() {
        let at = edited.axes.to_window(*point);
        ui_state
            .widget_rects
            .record(format!("design:point:{index}"), egui::Rect::from_center_size(at, egui::Vec2::ZERO));
    }
    let mut changed = edited.curve;
    let (typed, dragging) = numbers(ui, ui_state, changed.as_ref().unwrap_or(curve));
    changed = typed.or(changed);
    if let Some(changed) = changed {
        ui_state.change_example(edited.gesture || dragging, |example| example.curve = Some(changed));
    }
    if !ui_state.design.held && !dragging {
        ui_state.design.end_gesture();
    }
}

/// The point that is chosen in numbers, or what can be done; and whether a number is being dragged.
fn numbers(ui: &mut Ui, ui_state: &mut UiState, curve: &Curve) -> (Option<Curve>, bool) {
    let Some(index) = ui_state.design.point.filter(|point| *point < curve.points.len()) else {
        theme::quiet(ui, "Drag a point. Double-click adds one, right-click removes it.");
        return (None, false);
    };
    let [mut r, mut log] = curve.points[index];
    let (mut changed, mut dragging) = (curve.clone(), false);
    ui.horizontal(|ui| {
        theme::quiet(ui, format!("point {}", index + 1));
        let speed = 0.005 * ui_state.design.right;
        let across = ui.add(DragValue::new(&mut r).speed(speed).prefix("r ").max_decimals(4));
        let up = ui.add(
            DragValue::new(&mut log)
                .speed(0.01)
                .prefix("γ ")
                .custom_formatter(|log, _| theme::number(10f64.powf(log)))
                .custom_parser(|text| text.trim().parse::<f64>().ok().filter(|g| *g > 0.0).map(f64::log10)),
        );
        dragging = across.dragged() || up.dragged();
        if across.changed() || up.changed() {
            points::shift(&mut changed, index, [r, log], ui_state.design.right);
        }
        let help = "Arrow keys move it, Page Up/Down select another, Insert adds one, Delete removes it.";
        theme::quiet(ui, "?");
        ui.response().on_hover_text(help);
    });
    ((changed != *curve).then_some(changed), dragging)
}
