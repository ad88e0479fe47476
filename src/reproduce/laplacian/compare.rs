//! How far motions are apart, and rivals' coefficients that take as much from a motion.

use crate::reproduce::Watched;
use crate::{Result, Simulation, Vec3};

/// The vertex nearest to a place where bodies start (m).
pub fn nearest(simulation: &Simulation, place: [f64; 3]) -> usize {
    let start = &simulation.model().initial_positions;
    let far = |v: usize| (start[v] - Vec3::from(place)).norm();
    (0..start.len()).min_by(|a, b| far(*a).total_cmp(&far(*b))).unwrap_or(0)
}

/// The root of the mean of squares.
pub fn rms(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), v| (sum + v * v, count + 1));
    (sum / f64::from(count.max(1))).sqrt()
}

/// How far two curves are apart from a time on (s), as the root of the mean square.
pub fn apart(a: &Watched, b: &Watched, from: f64) -> f64 {
    let times = a.motion.rows.iter().map(|row| row.time);
    let pairs = times.zip(a.values.iter().zip(&b.values)).filter(|(time, _)| *time >= from);
    rms(pairs.map(|(_, (a, b))| a - b))
}

/// ∫ kinetic energy dt from a time on (J s): of free vibration, the smaller the stronger its damping is, whatever the model, beyond critical
/// damping, too.
pub fn kinetic_action(run: &Watched, from: f64) -> f64 {
    let rows = &run.motion.rows;
    let free = rows.windows(2).filter(|pair| pair[0].time >= from);
    free.map(|pair| (pair[1].time - pair[0].time) * (pair[0].kinetic + pair[1].kinetic) / 2.0).sum()
}

/// A run of a rival with the coefficient found.
pub struct Matched {
    pub coefficient: f64,
    pub run: Watched,
    /// The logarithm of its kinetic action over the one aimed at.
    pub miss: f64,
}

/// Actions this near, as a logarithm, are the same; and how often a rival is run at most.
const SAME: f64 = 0.03;
const MOST_RUNS: usize = 9;
/// Factor between coefficients until the one sought is between two of them.
const STRIDE: f64 = 4.0;

/// The coefficient with which a rival's motion decays as one does whose kinetic action is `aim`: searched from `first`, by strides and
/// then by regula falsi in logarithms. A search whose strides lead away is given up: damping need not grow with its coefficient, such
/// as that of what a body of which only the deformation is damped does on the springs that hold it. The nearest one found is what is
/// returned.
pub fn match_decay(
    aim: f64,
    from: f64,
    first: f64,
    mut run: impl FnMut(f64) -> Result<Watched>,
) -> Result<Matched> {
    let mut tried = |coefficient: f64| -> Result<Matched> {
        let run = run(coefficient)?;
        let miss = match run.motion.failed {
            Some(_) => f64::INFINITY,
            None => (kinetic_action(&run, from) / aim).ln(),
        };
        Ok(Matched { coefficient, run, miss })
    };
    let mut best = tried(first)?;
    let mut last = (best.coefficient.ln(), best.miss);
    let mut ends: [Option<(f64, f64)>; 2] = [None, None];
    for _ in 1..MOST_RUNS {
        if best.miss.abs() < SAME {
            break;
        }
        ends[usize::from(last.1 < 0.0)] = Some(last);
        let next = match ends {
            // too little damping, too much: between them, not nearer than a tenth to either
            [Some((weak, more)), Some((strong, less))] => {
                let share = if more.is_finite() { (more / (more - less)).clamp(0.1, 0.9) } else { 0.5 };
                weak + share * (strong - weak)
            }
            [Some((weak, _)), None] => weak + STRIDE.ln(),
            [None, Some((strong, _))] => strong - STRIDE.ln(),
            [None, None] => break,
        };
        let found = tried(next.exp())?;
        let leads_away = ends.contains(&None) && found.miss.abs() > last.1.abs() && found.miss * last.1 > 0.0;
        last = (next, found.miss);
        if found.miss.abs() < best.miss.abs() {
            best = found;
        }
        if leads_away {
            break;
        }
    }
    Ok(best)
}
