//! What is told of rows, and what is not.

use super::*;

fn diagnostics(kind: &str) -> Diagnostics {
    let loaded = crate::setup::load("cube", &[format!("integrator.kind={kind}")]).unwrap();
    Diagnostics::new(&loaded.scene, &crate::setup::build(&loaded).unwrap().model)
}

/// Rows of 10 J in motion.
fn rows(change: fn(usize, Row) -> Row) -> Vec<Row> {
    let row = |frame| Row { frame, kinetic: 6.0, elastic: 4.0, ..Row::default() };
    (0..10).map(|frame| change(frame, row(frame))).collect()
}

fn told(kind: &str, rows: &[Row]) -> Vec<String> {
    let mut diagnostics = diagnostics(kind);
    rows.iter().for_each(|row| diagnostics.add(row));
    diagnostics.warnings()
}

#[test]
fn growing_energy_is_reported_from_a_fifth_of_the_total_on() {
    let made = rows(|frame, row| Row { numerical: -0.3 * frame as f64, ..row });
    let warnings = told("implicit-midpoint", &made);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("the integrator added 2.70 J to 10.0 J"), "{}", warnings[0]);
    assert!(warnings[0].contains("since frame 7"), "2.1 J of 10 J: {}", warnings[0]);
    assert!(told("implicit-midpoint", &made[..7]).is_empty());
    // losses are no fault, and neither is a gain that is small against the external work
    assert!(told("implicit-midpoint", &rows(|f, row| Row { numerical: f as f64, ..row })).is_empty());
    let given = rows(|frame, row| Row { numerical: -0.3 * frame as f64, work: 9.0 * frame as f64, ..row });
    assert!(told("implicit-midpoint", &given).is_empty());
    // the zero of the gravitational potential is arbitrary
    let high = rows(|frame, row| Row { numerical: -0.3 * frame as f64, gravity: -1e9, ..row });
    assert_eq!(told("implicit-midpoint", &high).len(), 1);
}

#[test]
fn damping_that_adds_energy_is_reported() {
    let swing = rows(|frame, row| Row { damped: [0.0, 8.0, 5.5][frame % 3], ..row });
    let warnings = told("implicit-midpoint", &swing);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("the damping added 8.00 J"), "{}", warnings[0]);
    assert!(warnings[0].contains("since frame 2"), "{}", warnings[0]);
    let little = rows(|frame, row| Row { damped: 8.0 + [0.0, 1.9][frame % 2], ..row });
    assert!(told("implicit-midpoint", &little).is_empty());
}

/// Symplectic Euler filters velocities before bodies move: `damped` is too large by as much as `numerical` is too small.
#[test]
fn methods_with_combined_or_closed_accounts_are_judged_accordingly() {
    let filtered =
        rows(|frame, row| Row { numerical: -2.0 * frame as f64, damped: 2.1 * frame as f64, ..row });
    assert!(told("symplectic-euler", &filtered).is_empty());
    assert_eq!(told("velocity-verlet", &filtered).len(), 1);
    let made = rows(|frame, row| Row { numerical: -2.0 * frame as f64, ..row });
    assert_eq!(told("symplectic-euler", &made).len(), 1);
    // it sets out at full speed, and slows down; work may speed it up, nothing else
    let total = |frame: usize| if frame == 0 { 10.0 } else { 30.0 - frame as f64 };
    let sets_out: Vec<Row> =
        (0..10).map(|f| Row { frame: f, kinetic: 20.0, total: total(f), ..Row::default() }).collect();
    assert!(told("non-oscillatory", &sets_out).is_empty());
    let grows: Vec<Row> = sets_out.iter().map(|row| Row { total: 10.0 + row.frame as f64, ..*row }).collect();
    assert_eq!(told("non-oscillatory", &grows).len(), 1);
    let driven: Vec<Row> = grows.iter().map(|row| Row { work: row.frame as f64, ..*row }).collect();
    assert!(told("non-oscillatory", &driven).is_empty());
}

