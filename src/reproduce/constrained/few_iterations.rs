//! The hippo with fewer iterations than it takes: Figure 6.

use super::super::{Axis, Bound, Curve, Figure, Motion, Panel, Study};
use super::contact::part;
use crate::Result;
use crate::ledger::Row;

pub(super) fn fixed_iterations(study: &mut Study) -> Result<()> {
    let frames = 180;
    let common = ["conservation.gamma=0.1", "time.substeps=1"];
    let start = study.simulate("hippo", &common)?.last_row().total;
    let run = |study: &Study, iterations: usize, tolerance: f64| {
        let limits = [
            format!("conservation.iterations={iterations}"),
            format!("conservation.tolerance={tolerance:e}"),
        ];
        study.run("hippo", &[common[0], common[1], &limits[0], &limits[1]], frames)
    };
    let five = run(study, 5, 1e-12)?;
    let fifteen = run(study, 15, 1e-12)?;
    // |c| < 1e-4 J: the tolerance is a share of the energy that is not rigid, which is no more than all of it
    let converged = run(study, 200, 1e-4 / start)?;
    let rms = |motion: &Motion, of: fn(&Row) -> f64| {
        let off = |(a, b): (&Row, &Row)| (of(a) - of(b)).powi(2);
        let sum: f64 = motion.rows.iter().zip(&converged.rows).map(off).sum();
        (sum / frames as f64).sqrt() / of(&converged.rows[0])
    };
    let roughness = |motion: &Motion, from: usize| {
        let bend = |w: &[Row]| (w[0].elastic - 2.0 * w[1].elastic + w[2].elastic).powi(2);
        part(&motion.rows, from..frames + 1).windows(3).map(bend).sum::<f64>().sqrt()
    };
    for (name, motion) in [("5", &five), ("15", &fifteen)] {
        let what = format!("{name} iterations: total energy off, rms");
        study.measure(&what, "same", rms(motion, |row| row.total), "of the first", Bound::Below(0.02));
        let what = format!("{name} iterations: roughness of the elastic energy after 1 s");
        let smooth = roughness(motion, 30) / roughness(&converged, 30);
        study.measure(&what, "smoother", smooth, "of the converged", Bound::Below(0.9));
    }
    let whole = roughness(&five, 0) / roughness(&converged, 0);
    study.measure("5 iterations: the same from the start on", "", whole, "", Bound::Told);
    let near = rms(&fifteen, |row| row.elastic) / rms(&five, |row| row.elastic);
    let what = "elastic energy: distance of 15 iterations over that of 5";
    study.measure(what, "closer", near, "", Bound::Below(1.0));
    let [few, some] = [&five, &fifteen].map(|motion| swing(motion, 30) / swing(&converged, 30));
    let unit = "of the converged";
    study.measure("5 iterations: oscillation after 1 s", "not sufficient", few, unit, Bound::Below(0.9));
    study.measure("15 iterations: oscillation after 1 s", "", some, unit, Bound::Told);
    study.measure("converged: iterations a step", "18.5", converged.iterations(), "", Bound::Told);
    let usual = study.run("hippo", &common, frames)?.iterations();
    study.measure("with the usual tolerance: iterations a step", "", usual, "", Bound::Told);
    let named = [("5 iterations", &five), ("15 iterations", &fifteen), ("converged", &converged)];
    let curves =
        |of: fn(&Row) -> f64| named.map(|(name, motion)| Curve::new(name, motion.over_time(of))).to_vec();
    let figure = Figure::new(vec![
        Panel::over_time("Total energy", Axis::linear("energy (J)"), curves(|row| row.total)),
        Panel::over_time("Elastic energy", Axis::linear("energy (J)"), curves(|row| row.elastic)),
    ]);
    study.plot("energies", "The hippo with few iterations (the paper's Figure 6).", &figure)
}

/// How far the elastic energy swings about its mean over a second, from a frame on, rms (J).
fn swing(motion: &Motion, from: usize) -> f64 {
    let energies: Vec<f64> =
        part(&motion.rows, from..motion.rows.len()).iter().map(|row| row.elastic).collect();
    let off = |w: &[f64]| w[w.len() / 2] - w.iter().sum::<f64>() / w.len() as f64;
    let squares: Vec<f64> = energies.windows(31).map(|w| off(w).powi(2)).collect();
    (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt()
}
