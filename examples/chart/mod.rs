//! Curves in one picture, for the figures of docs/.

use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

/// Colours that are told apart.
pub const COLOURS: [RGBColor; 6] = [
    RGBColor(58, 124, 178),
    RGBColor(224, 122, 60),
    RGBColor(96, 158, 74),
    RGBColor(190, 60, 70),
    RGBColor(128, 96, 170),
    RGBColor(110, 110, 110),
];

/// One curve.
pub struct Curve {
    /// What the legend says.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// Its colour.
    pub colour: RGBColor,
    /// Whether it is dashed.
    pub dashed: bool,
}

/// A chart of curves; values beyond `top` times the first value of the first curve are cut off.
pub struct Panel {
    /// Above it.
    pub title: String,
    /// What its axes show.
    pub axes: [&'static str; 2],
    /// Its curves.
    pub curves: Vec<Curve>,
    /// Where the vertical axis ends; `None`: at the greatest value.
    pub top: Option<f64>,
}

/// Writes panels side by side as an SVG; a failure is told on the standard error.
pub fn write(path: &Path, panels: &[Panel]) {
    let font = epaint_default_fonts::UBUNTU_LIGHT;
    if plotters::style::register_font("sans-serif", FontStyle::Normal, font).is_err() {
        eprintln!("the font is not one");
    }
    draw(path, panels).unwrap_or_else(|error| eprintln!("{}: {error}", path.display()));
}

fn draw(path: &Path, panels: &[Panel]) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, (550 * panels.len() as u32, 460)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, panel) in root.split_evenly((1, panels.len())).iter().zip(panels) {
        draw_panel(area, panel)?;
    }
    root.present()?;
    Ok(())
}

fn draw_panel(area: &DrawingArea<SVGBackend<'_>, Shift>, panel: &Panel) -> Result<(), Box<dyn Error>> {
    let all = || panel.curves.iter().flat_map(|curve| &curve.points);
    let end = all().map(|point| point.0).fold(0.0, f64::max);
    let greatest = all().map(|point| point.1).filter(|y| y.is_finite()).fold(0.0, f64::max);
    let top = panel.top.unwrap_or(1.05 * greatest);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 22))
        .margin(14)
        .x_label_area_size(38)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..end, 0.0..top)?;
    let [across, up] = panel.axes;
    chart.configure_mesh().light_line_style(WHITE).x_desc(across).y_desc(up).draw()?;
    for Curve { name, points, colour, dashed } in &panel.curves {
        let (colour, dashed) = (*colour, *dashed);
        // a curve that leaves the chart ends where it does
        let inside = points.iter().copied().take_while(|point| point.1.is_finite() && point.1 <= 1.5 * top);
        let inside = inside.map(|(x, y)| (x, y.min(top)));
        let length = if dashed { 8 } else { 20 };
        let drawn = match dashed {
            true => chart.draw_series(DashedLineSeries::new(inside, 4, 4, colour.stroke_width(1)))?,
            false => chart.draw_series(LineSeries::new(inside, colour.stroke_width(2)))?,
        };
        drawn.label(name).legend(move |(x, y)| {
            PathElement::new([(x, y), (x + length, y)], colour.stroke_width(if dashed { 1 } else { 2 }))
        });
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.85))
        .border_style(BLACK.mix(0.2))
        .draw()?;
    Ok(())
}
