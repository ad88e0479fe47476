//! Diagnostics of a run from its ledger: growing energy, diverging iterations.

use crate::Vec3;
use crate::ledger::Row;
use crate::model::Model;
use crate::scene::{Method, NON_OSCILLATORY, Quantity, Scene};
use crate::step::explicit;

/// Single-precision sums on a device are accurate to 10⁻⁶: relative to a potential this large, the energy is known
/// well below any limit that makes sense.
const KNOWN: f64 = 1e-5;

/// A body that moves by less than this share of its size in a step does not move: rounding of positions in single precision.
const STILL: f64 = 1e-7;

/// A run that has gained this many times the energy that there was before does not come back.
const RUNAWAY: f64 = 1e3;

/// A row gains if it adds more than this share of the energy available: less is rounding, in single precision.
const ROUNDED: f64 = 1e-6;

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
    /// Growing energy is reported from this fraction of the energy available on.
    limit: f64,
    /// Energy of vertices that move by rounding (J).
    rounding: f64,
    /// Energy of bodies that cross their own size in the whole run (J): the least that is thought of as motion when a run runs away.
    slow: f64,
    /// Whether iterations continue until |g| is small.
    solves: bool,
    has_examples: bool,
    /// The reference row.
    first: Option<Row>,
    /// Largest values so far (J): energy in motion, external work, gravitational potential.
    motion: f64,
    work: f64,
    gravity: f64,
    /// The least energy so far that work did not bring (J).
    least: f64,
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
    Separate,
    /// Only their sum, because one account has the opposite sign of the other. Velocity that is removed before bodies move with it was
    /// never kinetic energy of a frame. And where the energy is held, what damping takes inside the solve is given back by it.
    Sum,
    /// The energy itself, less the work done: non-oscillatory motion starts at full speed, and damping's account contains all of that.
    /// From the first frame on it never grows.
    TotalEnergy,
}

impl EnergyAccounts {
    fn of(scene: &Scene) -> Self {
        let kind = scene.integrator.kind.as_str();
        let conservation = &scene.conservation;
        let is_held = conservation.method != Method::None && conservation.hold.contains(&Quantity::Energy);
        match explicit::find(kind) {
            _ if kind == NON_OSCILLATORY => EnergyAccounts::TotalEnergy,
            Some(method) if method.filters_first => EnergyAccounts::Sum,
            _ if is_held => EnergyAccounts::Sum,
            _ => EnergyAccounts::Separate,
        }
    }
}

/// Energy gained from nowhere: the maximum so far (J), and the frame since which it is too much, if it is.
#[derive(Debug, Clone, Copy, Default)]
struct GainedEnergy {
    largest: f64,
    since: Option<usize>,
    /// The energy available before it was too much (J).
    reference: f64,
}

impl GainedEnergy {
    fn note(&mut self, amount: f64, limit: f64, reference_energy: f64, frame: usize) {
        self.largest = self.largest.max(amount);
        self.since = (self.largest > limit * reference_energy).then(|| self.since.unwrap_or(frame));
        if self.since.is_none() {
            self.reference = reference_energy;
        }
    }

    /// Whether it has left behind whatever there was, or this much (J).
    fn runs_away(&self, slow: f64) -> bool {
        self.since.is_some() && self.largest > RUNAWAY * self.reference.max(slow)
    }
}

