//! Inverse design: searches curves for target amplitudes on its own thread.

use crate::app::session::spec::Spec;
use crate::design::search::{self, Remaining, Trial};
use crate::design::unload::Unloading;
use crate::design::{DecayGoal, Options, Outcome, Progress, Target, target};
use crate::error::InputError;
use crate::scene::{Example, LoadedScene, Over};
use crate::{Error, Result, cpu};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// An editable target.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name of the example.
    pub example: String,
    /// Initial |χ|.
    pub amplitude: f64,
    /// |χ| after one cycle.
    pub remaining: f64,
}

/// A row for an example that already has some: a larger amplitude with the same ratio.
pub fn next_row(rows: &[Row], example: &str) -> Row {
    let own = rows.iter().filter(|row| row.example == example);
    match own.max_by(|a, b| a.amplitude.total_cmp(&b.amplitude)) {
        Some(Row { amplitude, remaining, .. }) => {
            Row { example: example.into(), amplitude: 2.0 * amplitude, remaining: 2.0 * remaining }
        }
        None => Row { example: example.into(), amplitude: 0.8, remaining: 0.4 },
    }
}

/// Why a search would refuse the rows, in a sentence.
pub fn complaint(rows: &[Row], examples: &[Example]) -> Option<String> {
    if rows.is_empty() {
        return Some("Add a target first.".into());
    }
    let small = |row: &&Row| row.remaining.is_nan() || row.remaining >= row.amplitude;
    if let Some(row) = rows.iter().find(small) {
        return Some(format!("Less than {} must remain, not {}.", row.amplitude, row.remaining));
    }
    target::assign(&targets(rows), examples).err().map(|error| error.to_string())
}

fn targets(rows: &[Row]) -> Vec<Target> {
    let target = |row: &Row| Target {
        example: row.example.clone(),
        amplitude: row.amplitude,
        wish: DecayGoal::Remaining(row.remaining),
    };
    rows.iter().map(target).collect()
}

/// Progress of a search.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SearchProgress {
    /// Current target, number of targets, and round.
    pub target: usize,
    /// See `target`.
    pub targets: usize,
    /// See `target`.
    pub round: usize,
    pub trials: usize,
}

impl SearchProgress {
    /// Estimated fraction done: the number of rounds is unknown, but the first takes most of the tests.
    pub fn share(&self) -> f32 {
        let rounds = self.round.saturating_sub(1) as f32 + self.target as f32 / self.targets.max(1) as f32;
        1.0 - 0.25f32.powf(rounds)
    }
}

/// Result of a search.
#[derive(Debug, Clone)]
pub struct Found {
    /// All examples, with the curves found.
    pub examples: Vec<Example>,
    pub outcomes: Vec<Outcome>,
}

/// A search in progress, cancelled when dropped.
pub struct Search {
    search_progress: Arc<Mutex<SearchProgress>>,
    stop: Arc<AtomicBool>,
    arrival: Receiver<Result<Found>>,
}

impl std::fmt::Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search").field("stage", &self.search_progress()).finish_non_exhaustive()
    }
}

impl Search {
    /// Starts searching curves for a scene's current examples that meet the rows.
    pub fn start(spec: &Spec, examples: &[Example], rows: &[Row]) -> Search {
        let (sender, arrival) = channel();
        let (search_progress, stop) =
            (Arc::new(Mutex::new(SearchProgress::default())), Arc::new(AtomicBool::new(false)));
        let (spec, examples, targets) = (spec.clone(), examples.to_vec(), targets(rows));
        let (told, stopped) = (search_progress.clone(), stop.clone());
        let work = move || {
            let found = spec.load().and_then(|mut loaded| {
                loaded.scene.damping.examples = examples;
                find(&loaded, &targets, &told, &stopped)
            });
            // nobody may be waiting any more
            let _ = sender.send(found);
        };
        // if no thread can be created the sender is dropped, which is reported as a failure
        let _ = std::thread::Builder::new().name("design".into()).spawn(work);
        Search { search_progress, stop, arrival }
    }

    pub fn search_progress(&self) -> SearchProgress {
        *self.search_progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn done(&self) -> Option<Result<Found>> {
        match self.arrival.try_recv() {
            Ok(found) => Some(found),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(given_up("the search stopped unexpectedly"))),
        }
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn given_up(why: &str) -> Error {
    InputError::new(why).into()
}

/// A test that refuses to run once the search is cancelled.
struct Stoppable<'a> {
    test: Unloading,
    stop: &'a AtomicBool,
}

impl Trial for Stoppable<'_> {
    fn remaining(&mut self, example: usize, amplitude: f64, examples: &[Example]) -> Result<Remaining> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(given_up("the search was cancelled")),
            false => self.test.remaining(example, amplitude, examples),
        }
    }

    fn reach(&self, example: usize, over: Over) -> f64 {
        self.test.reach(example, over)
    }
}

