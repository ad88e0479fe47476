//! Scene fields as widgets: label with help, control, unit, and error.

use crate::app::fields::{self, Choices, Field, Kind};
use crate::app::{Command, UiState, theme};
use egui::{ComboBox, Slider, Ui};
use toml::Value;

/// Width of a label (points).
const LABEL: f32 = 122.0;

/// A field of the active slot at `base` plus the field's own path.
pub fn field(ui: &mut Ui, ui_state: &mut UiState, base: &str, field: &Field) {
    let path = format!("{base}{}", field.path);
    let value = ui_state.value(&path);
    let response = ui.horizontal(|ui| {
        ui.spacing_mut().slider_width = (ui.available_width() - LABEL - 72.0).max(50.0);
        if !matches!(field.kind, Kind::Switch) {
            label(ui, field);
        }
        let changed = match (field.kind, &value) {
            (_, None) => automatic(ui, field),
            (Kind::Even(low, high), Some(value)) => slide(ui, value, field, |slider| slider, low, high),
            (Kind::Log { low, high, smallest }, Some(value)) => slide(
                ui,
                value,
                field,
                |slider| slider.logarithmic(true).smallest_positive(smallest),
                low,
                high,
            ),
            (Kind::Whole(low, high), Some(value)) => whole(ui, value, low, high),
            (Kind::Switch, Some(value)) => switch(ui, value, field),
            (Kind::Choice(choices), Some(value)) => choice(ui, &path, value, choices),
            (Kind::Several(choices), Some(value)) => several(ui, value, choices),
        };
        if let Some(changed) = changed {
            ui_state.set(&path, changed);
        }
        if is_optional(&path)
            && value.is_some()
            && ui.small_button("auto").on_hover_text("Automatic").clicked()
        {
            ui_state.send(Command::Unset { slot: ui_state.chosen(), path: path.clone() });
        }
    });
    ui_state.widget_rects.record(&path, response.response.rect);
    response.response.on_hover_text(help(field));
    if let Some(message) = ui_state.fault(&path) {
        theme::wrong(ui, message);
    }
}

/// Fields that are derived from the bodies or from other fields unless set.
fn is_optional(path: &str) -> bool {
    ["contact.stiffness", "contact.thickness", "damping.local_torque"].contains(&path)
}

fn help(field: &Field) -> String {
    match field.unit {
        "" => field.help.into(),
        unit => format!("{} Unit: {unit}.", field.help),
    }
}

fn label(ui: &mut Ui, field: &Field) {
    let (rect, _) = ui.allocate_exact_size(egui::vec2(LABEL, 20.0), egui::Sense::hover());
    let text = match field.unit {
        "" => field.label.to_string(),
        unit => format!("{} ({unit})", field.label),
    };
    let font = egui::FontId::proportional(12.5);
    let galley = ui.painter().layout(text, font, theme::TEXT, f32::INFINITY);
    let at = egui::pos2(rect.min.x, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, theme::TEXT);
}

/// A field with an automatic value that has not been set.
fn automatic(ui: &mut Ui, field: &Field) -> Option<String> {
    let start = match field.kind {
        Kind::Even(low, high) => fields::written(0.5 * (low + high)),
        Kind::Log { smallest, high, .. } => fields::written((smallest * high).sqrt()),
        Kind::Choice(choices) => format!("\"{}\"", choices.first()?.0),
        _ => return None,
    };
    ui.small_button("set").on_hover_text("Automatic; click to set it").clicked().then_some(start)
}

fn slide(
    ui: &mut Ui,
    value: &Value,
    field: &Field,
    kind: impl FnOnce(Slider<'_>) -> Slider<'_>,
    low: f64,
    high: f64,
) -> Option<String> {
    let mut number = fields::number(value)?;
    // a scene's value may exceed the slider's range
    let (low, high) = (low.min(number), high.max(number));
    let slider = Slider::new(&mut number, low..=high)
        .custom_formatter(|value, _| theme::number(value))
        .custom_parser(|text| text.trim().parse().ok());
    let _ = field;
    ui.add(kind(slider)).changed().then(|| fields::written(number))
}

fn whole(ui: &mut Ui, value: &Value, low: u32, high: u32) -> Option<String> {
    let mut number = value.as_integer()?.max(0) as u64;
    let high = u64::from(high).max(number);
    ui.add(Slider::new(&mut number, u64::from(low)..=high)).changed().then(|| number.to_string())
}

fn switch(ui: &mut Ui, value: &Value, field: &Field) -> Option<String> {
    let mut on = value.as_bool()?;
    ui.checkbox(&mut on, field.label).changed().then(|| on.to_string())
}

fn choice(ui: &mut Ui, path: &str, value: &Value, choices: Choices) -> Option<String> {
    let now = value.as_str()?;
    let name = choices.iter().find(|(value, _)| *value == now).map_or(now, |(_, name)| name);
    let mut chosen = None;
    ComboBox::from_id_salt(path).width(ui.available_width().min(150.0)).selected_text(name).show_ui(
        ui,
        |ui| {
            for (value, name) in choices {
                if ui.selectable_label(*value == now, *name).clicked() && *value != now {
                    chosen = Some(format!("\"{value}\""));
                }
            }
        },
    );
    chosen
}

fn several(ui: &mut Ui, value: &Value, choices: Choices) -> Option<String> {
    let now: Vec<&str> = value.as_array()?.iter().filter_map(Value::as_str).collect();
    let mut chosen = None;
    ui.spacing_mut().item_spacing.x = 3.0;
    for (value, name) in choices {
        let on = now.contains(value);
        if ui.selectable_label(on, *name).clicked() {
            let kept = choices
                .iter()
                .map(|(other, _)| *other)
                .filter(|other| now.contains(other) != (other == value));
            let list: Vec<String> = kept.map(|other| format!("\"{other}\"")).collect();
            chosen = Some(format!("[{}]", list.join(", ")));
        }
    }
    chosen
}