impl Diagnostics {
    /// For a run of this scene and its model, before its first row.
    pub fn new(scene: &Scene, model: &Model) -> Self {
        Diagnostics {
            accounts: EnergyAccounts::of(scene),
            limit: scene.energy.limit,
            rounding: energy_of_speed(STILL / scene.time.step * scene.time.substeps as f64, model),
            slow: energy_of_speed(1.0 / (scene.time.step * scene.time.frames.max(1) as f64), model),
            // conservation forces contribute to |g|, which does not vanish; `not conserved` reports their errors
            solves: scene.conservation.method == Method::None,
            has_examples: !scene.damping.examples.is_empty(),
            first: None,
            motion: 0.0,
            work: 0.0,
            gravity: 0.0,
            least: f64::INFINITY,
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
            let before = self.reference_energy();
            (self.integrator.reference, self.damping.reference) = (before, before);
            return;
        };
        self.work = self.work.max((row.work - first.work).abs());
        self.gravity = self.gravity.max((row.gravity - first.gravity).abs());
        self.damped = self.damped.max(row.damped);
        let reference_energy = self.reference_energy();
        let made = first.numerical - row.numerical;
        let integrator = match self.accounts {
            EnergyAccounts::Separate => made,
            EnergyAccounts::Sum => made + first.damped - row.damped,
            EnergyAccounts::TotalEnergy => {
                let own = row.total - row.work;
                self.least = self.least.min(own);
                own - self.least
            }
        };
        self.integrator.note(integrator, self.limit, reference_energy, row.frame);
        if self.accounts == EnergyAccounts::Separate {
            self.damping.note(self.damped - row.damped, self.limit, reference_energy, row.frame);
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
        self.motion + self.work + KNOWN * self.gravity + self.rounding
    }

    /// The first frame since which too much energy has been gained, if it has.
    pub fn growing_since(&self) -> Option<usize> {
        self.integrator.since.into_iter().chain(self.damping.since).min()
    }

    /// Whether the run has gained so much that nothing of its motion is left.
    pub fn runs_away(&self) -> bool {
        self.integrator.runs_away(self.slow) || self.damping.runs_away(self.slow)
    }

    /// Whether this row, not added yet, gains where too much has been gained with it: the integrator or the damping, each compared with itself.
    pub fn gains_by(&self, row: &Row) -> bool {
        let mut after = self.clone();
        after.add(row);
        let rounded = ROUNDED * after.reference_energy();
        let accounts = [(self.integrator, after.integrator), (self.damping, after.damping)];
        accounts.iter().any(|(now, then)| then.since.is_some() && then.largest > now.largest + rounded)
    }

    /// Energy gained so far (J).
    pub fn gained(&self) -> f64 {
        self.integrator.largest.max(self.damping.largest)
    }

    /// The energy that there was before it grew (J).
    pub fn before(&self) -> f64 {
        let accounts = [self.integrator, self.damping].into_iter().filter(|account| account.since.is_some());
        accounts.map(|account| account.reference).fold(f64::INFINITY, f64::min)
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
            let (most, reference_energy) = (number(gain.largest), number(self.reference_energy()));
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

/// ½ M (r D)² (J): kinetic energy of bodies of the size D whose vertices move by so many sizes per second.
fn energy_of_speed(rate: f64, model: &Model) -> f64 {
    let x = &model.initial_positions;
    let corner = |pick: fn(f64, f64) -> f64, from: f64| {
        x.iter().fold(Vec3::repeat(from), |corner, x| corner.zip_map(x, pick))
    };
    let size = (corner(f64::max, f64::NEG_INFINITY) - corner(f64::min, f64::INFINITY)).norm();
    0.5 * model.mass.iter().sum::<f64>() * (rate * size).powi(2)
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
        // it sets out at full speed, and slows down; work may speed it up, nothing else
        let total = |frame: usize| if frame == 0 { 10.0 } else { 30.0 - frame as f64 };
        let sets_out: Vec<Row> =
            (0..10).map(|f| Row { frame: f, kinetic: 20.0, total: total(f), ..Row::default() }).collect();
        assert!(told("non-oscillatory", &sets_out).is_empty());
        let grows: Vec<Row> =
            sets_out.iter().map(|row| Row { total: 10.0 + row.frame as f64, ..*row }).collect();
        assert_eq!(told("non-oscillatory", &grows).len(), 1);
        let driven: Vec<Row> = grows.iter().map(|row| Row { work: row.frame as f64, ..*row }).collect();
        assert!(told("non-oscillatory", &driven).is_empty());
    }

    /// What damping takes inside the solve comes back by the held energy.
    #[test]
    fn damping_beside_a_held_energy_is_no_gain() {
        let loaded = crate::setup::load("conserved-cube", &[]).unwrap();
        let mut diagnostics = Diagnostics::new(&loaded.scene, &crate::setup::build(&loaded).unwrap().model);
        let held =
            rows(|frame, row| Row { numerical: -5.0 * frame as f64, damped: 5.0 * frame as f64, ..row });
        held.iter().for_each(|row| diagnostics.add(row));
        assert!(diagnostics.warnings().is_empty(), "{:?}", diagnostics.warnings());
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
}
