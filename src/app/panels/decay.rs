//! Decay plot of an example: χ(t) as designed, next to base damping.

use crate::app::desk::Desk;
use crate::app::history::SPAN;
use crate::app::theme;
use crate::scene::Over;
use egui::Ui;
use egui_plot::{Line, PlotPoints};

/// Height of the plot (points).
const HEIGHT: f32 = 170.0;

/// The largest recent |χ|, or |dχ/dt| (1/s), of the selected example as designed.
pub fn reached(desk: &Desk, over: Over) -> f64 {
    let Some(history) = desk.history.get(desk.designed()) else { return 0.0 };
    let picked = desk.design.picked;
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

/// The plot.
pub fn show(ui: &mut Ui, desk: &mut Desk) {
    let Some(example) = desk.examples().get(desk.design.picked).cloned() else { return };
    ui.horizontal(|ui| {
        theme::heading(ui, &format!("χ of {}", example.name));
        theme::quiet(ui, "over time (s)");
    });
    let lines: Vec<Line<'static>> = (0..desk.history.len()).filter_map(|lane| line(desk, lane)).collect();
    let now =
        desk.history.iter().filter_map(|history| Some(history.excitations.last()?.0)).fold(0.0, f64::max);
    let mut plot = theme::plot("decay", HEIGHT)
        .include_x((now - SPAN).max(0.0))
        .include_x((now - SPAN).max(0.0) + 1.0)
        .include_y(-0.1)
        .include_y(0.1);
    if lines.len() > 1 {
        plot = plot.legend(theme::legend());
    }
    let response = plot.show(ui, |plot| lines.into_iter().for_each(|line| plot.line(line)));
    desk.spots.note("decay", response.response.rect);
    if let Some(lane) = desk.state.lanes.get(desk.designed())
        && lane.along.is_empty()
    {
        theme::quiet(ui, "No data yet.");
    }
}

fn line(desk: &Desk, lane: usize) -> Option<Line<'static>> {
    let (history, state) = (desk.history.get(lane)?, desk.state.lanes.get(lane)?);
    let last = history.excitations.last()?.0;
    let of = |(time, all): &(f64, Vec<f64>)| Some([*time, *all.get(desk.design.picked)?]);
    let recent = history.excitations.iter().filter(|(time, _)| *time >= last - SPAN);
    let points: Vec<[f64; 2]> = recent.filter_map(of).filter(|[_, chi]| chi.is_finite()).collect();
    let name = match (desk.is_design(), state.spec.base) {
        (true, true) => "base".into(),
        (true, false) => "designed".into(),
        _ => desk.title(lane),
    };
    let colour = if desk.history.len() > 1 { theme::lane(lane) } else { theme::lane(1) };
    Some(Line::new(name, PlotPoints::from(points)).color(colour).width(1.8))
}
