//! Curves of the ledger as SVG and PNG.

use crate::observe::ledger::Row;
use crate::{Error, Result};
use plotters::prelude::*;
use std::path::Path;
use std::sync::OnceLock;

/// The font of all words, that of the window.
pub(super) const FONT: &str = "sans-serif";

/// Size of a plot (pixels).
const SIZE: (u32, u32) = (960, 540);

/// Makes the window's fonts known to plotters.
pub(super) fn use_fonts() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let known =
            plotters::style::register_font(FONT, FontStyle::Normal, epaint_default_fonts::UBUNTU_LIGHT);
        debug_assert!(known.is_ok(), "the font is compiled in");
    });
}

/// A curve over time.
struct Curve {
    name: &'static str,
    colour: RGBColor,
    values: fn(&Row) -> f64,
}

/// A plot: one file each.
struct Plot {
    file: &'static str,
    title: &'static str,
    axis: &'static str,
    curves: &'static [Curve],
    /// Areas on top of each other instead of lines.
    stacked: bool,
}

const BLUE: RGBColor = RGBColor(58, 124, 178);
const ORANGE: RGBColor = RGBColor(224, 122, 60);
const GREEN: RGBColor = RGBColor(96, 158, 74);
const RED: RGBColor = RGBColor(190, 70, 92);
const VIOLET: RGBColor = RGBColor(122, 104, 184);
const INK: RGBColor = RGBColor(38, 43, 52);

macro_rules! curve {
    ($name:literal, $colour:ident, $values:expr) => {
        Curve { name: $name, colour: $colour, values: $values }
    };
}

const PLOTS: &[Plot] = &[
    Plot {
        file: "energies",
        title: "Energies",
        axis: "energy (J)",
        stacked: false,
        curves: &[
            curve!("total", INK, |r| r.total),
            curve!("kinetic", BLUE, |r| r.kinetic),
            curve!("elastic", ORANGE, |r| r.elastic),
            curve!("gravity", GREEN, |r| r.gravity),
            curve!("contact", RED, |r| r.contact),
            curve!("attachment", VIOLET, |r| r.attachment),
        ],
    },
    Plot {
        file: "where_the_energy_went",
        title: "Where the energy went",
        axis: "energy (J)",
        stacked: true,
        curves: &[
            curve!("taken by damping", BLUE, |r| r.damped),
            curve!("lost by the integrator", ORANGE, |r| r.numerical),
            curve!("taken by contact", RED, |r| r.contact_loss),
            curve!("given off by yielding", VIOLET, |r| r.plastic),
            curve!("given from outside", GREEN, |r| -r.work),
        ],
    },
    Plot {
        file: "momentum",
        title: "Momentum",
        axis: "|P| (kg m/s)",
        stacked: false,
        curves: &[curve!("|P|", BLUE, |r| norm(r.momentum))],
    },
    Plot {
        file: "angular_momentum",
        title: "Angular momentum about the origin",
        axis: "|L| (kg m²/s)",
        stacked: false,
        curves: &[curve!("|L|", ORANGE, |r| norm(r.angular_momentum))],
    },
    Plot {
        file: "centre_of_mass",
        title: "Centre of mass",
        axis: "place (m)",
        stacked: false,
        curves: &[
            curve!("x", RED, |r| r.centre[0]),
            curve!("y", GREEN, |r| r.centre[1]),
            curve!("z", BLUE, |r| r.centre[2]),
        ],
    },
];

fn norm(v: [f64; 3]) -> f64 {
    v.iter().map(|c| c * c).sum::<f64>().sqrt()
}

/// Writes all plots of a run into a folder, each as SVG and PNG. Nothing of a run that has but one row.
pub fn write(folder: &Path, scene: &str, rows: &[Row]) -> Result<()> {
    if rows.len() < 2 {
        return Ok(());
    }
    use_fonts();
    std::fs::create_dir_all(folder).map_err(Error::write(folder))?;
    for plot in PLOTS {
        let svg = folder.join(format!("{}.svg", plot.file));
        let png = folder.join(format!("{}.png", plot.file));
        let failed = |path: &Path, message: String| Error::write(path)(std::io::Error::other(message));
        plot.draw(SVGBackend::new(&svg, SIZE).into_drawing_area(), scene, rows)
            .map_err(|e| failed(&svg, e))?;
        let mut rgb = vec![0; 3 * (SIZE.0 * SIZE.1) as usize];
        let area = BitMapBackend::with_buffer(&mut rgb, SIZE).into_drawing_area();
        plot.draw(area, scene, rows).map_err(|e| failed(&png, e))?;
        let rgba = rgb.chunks_exact(3).flat_map(|c| [c[0], c[1], c[2], 255]).collect();
        super::canvas::Picture { width: SIZE.0, height: SIZE.1, rgba }.write_png(&png)?;
    }
    Ok(())
}

