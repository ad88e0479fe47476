//! Damping by example: which shapes there are, and how strongly motion along the one that is picked is damped.

use super::curve::{self, Held};
use super::decay;
use crate::app::design::edit;
use crate::app::desk::Desk;
use crate::app::session::Command;
use crate::app::theme;
use crate::scene::{CurveKind, Example, Over, Shape};
use egui::{Button, DragValue, RichText, Slider, Ui};

/// What is shown instead of a curve under a model that takes none.
const MODELS: [&str; 3] = ["laplacian", "rayleigh", "rayleigh-tangent"];

/// The page.
pub fn show(ui: &mut Ui, desk: &mut Desk) {
    theme::card(ui, |ui| {
        ui.label(RichText::new("Damping by example").strong().size(17.0));
        theme::quiet(ui, "Motion along these shapes is damped γ times as strongly as other motion.");
        list(ui, desk);
        add(ui, desk);
        faults(ui, desk);
    });
    if !desk.examples().is_empty() {
        views(ui, desk);
        theme::card(ui, |ui| strength(ui, desk));
        super::inverse::show(ui, desk);
    }
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
            if picked && ui.small_button("×").on_hover_text("Takes this example away").clicked() {
                desk.remove_example();
            }
        });
    }
    if examples.is_empty() {
        theme::quiet(ui, "There are none yet. Add a vibration of the body, or pull at it and take its pose.");
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

/// Other examples: a mode, or the shape that the body has now.
fn add(ui: &mut Ui, desk: &mut Desk) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let button = ui.button("+ mode");
        desk.spots.note("add:mode", button.rect);
        let clicked = button.on_hover_text("The vibration of this number, slowest first").clicked();
        ui.add(DragValue::new(&mut desk.design.mode).range(1..=60).speed(0.1));
        if clicked {
            let shape = Shape { mode: Some(desk.design.mode), ..Shape::default() };
            desk.add_example("mode", desk.body_name(body(desk)), shape);
            desk.design.mode = (desk.design.mode + 1).min(60);
        }
        ui.add_space(6.0);
        let free = desk.design.posing.is_none();
        let button = ui.add_enabled(free, Button::new("+ pose of now"));
        desk.spots.note("add:pose", button.rect);
        let help = "The shape that the body has now, without its turn: pause, pull or pin it, and press. \
                    It is written to a file.";
        if button.on_hover_text(help).clicked() {
            desk.pose_as_example(body(desk));
        }
    });
}

/// The body that is added of: that of the example picked, or the first one.
fn body(desk: &Desk) -> usize {
    let lane = desk.state.lanes.get(desk.designed());
    lane.and_then(|lane| Some(lane.model.examples.get(desk.design.picked)?.body)).unwrap_or(0)
}

/// What keeps the examples from having an effect.
fn faults(ui: &mut Ui, desk: &mut Desk) {
    let Some(lane) = desk.state.lanes.get(desk.designed()) else { return };
    if let Some(fault) = lane.fault.clone() {
        theme::wrong(ui, format!("not changed: {}", fault.message));
    } else if lane.building {
        theme::quiet(ui, "preparing …");
    } else if !MODELS.contains(&lane.loaded.scene.damping.model.as_str()) && !desk.examples().is_empty() {
        theme::wrong(ui, "Needs the damping model Laplacian or Rayleigh.");
        if ui.button("Laplacian damping").clicked() {
            super::damping::choose(desk, "laplacian");
        }
    }
}

/// Side by side with the base damping, and from the shape of the example.
fn views(ui: &mut Ui, desk: &mut Desk) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let on = desk.is_design();
        let fill = if on { theme::ACCENT.gamma_multiply(0.75) } else { theme::LANES[1].gamma_multiply(0.45) };
        let button = ui.add(Button::new("three views").fill(fill));
        desk.spots.note("design:views", button.rect);
        let help = "The same under base damping, as designed, and the shape of the example; from the start.";
        if button.on_hover_text(help).clicked() {
            desk.show_three_views(!on);
        }
        let release = ui.button("let go from");
        desk.spots.note("design:release", release.rect);
        let help = "Starts anew at rest in the shape of the example, so many times as large.";
        let clicked = release.on_hover_text(help).clicked();
        ui.add(DragValue::new(&mut desk.design.amount).range(-20.0..=20.0).speed(0.02).suffix(" ×"));
        if clicked {
            desk.send(Command::Release { example: desk.design.picked, amount: desk.design.amount });
        }
    });
}

/// γ of the example picked: a number, or a curve.
fn strength(ui: &mut Ui, desk: &mut Desk) {
    let Some(example) = desk.examples().get(desk.design.picked).cloned() else { return };
    ui.horizontal(|ui| {
        theme::heading(ui, &example.name);
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
        if save.on_hover_text("Writes the scene with all examples into the folder of the pictures").clicked()
        {
            desk.save_scene();
        }
    });
}

/// χ and γ of now.
fn now(ui: &mut Ui, desk: &Desk) {
    let Some(along) = along(desk) else { return };
    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
        let text = format!("χ {:+.2}  γ {}", along.excitation, theme::number(along.gamma));
        ui.label(RichText::new(text).small().color(theme::lane(1)))
            .on_hover_text("How much of the shape there is now, and how strongly it is damped");
    });
}

fn along(desk: &Desk) -> Option<crate::app::session::Along> {
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
    let slider = Slider::new(&mut changed, 1e-3..=1e3)
        .logarithmic(true)
        .custom_formatter(|value, _| theme::number(value))
        .custom_parser(|text| text.trim().parse().ok());
    let response = ui.add(slider).on_hover_text("1: as strongly as other motion");
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
        for (of, name, help) in [
            (CurveKind::Bezier, "smooth", "Cubic Bézier pieces from point to point"),
            (CurveKind::Linear, "straight", "Straight from point to point"),
        ] {
            ui.selectable_value(&mut kind.0, of, name).on_hover_text(help);
        }
        ui.separator();
        for (of, name, help) in [
            (Over::Deformation, "by size", "γ depends on how large the deformation is"),
            (Over::Velocity, "by speed", "γ depends on how fast it changes"),
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
    if let Some(typed) = numbers(ui, desk, changed.as_ref().unwrap_or(curve)) {
        changed = Some(typed);
    }
    if !desk.design.held {
        desk.design.end_gesture();
    }
    if let Some(changed) = changed {
        desk.change_example(edited.gesture, |example| example.curve = Some(changed));
    }
}

/// The point that is chosen in numbers, or what can be done.
fn numbers(ui: &mut Ui, desk: &mut Desk, curve: &crate::scene::Curve) -> Option<crate::scene::Curve> {
    let Some(index) = desk.design.point.filter(|point| *point < curve.points.len()) else {
        theme::quiet(ui, "Drag a point. A double click adds one, a right click takes it away.");
        return None;
    };
    let [mut r, mut log] = curve.points[index];
    let mut changed = curve.clone();
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
        if across.changed() || up.changed() {
            crate::app::design::points::shift(&mut changed, index, [r, log], desk.design.right);
        }
        let help =
            "Arrows move it, Page Up and Page Down choose another, Insert adds one, Delete takes it away.";
        theme::quiet(ui, "?");
        ui.response().on_hover_text(help);
    });
    (changed != *curve).then_some(changed)
}
