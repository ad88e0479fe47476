//! Decay plot of an example: χ(t) as designed, next to base damping.

use crate::app::history::SPAN;
use crate::app::{UiState, theme};
use crate::scene::Over;
use egui::Ui;
use egui_plot::{Line, PlotPoints};

/// Height of the plot (points).
const HEIGHT: f32 = 170.0;

/// The largest recent |χ|, or |dχ/dt| (1/s), of the selected example as designed.
pub fn reached(ui_state: &UiState, over: Over) -> f64 {
    let Some(history) = ui_state.history.get(ui_state.designed()) else { return 0.0 };
    let picked = ui_state.design.picked;
    let of = |(time, all): &(f64, Vec<f64>)| Some((*time, *all.get(picked)?));
    let seen: Vec<(f64, f64)> = history.excitations.iter().filter_map(of).collect();
    match over {
        Over::Deformation => seen.iter().map(|(_, chi)| chi.abs()).fold(0.0, f64::max),
        Over::Velocity => {
            let rate = |pair: &[(f64, f64)]| ((pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0)).abs();
            seen.windows(2).map(rate).filter(|rate| rate.is_finite()).fold(0.0, f64::max)
        }
    }
}

pub fn show(ui: &mut Ui, ui_state: &mut UiState) {
    let Some(example) = ui_state.examples().get(ui_state.design.picked).cloned() else { return };
    ui.horizontal(|ui| {
        theme::heading(ui, &format!("χ of {}", example.name));
        theme::quiet(ui, "over time (s)");
    });
    let lines: Vec<Line<'static>> =
        (0..ui_state.history.len()).filter_map(|slot| line(ui_state, slot)).collect();
    let now =
        ui_state.history.iter().filter_map(|history| Some(history.excitations.last()?.0)).fold(0.0, f64::max);
    let mut plot = theme::plot("decay", HEIGHT)
        .include_x((now - SPAN).max(0.0))
        .include_x((now - SPAN).max(0.0) + 1.0)
        .include_y(-0.1)
        .include_y(0.1);
    if lines.len() > 1 {
        plot = plot.legend(theme::legend());
    }
    let response = plot.show(ui, |plot| lines.into_iter().for_each(|line| plot.line(line)));
    ui_state.widget_rects.record("decay", response.response.rect);
    if let Some(slot) = ui_state.state.slots.get(ui_state.designed())
        && slot.example_motion.is_empty()
    {
        theme::quiet(ui, "No data yet.");
    }
}

fn line(ui_state: &UiState, slot: usize) -> Option<Line<'static>> {
    let (history, state) = (ui_state.history.get(slot)?, ui_state.state.slots.get(slot)?);
    let last = history.excitations.last()?.0;
    let of = |(time, all): &(f64, Vec<f64>)| Some([*time, *all.get(ui_state.design.picked)?]);
    let recent = history.excitations.iter().filter(|(time, _)| *time >= last - SPAN);
    let points: Vec<[f64; 2]> = recent.filter_map(of).filter(|[_, chi]| chi.is_finite()).collect();
    let name = match (ui_state.is_design(), state.spec.base) {
        (true, true) => "base".into(),
        (true, false) => "designed".into(),
        _ => ui_state.title(slot),
    };
    let colour = if ui_state.history.len() > 1 { theme::slot(slot) } else { theme::slot(1) };
    Some(Line::new(name, PlotPoints::from(points)).color(colour).width(1.8))
}