fn find(
    loaded: &LoadedScene,
    targets: &[Target],
    search_progress: &Mutex<SearchProgress>,
    stop: &AtomicBool,
) -> Result<Found> {
    let mut examples = loaded.scene.damping.examples.clone();
    let assigned =
        target::assign(targets, &examples).map_err(|e| InputError::field("target", e.to_string()))?;
    let test = Unloading::new(loaded, &|loaded, model| cpu::backend(model, &loaded.scene.solver))?;
    test.check(&assigned).map_err(|e| InputError::field("target", e.to_string()))?;
    let mut test = Stoppable { test, stop };
    let mut tell = |progress: Progress<'_>| {
        let now = SearchProgress {
            target: progress.number,
            targets: progress.targets,
            round: progress.round,
            trials: progress.trials,
        };
        *search_progress.lock().unwrap_or_else(PoisonError::into_inner) = now;
    };
    let outcomes = search::search(&mut test, &mut examples, &assigned, &Options::default(), &mut tell)?;
    Ok(Found { examples, outcomes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::session::spec::Spec;
    use crate::design::End;
    use std::time::{Duration, Instant};

    fn row(amplitude: f64, remaining: f64) -> Row {
        Row { example: "bend".into(), amplitude, remaining }
    }

    fn bar() -> Spec {
        Spec::of("bar").with(&[
            "damping.model=laplacian",
            "damping.stiffness=0.002",
            "integrator.kind=trapezoidal",
            "body.0.mesh.cells=[6, 1, 1]",
            "damping.example=[{ name = \"bend\", shape = { mode = 1 } }]",
        ])
    }

    fn wait(search: &Search) -> Result<Found> {
        let start = Instant::now();
        loop {
            if let Some(done) = search.done() {
                return done;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{search:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn rows_follow_each_other_and_what_is_wrong_with_them_is_told() {
        let examples = bar().load().unwrap().scene.damping.examples;
        let first = next_row(&[], "bend");
        let second = next_row(std::slice::from_ref(&first), "bend");
        assert!(second.amplitude > first.amplitude && second.remaining < second.amplitude);
        assert_eq!(next_row(std::slice::from_ref(&second), "other").amplitude, first.amplitude);
        assert_eq!(complaint(&[first.clone(), second], &examples), None);
        assert!(complaint(&[], &examples).is_some());
        assert!(complaint(&[row(0.5, 0.5)], &examples).unwrap().contains("0.5"));
        assert!(complaint(&[row(0.5, f64::NAN)], &examples).is_some());
        assert!(complaint(&[first.clone(), first], &examples).is_some(), "the same amplitude twice");
        let unknown = Row { example: "ear".into(), ..row(0.5, 0.2) };
        assert!(complaint(&[unknown], &examples).unwrap().contains("ear"));
    }

    #[test]
    fn progress_never_goes_back_and_never_claims_to_be_done() {
        let search_progress = |round, target| SearchProgress { target, targets: 3, round, trials: 0 }.share();
        let shares = [
            search_progress(1, 0),
            search_progress(1, 1),
            search_progress(1, 2),
            search_progress(2, 0),
            search_progress(2, 1),
            search_progress(3, 0),
        ];
        assert!(
            shares.windows(2).all(|pair| pair[0] < pair[1]) && shares.iter().all(|s| *s < 1.0),
            "{shares:?}"
        );
        assert_eq!(SearchProgress::default().share(), 0.0);
    }

    #[test]
    fn a_search_finds_the_curve_and_can_be_given_up() {
        let spec = bar();
        let examples = spec.load().unwrap().scene.damping.examples;
        let search = Search::start(&spec, &examples, &[row(0.5, 0.2)]);
        let found = wait(&search).unwrap();
        let outcome = &found.outcomes[0];
        assert_eq!(outcome.end, End::Reached, "{outcome:?}");
        // the tolerance of a search
        assert!((outcome.reached - 0.2).abs() <= 0.01 * 0.2, "{outcome:?}");
        assert!(found.examples[0].curve.is_some() && search.search_progress().trials > 0);
        let search = Search::start(&spec, &examples, &[row(0.3, 0.1), row(0.6, 0.2), row(0.9, 0.3)]);
        let stop = search.stop.clone();
        stop.store(true, Ordering::Relaxed);
        assert!(wait(&search).unwrap_err().to_string().contains("cancelled"));
        let search = Search::start(&Spec::of("no-such-scene"), &examples, &[row(0.5, 0.2)]);
        assert!(wait(&search).is_err());
    }
}
