//! All other settings, in collapsible sections.

use super::widgets;
use crate::app::desk::Desk;
use crate::app::fields::{self, Field};
use crate::app::session::Command;
use crate::app::theme;
use crate::backend::BackendChoice;
use egui::{CollapsingHeader, RichText, Ui};

const SECTIONS: &[(&str, &[Field])] = &[
    ("Integrator and time", fields::INTEGRATOR),
    ("Conservation", fields::CONSERVATION),
    ("Contact", fields::CONTACT),
    ("Solver", fields::SOLVER),
];

/// Fields, materials, backend, mouse.
pub fn show(ui: &mut Ui, desk: &mut Desk) {
    other_fault(ui, desk);
    for (title, fields) in SECTIONS {
        section(ui, desk, title, |ui, desk| {
            fields.iter().for_each(|field| widgets::field(ui, desk, "", field));
        });
    }
    section(ui, desk, "Material", materials);
    section(ui, desk, "World and mouse", |ui, desk| {
        fields::WORLD.iter().for_each(|field| widgets::field(ui, desk, "", field));
        let mut strength = desk.strength;
        let slider = egui::Slider::new(&mut strength, 0.05..=20.0).logarithmic(true).text("hand");
        if ui.add(slider).on_hover_text("Strength of the mouse spring; 1 easily lifts a body").changed() {
            desk.strength = strength;
            desk.send(Command::Strength(strength));
        }
    });
    section(ui, desk, "Backend", backend);
}

fn section(ui: &mut Ui, desk: &mut Desk, title: &str, contents: impl FnOnce(&mut Ui, &mut Desk)) {
    let header =
        CollapsingHeader::new(RichText::new(title).strong()).id_salt(title).show(ui, |ui| contents(ui, desk));
    desk.spots.note(format!("section:{title}"), header.header_response.rect);
}

/// An error that belongs to no visible field.
fn other_fault(ui: &mut Ui, desk: &Desk) {
    let Some(fault) = desk.lane().and_then(|lane| lane.fault.clone()) else { return };
    let field = fault.field.map(|field| format!("{field}: ")).unwrap_or_default();
    theme::wrong(ui, format!("not changed: {field}{}", fault.message));
}

/// Materials of all bodies; only fields set in the scene.
fn materials(ui: &mut Ui, desk: &mut Desk) {
    let Some(lane) = desk.lane() else { return };
    let names: Vec<String> = lane.loaded.scene.bodies.iter().map(|body| body.name.clone()).collect();
    for (index, name) in names.iter().enumerate() {
        let base = format!("body.{index}.material.");
        if names.len() > 1 {
            ui.label(RichText::new(name).color(theme::QUIET));
        }
        for field in fields::MATERIAL {
            if desk.value(&format!("{base}{}", field.path)).is_some() {
                widgets::field(ui, desk, &base, field);
            }
        }
    }
}

fn backend(ui: &mut Ui, desk: &mut Desk) {
    let Some(lane) = desk.lane() else { return };
    let (now, describe) = (lane.spec.backend, lane.describe.clone());
    ui.horizontal(|ui| {
        for (choice, name) in
            [(BackendChoice::Auto, "automatic"), (BackendChoice::Cpu, "CPU"), (BackendChoice::Gpu, "GPU")]
        {
            let button = ui.selectable_label(now == choice, name);
            desk.spots.note(format!("backend:{name}"), button.rect);
            if button.clicked() {
                desk.send(Command::Backend { lane: None, choice });
            }
        }
    });
    theme::quiet(ui, describe);
    theme::quiet(ui, format!("Rendered by {}.", desk.adapter));
    if desk.adapter.software {
        theme::quiet(ui, "Software adapter: its timings say nothing about a GPU.");
    }
}
