//! The same scene with several settings side by side.

use super::damping::choosing;
use crate::app::session::spec::Spec;
use crate::app::session::{Command, MAX_SLOTS};
use crate::app::{UiState, theme};
use egui::{Button, RichText, Ui};

/// Available comparisons: label, description, and the differences between slots.
const COMPARISONS: &[(&str, &str, Variants)] = &[
    ("None | Laplacian", "no damping and Laplacian damping", Variants::Damping(&["none", "laplacian"])),
    (
        "All four models",
        "none, Laplacian, ether drag and PBD",
        Variants::Damping(&["none", "laplacian", "ether-drag", "pbd"]),
    ),
    (
        "Point | spring | direct",
        "drag on all motion, damping along edges, and damping towards the centre of mass",
        Variants::Damping(&["point", "spring", "spring-iterated", "direct"]),
    ),
    (
        "Integrators",
        "backward Euler, implicit midpoint and BDF-2",
        Variants::Of("integrator.kind", &["\"backward-euler\"", "\"implicit-midpoint\"", "\"bdf2\""]),
    ),
    (
        "Energy conserved | not",
        "conservation off and on",
        Variants::Of("conservation.method", &["\"none\"", "\"cpd\""]),
    ),
];

enum Variants {
    /// In the damping model.
    Damping(&'static [&'static str]),
    /// In the value of a field.
    Of(&'static str, &'static [&'static str]),
}

/// The slots of a comparison, derived from this one.
fn slots(of: &Variants, from: &Spec, value: impl Fn(&str) -> Option<f64>) -> Vec<Spec> {
    let base = Spec { pins: Vec::new(), released: Default::default(), base: false, ..from.clone() };
    match of {
        Variants::Damping(models) => models
            .iter()
            .map(|model| {
                let mut spec = base.clone();
                choosing(model, &value).iter().for_each(|(path, value)| spec.set(path, value));
                spec
            })
            .collect(),
        Variants::Of(path, values) => values
            .iter()
            .map(|value| {
                let mut spec = base.clone();
                spec.set(path, value);
                spec
            })
            .collect(),
    }
}

/// Buttons that start and end a comparison.
pub fn show(ui: &mut Ui, ui_state: &mut UiState) {
    theme::card(ui, |ui| {
        ui.horizontal(|ui| {
            ui.label(RichText::new("Compare").strong().size(15.0));
            theme::quiet(ui, "side by side, in step");
        });
        let width = (ui.available_width() - 6.0) / 2.0;
        egui::Grid::new("comparisons").spacing([6.0, 6.0]).show(ui, |ui| {
            for (k, (name, help, of)) in COMPARISONS.iter().enumerate() {
                let fill = if k < 2 { theme::SLOTS[1].gamma_multiply(0.45) } else { theme::WIDGET };
                let button = ui.add_sized([width, 28.0], Button::new(*name).fill(fill));
                ui_state.widget_rects.record(format!("compare:{name}"), button.rect);
                if button.on_hover_text(format!("Open this scene from the start: {help}.")).clicked() {
                    open(ui_state, of);
                }
                if k % 2 == 1 {
                    ui.end_row();
                }
            }
        });
        let count = ui_state.state.slots.len();
        if count > 1 {
            ui.horizontal(|ui| {
                let add = ui.add_enabled(count < MAX_SLOTS, Button::new("+ variant"));
                if add.on_hover_text("Add a copy of the last one to change").clicked() {
                    ui_state.send(Command::Add(Vec::new()));
                }
                let single = ui.button("single view");
                ui_state.widget_rects.record("compare:end", single.rect);
                if single.on_hover_text("Keep only the one whose settings are shown").clicked() {
                    let spec = ui_state.slot().map(|slot| Spec { base: false, ..slot.spec.clone() });
                    ui_state.send(Command::Open(spec.into_iter().collect()));
                }
            });
            theme::quiet(ui, "Click a view to edit its settings.");
        }
    });
}

fn open(ui_state: &UiState, of: &Variants) {
    let Some(slot) = ui_state.slot() else { return };
    let value = |path: &str| ui_state.value(path).and_then(|value| crate::app::fields::number(&value));
    ui_state.send(Command::Open(slots(of, &slot.spec, value)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_comparison_has_two_to_four_lanes_that_can_be_read_and_differ() {
        for (name, _, of) in COMPARISONS {
            let specs = slots(of, &Spec::of("cube"), |_| None);
            assert!((2..=MAX_SLOTS).contains(&specs.len()), "{name}");
            let scenes: Vec<_> = specs.iter().map(|spec| spec.load().unwrap().scene).collect();
            assert!(scenes.windows(2).all(|pair| pair[0] != pair[1]), "{name}");
        }
    }
}
