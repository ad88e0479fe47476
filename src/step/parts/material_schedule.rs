//! How stiff each body is from step to step, and which stiffness the metric A is made with.
//!
//! The gradient and the energy follow the keyframes of a material exactly. The fixed point of x ← x − A⁻¹ g does not depend
//! on A, so A may be a little off: it is made for *levels*, constant over runs of steps, each in the middle of the factors
//! that occur in its run. The Hessian of an element's energy is at most w GᵀG, so an A that is a tenth too soft makes an
//! iteration overshoot by a tenth at most; one that is a tenth too stiff makes it fall short by as much. Attachments that
//! take hold or let go are always exact: a level ends there. Levels follow from the scene alone: where they begin does not
//! depend on how fast the machine is, nor on where a run was taken up again.

use super::{Part, Setup};
use crate::Result;
use crate::model::Model;
use crate::scene::{Keyframes, Scene};
use crate::solve::stiffness::{MetricParams, Stiffness};
use crate::step::{MaterialChange, Phase, StepContext};

/// The largest factor of a run of steps over the least, unless it is one step long.
///
/// A level is off by √RATIO at most, some 10 %: an iteration leaves a tenth of an error that the exact A would have removed.
/// A body that becomes eight times as stiff passes through twelve levels.
pub const RATIO: f64 = 1.2;

/// The same where a factor takes so long that the next level would come too early for it. A level is off by √2 at most: an
/// iteration leaves four tenths of such an error, and would leave all of it with a level off by 2.
pub const LARGEST_RATIO: f64 = 2.0;

/// A run of steps up to `until` (included) with one metric.
#[derive(Debug, Clone, PartialEq)]
struct MetricInterval {
    until: u64,
    level: MetricParams,
}

/// The stiffness of the bodies over time.
pub struct MaterialSchedule {
    /// One a body; `None`: it stays as it is.
    curves: Vec<Option<Keyframes>>,
    /// Steps made before each attachment takes hold, and before it lets go.
    spans: Vec<[u64; 2]>,
    /// Time step (s).
    h: f64,
    /// Steps in which the next metric can be made ready.
    pace: u64,
    run: MetricInterval,
    next: Option<MetricInterval>,
}

impl MaterialSchedule {
    /// The keyframes of a scene's materials and the times of its attachments; `None` if nothing changes.
    pub fn new(scene: &Scene, model: &Model, h: f64) -> Option<Self> {
        let curve = |body: usize| scene.bodies.get(body)?.material.keyframes.clone();
        let curves: Vec<Option<Keyframes>> = (0..model.bodies.len()).map(curve).collect();
        let spans: Vec<[u64; 2]> = model.attachments.iter().map(|a| a.span(h)).collect();
        let always = spans.iter().all(|span| *span == [0, u64::MAX]);
        (!always || curves.iter().any(Option::is_some)).then(|| MaterialSchedule::of(curves, spans, h))
    }

    fn of(curves: Vec<Option<Keyframes>>, spans: Vec<[u64; 2]>, h: f64) -> Self {
        let run =
            MetricInterval { until: 0, level: MetricParams { factors: Vec::new(), active: Vec::new() } };
        let mut schedule = MaterialSchedule { curves, spans, h, pace: 1, run, next: None };
        schedule.rewind();
        schedule
    }

    /// The stiffness at the end of step `at`, counted from 1 (0: the start), with the metric of step `step`.
    fn stiffness(&mut self, at: u64, step: u64) -> Stiffness {
        self.go_to(step);
        let next_metric = self.next.as_ref().map(|next| next.level.clone());
        let (factors, active) = (self.factors(at), self.active(at.max(1)));
        Stiffness { factors, active, metric: self.run.level.clone(), next_metric }
    }

    /// Which attachments hold in step `k`, counted from 1.
    fn active(&self, k: u64) -> Vec<bool> {
        self.spans.iter().map(|[takes_hold, lets_go]| *takes_hold < k && k <= *lets_go).collect()
    }

    /// s at time k h, of every body.
    fn factors(&self, k: u64) -> Vec<f64> {
        let t = k as f64 * self.h;
        self.curves.iter().map(|curve| curve.as_ref().map_or(1.0, |curve| curve.factor(t))).collect()
    }

    fn rewind(&mut self) {
        self.run = self.interval_from(1);
        self.next = self.run.until.checked_add(1).map(|from| self.interval_from(from));
    }

    /// Goes to the level of step `k`, counted from 1.
    fn go_to(&mut self, k: u64) {
        while let Some(next) = self.next.take_if(|_| k > self.run.until) {
            self.next = next.until.checked_add(1).map(|from| self.interval_from(from));
            self.run = next;
        }
    }

