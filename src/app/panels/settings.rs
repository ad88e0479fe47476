//! All other settings, in collapsible sections.

use super::widgets;
use crate::app::fields::{self, Field};
use crate::app::{Command, UiState, theme};
use crate::backend::BackendChoice;
use egui::{CollapsingHeader, RichText, Ui};

const SECTIONS: &[(&str, &[Field])] = &[
    ("Integrator and time", fields::INTEGRATOR),
    ("Conservation", fields::CONSERVATION),
    ("Contact", fields::CONTACT),
    ("Solver", fields::SOLVER),
];

/// Fields, materials, backend, mouse.
pub fn show(ui: &mut Ui, ui_state: &mut UiState) {
    other_fault(ui, ui_state);
    for (title, fields) in SECTIONS {
        section(ui, ui_state, title, |ui, ui_state| {
            fields.iter().for_each(|field| widgets::field(ui, ui_state, "", field));
        });
    }
    section(ui, ui_state, "Material", materials);
    section(ui, ui_state, "World and mouse", |ui, ui_state| {
        widgets::field(ui, ui_state, "", &fields::GRAVITY);
        let mut strength = ui_state.strength;
        let slider = egui::Slider::new(&mut strength, 0.05..=20.0).logarithmic(true).text("hand");
        if ui.add(slider).on_hover_text("Strength of the mouse spring; 1 easily lifts a body").changed() {
            ui_state.strength = strength;
            ui_state.send(Command::Strength(strength));
        }
    });
    section(ui, ui_state, "Backend", backend);
}

fn section(ui: &mut Ui, ui_state: &mut UiState, title: &str, contents: impl FnOnce(&mut Ui, &mut UiState)) {
    let header = CollapsingHeader::new(RichText::new(title).strong())
        .id_salt(title)
        .show(ui, |ui| contents(ui, ui_state));
    ui_state.widget_rects.record(format!("section:{title}"), header.header_response.rect);
}

/// An error that belongs to no visible field.
fn other_fault(ui: &mut Ui, ui_state: &UiState) {
    let Some(fault) = ui_state.slot().and_then(|slot| slot.fault.clone()) else { return };
    let field = fault.field.map(|field| format!("{field}: ")).unwrap_or_default();
    theme::wrong(ui, format!("not changed: {field}{}", fault.message));
}

/// Materials of all bodies; only fields set in the scene.
fn materials(ui: &mut Ui, ui_state: &mut UiState) {
    let Some(slot) = ui_state.slot() else { return };
    let names: Vec<String> = slot.loaded.scene.bodies.iter().map(|body| body.name.clone()).collect();
    for (index, name) in names.iter().enumerate() {
        let base = format!("body.{index}.material.");
        if names.len() > 1 {
            ui.label(RichText::new(name).color(theme::QUIET));
        }
        for field in fields::MATERIAL {
            if ui_state.value(&format!("{base}{}", field.path)).is_some() {
                widgets::field(ui, ui_state, &base, field);
            }
        }
    }
}

fn backend(ui: &mut Ui, ui_state: &mut UiState) {
    let Some(slot) = ui_state.slot() else { return };
    let (now, describe) = (slot.spec.backend, slot.describe.clone());
    ui.horizontal(|ui| {
        for (choice, name) in
            [(BackendChoice::Auto, "automatic"), (BackendChoice::Cpu, "CPU"), (BackendChoice::Gpu, "GPU")]
        {
            let button = ui.selectable_label(now == choice, name);
            ui_state.widget_rects.record(format!("backend:{name}"), button.rect);
            if button.clicked() {
                ui_state.send(Command::Backend { slot: None, choice });
            }
        }
    });
    theme::quiet(ui, describe);
    theme::quiet(ui, format!("Rendered by {}.", ui_state.adapter));
    if ui_state.adapter.software {
        theme::quiet(ui, "Software adapter: its timings say nothing about a GPU.");
    }
}
