//! How stiff each body is from step to step, and which stiffness the metric A is made with.
//!
//! The gradient and the energy follow the keyframes of a material exactly. The fixed point of x ← x − A⁻¹ g does not depend
//! on A, so A may be a little off: it is made for *levels*, constant over runs of steps, each in the middle of the factors
//! that occur in its run. The Hessian of an element's energy is at most w GᵀG, so an A that is a tenth too soft makes an
//! iteration overshoot by a tenth at most; one that is a tenth too stiff makes it fall short by as much. Levels follow from the keyframes and the time step alone: where they begin does not depend
//! on how fast the machine is, nor on where a run was taken up again.

use super::Simulation;
use super::clock::Phase;
use crate::Result;
use crate::scene::{Keyframes, Scene};

/// The largest factor of a run of steps over the least, unless it is one step long.
///
/// A level is off by √RATIO at most, some 10 %: an iteration leaves a tenth of an error that the exact A would have removed.
/// A body that becomes eight times as stiff passes through twelve levels.
pub const RATIO: f64 = 1.2;

/// How stiff the bodies are: factors of the weights of all elastic elements of the model, one a body. Attachments and masses
/// do not change.
#[derive(Debug, Clone, PartialEq)]
pub struct Stiffness {
    /// In the gradient, the energy and the damping.
    pub factors: Vec<f64>,
    /// In the metric A of the next step, nearly the true ones.
    pub metric: Vec<f64>,
    /// In the metric that will be asked for after this one, so that it can be made ready meanwhile.
    pub next_metric: Option<Vec<f64>>,
}

impl Stiffness {
    /// As the model says.
    pub fn as_given(bodies: usize) -> Self {
        Stiffness { factors: vec![1.0; bodies], metric: vec![1.0; bodies], next_metric: None }
    }
}

/// A run of time points k h, `from` to `until` (included), with one metric.
#[derive(Debug, Clone, PartialEq)]
struct Level {
    until: u64,
    factors: Vec<f64>,
}

/// The stiffness of the bodies over time.
pub(super) struct Schedule {
    /// One a body; `None`: it stays as it is.
    curves: Vec<Option<Keyframes>>,
    /// Time step (s).
    h: f64,
    level: Level,
    next: Option<Level>,
}

impl Schedule {
    /// The keyframes of a scene's materials, for a model of so many bodies; `None` if there are none.
    pub fn new(scene: &Scene, bodies: usize, h: f64) -> Option<Self> {
        let curve = |body: usize| scene.bodies.get(body)?.material.keyframes.clone();
        let curves: Vec<Option<Keyframes>> = (0..bodies).map(curve).collect();
        if curves.iter().all(Option::is_none) {
            return None;
        }
        let level = Level { until: 0, factors: Vec::new() };
        let mut schedule = Schedule { curves, h, level, next: None };
        schedule.rewind();
        Some(schedule)
    }

    /// The stiffness at the end of step `at`, counted from 1 (0: the start), with the metric of step `step`.
    fn stiffness(&mut self, at: u64, step: u64) -> Stiffness {
        self.go_to(step);
        let next_metric = self.next.as_ref().map(|next| next.factors.clone());
        Stiffness { factors: self.factors(at), metric: self.level.factors.clone(), next_metric }
    }

    /// s at time k h, of every body.
    fn factors(&self, k: u64) -> Vec<f64> {
        let t = k as f64 * self.h;
        self.curves.iter().map(|curve| curve.as_ref().map_or(1.0, |curve| curve.factor(t))).collect()
    }

    fn rewind(&mut self) {
        self.level = self.level_from(1);
        self.next = self.level.until.checked_add(1).map(|from| self.level_from(from));
    }

    /// Goes to the level of step `k`, counted from 1.
    fn go_to(&mut self, k: u64) {
        while let Some(next) = self.next.take_if(|_| k > self.level.until) {
            self.next = next.until.checked_add(1).map(|from| self.level_from(from));
            self.level = next;
        }
    }

