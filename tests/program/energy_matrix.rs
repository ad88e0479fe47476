//! No joule unaccounted, whatever is combined: integrators, damping, conservation, contact, materials.
//!
//! `DASHPOT_MATRIX_CASES=5000 cargo test --release --test program energy_matrix` runs more; `DASHPOT_FIRST_SEED` says from where.

use crate::common::of_each;
use crate::sampled::{INTEGRATORS, Sampled, cases};
use dashpot::ledger::Row;
use dashpot::observe::diagnostics::Diagnostics;
use dashpot::scene::{LoadedScene, Method};
use dashpot::setup::{self, build};
use dashpot::{Error, Simulation, cpu};
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::Arc;

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Done,
    Warned,
    RanAway,
    Failed,
    Refused,
}

/// How it ended, and what is wrong with that.
struct Judged {
    ending: Ending,
    wrong: Vec<String>,
}

/// A run as `dashpot run` makes it: its rows, the warnings, and what ended it.
struct Watched {
    rows: Vec<Row>,
    grows: bool,
    warnings: Vec<String>,
    error: Option<String>,
    ran_away: bool,
}

fn watch(loaded: &LoadedScene) -> Result<Watched, Error> {
    let model = Arc::new(build(loaded)?.model);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
    let mut diagnostics = Diagnostics::new(&loaded.scene, &model);
    let mut simulation = Simulation::new(&loaded.scene, model, backend)?;
    simulation.prepare()?;
    let mut rows = vec![simulation.last_row()];
    let mut error = None;
    diagnostics.add(&rows[0]);
    while simulation.frame_number() < loaded.scene.time.frames && !diagnostics.runs_away() {
        match simulation.frame() {
            Ok(row) => {
                diagnostics.add(&row);
                rows.push(row);
            }
            Err(why) => {
                error = Some(why.to_string());
                break;
            }
        }
    }
    let (grows, warnings) = (diagnostics.growing_since().is_some(), diagnostics.warnings());
    Ok(Watched { rows, grows, warnings, error, ran_away: diagnostics.runs_away() })
}

fn judge(sampled: &Sampled) -> Judged {
    let loaded = match setup::load_text("sampled.toml", &sampled.text, &[]) {
        Ok(loaded) => loaded,
        Err(error) => return refused(error),
    };
    let watched = match watch(&loaded) {
        Ok(watched) => watched,
        Err(error) => return refused(error),
    };
    let mut wrong = Vec::new();
    for row in &watched.rows {
        wrong.extend(row.not_finite().map(|column| format!("frame {}: {column} is not finite", row.frame)));
        wrong.extend(unaccounted(&watched.rows[0], row));
    }
    wrong.extend(misjudged(sampled, &loaded, &watched));
    let ending = match &watched {
        Watched { error: Some(_), .. } => Ending::Failed,
        Watched { ran_away: true, .. } => Ending::RanAway,
        Watched { grows: true, .. } => Ending::Warned,
        _ => Ending::Done,
    };
    Judged { ending, wrong }
}

/// A refusal names the field and says why.
fn refused(error: Error) -> Judged {
    let is_good = matches!(&error, Error::Input(fault) if fault.field.is_some() && fault.message.len() > 20);
    let wrong = (!is_good).then(|| format!("refused without a field and a reason: {error}"));
    Judged { ending: Ending::Refused, wrong: wrong.into_iter().collect() }
}

/// total = start + work − damped − contact_loss − plastic − numerical, to 1e-9 of the largest of them.
fn unaccounted(first: &Row, row: &Row) -> Option<String> {
    let terms = [first.total, row.work, -row.damped, -row.contact_loss, -row.plastic, -row.numerical];
    let parts = [row.kinetic, row.elastic, row.gravity, row.contact, row.attachment];
    let scale = terms.iter().chain(&parts).fold(0.0, |scale: f64, term| scale.max(term.abs()));
    let off =
        (terms.iter().sum::<f64>() - row.total).abs().max((parts.iter().sum::<f64>() - row.total).abs());
    (off > 1e-9 * scale).then(|| format!("frame {}: {off} J of {scale} J are unaccounted for", row.frame))
}

