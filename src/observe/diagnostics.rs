//! Diagnostics of a run from its ledger: growing energy, diverging iterations.

use crate::ledger::Row;
use crate::scene::{Method, NON_OSCILLATORY, Scene};
use crate::step::explicit;

/// Growing energy is reported from this fraction of the energy available on. Built-in scenes stay below 3 %; unstable
/// ones pass any threshold within a few frames.
const SHARE: f64 = 0.2;

/// Single-precision sums on a device are accurate to 10⁻⁶: relative to a potential this large, the energy is known
/// well below [`SHARE`].
const KNOWN: f64 = 1e-5;

/// An iterate has diverged if its |g| is this many times that of the first guess. Not 1: where the first guess is as
/// good as the solution, as for a stack at rest, healthy iterations end at up to 1.1.
const DIVERGED: f64 = 2.0;

/// Bodies deformed by less than this fraction of the largest energy in motion fly rigidly: |g| of the first guess, and
/// any fraction of it, is rounding.
const RIGID: f64 = 1e-9;

/// Examines the rows of a run one by one, starting at any row.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    accounts: EnergyAccounts,
    /// Whether iterations continue until |g| is small.
    solves: bool,
    has_examples: bool,
    /// The reference row.
    first: Option<Row>,
    /// Largest values so far (J): energy in motion, external work, gravitational potential.
    motion: f64,
    work: f64,
    gravity: f64,
    integrator: GainedEnergy,
    damping: GainedEnergy,
    /// The most that damping had removed (J).
    damped: f64,
    frames: usize,
    diverged: usize,
    /// The first diverged frame, and the largest relative |g| of all.
    diverged_from: usize,
    residual: f64,
}

/// Which columns are checked for growing energy.
#[derive(Debug, Clone, Copy, PartialEq)]
enum EnergyAccounts {
    /// The integrator's and the damping's separately.
    Apart,
    /// Only their sum: velocity removed before bodies move with it was never kinetic energy of a frame, and the
    /// integrator's account has the opposite sign.
    Together,
    /// None: non-oscillatory motion starts at full speed, and damping's account contains all of that.
    Closed,
}

/// Energy gained from nowhere: the maximum so far (J), and the frame since which it is too much, if it is.
#[derive(Debug, Clone, Copy, Default)]
struct GainedEnergy {
    most: f64,
    since: Option<usize>,
}

impl GainedEnergy {
    fn note(&mut self, amount: f64, reference_energy: f64, frame: usize) {
        self.most = self.most.max(amount);
        self.since = (self.most > SHARE * reference_energy).then(|| self.since.unwrap_or(frame));
    }
}

impl Diagnostics {
    /// For a run of this scene, before its first row.
    pub fn new(scene: &Scene) -> Self {
        let kind = scene.integrator.kind.as_str();
        let accounts = match explicit::find(kind) {
            _ if kind == NON_OSCILLATORY => EnergyAccounts::Closed,
            Some(method) if method.filters_first => EnergyAccounts::Together,
            _ => EnergyAccounts::Apart,
        };
        Diagnostics {
            accounts,
            // conservation forces contribute to |g|, which does not vanish; `not conserved` reports their errors
            solves: scene.conservation.method == Method::None,
            has_examples: !scene.damping.examples.is_empty(),
            first: None,
            motion: 0.0,
            work: 0.0,
            gravity: 0.0,
            integrator: GainedEnergy::default(),
            damping: GainedEnergy::default(),
            damped: 0.0,
            frames: 0,
            diverged: 0,
            diverged_from: 0,
            residual: 0.0,
        }
    }

    /// Examines the next row.
    pub fn add(&mut self, row: &Row) {
        let deformed = row.elastic + row.contact + row.attachment;
        self.motion = self.motion.max(row.kinetic + deformed);
        let Some(first) = self.first else {
            (self.first, self.damped) = (Some(*row), row.damped);
            return;
        };
        self.work = self.work.max((row.work - first.work).abs());
        self.gravity = self.gravity.max((row.gravity - first.gravity).abs());
        self.damped = self.damped.max(row.damped);
        let reference_energy = self.reference_energy();
        let made = first.numerical - row.numerical;
        match self.accounts {
            EnergyAccounts::Apart => {
                self.integrator.note(made, reference_energy, row.frame);
                self.damping.note(self.damped - row.damped, reference_energy, row.frame);
            }
            EnergyAccounts::Together => {
                self.integrator.note(made + first.damped - row.damped, reference_energy, row.frame)
            }
            EnergyAccounts::Closed => {}
        }
        self.frames += 1;
        if self.solves && row.residual > DIVERGED && deformed > RIGID * self.motion {
            if self.diverged == 0 {
                self.diverged_from = row.frame;
            }
            self.diverged += 1;
            self.residual = self.residual.max(row.residual);
        }
    }

    /// The energy available (J): in motion, independent of the zero of gravity, and external work.
    fn reference_energy(&self) -> f64 {
        self.motion + self.work + KNOWN * self.gravity
    }

    /// The problems found, most severe first; empty if there are none.
    pub fn warnings(&self) -> Vec<String> {
        let gentler = if self.has_examples { ", smaller example gammas" } else { "" };
        let slower = if self.has_examples { "flatter example curves" } else { "less damping" };
        let integrator =
            format!("damping, more time.iterations, a shorter time.step, another integrator.kind{gentler}");
        let damping = format!("{slower}, a shorter time.step, another integrator.kind");
        let gained = [("integrator", self.integrator, integrator), ("damping", self.damping, damping)];
        let gained = gained.into_iter().filter_map(|(who, gain, help)| {
            let (most, reference_energy) = (number(gain.most), number(self.reference_energy()));
            let since = gain.since?;
            Some(format!(
                "energy is growing: the {who} added {most} J to {reference_energy} J, too much since frame {since}; try {help}"
            ))
        });
        gained.chain(self.diverging_iterations()).collect()
    }

    fn diverging_iterations(&self) -> Option<String> {
        let Diagnostics { diverged, frames, diverged_from, .. } = self;
        let residual = number(self.residual);
        (*diverged > 0).then(|| {
            format!(
                "iterations diverged in {diverged} of {frames} frames, first in frame {diverged_from}: |g| ended at up to {residual} \
                 times its initial value; try a shorter time.step, more time.iterations, less damping"
            )
        })
    }
}

/// A number of three digits.
fn number(value: f64) -> String {
    if (1e-3..1e6).contains(&value) {
        let decimals = (2.0 - value.log10().floor()).max(0.0) as usize;
        format!("{value:.decimals$}")
    } else {
        format!("{value:.2e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostics(kind: &str) -> Diagnostics {
        let loaded = crate::setup::load("cube", &[format!("integrator.kind={kind}")]).unwrap();
        Diagnostics::new(&loaded.scene)
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
        let given =
            rows(|frame, row| Row { numerical: -0.3 * frame as f64, work: 9.0 * frame as f64, ..row });
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
        let sets_out = rows(|_, row| Row { damped: -9.0, ..row });
        assert!(told("non-oscillatory", &sets_out).is_empty());
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
}
