//! A run that is cut anywhere and gone on with is the run that was never cut, byte by byte, whatever is combined.
//!
//! `DASHPOT_RESUME_CASES=5000 cargo test --release --test program resume_anywhere` runs more; `DASHPOT_FIRST_SEED` says from where.

use crate::common::of_each;
use crate::sampled::{Dice, INTEGRATORS, Sampled, cases};
use dashpot::observe::checkpoint::Checkpoint;
use dashpot::observe::folder::hash::Entry;
use dashpot::scene::LoadedScene;
use dashpot::setup::{self, build};
use dashpot::step::Snapshot;
use dashpot::{Error, Simulation, cpu, ledger};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The ledger's lines and the trajectory, frame 0 included, and what ended the run.
#[derive(Clone, Default)]
struct Motion {
    ledger: Vec<String>,
    trajectory: Vec<Vec<u64>>,
    error: Option<String>,
}

impl Motion {
    fn note(&mut self, simulation: &Simulation) {
        self.ledger.push(simulation.last_row().csv());
        let numbers = simulation.positions().iter().flat_map(|x| x.iter().map(|number| number.to_bits()));
        self.trajectory.push(numbers.collect());
    }

    /// Makes frames until there are so many.
    fn run(&mut self, simulation: &mut Simulation, frames: usize) {
        while simulation.frame_number() < frames && self.error.is_none() {
            match simulation.frame() {
                Ok(_) => self.note(simulation),
                Err(error) => self.error = Some(error.to_string()),
            }
        }
    }

    /// `ledger.csv`.
    fn csv(&self) -> String {
        format!("{}\n{}\n", ledger::HEADER, self.ledger.join("\n"))
    }
}

/// A scene that can be begun with any number of frames, and how many the whole run has.
struct Case<'a> {
    load: &'a (dyn Fn(String) -> Result<LoadedScene, Error> + Sync),
    frames: usize,
}

/// A case that runs so many frames, ready for the first one.
fn start(case: &Case, frames: usize) -> Result<(LoadedScene, Simulation), Error> {
    let loaded = (case.load)(format!("time.frames={frames}"))?;
    let model = Arc::new(build(&loaded)?.model);
    let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
    let mut simulation = Simulation::new(&loaded.scene, model, backend)?;
    simulation.prepare()?;
    Ok((loaded, simulation))
}

/// What has become of a case.
#[derive(Debug, PartialEq)]
enum Outcome {
    Same,
    /// The same failure in the same frame.
    FailedAlike,
    Refused,
    Differs(String),
}

/// Cuts a run at the frame that is chosen of those made, and compares.
fn try_case(case: &Case, choose: impl Fn(usize) -> usize, change: &dyn Fn(&mut Snapshot)) -> Outcome {
    let mut whole = Motion::default();
    match start(case, case.frames) {
        Err(Error::Input(fault)) if fault.field.is_some() && fault.message.len() > 20 => {
            return Outcome::Refused;
        }
        Err(error) => return Outcome::Differs(format!("refused without a field and a reason: {error}")),
        Ok((_, mut simulation)) => {
            whole.note(&simulation);
            whole.run(&mut simulation, case.frames);
        }
    }
    let made = whole.ledger.len();
    let cut = choose(made);
    match resumed(case, cut, change) {
        Err(error) => Outcome::Differs(format!("cut at {cut}: {error}")),
        Ok(motions) => {
            let wrong = motions.iter().find_map(|(what, motion)| differs(&whole, motion).map(|d| (what, d)));
            match wrong {
                Some((what, how)) => Outcome::Differs(format!("cut at frame {cut} of {made}, {what}: {how}")),
                None if whole.error.is_some() => Outcome::FailedAlike,
                None => Outcome::Same,
            }
        }
    }
}