impl Plot {
    fn draw<B: DrawingBackend>(
        &self,
        area: DrawingArea<B, plotters::coord::Shift>,
        scene: &str,
        rows: &[Row],
    ) -> std::result::Result<(), String> {
        let told = |e: DrawingAreaErrorKind<B::ErrorType>| e.to_string();
        let series: Vec<(&Curve, Vec<(f64, f64)>)> =
            self.curves.iter().map(|curve| (curve, points(curve, rows))).collect();
        // a quantity that is nothing all the time says nothing
        let shown: Vec<_> = series
            .iter()
            .enumerate()
            .filter(|(k, (_, p))| *k == 0 || p.iter().any(|(_, v)| v.abs() > 0.0))
            .map(|(_, s)| s)
            .collect();
        let areas = if self.stacked { stack(&shown) } else { Vec::new() };
        let heights = shown.iter().flat_map(|(_, p)| p).chain(areas.iter().flatten());
        let (low, high) = span(heights.map(|(_, v)| *v), self.stacked);
        let end = rows.iter().map(|row| row.time).fold(f64::MIN_POSITIVE, f64::max);
        area.fill(&WHITE).map_err(told)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(format!("{}: {scene}", self.title), (FONT, 24).into_font().color(&INK))
            .margin(16)
            .x_label_area_size(44)
            .y_label_area_size(84)
            .build_cartesian_2d(0.0..end, low..high)
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
            .y_label_formatter(&|v| number(*v))
            .x_label_formatter(&|v| number(*v))
            .draw()
            .map_err(told)?;
        for (k, (curve, points)) in shown.iter().enumerate() {
            let colour = curve.colour;
            let drawn = if self.stacked {
                let base = if k == 0 {
                    points.iter().map(|(t, _)| (*t, 0.0)).collect()
                } else {
                    areas[k - 1].clone()
                };
                let outline: Vec<_> = base.into_iter().chain(areas[k].iter().rev().copied()).collect();
                chart.draw_series([Polygon::new(outline, colour.mix(0.75))]).map_err(told)?;
                chart.draw_series(LineSeries::new(areas[k].iter().copied(), colour.stroke_width(2)))
            } else {
                chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)))
            };
            let drawn = drawn.map_err(told)?;
            drawn
                .label(curve.name)
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

fn points(curve: &Curve, rows: &[Row]) -> Vec<(f64, f64)> {
    let finite = rows.iter().map(|row| (row.time, (curve.values)(row))).filter(|(_, v)| v.is_finite());
    finite.collect()
}

/// Sums of each curve and those before it.
fn stack(shown: &[&(&Curve, Vec<(f64, f64)>)]) -> Vec<Vec<(f64, f64)>> {
    let mut sums: Vec<Vec<(f64, f64)>> = Vec::new();
    for (_, points) in shown {
        let below = sums.last();
        let sum = points.iter().enumerate().map(|(k, (t, v))| {
            let base = below.and_then(|below| below.get(k)).map_or(0.0, |(_, base)| *base);
            (*t, base + v)
        });
        let sum = sum.collect();
        sums.push(sum);
    }
    sums
}

/// The range of an axis: all values and a little more, never empty.
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

/// A number as an axis has it.
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
    fn every_plot_is_written_in_both_formats() {
        let folder = tempfile::tempdir().unwrap();
        let row = |k: usize| Row {
            frame: k,
            time: k as f64 * 0.1,
            kinetic: (k as f64).sin().powi(2),
            total: 1.0,
            damped: k as f64,
            numerical: if k == 7 { f64::NAN } else { -0.5 },
            ..Row::default()
        };
        let rows: Vec<Row> = (0..20).map(row).collect();
        write(folder.path(), "test <&> scene", &rows).unwrap();
        for plot in PLOTS {
            let svg = std::fs::read_to_string(folder.path().join(format!("{}.svg", plot.file))).unwrap();
            assert!(svg.contains("test &lt;&amp;&gt; scene") && svg.contains("<polyline"), "{}", plot.file);
            let png = std::fs::File::open(folder.path().join(format!("{}.png", plot.file))).unwrap();
            let mut reader = png::Decoder::new(std::io::BufReader::new(png)).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            let [r, g, b] = [plot.curves[0].colour.0, plot.curves[0].colour.1, plot.curves[0].colour.2];
            let coloured = pixels.chunks_exact(3).filter(|p| **p == [r, g, b]).count();
            assert!(coloured > 100, "{}: the curve is drawn, {coloured} pixels", plot.file);
        }
        assert!(std::fs::read_to_string(folder.path().join("energies.svg")).unwrap().contains("kinetic"));
        assert!(!std::fs::read_to_string(folder.path().join("energies.svg")).unwrap().contains("gravity"));
    }

    #[test]
    fn an_axis_is_never_empty() {
        for values in [vec![], vec![0.0; 3], vec![5.0; 2], vec![1e12, 1e12], vec![-1.0, 2.0]] {
            let (low, high) = span(values.iter().copied(), false);
            assert!(low < high, "{values:?}");
        }
    }
}
