//! Plots of a run as SVG and PNG: ledger curves, and excitations of examples.

use super::chart::{BLUE, Chart, GREEN, INK, Line, ORANGE, RED, VIOLET};
use crate::Result;
use crate::ledger::Row;
use crate::observe::examples::ExcitationRow;
use plotters::style::RGBColor;
use std::path::Path;

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

/// Writes all plots of a ledger to a folder, each as SVG and PNG. Does nothing for a single row.
pub fn write(folder: &Path, scene: &str, rows: &[Row]) -> Result<()> {
    if rows.len() < 2 {
        return Ok(());
    }
    PLOTS.iter().try_for_each(|plot| plot.chart(scene, rows).write(folder, plot.file))
}

/// File name of the excitation plot.
pub const EXAMPLES: &str = "examples";

/// Writes χ of the named examples to a folder, as SVG and PNG. Does nothing for a single row.
pub fn write_examples(folder: &Path, scene: &str, names: &[String], rows: &[ExcitationRow]) -> Result<()> {
    if rows.len() < 2 {
        return Ok(());
    }
    let colours = [BLUE, ORANGE, GREEN, RED, VIOLET, INK];
    let lines = names.iter().zip(colours.iter().cycle()).enumerate().map(|(k, (name, &colour))| {
        let chi = |row: &ExcitationRow| row.along.get(k).map(|along| (row.time, along[0]));
        let points = rows.iter().filter_map(chi).filter(|(_, chi)| chi.is_finite()).collect();
        Line { name: name.clone(), colour, points }
    });
    let end = rows.iter().map(|row| row.time).fold(f64::MIN_POSITIVE, f64::max);
    let title = format!("Excitation of the examples: {scene}");
    Chart { title, axis: "χ (multiples of the shape)", lines: lines.collect(), stacked: false, end }
        .write(folder, EXAMPLES)
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
}
