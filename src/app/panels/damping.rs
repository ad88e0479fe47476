//! The damping model and its parameters.

use super::widgets;
use crate::app::fields::{Choices, Field, Kind, field, log};
use crate::app::{UiState, theme};
use crate::damping::MODELS;
use egui::{Button, RichText, Ui};

/// A damping model in the window.
struct Shown {
    name: &'static str,
    title: &'static str,
    help: &'static str,
    fields: &'static [Field],
    /// The value that its first field gets on selection if all its parameters are zero, for a visible effect.
    start: &'static str,
}

const COEFFICIENT: &[Field] = &[field("damping.coefficient", "strength k", "per step", log(0.0, 1.0, 1e-4))
    .help("Fraction of the velocity removed in each time step.")];
const GAMMA: Field = field("damping.gamma", "strength γ", "per step", log(0.0, 1.0, 1e-4))
    .help("Fraction of the relative velocity removed in each time step or sweep.");
const SWEEPS: Field = field("damping.sweeps", "sweeps", "per step", Kind::Whole(1, 200))
    .help("Number of sweeps over all edges per time step.");
const SCOPE: Field = field("damping.scope", "what is damped", "", Kind::Choice(SCOPES))
    .help("Damp bodies towards their centre of mass, elements towards theirs, or both in turn.");
const TORQUE: Field = field("damping.torque", "torque", "", Kind::Choice(TORQUES))
    .help("How torque is removed so that spin is not damped: forces along edges, along radii, the smallest correction, or not at all.");
const LOCAL_TORQUE: Field = field("damping.local_torque", "of elements", "", Kind::Choice(TORQUES))
    .help("The same for elements. Automatic: along radii after the bodies, and like the bodies' where elements alone are damped. Not removed: longer explicit steps, but spin is damped.");
const PROJECTION: Field = field("damping.torque", "torque", "", Kind::Choice(PROJECTIONS))
    .help("Forces along edges do not damp spin; unprojected forces do.");
const RAYLEIGH: [Field; 2] = [
    field("damping.stiffness", "deformation α₂", "s", log(0.0, 1.0, 1e-6))
        .help("Damping of deformation; stronger at higher frequencies."),
    field("damping.mass", "all motion α₁", "1/s", log(0.0, 100.0, 1e-3))
        .help("Drag on all motion, including free fall."),
];
const VISCOSITY: [Field; 2] = [
    field("damping.psi", "shear ψ", "Pa s", log(0.0, 1e5, 1e-2)).help("Viscosity against shear rate."),
    field("damping.phi", "compression φ", "Pa s", log(0.0, 1e5, 1e-2))
        .help("Viscosity against volume change."),
];
const ETA: Field = field("damping.eta", "deformation η", "s", log(0.0, 1.0, 1e-6))
    .help("Damping of deformation since the previous step; stronger at higher frequencies.");

const SCOPES: Choices = &[("global", "bodies"), ("local", "elements"), ("both", "both")];
const PROJECTIONS: Choices = &[("edges", "along edges"), ("none", "not removed")];
const TORQUES: Choices = &[
    ("edges", "along edges"),
    ("radial", "along radii"),
    ("linear-program", "linear program"),
    ("none", "not removed"),
];

/// A model and its fields, without a help sentence.
const fn model(
    name: &'static str,
    title: &'static str,
    fields: &'static [Field],
    start: &'static str,
) -> Shown {
    Shown { name, title, help: "", fields, start }
}

impl Shown {
    /// The same with a help sentence.
    const fn help(self, help: &'static str) -> Shown {
        Shown { help, ..self }
    }
}

const SHOWN: &[Shown] = &[
    model("none", "None", &[], "")
        .help("No damping model: any loss or gain of energy comes from the integrator."),
    model("laplacian", "Laplacian", &RAYLEIGH, "0.005")
        .help("Damps deformation inside the solve, high frequencies most. Free fall is unaffected; spin is damped."),
    model("ether-drag", "Ether drag", COEFFICIENT, "0.02")
        .help("Scales down all velocities after each step, including free fall and spin."),
    model("pbd", "PBD", COEFFICIENT, "0.1")
        .help("Pulls each body towards its rigid motion after each step: flight and spin are unaffected."),
    model("point", "Point", &[GAMMA], "0.02")
        .help("Drag on every vertex: slows all motion, including free fall and spin."),
    model("spring", "Spring", &[GAMMA, PROJECTION], "0.1")
        .help("Damps the relative velocity of the two ends of every edge: flight and spin are unaffected."),
    model("spring-iterated", "Spring, iterated", &[GAMMA, SWEEPS, PROJECTION], "0.1")
        .help("Several spring sweeps per step: acts beyond direct neighbours."),
    model("direct", "Direct", &[GAMMA, SCOPE, TORQUE, LOCAL_TORQUE], "0.1")
        .help("Pulls bodies and elements towards the velocity of their centre of mass: flight and spin are unaffected."),
    model("strain-rate", "Strain rate", &VISCOSITY, "100.0")
        .help("Classic viscous stress opposing the strain rate. Flight and spin are unaffected."),
    model("rayleigh", "Rayleigh", &RAYLEIGH, "0.005")
        .help("Uses the stiffness matrix at the start of each step. Slow: factors a matrix in every step. CPU only."),
    model("rayleigh-tangent", "Rayleigh, tangent", &RAYLEIGH, "0.005")
        .help("Uses the stiffness matrix at the current iterate. Requires the Newton solver. CPU only."),
    model("variational", "Variational", &[ETA], "0.005")
        .help("A second solve after each step penalises deformation since the previous step. Flight is unaffected, spin nearly so. CPU only."),
];