/// What damping takes inside the solve comes back by what is held; what filters take does not.
#[test]
fn damping_beside_what_is_held_is_no_gain() {
    let told = |overrides: &[&str], rows: &[Row]| {
        let overrides: Vec<String> = overrides.iter().map(|set| set.to_string()).collect();
        let loaded = crate::setup::load("conserved-cube", &overrides).unwrap();
        let model = crate::setup::build(&loaded).unwrap().model;
        let mut diagnostics = Diagnostics::new(&loaded.scene, &model);
        rows.iter().for_each(|row| diagnostics.add(row));
        diagnostics.warnings().len()
    };
    let held = rows(|f, row| Row { numerical: -5.0 * f as f64, damped: 5.0 * f as f64, ..row });
    for hold in ["[\"P\", \"L\", \"H\"]", "[\"P\", \"L\"]"] {
        let hold = format!("conservation.hold={hold}");
        let inside = ["damping.model=laplacian", "damping.mass=1", &hold];
        assert_eq!(told(&inside, &held), 0, "{hold}");
        let grows = rows(|f, row| Row { total: f as f64, ..row });
        assert_eq!(told(&inside, &grows), 1, "{hold}");
        assert_eq!(told(&["damping.model=point", "damping.gamma=0.1", &hold], &held), 1, "{hold}");
    }
}

#[test]
fn a_run_that_explodes_runs_away_from_what_there_was() {
    let mut diagnostics = diagnostics("implicit-midpoint");
    for frame in 0..8 {
        let energy = 1e6 * 8f64.powi(frame);
        let row = Row {
            frame: frame as usize,
            kinetic: energy,
            total: energy,
            numerical: 1e6 - energy,
            ..Row::default()
        };
        diagnostics.add(&row);
        assert_eq!(diagnostics.growing_since(), (frame > 0).then_some(1));
        assert_eq!(diagnostics.runs_away(), 8f64.powi(frame) - 1.0 > RUNAWAY, "frame {frame}");
    }
}

/// Beyond the limit a row gains only by what it adds itself, and not by rounding; a large gain of one account hides none of the other.
#[test]
fn a_row_gains_by_what_it_adds_to_its_own_account() {
    let row = |frame, damped, numerical| Row {
        frame,
        kinetic: 6.0,
        elastic: 4.0,
        damped,
        numerical,
        ..Row::default()
    };
    let mut diagnostics = diagnostics("implicit-midpoint");
    diagnostics.add(&row(0, 0.0, 0.0));
    assert!(!diagnostics.gains_by(&row(1, 0.0, -1.9)) && diagnostics.gains_by(&row(1, 0.0, -2.1)));
    diagnostics.add(&row(1, 8.0, -5.0));
    for (damped, numerical, gains) in [
        (8.0, -5.0, false),
        (8.0, -5.000009, false),
        (8.0, -5.00002, true),
        (8.0, -4.0, false),
        (7.0, -5.0, false),
        (5.0, -5.0, true),
    ] {
        assert_eq!(diagnostics.gains_by(&row(2, damped, numerical)), gains, "{damped} {numerical}");
    }
}

/// 1e-27 J of rounding are no energy.
#[test]
fn rounding_at_rest_is_no_gain() {
    let rounding =
        rows(|frame, row| Row { kinetic: 1e-27, elastic: 0.0, numerical: -1e-27 * frame as f64, ..row });
    assert!(told("implicit-midpoint", &rounding).is_empty());
}

#[test]
fn diverging_iterations_are_counted_unless_nothing_is_deformed() {
    let diverged = rows(|frame, row| Row { residual: if frame > 6 { frame as f64 } else { 1.1 }, ..row });
    let warnings = told("implicit-midpoint", &diverged);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("3 of 9 frames, first in frame 7"), "{}", warnings[0]);
    assert!(warnings[0].contains("up to 9.00 times"), "{}", warnings[0]);
    let rigid = rows(|_, row| Row { residual: 1e12, elastic: 1e-20, ..row });
    assert!(told("implicit-midpoint", &rigid).is_empty());
}

#[test]
fn a_run_at_rest_has_no_warnings() {
    let still: Vec<Row> = (0..10).map(|frame| Row { frame, ..Row::default() }).collect();
    assert!(told("implicit-midpoint", &still).is_empty());
    assert!(told("implicit-midpoint", &[]).is_empty());
}
