//! The damping model and its parameters.

use super::widgets;
use crate::app::fields::{Field, Kind};
use crate::app::theme;
use crate::app::ui_state::UiState;
use crate::damping::MODELS;
use egui::{Button, RichText, Ui};

/// A damping model in the window.
struct Shown {
    name: &'static str,
    title: &'static str,
    help: &'static str,
    fields: &'static [Field],
    /// Values set on selection if all its parameters are zero, for a visible effect.
    start: &'static [(&'static str, &'static str)],
}

const COEFFICIENT: &[Field] = &[Field {
    path: "damping.coefficient",
    label: "strength k",
    unit: "per step",
    help: "Fraction of the velocity removed in each time step.",
    kind: Kind::Log { low: 0.0, high: 1.0, smallest: 1e-4 },
}];

const GAMMA: Field = Field {
    path: "damping.gamma",
    label: "strength γ",
    unit: "per step",
    help: "Fraction of the relative velocity removed in each time step or sweep.",
    kind: Kind::Log { low: 0.0, high: 1.0, smallest: 1e-4 },
};

const SWEEPS: Field = Field {
    path: "damping.sweeps",
    label: "sweeps",
    unit: "per step",
    help: "Number of sweeps over all edges per time step.",
    kind: Kind::Whole(1, 200),
};

const SCOPE: Field = Field {
    path: "damping.scope",
    label: "what is damped",
    unit: "",
    help: "Damp bodies towards their centre of mass, elements towards theirs, or both in turn.",
    kind: Kind::Choice(&[("global", "bodies"), ("local", "elements"), ("both", "both")]),
};

const TORQUE: Field = Field {
    path: "damping.torque",
    label: "torque",
    unit: "",
    help: "How torque is removed so that spin is not damped: forces along edges, along radii, the smallest correction, or not at all.",
    kind: Kind::Choice(&[
        ("edges", "along edges"),
        ("radial", "along radii"),
        ("linear-program", "linear program"),
        ("none", "not removed"),
    ]),
};

const PROJECTION: Field = Field {
    path: "damping.torque",
    label: "torque",
    unit: "",
    help: "Forces along edges do not damp spin; unprojected forces do.",
    kind: Kind::Choice(&[("edges", "along edges"), ("none", "not removed")]),
};

const SHOWN: &[Shown] = &[
    Shown {
        name: "none",
        title: "None",
        help: "No damping model: any loss or gain of energy comes from the integrator.",
        fields: &[],
        start: &[],
    },
    Shown {
        name: "laplacian",
        title: "Laplacian",
        help: "Damps deformation inside the solve, high frequencies most. Free fall is unaffected; spin is damped.",
        fields: &RAYLEIGH,
        start: &[("damping.stiffness", "0.005")],
    },
    Shown {
        name: "ether-drag",
        title: "Ether drag",
        help: "Scales down all velocities after each step, including free fall and spin.",
        fields: COEFFICIENT,
        start: &[("damping.coefficient", "0.02")],
    },
    Shown {
        name: "pbd",
        title: "PBD",
        help: "Pulls each body towards its rigid motion after each step: flight and spin are unaffected.",
        fields: COEFFICIENT,
        start: &[("damping.coefficient", "0.1")],
    },
    Shown {
        name: "point",
        title: "Point",
        help: "Drag on every vertex: slows all motion, including free fall and spin.",
        fields: &[GAMMA],
        start: &[("damping.gamma", "0.02")],
    },
    Shown {
        name: "spring",
        title: "Spring",
        help: "Damps the relative velocity of the two ends of every edge: flight and spin are unaffected.",
        fields: &[GAMMA, PROJECTION],
        start: &[("damping.gamma", "0.1")],
    },
    Shown {
        name: "spring-iterated",
        title: "Spring, iterated",
        help: "Several spring sweeps per step: acts beyond direct neighbours.",
        fields: &[GAMMA, SWEEPS, PROJECTION],
        start: &[("damping.gamma", "0.1")],
    },
    Shown {
        name: "direct",
        title: "Direct",
        help: "Pulls bodies and elements towards the velocity of their centre of mass: flight and spin are unaffected.",
        fields: &[GAMMA, SCOPE, TORQUE],
        start: &[("damping.gamma", "0.1")],
    },
    Shown {
        name: "strain-rate",
        title: "Strain rate",
        help: "Classic viscous stress opposing the strain rate. Flight and spin are unaffected.",
        fields: &VISCOSITY,
        start: &[("damping.psi", "100.0")],
    },
    Shown {
        name: "rayleigh",
        title: "Rayleigh",
        help: "Uses the stiffness matrix at the start of each step. Slow: factors a matrix in every step. CPU only.",
        fields: &RAYLEIGH,
        start: &[("damping.stiffness", "0.005")],
    },
    Shown {
        name: "rayleigh-tangent",
        title: "Rayleigh, tangent",
        help: "Uses the stiffness matrix at the current iterate. Requires the Newton solver. CPU only.",
        fields: &RAYLEIGH,
        start: &[("damping.stiffness", "0.005")],
    },
    Shown {
        name: "variational",
        title: "Variational",
        help: "A second solve after each step penalises deformation since the previous step. Flight is unaffected, spin nearly so. CPU only.",
        fields: &[Field {
            path: "damping.eta",
            label: "deformation η",
            unit: "s",
            help: "Damping of deformation since the previous step; stronger at higher frequencies.",
            kind: Kind::Log { low: 0.0, high: 1.0, smallest: 1e-6 },
        }],
        start: &[("damping.eta", "0.005")],
    },
];

const RAYLEIGH: [Field; 2] = [
    Field {
        path: "damping.stiffness",
        label: "deformation α₂",
        unit: "s",
        help: "Damping of deformation; stronger at higher frequencies.",
        kind: Kind::Log { low: 0.0, high: 1.0, smallest: 1e-6 },
    },
    Field {
        path: "damping.mass",
        label: "all motion α₁",
        unit: "1/s",
        help: "Drag on all motion, including free fall.",
        kind: Kind::Log { low: 0.0, high: 100.0, smallest: 1e-3 },
    },
];

const VISCOSITY: [Field; 2] = [
    Field {
        path: "damping.psi",
        label: "shear ψ",
        unit: "Pa s",
        help: "Viscosity against shear rate.",
        kind: Kind::Log { low: 0.0, high: 1e5, smallest: 1e-2 },
    },
    Field {
        path: "damping.phi",
        label: "compression φ",
        unit: "Pa s",
        help: "Viscosity against volume change.",
        kind: Kind::Log { low: 0.0, high: 1e5, smallest: 1e-2 },
    },
];

/// Fallback for models unknown to this file: all parameters.
const OTHER: Shown = Shown {
    name: "",
    title: "",
    help: "See docs/scene-format.md.",
    fields: &[RAYLEIGH[0], RAYLEIGH[1], COEFFICIENT[0]],
    start: &[],
};

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
        sets.extend(shown.start.iter().map(|(path, value)| (path.to_string(), value.to_string())));
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
