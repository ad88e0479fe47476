//! Tables and curves of the comparison.

use super::{EFFORTS, HISTORIES, INTEGRATORS, OfScene, OfSetting};
use crate::Result;
use crate::cli::table::{Table, count, ms};
use crate::view::cost_chart::{Curve, Panel, write};
use std::path::Path;

/// Prints the table of a scene.
pub fn print(scene: &OfScene) -> Result<()> {
    let share = |length: f64| format!("{:.2} %", 100.0 * length / scene.motion);
    say!(
        "\n{}: {} vertices, {} elements, {:.2} s; its vertices move by {:.4} m rms. Reference: Bathe's method, {} steps a frame; half as many\n\
         are off by {} of the motion.",
        scene.scene,
        scene.vertices,
        scene.elements,
        scene.duration,
        scene.motion,
        scene.reference_substeps,
        share(scene.reference_error),
    )?;
    let efforts = EFFORTS.iter().flat_map(|effort| {
        let steps = if effort.substeps == 1 { String::new() } else { format!("{} x ", effort.substeps) };
        [format!("{steps}{}", effort.iterations), "ms".into()]
    });
    let mut table = Table::new(1, ["integrator", "history"].map(String::from).into_iter().chain(efforts));
    for (integrator, history) in methods() {
        let of_method = settings(scene, integrator, history);
        let cells = of_method.flat_map(|one| {
            [one.share.map_or("failed".into(), |s| format!("{:.2} %", 100.0 * s)), ms(one.ms_per_second)]
        });
        table.row([integrator.to_string(), count(history as f64)].into_iter().chain(cells));
    }
    say!("\n{table}")
}

/// What the columns mean.
pub fn explain() -> Result<()> {
    say!(
        "\nError: rms over vertices and frames, as a share of the motion, after so many iterations a step (2 x: two steps a frame);\n\
         ms: processor time of all threads a second of motion. Bathe's method makes as many iterations in each of its two halves. No damping."
    )
}

/// Draws error against time, a panel a scene.
pub fn plot(scenes: &[OfScene], path: &Path) -> Result<()> {
    let panels: Vec<Panel> = scenes.iter().map(panel).collect();
    write(path, &panels)
}

fn panel(scene: &OfScene) -> Panel {
    let curves = methods().map(|(integrator, history)| {
        let of_method = settings(scene, integrator, history).filter(|one| one.effort.substeps == 1);
        let points = of_method.filter_map(|one| Some((one.ms_per_second, 100.0 * one.share?))).collect();
        let name =
            if history == 0 { integrator.to_string() } else { format!("{integrator}, history {history}") };
        let group = INTEGRATORS.iter().position(|known| *known == integrator).unwrap_or(0);
        Curve { name, points, group, dashed: history == 0 }
    });
    Panel {
        title: format!("{}, {} vertices", scene.scene, scene.vertices),
        axes: ["processor time (ms a second of motion)", "error (% of the motion)"],
        curves: curves.collect(),
    }
}

fn methods() -> impl Iterator<Item = (&'static str, usize)> {
    INTEGRATORS.into_iter().flat_map(|integrator| HISTORIES.map(|history| (integrator, history)))
}

fn settings<'a>(
    scene: &'a OfScene,
    integrator: &'a str,
    history: usize,
) -> impl Iterator<Item = &'a OfSetting> {
    scene.settings.iter().filter(move |one| one.integrator == integrator && one.history == history)
}