    /// The level that begins with step `from`: exact where nothing changes, else up to where [`RATIO`] is reached or
    /// nothing changes any more.
    fn level_from(&self, from: u64) -> Level {
        if let Some(until) = self.steady_until(from) {
            return Level { until, factors: self.factors(from) };
        }
        let mut until = self.reach(from);
        for time in self.curves.iter().flatten().flat_map(|curve| &curve.times) {
            let k = (time / self.h).ceil();
            if k > from as f64 && k <= until as f64 && self.steady_until(k as u64).is_some() {
                until = k as u64 - 1;
            }
        }
        if until == from {
            return Level { until, factors: self.factors(from) };
        }
        let middle = |(least, largest): (f64, f64)| (least * largest).sqrt();
        Level { until, factors: self.ranges(from, until).map(middle).collect() }
    }

    /// The last step up to which no body changes, if that is not `from` itself.
    fn steady_until(&self, from: u64) -> Option<u64> {
        let t = from as f64 * self.h;
        let mut until = f64::INFINITY;
        for curve in self.curves.iter().flatten() {
            until = until.min(curve.steady_until(t)?);
        }
        Some((until / self.h) as u64).filter(|until| *until > from)
    }

    /// The last k for which no body's largest factor from `from` to k is more than [`RATIO`] times its least.
    fn reach(&self, from: u64) -> u64 {
        let within = |k: u64| self.ranges(from, k).all(|(least, largest)| largest <= RATIO * least);
        // ranges only grow with k: double the stride until it is too long, then halve it
        let (mut reached, mut stride) = (from, 1u64);
        while within(reached.saturating_add(stride)) {
            reached = reached.saturating_add(stride);
            if reached == u64::MAX {
                return reached;
            }
            stride = stride.saturating_mul(2);
        }
        while stride > 1 {
            stride /= 2;
            if within(reached.saturating_add(stride)) {
                reached += stride;
            }
        }
        reached
    }

    /// Least and largest factor of every body from time `from` h to `until` h: at the ends, and at keyframes in between.
    fn ranges(&self, from: u64, until: u64) -> impl Iterator<Item = (f64, f64)> {
        let ends = [from, until].map(|k| k as f64 * self.h);
        self.curves.iter().map(move |curve| {
            let Some(curve) = curve else { return (1.0, 1.0) };
            let inside = |time: &f64| (ends[0]..=ends[1]).contains(time);
            let frames =
                curve.times.iter().zip(&curve.factors).filter(|(time, _)| inside(time)).map(|f| *f.1);
            let values = ends.map(|t| curve.factor(t)).into_iter().chain(frames);
            values
                .fold((f64::INFINITY, 0.0), |(least, largest), s| (f64::min(least, s), f64::max(largest, s)))
        })
    }
}

impl Simulation {
    /// Makes the bodies as stiff as they are at the end of the step about to be made. What their energy gains by that,
    /// where they are, is work from outside.
    pub(super) fn stiffen(&mut self) -> Result<()> {
        self.set_stiffness(self.steps + 1, true)
    }

    /// Makes the bodies as stiff as they are now, after a start or a jump in time, which is nobody's work.
    pub(super) fn settle_stiffness(&mut self) -> Result<()> {
        if let Some(schedule) = &mut self.stiffness {
            schedule.rewind();
        }
        self.set_stiffness(self.steps, false)
    }

    /// How stiff each body was in the step before, as a share of what it is in the one about to be made; `None` if nothing
    /// changes.
    pub(super) fn stiffness_before(&self) -> Option<Vec<f64>> {
        let schedule = self.stiffness.as_ref()?;
        let (before, now) = (schedule.factors(self.steps), schedule.factors(self.steps + 1));
        (before != now).then(|| before.iter().zip(&now).map(|(before, now)| before / now).collect())
    }

