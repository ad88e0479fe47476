//! Live curves of the ledger. Several slots share one plot.

use crate::app::theme;
use crate::app::ui_state::{Curves, UiState};
use crate::ledger::Row;
use egui::{Color32, Ui};
use egui_plot::{Line, PlotPoints};

/// A curve: name, colour, value of a row.
type Curve = (&'static str, Color32, fn(&Row) -> f64);

fn length(v: &[f64; 3]) -> f64 {
    v.iter().map(|c| c * c).sum::<f64>().sqrt()
}

const TOTAL: Curve = ("total", Color32::WHITE, |row| row.total);

/// Parts of the energy, shown for a single slot.
const PARTS: &[Curve] = &[
    ("kinetic", theme::SLOTS[1], |row| row.kinetic),
    ("elastic", theme::SLOTS[2], |row| row.elastic),
    ("gravity", theme::SLOTS[3], |row| row.gravity),
    ("contact", theme::LEDGER[2], |row| row.contact),
    ("attachment", theme::LEDGER[1], |row| row.attachment),
];

const CENTRE: &[Curve] = &[
    ("x", theme::SLOTS[0], |row| row.centre[0]),
    ("y", theme::SLOTS[1], |row| row.centre[1]),
    ("z", theme::SLOTS[2], |row| row.centre[2]),
];

pub fn show(ui: &mut Ui, ui_state: &mut UiState) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        for (curves, name) in [
            (Curves::Energy, "energy"),
            (Curves::Momentum, "|P|"),
            (Curves::Spin, "|L|"),
            (Curves::Centre, "centre"),
        ] {
            let tab = ui.selectable_label(ui_state.curves == curves, name);
            ui_state.widget_rects.record(format!("plot:{name}"), tab.rect);
            if tab.clicked() {
                ui_state.curves = curves;
            }
        }
        let unit = match ui_state.curves {
            Curves::Energy => "J",
            Curves::Momentum => "kg m/s",
            Curves::Spin => "kg m²/s",
            Curves::Centre => "m",
        };
        theme::quiet(ui, format!("({unit}) over time (s)"));
    });
    let lines = lines(ui_state);
    let id = (ui_state.curves as u8, ui_state.state.slots.first().map(|slot| slot.epoch));
    let mut plot = theme::plot(id, 190.0);
    if ui_state.state.slots.len() < 2 {
        // several slots have their colours in their titles
        plot = plot.legend(theme::legend());
    }
    let response = plot.show(ui, |plot| lines.into_iter().for_each(|line| plot.line(line)));
    ui_state.widget_rects.record("plot", response.response.rect);
}

fn lines(ui_state: &UiState) -> Vec<Line<'static>> {
    let curves: Vec<Curve> = match ui_state.curves {
        Curves::Energy if ui_state.history.len() > 1 => vec![TOTAL],
        Curves::Energy => {
            let seen = |curve: &&Curve| {
                ui_state.history.iter().any(|h| h.rows.iter().any(|row| curve.2(row) != 0.0))
            };
            std::iter::once(&TOTAL).chain(PARTS.iter().filter(seen)).copied().collect()
        }
        Curves::Momentum => vec![("|P|", Color32::WHITE, |row| length(&row.momentum))],
        Curves::Spin => vec![("|L|", Color32::WHITE, |row| length(&row.angular_momentum))],
        Curves::Centre if ui_state.history.len() > 1 => vec![CENTRE[1]],
        Curves::Centre => CENTRE.to_vec(),
    };
    let mut lines = Vec::new();
    for (slot, history) in ui_state.history.iter().enumerate() {
        let several = ui_state.history.len() > 1;
        for (name, colour, of) in &curves {
            let points: Vec<[f64; 2]> =
                history.rows.iter().map(|row| [row.time, of(row)]).filter(|[_, y]| y.is_finite()).collect();
            let (name, colour) = match several {
                true => (ui_state.title(slot), theme::slot(slot)),
                false => (name.to_string(), *colour),
            };
            lines.push(Line::new(name, PlotPoints::from(points)).color(colour).width(1.8));
        }
    }
    lines
}
