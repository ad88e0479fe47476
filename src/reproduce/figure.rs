//! Figures of curves: panels side by side, as SVG.

use crate::observe::write_whole;
use crate::view::chart::{FONT, use_fonts};
use crate::{Error, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;

/// Colours that are told apart, also by readers who do not see red and green alike.
const COLOURS: [RGBColor; 8] = [
    RGBColor(58, 124, 178),
    RGBColor(224, 122, 60),
    RGBColor(96, 158, 74),
    RGBColor(190, 60, 70),
    RGBColor(128, 96, 170),
    RGBColor(110, 110, 110),
    RGBColor(64, 170, 170),
    RGBColor(200, 160, 40),
];
const INK: RGBColor = RGBColor(38, 43, 52);
/// Size of a panel (pixels), and how many stand side by side.
const PANEL: [u32; 2] = [560, 380];
const COLUMNS: usize = 2;
/// More points than a panel has pixels show nothing.
const MOST_POINTS: usize = 600;

/// A figure.
#[derive(Debug, Clone, Default)]
pub struct Figure {
    pub panels: Vec<Panel>,
}

/// What an axis shows, with its unit, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct Axis {
    pub shows: &'static str,
    pub is_logarithmic: bool,
    /// Its ends; from the curves where not given.
    pub from: Option<f64>,
    pub to: Option<f64>,
}

impl Axis {
    /// A linear axis.
    pub const fn linear(shows: &'static str) -> Self {
        Axis { shows, is_logarithmic: false, from: None, to: None }
    }

    /// A logarithmic axis.
    pub const fn logarithmic(shows: &'static str) -> Self {
        Axis { is_logarithmic: true, ..Axis::linear(shows) }
    }

    /// The axis with these ends.
    pub const fn within(self, from: f64, to: f64) -> Self {
        Axis { from: Some(from), to: Some(to), ..self }
    }

    /// The time of a motion.
    pub const TIME: Axis = Axis::linear("time (s)");

    /// Where a value stands on the axis; nowhere if a logarithmic one cannot show it.
    fn place(&self, value: f64) -> f64 {
        if self.is_logarithmic { value.log10() } else { value }
    }

    /// The ends on the axis, around all values, never the same.
    fn ends(&self, values: impl Iterator<Item = f64>) -> [f64; 2] {
        let shown = values.map(|v| self.place(v)).filter(|v| v.is_finite());
        let [low, high] =
            shown.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
        let [low, high] = if low <= high { [low, high] } else { [0.0, 1.0] };
        let margin = if high - low > 1e-9 * high.abs().max(low.abs()) { 0.04 * (high - low) } else { 0.5 };
        let given = |end: Option<f64>| end.map(|end| self.place(end)).filter(|end| end.is_finite());
        [given(self.from).unwrap_or(low - margin), given(self.to).unwrap_or(high + margin)]
    }

    fn label(&self, place: f64) -> String {
        super::record::number(if self.is_logarithmic {
            10f64.powf(place)
        } else {
            (place * 1e9).round() / 1e9
        })
    }
}

/// A chart of curves.
#[derive(Debug, Clone)]
pub struct Panel {
    pub title: String,
    pub across: Axis,
    pub up: Axis,
    pub curves: Vec<Curve>,
}

impl Panel {
    /// A chart over time.
    pub fn over_time(title: impl Into<String>, up: Axis, curves: Vec<Curve>) -> Self {
        Panel { title: title.into(), across: Axis::TIME, up, curves }
    }
}

/// A curve; colours follow the order in the panel.
#[derive(Debug, Clone)]
pub struct Curve {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    pub is_dashed: bool,
    /// Points instead of a line.
    pub is_marked: bool,
}

impl Curve {
    /// A line.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Curve { name: name.into(), points, is_dashed: false, is_marked: false }
    }

    /// The same, dashed: what others are compared with.
    pub fn dashed(self) -> Self {
        Curve { is_dashed: true, ..self }
    }

    /// The same as points.
    pub fn marked(self) -> Self {
        Curve { is_marked: true, ..self }
    }
}

impl Figure {
    /// A figure of these panels.
    pub fn new(panels: Vec<Panel>) -> Self {
        Figure { panels }
    }

