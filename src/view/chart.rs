//! Charts of curves over time, as SVG and PNG.

use crate::{Error, Result};
use plotters::prelude::*;
use std::sync::OnceLock;

/// The font of all text, same as the window's.
pub(crate) const FONT: &str = "sans-serif";

/// Size of a chart (pixels).
const SIZE: (u32, u32) = (960, 540);

/// Registers the window's fonts with plotters.
pub(crate) fn use_fonts() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let known =
            plotters::style::register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
        debug_assert!(known.is_ok(), "the font is compiled in");
    });
}

pub(super) const BLUE: RGBColor = RGBColor(58, 124, 178);
pub(super) const ORANGE: RGBColor = RGBColor(224, 122, 60);
pub(super) const GREEN: RGBColor = RGBColor(96, 158, 74);
pub(super) const RED: RGBColor = RGBColor(190, 70, 92);
pub(super) const VIOLET: RGBColor = RGBColor(122, 104, 184);
pub(super) const INK: RGBColor = RGBColor(38, 43, 52);

/// A curve over time.
pub(super) struct Line {
    pub name: String,
    pub colour: RGBColor,
    /// Time (s) and value, finite only.
    pub points: Vec<(f64, f64)>,
}

pub(super) struct Chart {
    pub title: String,
    pub axis: &'static str,
    pub lines: Vec<Line>,
    /// Stacked areas instead of lines.
    pub stacked: bool,
    /// End of the time axis (s).
    pub end: f64,
}

impl Chart {
    /// The chart as `file.svg` and `file.png`.
    pub fn files(&self, file: &str) -> Result<[(String, Vec<u8>); 2]> {
        use_fonts();
        let [svg, png] = ["svg", "png"].map(|ending| format!("{file}.{ending}"));
        let failed = |name: &str, message: String| Error::write(name)(std::io::Error::other(message));
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        self.draw(area).map_err(|e| failed(&svg, e))?;
        let mut rgb = vec![0; 3 * (SIZE.0 * SIZE.1) as usize];
        let area = BitMapBackend::with_buffer(&mut rgb, SIZE).into_drawing_area();
        self.draw(area).map_err(|e| failed(&png, e))?;
        let rgba = rgb.chunks_exact(3).flat_map(|c| [c[0], c[1], c[2], 255]).collect();
        let picture = super::canvas::Picture { width: SIZE.0, height: SIZE.1, rgba };
        let pixels = picture.png().map_err(Error::write(&png))?;
        Ok([(svg, text.into_bytes()), (png, pixels)])
    }

    fn draw<B: DrawingBackend>(
        &self,
        area: DrawingArea<B, plotters::coord::Shift>,
    ) -> std::result::Result<(), String> {
        let told = |e: DrawingAreaErrorKind<B::ErrorType>| e.to_string();
        let bands = if self.stacked { stack(&self.lines) } else { Vec::new() };
        let heights = self.lines.iter().flat_map(|line| &line.points).chain(bands.iter().flatten().flatten());
        let (low, high) = span(heights.map(|(_, v)| *v), self.stacked);
        area.fill(&WHITE).map_err(told)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.title, (FONT, 24).into_font().color(&INK))
            .margin(16)
            .x_label_area_size(44)
            .y_label_area_size(84)
            .build_cartesian_2d(0.0..self.end, low..high)
            .map_err(told)?;
        chart
            .configure_mesh()
            .light_line_style(RGBColor(244, 245, 247))
            .bold_line_style(RGBColor(225, 228, 232))
            .axis_style(RGBColor(120, 126, 136))
            .label_style((FONT, 16).into_font().color(&INK))
            .x_desc("time (s)")
            .y_desc(self.axis)
            .max_light_lines(4)
            // a tick at zero accumulated from below is not exactly zero
            .y_label_formatter(&|v| number(if v.abs() < 1e-9 * (high - low) { 0.0 } else { *v }))
            .x_label_formatter(&|v| number(*v))
            .draw()
            .map_err(told)?;
        for (k, Line { name, colour, points }) in self.lines.iter().enumerate() {
            let colour = *colour;
            let drawn = if self.stacked {
                let [base, top] = &bands[k];
                let outline: Vec<_> = base.iter().chain(top.iter().rev()).copied().collect();
                chart.draw_series([Polygon::new(outline, colour.mix(0.75))]).map_err(told)?;
                chart.draw_series(LineSeries::new(top.iter().copied(), colour.stroke_width(2)))
            } else {
                chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))
            };
            let drawn = drawn.map_err(told)?;
            drawn
                .label(name.as_str())
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 16, y + 5)], colour.filled()));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .border_style(RGBColor(225, 228, 232))
            .label_font((FONT, 16).into_font().color(&INK))
            .draw()
            .map_err(told)?;
        area.present().map_err(told)
    }
}