/// The run that is cut and gone on with from a file, and the one that has only written the file.
fn resumed(
    case: &Case,
    cut: usize,
    change: &dyn Fn(&mut Snapshot),
) -> Result<[(&'static str, Motion); 2], Error> {
    let (loaded, mut first) = start(case, cut)?;
    let mut before = Motion::default();
    before.note(&first);
    before.run(&mut first, cut);
    let scene = loaded.standalone().to_toml();
    let mut checkpoint = Checkpoint::of(&mut first, &scene, Entry::of(before.csv().as_bytes()))?;
    change(&mut checkpoint.snapshot);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    checkpoint.write(&mut file).unwrap();
    let (loaded, mut second) = start(case, case.frames)?;
    let mut read = Checkpoint::read(file.path())?;
    assert!(!read.restore(&loaded.standalone(), &mut second, file.path())?, "it is the same scene");
    let [mut after, mut on] = [0; 2].map(|_| before.clone());
    after.run(&mut second, case.frames);
    on.run(&mut first, case.frames);
    Ok([("gone on with after its checkpoint", on), ("resumed", after)])
}

/// The first frame in which two runs differ.
fn differs(whole: &Motion, other: &Motion) -> Option<String> {
    let rows = whole.ledger.iter().zip(&other.ledger).position(|(a, b)| a != b);
    let places = whole.trajectory.iter().zip(&other.trajectory).position(|(a, b)| a != b);
    if let Some(frame) = rows.into_iter().chain(places).min() {
        return Some(format!("frame {frame}:\n{}\n{}", whole.ledger[frame], other.ledger[frame]));
    }
    let ends = |motion: &Motion| (motion.ledger.len(), motion.error.clone());
    (ends(whole) != ends(other)).then(|| format!("{:?}, then {:?}", ends(whole), ends(other)))
}

/// All outcomes of these seeds, with what is done to the checkpoints.
fn outcomes(seeds: &[u64], change: &(dyn Fn(&mut Snapshot) + Sync)) -> Vec<Outcome> {
    of_each(seeds, |seed| {
        let sampled = Sampled::of(*seed);
        let load = |frames| setup::load_text("sampled.toml", &sampled.text, &[frames]);
        let case = Case { load: &load, frames: sampled.frames };
        try_case(&case, |made| Dice::new(!*seed).below(made), change)
    })
}

#[test]
fn a_run_cut_anywhere_resumes_to_the_same_bytes() {
    let seeds: Vec<u64> = cases("DASHPOT_RESUME_CASES", 432).collect();
    let outcomes = outcomes(&seeds, &|_| ());
    let count = |wanted: Outcome| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    let [same, failed, refused] = [Outcome::Same, Outcome::FailedAlike, Outcome::Refused].map(count);
    println!("{} cases: {same} the same, {failed} failed alike, {refused} refused", seeds.len());
    let mut wrong = 0;
    for (seed, outcome) in seeds.iter().zip(&outcomes) {
        if let Outcome::Differs(how) = outcome {
            wrong += 1;
            println!("seed {seed}: {how}\n{}", Sampled::of(*seed).text);
        }
    }
    assert_eq!(wrong, 0, "of {} cases", seeds.len());
    assert!(same * 2 > seeds.len(), "too few of the cases run for this to mean much");
    let integrators: BTreeSet<&str> = seeds
        .iter()
        .zip(&outcomes)
        .filter(|(_, outcome)| **outcome == Outcome::Same)
        .map(|(seed, _)| Sampled::of(*seed).integrator)
        .collect();
    assert_eq!(integrators.len(), INTEGRATORS.len(), "{integrators:?}");
}

type Change = fn(&mut Snapshot);

/// A checkpoint that lacks anything of this is found out: the cases see all that a step starts from.
#[test]
fn whatever_a_checkpoint_lacks_is_noticed() {
    let changes: [(&str, Change); 8] = [
        ("positions before", |s| s.state.positions_before.clone_from(&s.state.positions)),
        ("velocities before", |s| s.state.velocities_before.clone_from(&s.state.velocities)),
        ("viscous forces", |s| s.state.viscous.clear()),
        ("forces", |s| s.state.forces.clear()),
        ("book", |s| s.book = Default::default()),
        ("steps", |s| s.steps += 1),
        ("parts", |s| s.parts.clear()),
        ("last bits", |s| {
            s.state.positions.iter_mut().for_each(|x| *x = f64::from_bits(x.to_bits() ^ 1));
        }),
    ];
    let seeds: Vec<u64> = (0..108).collect();
    for (what, change) in changes {
        let noticed = outcomes(&seeds, &change);
        let noticed = noticed.iter().filter(|outcome| matches!(outcome, Outcome::Differs(_))).count();
        println!("{what}: noticed in {noticed} cases");
        assert!(noticed > 0, "{what}");
    }
}

/// Runs that once went on otherwise: what is held changes, or the stiffness, and the next step starts with the force of the last one.
#[test]
fn runs_whose_stiffness_has_changed_resume_to_the_same_bytes() {
    let stiffer = "body.0.material.keyframes={ times = [0.1, 0.5], factors = [1, 8] }";
    let beam = ["body.0.mesh.cells=[6, 2, 2]", "time.iterations=20"].map(String::from);
    let mut cases = Vec::new();
    for (kind, substeps) in [("trapezoidal", 1), ("newmark", 1), ("bathe", 1), ("velocity-verlet", 60)] {
        for history in [0, 5] {
            let set = [
                format!("integrator.kind={kind}"),
                format!("time.substeps={substeps}"),
                format!("solver.history={history}"),
            ];
            cases.push(("unloaded-beam", 44, 60, [&set[..], &beam].concat()));
            cases.push(("bar", 9, 14, [&set[..], &[stiffer.into()]].concat()));
        }
    }
    let outcomes = of_each(&cases, |(scene, cut, frames, set)| {
        let load = |frames| setup::load(scene, &[&set[..], &[frames]].concat());
        let case = Case { load: &load, frames: *frames };
        try_case(&case, |made| (*cut).min(made - 1), &|_| ())
    });
    for (case, outcome) in cases.iter().zip(outcomes) {
        assert!([Outcome::Same, Outcome::FailedAlike].contains(&outcome), "{case:?}: {outcome:?}");
    }
}