    fn set_stiffness(&mut self, at: u64, as_work: bool) -> Result<()> {
        let Simulation { backend, clock, stiffness, steps, .. } = self;
        let Some(schedule) = stiffness else { return Ok(()) };
        let stiffness = schedule.stiffness(at, *steps + 1);
        clock.time(Phase::Factor, || backend.set_stiffness(&stiffness, as_work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schedule with a time step of 0.1 s.
    fn schedule(curves: &[(&[f64], &[f64])]) -> Schedule {
        let curve = |(times, factors): &(&[f64], &[f64])| {
            Some(Keyframes { times: times.to_vec(), factors: factors.to_vec() })
        };
        let level = Level { until: 0, factors: Vec::new() };
        let mut schedule = Schedule { curves: curves.iter().map(curve).collect(), h: 0.1, level, next: None };
        schedule.rewind();
        schedule
    }

    /// Level by level from the start, the last one without end.
    fn levels(schedule: &Schedule) -> Vec<(u64, Level)> {
        let mut all = vec![(1, schedule.level_from(1))];
        while let Some(from) = all.last().unwrap().1.until.checked_add(1) {
            all.push((from, schedule.level_from(from)));
        }
        all
    }

    #[test]
    fn constant_stiffness_is_one_exact_level() {
        let same = schedule(&[(&[3.0], &[2.5])]);
        assert_eq!(levels(&same), [(1, Level { until: u64::MAX, factors: vec![2.5] })]);
        assert_eq!(same.next, None);
    }

    #[test]
    fn a_level_is_never_far_off_and_exact_where_nothing_changes() {
        let up_and_down =
            schedule(&[(&[1.0, 3.0, 3.5, 9.0], &[1.0, 8.0, 8.0, 0.3]), (&[2.0, 2.05], &[1.0, 3.0])]);
        let all = levels(&up_and_down);
        assert!(all.len() > 10, "{all:?}");
        for (from, level) in &all {
            for k in *from..=level.until.min(200) {
                for (s, metric) in up_and_down.factors(k).iter().zip(&level.factors) {
                    let off = (s / metric).max(metric / s);
                    assert!(off < RATIO.sqrt() * (1.0 + 1e-15), "step {k}: {s} in a level of {metric}");
                }
            }
        }
        // before, at the top and after, where nothing changes, it is exact
        assert_eq!(all[0], (1, Level { until: 10, factors: vec![1.0, 1.0] }));
        assert!(all.contains(&(30, Level { until: 35, factors: vec![8.0, 3.0] })), "{all:?}");
        assert_eq!(all.last().unwrap().1, Level { until: u64::MAX, factors: vec![0.3, 3.0] });
    }

    #[test]
    fn a_jump_between_two_steps_is_a_level_of_its_own() {
        let jump = schedule(&[(&[1.01, 1.02], &[1.0, 100.0])]);
        let expected = [
            (1, Level { until: 10, factors: vec![1.0] }),
            (11, Level { until: u64::MAX, factors: vec![100.0] }),
        ];
        assert_eq!(levels(&jump), expected);
    }

    #[test]
    fn the_level_of_a_step_does_not_depend_on_the_way_there() {
        let mut walked = schedule(&[(&[0.0, 5.0], &[1.0, 4.0])]);
        let mut jumped = schedule(&[(&[0.0, 5.0], &[1.0, 4.0])]);
        let all: Vec<Stiffness> = (1..70).map(|k| walked.stiffness(k, k)).collect();
        for k in [1, 17, 40, 69] {
            jumped.rewind();
            assert_eq!(jumped.stiffness(k, k), all[k as usize - 1], "step {k}");
        }
    }

    #[test]
    fn slow_changes_in_short_steps_are_found_at_once() {
        let mut slow = schedule(&[(&[1e6, 2e9], &[1.0, 2.0])]);
        slow.h = 1e-9;
        // 1e15 steps of nothing, 4e17 to the next level: not counted one by one
        assert_eq!(slow.level_from(1).until / 1_000_000_000_000, 1000);
        assert!(slow.level_from(2_000_000_000_000_000).until > 100_000_000_000_000_000);
    }
}
