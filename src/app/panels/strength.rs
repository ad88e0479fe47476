//! How strongly motion along the example that is picked is damped: a number, or a curve.

use super::curve::{self, Held};
use super::decay;
use crate::app::design::{edit, points};
use crate::app::desk::Desk;
use crate::app::session::Along;
use crate::app::theme;
use crate::scene::{Curve, CurveKind, Example, Over};
use egui::{Button, DragValue, RichText, Slider, Ui};

/// The card.
pub fn show(ui: &mut Ui, desk: &mut Desk) {
    theme::card(ui, |ui| strength(ui, desk));
}

fn strength(ui: &mut Ui, desk: &mut Desk) {
    let Some(example) = desk.examples().get(desk.design.picked).cloned() else { return };
    ui.horizontal(|ui| {
        rename(ui, desk, &example.name);
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| undo(ui, desk));
    });
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        let curved = example.curve.is_some();
        let constant = ui.selectable_label(!curved, "constant γ");
        desk.spots.note("design:constant", constant.rect);
        if constant.clicked() && curved {
            desk.change_example(false, |example| example.curve = None);
        }
        let curve = ui.selectable_label(curved, "curve");
        desk.spots.note("design:curve", curve.rect);
        if curve.clicked() && !curved {
            desk.change_example(false, |example| example.curve = Some(edit::curve_of(example.gamma)));
        }
        now(ui, desk);
    });
    match example.curve {
        Some(_) => curved(ui, desk, &example),
        None => constant(ui, desk, example.gamma),
    }
    ui.horizontal(|ui| {
        let save = ui.button("save scene");
        desk.spots.note("design:save", save.rect);
        if save.on_hover_text("Save the scene with all examples to the picture folder").clicked() {
            desk.save_scene();
        }
    });
}

/// The name, which can be changed.
fn rename(ui: &mut Ui, desk: &mut Desk, now: &str) {
    let mut name = desk.design.name.clone().unwrap_or_else(|| now.to_string());
    let edit = egui::TextEdit::singleline(&mut name).desired_width(118.0).font(egui::TextStyle::Button);
    let response = ui.add(edit).on_hover_text("Name");
    if response.has_focus() {
        desk.design.name = Some(name);
    } else if let Some(typed) = desk.design.name.take() {
        let typed = typed.trim().to_string();
        let taken = desk.examples().iter().any(|example| example.name == typed);
        if !typed.is_empty() && !taken {
            desk.design.rows.iter_mut().filter(|row| row.example == now).for_each(|row| {
                row.example.clone_from(&typed);
            });
            desk.change_example(false, |example| example.name = typed);
        }
    }
}

/// χ and γ of now.
fn now(ui: &mut Ui, desk: &Desk) {
    let Some(along) = along(desk) else { return };
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        let text = format!("χ {:+.2}  γ {}", along.excitation, theme::number(along.gamma));
        ui.label(RichText::new(text).small().color(theme::lane(1)))
            .on_hover_text("Current excitation of the shape, and how strongly it is damped");
    });
}

fn along(desk: &Desk) -> Option<Along> {
    desk.state.lanes.get(desk.designed())?.along.get(desk.design.picked).copied()
}

fn undo(ui: &mut Ui, desk: &mut Desk) {
    let [back, forward] = desk.design.can_undo();
    let redo = ui.add_enabled(forward, Button::new("redo").small()).on_hover_text("Ctrl + Shift + Z");
    if redo.clicked() {
        desk.undo(true);
    }
    let undo = ui.add_enabled(back, Button::new("undo").small());
    desk.spots.note("design:undo", undo.rect);
    if undo.on_hover_text("Ctrl + Z").clicked() {
        desk.undo(false);
    }
}

fn constant(ui: &mut Ui, desk: &mut Desk, gamma: f64) {
    let mut changed = gamma;
    ui.spacing_mut().slider_width = (ui.available_width() - 70.0).max(60.0);
    // what a scene gives may lie beyond the ends
    let slider = Slider::new(&mut changed, gamma.min(1e-3)..=gamma.max(1e3))
        .logarithmic(true)
        .smallest_positive(1e-4)
        .custom_formatter(|value, _| theme::number(value))
        .custom_parser(|text| text.trim().parse().ok());
    let response = ui.add(slider).on_hover_text("1: same damping as other motion");
    desk.spots.note("design:gamma", response.rect);
    if response.changed() {
        desk.change_example(response.dragged(), |example| example.gamma = changed);
    }
    if !response.dragged() {
        desk.design.end_gesture();
    }
}

fn curved(ui: &mut Ui, desk: &mut Desk, example: &Example) {
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
            desk.spots.note(format!("design:{name}"), button.rect);
        }
    });
    if kind != (curve.kind, curve.over) {
        desk.change_example(false, |example| {
            example.curve.iter_mut().for_each(|curve| (curve.kind, curve.over) = kind);
        });
    }
    let reached = decay::reached(desk, curve.over);
    let now = along(desk);
    let design = &mut desk.design;
    let held = Held { point: &mut design.point, dragged: &mut design.held, right: &mut design.right };
    let edited = curve::edit(ui, curve, held, now, reached);
    desk.design.editor = Some(edited.response.id);
    desk.spots.note("design:editor", edited.response.rect);
    for (index, point) in curve.points.iter().enumerate() {
        let at = edited.axes.to_window(*point);
        desk.spots.note(format!("design:point:{index}"), egui::Rect::from_center_size(at, egui::Vec2::ZERO));
    }
    let mut changed = edited.curve;
    let (typed, dragging) = numbers(ui, desk, changed.as_ref().unwrap_or(curve));
    changed = typed.or(changed);
    if let Some(changed) = changed {
        desk.change_example(edited.gesture || dragging, |example| example.curve = Some(changed));
    }
    if !desk.design.held && !dragging {
        desk.design.end_gesture();
    }
}

/// The point that is chosen in numbers, or what can be done; and whether a number is being dragged.
fn numbers(ui: &mut Ui, desk: &mut Desk, curve: &Curve) -> (Option<Curve>, bool) {
    let Some(index) = desk.design.point.filter(|point| *point < curve.points.len()) else {
        theme::quiet(ui, "Drag a point. Double-click adds one, right-click removes it.");
        return (None, false);
    };
    let [mut r, mut log] = curve.points[index];
    let (mut changed, mut dragging) = (curve.clone(), false);
    ui.horizontal(|ui| {
        theme::quiet(ui, format!("point {}", index + 1));
        let speed = 0.005 * desk.design.right;
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
            points::shift(&mut changed, index, [r, log], desk.design.right);
        }
        let help = "Arrow keys move it, Page Up/Down select another, Insert adds one, Delete removes it.";
        theme::quiet(ui, "?");
        ui.response().on_hover_text(help);
    });
    ((changed != *curve).then_some(changed), dragging)
}