    /// Writes it as SVG.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        use_fonts();
        let columns = self.panels.len().clamp(1, COLUMNS);
        let rows = self.panels.len().div_ceil(columns).max(1);
        let size = (PANEL[0] * columns as u32, PANEL[1] * rows as u32);
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
            let drawn = draw(&area, &self.panels, (rows, columns));
            drawn.map_err(|message| Error::write(path)(std::io::Error::other(message)))?;
        }
        write_whole(path, text.as_bytes())
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn draw(area: &Area<'_>, panels: &[Panel], grid: (usize, usize)) -> std::result::Result<(), String> {
    area.fill(&WHITE).map_err(|e| e.to_string())?;
    for (area, panel) in area.split_evenly(grid).iter().zip(panels) {
        draw_panel(area, panel).map_err(|e| e.to_string())?;
    }
    area.present().map_err(|e| e.to_string())
}

fn draw_panel(area: &Area<'_>, panel: &Panel) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let Panel { title, across, up, curves } = panel;
    let all = || curves.iter().flat_map(|curve| &curve.points);
    let ([left, right], [low, high]) = (across.ends(all().map(|p| p.0)), up.ends(all().map(|p| p.1)));
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 20).into_font().color(&INK))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(72)
        .build_cartesian_2d(left..right, low..high)?;
    chart
        .configure_mesh()
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(228, 230, 234))
        .axis_style(RGBColor(120, 126, 136))
        .label_style((FONT, 14).into_font().color(&INK))
        .x_desc(across.shows)
        .y_desc(up.shows)
        .x_label_formatter(&|v| across.label(*v))
        .y_label_formatter(&|v| up.label(*v))
        .draw()?;
    for (k, curve) in curves.iter().enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        // a curve that leaves the panel ends where it does
        let beyond = [low - (high - low), high + (high - low)];
        let placed = curve.points.iter().map(|&(x, y)| (across.place(x), up.place(y)));
        let placed = placed.filter(|(x, y)| x.is_finite() && y.is_finite());
        let points: Vec<_> = placed.take_while(|(_, y)| (beyond[0]..=beyond[1]).contains(y)).collect();
        let every = points.len().div_ceil(MOST_POINTS).max(1);
        let last = points.len().saturating_sub(1);
        let points = points.into_iter().enumerate().filter(|(k, _)| k % every == 0 || *k == last);
        let points = points.map(|(_, (x, y))| (x, y.clamp(low, high)));
        let style = colour.stroke_width(2);
        let drawn = match (curve.is_marked, curve.is_dashed) {
            (true, _) => chart.draw_series(points.map(|point| Circle::new(point, 3, colour.filled())))?,
            (_, true) => chart.draw_series(DashedLineSeries::new(points, 7, 5, style))?,
            _ => chart.draw_series(LineSeries::new(points, style))?,
        };
        let (marked, dashed) = (curve.is_marked, curve.is_dashed);
        drawn.label(curve.name.as_str()).legend(move |(x, y)| {
            let half = if marked {
                6
            } else if dashed {
                8
            } else {
                18
            };
            Rectangle::new([(x + 9 - half / 2, y - 2), (x + 9 + half / 2, y + 2)], colour.filled())
        });
    }
    if curves.len() > 1 || curves.iter().any(|curve| !curve.name.is_empty()) {
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.85))
            .border_style(RGBColor(225, 228, 232))
            .label_font((FONT, 14).into_font().color(&INK))
            .draw()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_its_titles_names_and_curves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figure.svg");
        let wave = |n: usize| (0..n).map(|k| (k as f64 * 0.01, (k as f64 * 0.1).sin())).collect::<Vec<_>>();
        let panel = Panel::over_time(
            "a & b",
            Axis::linear("x (m)"),
            vec![Curve::new("full", wave(5000)), Curve::new("held", wave(10)).dashed()],
        );
        let decay = (1..50).map(|k| (k as f64, (-k as f64).exp())).collect();
        let powers = Panel {
            title: "decay".into(),
            across: Axis::linear("n"),
            up: Axis::logarithmic("error"),
            curves: vec![Curve::new("", decay), Curve::new("none", vec![(1.0, f64::NAN)]).marked()],
        };
        Figure::new(vec![panel, powers]).write(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("a &amp; b") && text.contains("decay") && text.contains("held"));
        assert!(text.len() < 80_000, "{} bytes: curves are thinned", text.len());
        Figure::default().write(&path).unwrap();
    }
}
