//! Diagnostics of a run from its ledger: growing energy, diverging iterations.

#[cfg(test)]
mod tests;

use crate::Vec3;
use crate::ledger::Row;
use crate::model::Model;
use crate::scene::{Method, NON_OSCILLATORY, Scene};
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
    /// Largest values so far (J): energy in motion, external work, what moving obstacles gave, gravitational potential.
    motion: f64,
    work: f64,
    obstacles: f64,
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
    /// Only their sum, because one account has the opposite sign of the other: velocity that is removed before bodies move with it was
    /// never kinetic energy of a frame.
    Sum,
    /// The energy itself, less what was given, above what it was at first: where momenta or energy are held, what damping takes inside the
    /// solve is given back, and the integrator's account contains all of that.
    Held,
    /// The energy itself, less what was given: non-oscillatory motion starts at full speed, and damping's account contains all of that.
    /// From the first frame on it never grows.
    TotalEnergy,
}

impl EnergyAccounts {
    fn of(scene: &Scene) -> Self {
        let kind = scene.integrator.kind.as_str();
        let conservation = &scene.conservation;
        let inside = ["laplacian", "rayleigh", "rayleigh-tangent"].contains(&scene.damping.model.as_str());
        match explicit::find(kind) {
            _ if kind == NON_OSCILLATORY => EnergyAccounts::TotalEnergy,
            _ if conservation.method != Method::None && inside => EnergyAccounts::Held,
            Some(method) if method.filters_first => EnergyAccounts::Sum,
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
            obstacles: 0.0,
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
        self.obstacles = self.obstacles.max(first.contact_loss - row.contact_loss);
        self.gravity = self.gravity.max((row.gravity - first.gravity).abs());
        self.damped = self.damped.max(row.damped);
        let reference_energy = self.reference_energy();
        let made = first.numerical - row.numerical;
        let integrator = match self.accounts {
            EnergyAccounts::Separate => made,
            EnergyAccounts::Sum => made + first.damped - row.damped,
            EnergyAccounts::Held => own(row) - own(&first),
            EnergyAccounts::TotalEnergy => {
                let own = own(row);
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

    /// The energy available (J): in motion, independent of the zero of gravity, external work, and what moving obstacles gave.
    fn reference_energy(&self) -> f64 {
        self.motion + self.work + self.obstacles + KNOWN * self.gravity + self.rounding
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

/// The energy less what attachments, materials and moving obstacles have given (J).
fn own(row: &Row) -> f64 {
    row.total - row.work + row.contact_loss.min(0.0)
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