/// Fallback for models unknown to this file: all parameters.
const OTHER: Shown = model("", "", PARAMETERS, "").help("See docs/scene-format.md.");
const PARAMETERS: &[Field] = &[RAYLEIGH[0], RAYLEIGH[1], COEFFICIENT[0]];

fn shown(name: &str) -> &'static Shown {
    SHOWN.iter().find(|shown| shown.name == name).unwrap_or(&OTHER)
}

/// The settings that select a model in a scene whose fields `value` returns.
pub fn choosing(name: &str, value: impl Fn(&str) -> Option<f64>) -> Vec<(String, String)> {
    let shown = shown(name);
    let mut sets = Vec::new();
    if name == "rayleigh-tangent" {
        // only this solver supports it, so it is set first
        sets.push(("solver.kind".to_string(), "\"newton\"".to_string()));
    }
    sets.push(("damping.model".to_string(), format!("\"{name}\"")));
    let mut strengths = shown.fields.iter().filter(|field| matches!(field.kind, Kind::Log { .. }));
    if strengths.all(|field| value(field.path).unwrap_or(0.0) == 0.0) {
        let first = shown.fields.first().filter(|_| !shown.start.is_empty());
        sets.extend(first.map(|field| (field.path.to_string(), shown.start.to_string())));
    }
    sets
}

/// Model buttons and the parameters of the selected model.
pub fn show(ui: &mut Ui, ui_state: &mut UiState) {
    theme::card(ui, |ui| {
        ui.label(RichText::new("Damping").strong().size(17.0));
        theme::quiet(ui, "How should motion decay? Pick a model and watch.");
        let now = ui_state
            .value("damping.model")
            .and_then(|value| Some(value.as_str()?.to_string()))
            .unwrap_or_default();
        let width = (ui.available_width() - 6.0) / 2.0;
        egui::Grid::new("models").spacing([6.0, 6.0]).show(ui, |ui| {
            for (k, model) in MODELS.iter().enumerate() {
                let chosen = model.name == now;
                let title = match shown(model.name).title {
                    "" => model.name,
                    title => title,
                };
                let text = RichText::new(title).size(15.0).strong();
                let fill = if chosen { theme::ACCENT.gamma_multiply(0.75) } else { theme::WIDGET };
                let button = ui.add_sized([width, 36.0], Button::new(text).fill(fill));
                ui_state.widget_rects.record(format!("damping:{}", model.name), button.rect);
                if button.on_hover_text(shown(model.name).help).clicked() && !chosen {
                    choose(ui_state, model.name);
                }
                if k % 2 == 1 {
                    ui.end_row();
                }
            }
        });
        let shown = shown(&now);
        theme::quiet(ui, shown.help);
        for field in shown.fields {
            widgets::field(ui, ui_state, "", field);
        }
        if let Some(message) = ui_state.fault("damping.model") {
            theme::wrong(ui, message);
        }
    });
}

/// Selects a model with a visible effect.
pub fn choose(ui_state: &UiState, name: &str) {
    let value = |path: &str| ui_state.value(path).and_then(|value| crate::app::fields::number(&value));
    for (path, value) in choosing(name, value) {
        ui_state.set(&path, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_has_words_and_choosing_it_has_an_effect() {
        for model in MODELS {
            assert_eq!(shown(model.name).name, model.name, "no words for {}", model.name);
            let sets: Vec<String> = choosing(model.name, |_| None)
                .iter()
                .map(|(path, value)| format!("{path}={value}"))
                .collect();
            let scene = crate::setup::load("cube", &sets).unwrap().scene;
            let made = crate::damping::make(&scene.damping).unwrap();
            let inside = made.mass != 0.0 || made.stiffness != 0.0 || made.tangent.stiffness != 0.0;
            let acts = inside || made.filter.is_some() || made.eta.is_some();
            assert_eq!(acts, model.name != "none", "{sets:?}");
        }
    }
}
