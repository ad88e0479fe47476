//! Charts of error against cost, both on logarithmic axes, panels side by side.

use super::chart::{BLUE, FONT, GREEN, INK, ORANGE, RED, VIOLET, use_fonts};
use crate::observe::write_whole;
use crate::{Error, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;

/// Size of a panel (pixels).
const SIZE: (u32, u32) = (560, 480);

/// Colours of groups, in turn.
const COLOURS: [RGBColor; 5] = [BLUE, ORANGE, GREEN, RED, VIOLET];

/// A method with more and more effort.
pub struct Curve {
    /// What the legend says.
    pub name: String,
    /// Cost and error, both positive.
    pub points: Vec<(f64, f64)>,
    /// Curves of a group have one colour.
    pub group: usize,
    pub dashed: bool,
}

/// A chart of several methods.
pub struct Panel {
    pub title: String,
    /// Of cost and error.
    pub axes: [&'static str; 2],
    pub curves: Vec<Curve>,
}

/// Writes panels side by side as an SVG file.
pub fn write(path: &Path, panels: &[Panel]) -> Result<()> {
    use_fonts();
    let size = (SIZE.0 * panels.len().max(1) as u32, SIZE.1);
    let mut svg = String::new();
    let drawn = draw_all(SVGBackend::with_string(&mut svg, size).into_drawing_area(), panels);
    drawn.map_err(|message| Error::write(path)(std::io::Error::other(message)))?;
    write_whole(path, svg.as_bytes())
}

fn draw_all<B: DrawingBackend>(
    root: DrawingArea<B, Shift>,
    panels: &[Panel],
) -> std::result::Result<(), String> {
    let told = |e: DrawingAreaErrorKind<B::ErrorType>| e.to_string();
    root.fill(&WHITE).map_err(told)?;
    for (area, panel) in root.split_evenly((1, panels.len().max(1))).iter().zip(panels) {
        draw(area, panel)?;
    }
    root.present().map_err(told)
}

fn draw<B: DrawingBackend>(area: &DrawingArea<B, Shift>, panel: &Panel) -> std::result::Result<(), String> {
    let told = |e: DrawingAreaErrorKind<B::ErrorType>| e.to_string();
    let points = || panel.curves.iter().flat_map(|curve| &curve.points);
    let [across, up] = [decades(points().map(|p| p.0)), decades(points().map(|p| p.1))];
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, (FONT, 22).into_font().color(&INK))
        .margin(14)
        .x_label_area_size(42)
        .y_label_area_size(70)
        .build_cartesian_2d((across.0..across.1).log_scale(), (up.0..up.1).log_scale())
        .map_err(told)?;
    chart
        .configure_mesh()
        .light_line_style(RGBColor(244, 245, 247))
        .bold_line_style(RGBColor(225, 228, 232))
        .label_style((FONT, 14).into_font().color(&INK))
        .x_desc(panel.axes[0])
        .y_desc(panel.axes[1])
        .draw()
        .map_err(told)?;
    for Curve { name, points, group, dashed } in &panel.curves {
        let (colour, dashed) = (COLOURS[group % COLOURS.len()], *dashed);
        let points = points.iter().copied();
        let drawn = match dashed {
            true => chart.draw_series(DashedLineSeries::new(points.clone(), 5, 4, colour.stroke_width(1))),
            false => chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2))),
        };
        let width = if dashed { 1 } else { 2 };
        drawn
            .map_err(told)?
            .label(name.as_str())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(width)));
        chart.draw_series(points.map(|point| Circle::new(point, 3, colour.filled()))).map_err(told)?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(RGBColor(225, 228, 232))
        .label_font((FONT, 13).into_font().color(&INK))
        .draw()
        .map_err(told)
}

/// The range of a logarithmic axis: all positive values with a margin, never empty.
fn decades(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let known = values.filter(|value| value.is_finite() && *value > 0.0);
    let (low, high) = known.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
    if high == 0.0 { (0.1, 10.0) } else { (0.7 * low, 1.5 * high) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_is_never_empty_and_holds_all_that_is_positive() {
        for values in [vec![], vec![0.0], vec![3.0], vec![1e-9, 1e9, f64::NAN, f64::INFINITY]] {
            let (low, high) = decades(values.iter().copied());
            assert!(0.0 < low && low < high, "{values:?}");
            let held = values.iter().filter(|v| v.is_finite() && **v > 0.0).all(|v| low < *v && *v < high);
            assert!(held, "{values:?}");
        }
    }

    #[test]
    fn every_method_is_in_the_legend() {
        let curve = |name: &str, dashed| Curve {
            name: name.into(),
            points: vec![(10.0, 5.0), (20.0, 0.5)],
            group: 0,
            dashed,
        };
        let panel = Panel {
            title: "bar".into(),
            axes: ["ms", "%"],
            curves: vec![curve("plain", true), curve("learnt", false)],
        };
        let file = std::env::temp_dir().join(format!("dashpot-cost-chart-{}.svg", std::process::id()));
        write(&file, &[panel]).expect("drawn");
        let svg = std::fs::read_to_string(&file).expect("written");
        std::fs::remove_file(&file).expect("removed");
        assert!(["bar", "plain", "learnt"].iter().all(|text| svg.contains(text)));
    }
}
