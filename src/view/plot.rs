//! Plots of a run as SVG and PNG: ledger curves, and excitations of examples.

use super::chart::{BLUE, Chart, GREEN, INK, Line, ORANGE, RED, VIOLET};
use crate::Result;
use crate::ledger::Row;
use crate::observe::examples::ExcitationRow;
use plotters::style::RGBColor;

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
    /// Stacked areas instead of lines.
    stacked: bool,
}

const fn curve(name: &'static str, colour: RGBColor, values: fn(&Row) -> f64) -> Curve {
    Curve { name, colour, values }
}

const fn plot(file: &'static str, title: &'static str, axis: &'static str, curves: &'static [Curve]) -> Plot {
    Plot { file, title, axis, curves, stacked: false }
}

const ENERGIES: &[Curve] = &[
    curve("total", INK, |r| r.total),
    curve("kinetic", BLUE, |r| r.kinetic),
    curve("elastic", ORANGE, |r| r.elastic),
    curve("gravity", GREEN, |r| r.gravity),
    curve("contact", RED, |r| r.contact),
    curve("attachment", VIOLET, |r| r.attachment),
];
const LOSSES: &[Curve] = &[
    curve("lost to damping", BLUE, |r| r.damped),
    curve("lost to the integrator (below 0: gained)", ORANGE, |r| r.numerical),
    curve("lost to contact", RED, |r| r.contact_loss),
    curve("lost to yielding", VIOLET, |r| r.plastic),
    curve("external work (negative)", GREEN, |r| -r.work),
];
const MOMENTUM: &[Curve] = &[curve("|P|", BLUE, |r| norm(r.momentum))];
const SPIN: &[Curve] = &[curve("|L|", ORANGE, |r| norm(r.angular_momentum))];
const CENTRE: &[Curve] = &[
    curve("x", RED, |r| r.centre[0]),
    curve("y", GREEN, |r| r.centre[1]),
    curve("z", BLUE, |r| r.centre[2]),
];

const PLOTS: &[Plot] = &[
    plot("energies", "Energies", "energy (J)", ENERGIES),
    Plot { stacked: true, ..plot("where_the_energy_went", "Where the energy went", "energy (J)", LOSSES) },
    plot("momentum", "Momentum", "|P| (kg m/s)", MOMENTUM),
    plot("angular_momentum", "Angular momentum about the origin", "|L| (kg m²/s)", SPIN),
    plot("centre_of_mass", "Centre of mass", "position (m)", CENTRE),
];

fn norm(v: [f64; 3]) -> f64 {
    v.iter().map(|c| c * c).sum::<f64>().sqrt()
}

/// A file and what is in it.
pub type NamedFile = (String, Vec<u8>);

/// The names of the files of all plots, those of motion along examples included.
pub fn names(examples: bool) -> impl Iterator<Item = String> {
    let plots = PLOTS.iter().map(|plot| plot.file).chain(examples.then_some(EXAMPLES));
    plots.flat_map(|file| ["svg", "png"].map(|ending| format!("plots/{file}.{ending}")))
}

/// All plots of a ledger, each as SVG and PNG; none of a single row.
pub fn files(scene: &str, rows: &[Row]) -> Result<Vec<NamedFile>> {
    if rows.len() < 2 {
        return Ok(Vec::new());
    }
    let files: Result<Vec<_>> =
        PLOTS.iter().map(|plot| plot.chart(scene, rows).files(&in_folder(plot.file))).collect();
    Ok(files?.into_iter().flatten().collect())
}

/// File name of the excitation plot.
const EXAMPLES: &str = "examples";

fn in_folder(file: &str) -> String {
    format!("plots/{file}")
}

/// χ of the named examples, as SVG and PNG; nothing of a single row.
pub fn of_examples(scene: &str, names: &[String], rows: &[ExcitationRow]) -> Result<Vec<NamedFile>> {
    if rows.len() < 2 {
        return Ok(Vec::new());
    }
    let colours = [BLUE, ORANGE, GREEN, RED, VIOLET, INK];
    let lines = names.iter().zip(colours.iter().cycle()).enumerate().map(|(k, (name, &colour))| {
        let chi = |row: &ExcitationRow| row.along.get(k).map(|along| (row.time, along[0]));
        let points = rows.iter().filter_map(chi).filter(|(_, chi)| chi.is_finite()).collect();
        Line { name: name.clone(), colour, points }
    });
    let end = rows.iter().map(|row| row.time).fold(f64::MIN_POSITIVE, f64::max);
    let title = format!("Excitation of the examples: {scene}");
    let axis = "χ (multiples of the shape)";
    let chart = Chart { title, axis, lines: lines.collect(), stacked: false, end };
    chart.files(&in_folder(EXAMPLES)).map(Vec::from)
}

impl Plot {
    fn chart(&self, scene: &str, rows: &[Row]) -> Chart {
        let line = |c: &Curve| Line { name: c.name.into(), colour: c.colour, points: points(c, rows) };
        // omit a quantity that is always zero
        let says = |(k, line): &(usize, Line)| *k == 0 || line.points.iter().any(|(_, v)| v.abs() > 0.0);
        Chart {
            title: format!("{}: {scene}", self.title),
            axis: self.axis,
            lines: self.curves.iter().map(line).enumerate().filter(says).map(|(_, line)| line).collect(),
            stacked: self.stacked,
            end: rows.iter().map(|row| row.time).fold(f64::MIN_POSITIVE, f64::max),
        }
    }
}

fn points(curve: &Curve, rows: &[Row]) -> Vec<(f64, f64)> {
    let finite = rows.iter().map(|row| (row.time, (curve.values)(row))).filter(|(_, v)| v.is_finite());
    finite.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plot_is_written_in_both_formats() {
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
        let files = files("test <&> scene", &rows).unwrap();
        assert!(files.iter().map(|(name, _)| name.clone()).eq(names(false)));
        let bytes = |name: String| &files.iter().find(|(file, _)| *file == name).unwrap().1;
        let text = |file: &str| String::from_utf8(bytes(format!("plots/{file}.svg")).clone()).unwrap();
        for plot in PLOTS {
            let svg = text(plot.file);
            assert!(svg.contains("test &lt;&amp;&gt; scene") && svg.contains("<polyline"), "{}", plot.file);
            let png = std::io::Cursor::new(bytes(format!("plots/{}.png", plot.file)));
            let mut reader = png::Decoder::new(png).read_info().unwrap();
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            let [r, g, b] = [plot.curves[0].colour.0, plot.curves[0].colour.1, plot.curves[0].colour.2];
            let coloured = pixels.chunks_exact(3).filter(|p| **p == [r, g, b]).count();
            assert!(coloured > 100, "{}: the curve is drawn, {coloured} pixels", plot.file);
        }
        assert!(text("energies").contains("kinetic") && !text("energies").contains("gravity"));
        // folders of older versions are known by these names
        let known: Vec<String> = crate::observe::folder::layout::all_names().collect();
        assert!(names(true).all(|name| known.contains(&name)));
    }
}