/// The band of each curve as its lower and upper edge (t, v): positive values stack upwards, negative ones downwards.
fn stack(lines: &[Line]) -> Vec<[Vec<(f64, f64)>; 2]> {
    let longest = lines.iter().map(|line| line.points.len()).max().unwrap_or(0);
    let mut sums = vec![[0.0; 2]; longest];
    let band = |Line { points, .. }: &Line| {
        let edges = points.iter().zip(&mut sums).map(|((t, v), sums)| {
            let sum = &mut sums[usize::from(*v < 0.0)];
            let base = std::mem::replace(sum, *sum + v);
            ((*t, base), (*t, base + v))
        });
        let (bases, tops) = edges.unzip();
        [bases, tops]
    };
    lines.iter().map(band).collect()
}

/// The range of an axis: all values with a margin, never empty.
fn span(values: impl Iterator<Item = f64>, with_zero: bool) -> (f64, f64) {
    let start = if with_zero { (0.0, 0.0) } else { (f64::INFINITY, f64::NEG_INFINITY) };
    let (low, high) = values.fold(start, |(low, high), v| (low.min(v), high.max(v)));
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    let margin = match high - low {
        size if size > 1e-9 * high.abs().max(low.abs()) && size > 1e-300 => 0.06 * size,
        _ => (0.1 * high.abs()).max(1e-12),
    };
    (low - margin, high + margin)
}

/// A number in axis style.
fn number(v: f64) -> String {
    match v.abs() {
        0.0 => "0".into(),
        size if (1e-3..1e6).contains(&size) => {
            let text = format!("{v:.4}");
            text.trim_end_matches('0').trim_end_matches('.').into()
        }
        _ => format!("{v:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_gained_hangs_below_zero() {
        let line = |values: [f64; 2]| Line {
            name: String::new(),
            colour: RGBColor(0, 0, 0),
            points: values.into_iter().enumerate().map(|(t, v)| (t as f64, v)).collect(),
        };
        let bands = stack(&[line([2.0, 3.0]), line([1.0, -5.0]), line([-1.0, 4.0]), line([-2.0, -1.0])]);
        let edges = |band: &[Vec<(f64, f64)>; 2]| [0, 1].map(|k| [band[0][k].1, band[1][k].1]);
        assert_eq!(edges(&bands[0]), [[0.0, 2.0], [0.0, 3.0]]);
        assert_eq!(edges(&bands[1]), [[2.0, 3.0], [0.0, -5.0]]);
        assert_eq!(edges(&bands[2]), [[0.0, -1.0], [3.0, 7.0]]);
        assert_eq!(edges(&bands[3]), [[-1.0, -3.0], [-5.0, -6.0]]);
    }

    #[test]
    fn an_axis_is_never_empty() {
        for values in [vec![], vec![0.0; 3], vec![5.0; 2], vec![1e12, 1e12], vec![-1.0, 2.0]] {
            let (low, high) = span(values.iter().copied(), false);
            assert!(low < high, "{values:?}");
        }
    }
}
