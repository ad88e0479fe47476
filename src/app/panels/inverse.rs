//! Inverse design: target amplitudes, and the search for matching curves.

use crate::app::design::inverse::{self, Row, Search};
use crate::app::{UiState, theme};
use crate::design::End;
use egui::{Button, ComboBox, DragValue, ProgressBar, RichText, Ui};
use std::time::Duration;

pub fn show(ui: &mut Ui, ui_state: &mut UiState) {
    follow(ui, ui_state);
    theme::card(ui, |ui| {
        theme::heading(ui, "Find the curves");
        theme::quiet(ui, "Released from |χ|, this amplitude should remain after one cycle:");
        rows(ui, ui_state);
        buttons(ui, ui_state);
        if let Some(reason) = ui_state.design.refused.clone() {
            theme::wrong(ui, reason);
        }
        outcomes(ui, ui_state);
    });
}

fn rows(ui: &mut Ui, ui_state: &mut UiState) {
    let names: Vec<String> = ui_state.examples().into_iter().map(|example| example.name).collect();
    let free = ui_state.design.search.is_none();
    let mut taken = None;
    let UiState { design, widget_rects, .. } = ui_state;
    for (index, row) in design.rows.iter_mut().enumerate() {
        ui.add_enabled_ui(free, |ui| {
            let line = ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = 4.0;
                let menu = ComboBox::from_id_salt(("target", index)).width(84.0).truncate();
                menu.selected_text(&row.example).show_ui(ui, |ui| {
                    for name in &names {
                        ui.selectable_value(&mut row.example, name.clone(), name);
                    }
                });
                let number = |value| DragValue::new(value).range(0.001..=100.0).speed(0.01).max_decimals(3);
                ui.add(number(&mut row.amplitude)).on_hover_text("|χ| at the start, at rest");
                ui.label(RichText::new("to").small().color(theme::QUIET));
                ui.add(number(&mut row.remaining)).on_hover_text("|χ| after one cycle");
                if ui.small_button("×").on_hover_text("Remove this target").clicked() {
                    taken = Some(index);
                }
            });
            widget_rects.record(format!("target:{index}"), line.response.rect);
        });
    }
    if let Some(index) = taken {
        design.rows.remove(index);
    }
}

fn buttons(ui: &mut Ui, ui_state: &mut UiState) {
    ui.horizontal(|ui| {
        if let Some(search) = &ui_state.design.search {
            let search_progress = search.search_progress();
            let text = match search_progress.targets {
                0 => "preparing …".to_string(),
                _ => format!("target {} of {}, {} tests", search_progress.target + 1, search_progress.targets, search_progress.trials),
            };
            let width = ui.available_width() - 66.0;
            ui.add(ProgressBar::new(search_progress.share()).desired_width(width).text(RichText::new(text).small()));
            let cancel = ui.button("cancel");
            ui_state.widget_rects.record("inverse:cancel", cancel.rect);
            if cancel.clicked() {
                ui_state.design.search = None;
            }
            return;
        }
        let add = ui.button("+ target");
        ui_state.widget_rects.record("inverse:add", add.rect);
        if add.clicked() {
            let examples = ui_state.examples();
            let name = examples.get(ui_state.design.picked).map_or(String::new(), |example| example.name.clone());
            let row: Row = inverse::next_row(&ui_state.design.rows, &name);
            ui_state.design.rows.push(row);
        }
        let find = Button::new("find curves").fill(theme::SLOTS[1].gamma_multiply(0.45));
        let find = ui.add_enabled(!ui_state.design.rows.is_empty(), find);
        ui_state.widget_rects.record("inverse:find", find.rect);
        let help = "Releases the body repeatedly, without gravity or contact, and adjusts the curves until the targets are met.";
        if find.on_hover_text(help).clicked() {
            start(ui_state);
        }
    });
}

fn start(ui_state: &mut UiState) {
    let examples = ui_state.examples();
    ui_state.design.outcomes.clear();
    ui_state.design.refused = inverse::complaint(&ui_state.design.rows, &examples);
    let spec = ui_state.state.slots.get(ui_state.designed()).map(|slot| slot.spec.clone());
    if let (None, Some(spec)) = (&ui_state.design.refused, spec) {
        ui_state.design.search = Some(Search::start(&spec, &examples, &ui_state.design.rows));
    }
}

/// Takes over the result of a search.
fn follow(ui: &Ui, ui_state: &mut UiState) {
    let Some(search) = &ui_state.design.search else { return };
    ui.ctx().request_repaint_after(Duration::from_millis(100));
    let Some(done) = search.done() else { return };
    ui_state.design.search = None;
    match done {
        Err(error) => ui_state.design.refused = Some(error.to_string()),
        Ok(found) => {
            // only the curves: shapes may have been added meanwhile
            let mut examples = ui_state.examples();
            for example in &mut examples {
                let same = found.examples.iter().find(|other| other.name == example.name);
                same.into_iter().for_each(|found| example.curve.clone_from(&found.curve));
            }
            ui_state.set_examples(examples, false);
            ui_state.design.outcomes = found.outcomes;
        }
    }
}

fn outcomes(ui: &mut Ui, ui_state: &mut UiState) {
    for outcome in &ui_state.design.outcomes {
        let number = theme::number;
        let (colour, text) = match outcome.end {
            End::Reached => (
                theme::GOOD,
                format!("{} remains (wanted {})", number(outcome.reached), number(outcome.wanted)),
            ),
            End::OutOfReach { least, most } => (
                theme::WRONG,
                format!(
                    "{} wanted; {} {} to {}",
                    number(outcome.wanted),
                    // tests bound b(γ) only if it is monotone
                    if outcome.rise.is_none() {
                        "the tests left"
                    } else {
                        "not monotone in γ; the tests left"
                    },
                    number(least),
                    number(most)
                ),
            ),
            End::Jump { below, above } => (
                theme::WRONG,
                format!(
                    "{} wanted; what remains jumps from {} to {}",
                    number(outcome.wanted),
                    number(above),
                    number(below)
                ),
            ),
            End::Between { below, above } => (
                theme::WRONG,
                format!(
                    "{} wanted; closest are {} and {}",
                    number(outcome.wanted),
                    number(below),
                    number(above)
                ),
            ),
        };
        let from = format!("{} from {}:", outcome.target.example, number(outcome.target.amplitude));
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            theme::quiet(ui, from);
            ui.label(RichText::new(text).small().color(colour));
        });
    }
}