    /// The run that begins with step `from`: exact where nothing changes, else up to where [`RATIO`] is reached or
    /// nothing changes any more; never beyond a step after which an attachment takes hold or lets go.
    fn interval_from(&self, from: u64) -> MetricInterval {
        let switched = self.spans.iter().flatten().filter(|step| **step >= from).min();
        let last = switched.copied().unwrap_or(u64::MAX);
        let run = |until: u64, factors: Vec<f64>| MetricInterval {
            until,
            level: MetricParams { factors, active: self.active(from) },
        };
        if let Some(until) = self.steady_until(from) {
            return run(until.min(last), self.factors(from));
        }
        let mut until = self.reach(from, RATIO);
        let paced = from.saturating_add(self.pace - 1);
        if until < paced {
            until = self.reach(from, LARGEST_RATIO).min(paced);
        }
        until = until.min(last);
        for time in self.curves.iter().flatten().flat_map(|curve| &curve.times) {
            let k = (time / self.h).ceil();
            if k > from as f64 && k <= until as f64 && self.steady_until(k as u64).is_some() {
                until = k as u64 - 1;
            }
        }
        if until == from {
            return run(until, self.factors(from));
        }
        let middle = |(least, largest): (f64, f64)| (least * largest).sqrt();
        run(until, self.ranges(from, until).map(middle).collect())
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

    /// The last k for which no body's largest factor from `from` to k is more than `ratio` times its least.
    fn reach(&self, from: u64, ratio: f64) -> u64 {
        let within = |k: u64| self.ranges(from, k).all(|(least, largest)| largest <= ratio * least);
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

/// The part, if anything changes in the scene. Levels last as long as it takes to make the next one ready, by an estimate that
/// is the same on every machine.
pub fn make(setup: &Setup, cx: &mut StepContext) -> Result<Option<Box<dyn Part>>> {
    let Some(mut schedule) = MaterialSchedule::new(setup.scene, setup.model, setup.h) else {
        return Ok(None);
    };
    if cx.scheme.explicit().is_none() {
        let work = cx.timed(Phase::Factor, |cx| cx.backend.refactoring_cost());
        schedule.pace = ((work / cx.time.iterations as f64).ceil() as u64).max(1);
    }
    Ok(Some(Box::new(schedule)))
}

impl MaterialSchedule {
    /// Makes bodies as stiff as at the end of step `at`, for a step after so many.
    fn apply(&mut self, at: u64, as_work: bool, cx: &mut StepContext) -> Result<()> {
        let stiffness = self.stiffness(at, cx.time.steps + 1);
        let change = MaterialChange::Stiffness { stiffness: &stiffness, as_work };
        cx.timed(Phase::Factor, |cx| cx.backend.set_material(change))
    }
}

impl Part for MaterialSchedule {
    fn name(&self) -> &'static str {
        "material schedule"
    }

    /// Makes bodies as stiff as they are at the end of the step about to be made. What their energy gains by that, where they are,
    /// is work from outside.
    fn before_step(&mut self, cx: &mut StepContext) -> Result<()> {
        let steps = cx.time.steps;
        self.apply(steps + 1, true, cx)?;
        let (before, now) = (self.factors(steps), self.factors(steps + 1));
        let ratios = || before.iter().zip(&now).map(|(before, now)| before / now).collect();
        cx.shared.stiffness_before = (before != now).then(ratios);
        cx.shared.stiffness = now;
        Ok(())
    }

    /// Before the backend takes back a force: that is of the material at that time.
    fn load(&mut self, _: Option<&[u8]>, cx: &mut StepContext) -> Result<()> {
        self.restored(cx)
    }

    /// Makes bodies as stiff as they are now, after a start or a jump in time, which is not work.
    fn restored(&mut self, cx: &mut StepContext) -> Result<()> {
        self.rewind();
        (cx.shared.stiffness, cx.shared.stiffness_before) = (self.factors(cx.time.steps), None);
        self.apply(cx.time.steps, false, cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schedule with a time step of 0.1 s.
    fn schedule(curves: &[(&[f64], &[f64])]) -> MaterialSchedule {
        let curve = |(times, factors): &(&[f64], &[f64])| {
            Some(Keyframes { times: times.to_vec(), factors: factors.to_vec() })
        };
        MaterialSchedule::of(curves.iter().map(curve).collect(), Vec::new(), 0.1)
    }

    fn run(until: u64, factors: &[f64]) -> MetricInterval {
        MetricInterval { until, level: MetricParams { factors: factors.to_vec(), active: Vec::new() } }
    }

    /// MetricParams by level from the start, the last one without end.
    fn levels(schedule: &MaterialSchedule) -> Vec<(u64, MetricInterval)> {
        let mut all = vec![(1, schedule.interval_from(1))];
        while let Some(from) = all.last().unwrap().1.until.checked_add(1) {
            all.push((from, schedule.interval_from(from)));
        }
        all
    }

    #[test]
    fn constant_stiffness_is_one_exact_level() {
        let same = schedule(&[(&[3.0], &[2.5])]);
        assert_eq!(levels(&same), [(1, run(u64::MAX, &[2.5]))]);
        assert_eq!(same.next, None);
    }

    #[test]
    fn a_level_is_never_far_off_and_exact_where_nothing_changes() {
        let up_and_down =
            schedule(&[(&[1.0, 3.0, 3.5, 9.0], &[1.0, 8.0, 8.0, 0.3]), (&[2.0, 2.05], &[1.0, 3.0])]);
        let all = levels(&up_and_down);
        assert!(all.len() > 10, "{all:?}");
        for (from, run) in &all {
            for k in *from..=run.until.min(200) {
                for (s, metric) in up_and_down.factors(k).iter().zip(&run.level.factors) {
                    let off = (s / metric).max(metric / s);
                    assert!(off < RATIO.sqrt() * (1.0 + 1e-15), "step {k}: {s} in a level of {metric}");
                }
            }
        }
        // before, at the top and after, where nothing changes, it is exact
        assert_eq!(all[0], (1, run(10, &[1.0, 1.0])));
        assert!(all.contains(&(30, run(35, &[8.0, 3.0]))), "{all:?}");
        assert_eq!(all.last().unwrap().1, run(u64::MAX, &[0.3, 3.0]));
    }

    #[test]
    fn a_jump_between_two_steps_is_a_level_of_its_own() {
        let jump = schedule(&[(&[1.01, 1.02], &[1.0, 100.0])]);
        assert_eq!(levels(&jump), [(1, run(10, &[1.0])), (11, run(u64::MAX, &[100.0]))]);
    }

    #[test]
    fn levels_last_while_the_next_is_made_unless_they_would_be_far_off() {
        let mut slow = schedule(&[(&[0.0, 5.0, 5.2], &[1.0, 2.0, 20.0])]);
        slow.pace = 20;
        let all = levels(&slow);
        // 50 steps from 1 to 2: twenty by twenty instead of ten and more; 2 to 20 in two steps is as quick as it is
        assert_eq!(all.iter().map(|(from, _)| *from).collect::<Vec<_>>(), [1, 21, 41, 51, 52], "{all:?}");
        for (from, run) in &all {
            for k in *from..=run.until.min(60) {
                let (s, metric) = (slow.factors(k)[0], run.level.factors[0]);
                let off = (s / metric).max(metric / s);
                assert!(off < LARGEST_RATIO.sqrt() * (1.0 + 1e-15), "step {k}: {s} in a level of {metric}");
            }
        }
    }

    #[test]
    fn a_level_ends_where_an_attachment_takes_hold_or_lets_go() {
        let always = [0, u64::MAX];
        let steady = MaterialSchedule::of(vec![None], vec![always, [3, u64::MAX], [2, 5]], 0.1);
        let active: Vec<_> = levels(&steady).into_iter().map(|(k, run)| (k, run.level.active)).collect();
        let expected = [
            (1, vec![true, false, false]),
            (3, vec![true, false, true]),
            (4, vec![true, true, true]),
            (6, vec![true, true, false]),
        ];
        assert_eq!(active, expected);
        // in the middle of a change of stiffness, too: the factors are those of its own steps
        let curve = Keyframes { times: vec![0.0, 10.0], factors: vec![1.0, 2.0] };
        let changing = MaterialSchedule::of(vec![Some(curve)], vec![[7, u64::MAX]], 0.1);
        let (first, second) = (changing.interval_from(1), changing.interval_from(8));
        assert_eq!((first.until, &first.level.active[..]), (7, &[false][..]));
        let middle = (changing.factors(1)[0] * changing.factors(7)[0]).sqrt();
        assert!((first.level.factors[0] - middle).abs() < 1e-15, "{first:?}");
        assert!(second.until > 8 && second.level.active == [true], "{second:?}");
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
        assert_eq!(slow.interval_from(1).until / 1_000_000_000_000, 1000);
        assert!(slow.interval_from(2_000_000_000_000_000).until > 100_000_000_000_000_000);
    }
}