/// The energy that was there or was given (J): what a gain is a share of.
fn available(rows: &[Row]) -> f64 {
    let most = |of: fn(&Row) -> f64| rows.iter().map(of).fold(0.0, f64::max);
    most(|row| row.kinetic + row.elastic + row.contact + row.attachment)
        + most(|row| row.work.abs())
        + most(|row| row.contact_loss.min(0.0).abs())
}

/// Energy that nobody gave (J): how far it has risen above what it was, less what attachments, materials and moving obstacles gave.
/// Non-oscillatory motion sets out at full speed, and from there on never grows.
fn risen(sampled: &Sampled, rows: &[Row]) -> f64 {
    let own = |row: &Row| row.total - row.work + row.contact_loss.min(0.0);
    let first = usize::from(sampled.integrator == "non-oscillatory").min(rows.len() - 1);
    rows[first..].iter().map(own).fold(0.0, |most, energy| f64::max(most, energy - own(&rows[first])))
}

/// Warnings that are missing, and those that nothing is behind.
fn misjudged(sampled: &Sampled, loaded: &LoadedScene, watched: &Watched) -> Option<String> {
    let rows = &watched.rows;
    let (risen, limit) = (risen(sampled, rows), loaded.scene.energy.limit * available(rows));
    let fallen = |of: fn(&Row) -> f64| {
        let mut most = f64::NEG_INFINITY;
        let falls = rows.iter().map(|row| {
            most = most.max(of(row));
            most - of(row)
        });
        falls.fold(0.0, f64::max)
    };
    // integrator and damping have a limit each
    if !watched.grows && risen > 2.0 * limit && limit > 1e-12 {
        return Some(format!(
            "energy has risen by {risen:.3e} J, the limit is {limit:.3e} J, without a warning"
        ));
    }
    let inside = ["laplacian", "rayleigh", "rayleigh-tangent"].contains(&sampled.damping);
    let made = match loaded.scene.conservation.method {
        // what damping takes inside the solve, holding gives back
        Method::Cpd | Method::Fepr if inside => 0.0,
        _ => fallen(|row| row.numerical).max(fallen(|row| row.damped)),
    };
    let most = made.max(risen);
    (watched.grows && most < 0.8 * limit)
        .then(|| format!("{most:.3e} J were made, the limit is {limit:.3e} J: {:?}", watched.warnings))
}

#[test]
fn every_joule_is_accounted_for_whatever_is_combined() {
    let seeds: Vec<u64> = cases("DASHPOT_MATRIX_CASES", 432).collect();
    let judged = of_each(&seeds, |seed| {
        let sampled = Sampled::of(*seed);
        let judged = catch_unwind(|| judge(&sampled));
        judged.unwrap_or_else(|_| Judged { ending: Ending::Failed, wrong: vec!["it panicked".into()] })
    });
    let mut endings: BTreeMap<Ending, usize> = BTreeMap::new();
    let mut ran: BTreeMap<&str, usize> = BTreeMap::new();
    let mut wrong = 0;
    for (seed, judged) in seeds.iter().zip(&judged) {
        let sampled = Sampled::of(*seed);
        *endings.entry(judged.ending).or_default() += 1;
        if matches!(judged.ending, Ending::Done | Ending::Warned) {
            *ran.entry(sampled.integrator).or_default() += 1;
            *ran.entry(sampled.damping).or_default() += 1;
        }
        if let Some(why) = judged.wrong.first() {
            wrong += 1;
            println!("seed {seed}, {}, {}: {why}\n{}", sampled.integrator, sampled.damping, sampled.text);
        }
    }
    println!("{} cases: {endings:?}; {ran:?}", seeds.len());
    assert_eq!(wrong, 0, "of {} cases", seeds.len());
    let done = endings.get(&Ending::Done).copied().unwrap_or(0);
    assert!(done * 2 > seeds.len(), "too few of the cases run for this to mean much");
    assert!(INTEGRATORS.iter().all(|name| ran.contains_key(name)), "{ran:?}");
}
