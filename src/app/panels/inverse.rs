//! Inverse design: target amplitudes, and the search for matching curves.

use crate::app::design::inverse::{self, Row, Search};
use crate::app::desk::Desk;
use crate::app::theme;
use crate::design::End;
use egui::{Button, ComboBox, DragValue, ProgressBar, RichText, Ui};
use std::time::Duration;

/// The card.
pub fn show(ui: &mut Ui, desk: &mut Desk) {
    follow(ui, desk);
    theme::card(ui, |ui| {
        theme::heading(ui, "Find the curves");
        theme::quiet(ui, "Released from |χ|, this amplitude should remain after one cycle:");
        rows(ui, desk);
        buttons(ui, desk);
        if let Some(reason) = desk.design.refused.clone() {
            theme::wrong(ui, reason);
        }
        outcomes(ui, desk);
    });
}

fn rows(ui: &mut Ui, desk: &mut Desk) {
    let names: Vec<String> = desk.examples().into_iter().map(|example| example.name).collect();
    let free = desk.design.search.is_none();
    let mut taken = None;
    let Desk { design, spots, .. } = desk;
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
            spots.note(format!("target:{index}"), line.response.rect);
        });
    }
    if let Some(index) = taken {
        design.rows.remove(index);
    }
}

fn buttons(ui: &mut Ui, desk: &mut Desk) {
    ui.horizontal(|ui| {
        if let Some(search) = &desk.design.search {
            let stage = search.stage();
            let text = match stage.targets {
                0 => "preparing …".to_string(),
                _ => format!("target {} of {}, {} tests", stage.target + 1, stage.targets, stage.trials),
            };
            let width = ui.available_width() - 66.0;
            ui.add(ProgressBar::new(stage.share()).desired_width(width).text(RichText::new(text).small()));
            let cancel = ui.button("cancel");
            desk.spots.note("inverse:cancel", cancel.rect);
            if cancel.clicked() {
                desk.design.search = None;
            }
            return;
        }
        let add = ui.button("+ target");
        desk.spots.note("inverse:add", add.rect);
        if add.clicked() {
            let examples = desk.examples();
            let name = examples.get(desk.design.picked).map_or(String::new(), |example| example.name.clone());
            let row: Row = inverse::next_row(&desk.design.rows, &name);
            desk.design.rows.push(row);
        }
        let find = Button::new("find curves").fill(theme::LANES[1].gamma_multiply(0.45));
        let find = ui.add_enabled(!desk.design.rows.is_empty(), find);
        desk.spots.note("inverse:find", find.rect);
        let help = "Releases the body repeatedly, without gravity or contact, and adjusts the curves until the targets are met.";
        if find.on_hover_text(help).clicked() {
            start(desk);
        }
    });
}

fn start(desk: &mut Desk) {
    let examples = desk.examples();
    desk.design.outcomes.clear();
    desk.design.refused = inverse::complaint(&desk.design.rows, &examples);
    let spec = desk.state.lanes.get(desk.designed()).map(|lane| lane.spec.clone());
    if let (None, Some(spec)) = (&desk.design.refused, spec) {
        desk.design.search = Some(Search::start(&spec, &examples, &desk.design.rows));
    }
}

/// Takes over the result of a search.
fn follow(ui: &Ui, desk: &mut Desk) {
    let Some(search) = &desk.design.search else { return };
    ui.ctx().request_repaint_after(Duration::from_millis(100));
    let Some(done) = search.done() else { return };
    desk.design.search = None;
    match done {
        Err(error) => desk.design.refused = Some(error.to_string()),
        Ok(found) => {
            // only the curves: shapes may have been added meanwhile
            let mut examples = desk.examples();
            for example in &mut examples {
                let same = found.examples.iter().find(|other| other.name == example.name);
                same.into_iter().for_each(|found| example.curve.clone_from(&found.curve));
            }
            desk.set_examples(examples, false);
            desk.design.outcomes = found.outcomes;
        }
    }
}

/// Outcomes of the targets.
fn outcomes(ui: &mut Ui, desk: &mut Desk) {
    for outcome in &desk.design.outcomes {
        let number = theme::number;
        let (colour, text) = match outcome.end {
            End::Reached => (
                theme::GOOD,
                format!("{} remains (wanted {})", number(outcome.reached), number(outcome.wanted)),
            ),
            End::OutOfReach { least, most } => (
                theme::WRONG,
                format!(
                    "{} wanted; only {} to {} is reachable",
                    number(outcome.wanted),
                    number(least),
                    number(most)
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
