//! Whatever operation on the disk fails, and whenever the power goes: there is a valid result, the old one or the new one.

use super::{Args, Run};
use crate::Result;
use crate::backend::BackendChoice;
use crate::cli::backend::{BackendArgs, make};
use crate::disk::faults::{Done, Fail, watch};
use crate::disk::power_loss::Disk;
use crate::observe::folder::layout::CHECKPOINTS;
use crate::observe::folder::{Manifest, Status, verify};
use crate::observe::output::Export;
use crate::setup::{self, build};
use crate::step::Simulation;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A block with an example, so that every table is written.
const SCENE: &str = r#"
    [damping]
    model = "laplacian"
    stiffness = 1e-4
    [[damping.example]]
    name = "slowest"
    shape = { mode = 1 }
    gamma = 2.0
    [time]
    step = 0.02
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [2, 1, 1], size = [0.2, 0.1, 0.1] }
    material = { model = "arap", mu = 1e4, density = 1000.0 }
    angular_velocity = [1.0, 2.0, 0.0]
"#;

/// Runs it into a folder, with all exports and a checkpoint every two frames.
fn run(out: &Path, frames: usize, resume: Option<PathBuf>) -> Result<()> {
    let loaded = setup::load_text("test", SCENE, &[format!("time.frames={frames}")]).unwrap();
    let model = Arc::new(build(&loaded).unwrap().model);
    let backend = make(&BackendArgs::of(BackendChoice::Cpu), &loaded, model.clone()).unwrap();
    let simulation = Simulation::new(&loaded.scene, model, backend).unwrap();
    let args = Args {
        out: Some(out.into()),
        export: vec![Export::Obj, Export::Vtk, Export::Pc2, Export::Mdd, Export::Gltf, Export::Npy],
        every: 2,
        checkpoint: Some(2),
        resume,
        ..Args::of_scene("test")
    };
    Run::start(args, loaded, simulation, Vec::new())?.finish()
}

/// Frames of the run before, with two checkpoints, and of the one that is watched.
const OLD: usize = 4;
const NEW: usize = 7;

/// What the run that is watched begins with: nothing, or a checkpoint in the folder.
const BEGINNINGS: [Option<&str>; 3] = [None, Some(CHECKPOINTS[0]), Some(CHECKPOINTS[1])];

/// What is computed and exported, byte by byte.
fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let manifest = Manifest::read(folder).unwrap();
    let told = |name: &String| {
        let timed = ["timings.csv", "summary.json", "checkpoint.previous.bin"].contains(&name.as_str());
        !timed && !name.starts_with("plots/")
    };
    let names = manifest.present(folder).into_iter().filter(told);
    names.map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (path, target) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(path, target).unwrap();
        }
    }
}

/// A whole result stands, in the folder or kept in it, and what the folder says of itself is true.
fn check_standing(out: &Path, context: &str) {
    let own = verify(out);
    assert!(own.is_ok() || !out.join("manifest.json").exists(), "{context}: {own:?}");
    let earlier = (1..4).map(|number| verify(&out.join(format!("earlier/{number}"))));
    let whole = [own].into_iter().chain(earlier).flatten().any(|found| found.status == Status::Done);
    assert!(whole, "{context}: no result is left");
}

/// A checkpoint can be resumed, to the same bytes.
fn check_resumes(out: &Path, expected: &BTreeMap<String, Vec<u8>>, context: &str) {
    let manifest = verify(out).unwrap_or_else(|error| panic!("{context}: {error}"));
    assert!(manifest.frame.is_some(), "{context}");
    let [newest, previous] = CHECKPOINTS.map(|name| out.join(name));
    let checkpoint = if newest.exists() { newest } else { previous };
    run(out, NEW, Some(checkpoint)).unwrap_or_else(|error| panic!("{context}: {error}"));
    check_complete(out, expected, context);
}

fn check_complete(out: &Path, expected: &BTreeMap<String, Vec<u8>>, context: &str) {
    assert_eq!(verify(out).unwrap().status, Status::Done, "{context}");
    let made = bytes(out);
    assert!(made.keys().eq(expected.keys()), "{context}: {:?}", made.keys());
    for (name, made) in made {
        assert!(made == expected[&name], "{context}: {name}");
    }
    for entry in fs::read_dir(out).unwrap().map(|entry| entry.unwrap().file_name()) {
        let name = entry.to_string_lossy();
        assert!(name != "earlier" && !name.ends_with(".part"), "{context}: {name} is left");
    }
}

/// Folders to begin with: one with a finished run, one with a run that can be gone on with, and the bytes of the whole one.
struct Cases {
    scratch: tempfile::TempDir,
    whole: BTreeMap<String, Vec<u8>>,
}

impl Cases {
    fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let at = |name: &str| scratch.path().join(name);
        run(&at("whole"), NEW, None).unwrap();
        run(&at("old"), OLD, None).unwrap();
        assert!(CHECKPOINTS.iter().all(|name| at("old").join(name).is_file()));
        assert!(at("old/examples.csv").is_file());
        Cases { whole: bytes(&at("whole")), scratch }
    }

    fn template(&self) -> PathBuf {
        self.scratch.path().join("old")
    }

    /// A copy of the finished run, and what a run there does to the disk.
    fn attempt(&self, name: &str, resume: Option<&str>, fail: Fail) -> (PathBuf, Result<()>, Vec<Done>) {
        let out = self.scratch.path().join(name);
        copy(&self.template(), &out);
        let checkpoint = resume.map(|name| out.join(name));
        let (result, log) = watch(fail, || run(&out, NEW, checkpoint));
        (out, result, log)
    }
}

/// Does the work for all numbers, on two threads.
fn each(numbers: usize, work: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(number) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < numbers) {
                    work(number);
                }
            });
        }
    });
}

#[test]
fn whatever_operation_fails_a_valid_result_remains() {
    let cases = Cases::new();
    for resume in BEGINNINGS {
        let (out, result, log) = cases.attempt("count", resume, Fail::None);
        result.unwrap();
        check_complete(&out, &cases.whole, "nothing fails");
        fs::remove_dir_all(out).unwrap();
        assert!(log.len() > 120, "{}", log.len());
        each(log.len(), |number| {
            for fail in [Fail::Only(number), Fail::From(number)] {
                let context = format!("{fail:?} of {}, {:?}, resume: {resume:?}", log.len(), log[number]);
                let (out, result, _) = cases.attempt(&format!("{fail:?}"), resume, fail);
                check_failed(&out, &result, resume.is_some(), &context);
                if resume.is_none() {
                    check_standing(&out, &context);
                    if number % 8 == 0 {
                        run(&out, NEW, None).unwrap_or_else(|error| panic!("{context}: {error}"));
                        check_complete(&out, &cases.whole, &context);
                    }
                } else if number % 4 == 0 {
                    check_resumes(&out, &cases.whole, &context);
                } else {
                    verify(&out).unwrap_or_else(|error| panic!("{context}: {error}"));
                }
                fs::remove_dir_all(out).unwrap();
            }
        });
    }
}

/// The run says that it failed, and so does its summary, if it has one and that is not of the run before.
fn check_failed(out: &Path, result: &Result<()>, resume: bool, context: &str) {
    let Err(error) = result else { return };
    assert_eq!(error.exit_code(), 1, "{context}: {error}");
    assert!(error.to_string().contains("was let fail"), "{context}: {error}");
    let Some(manifest) = Manifest::read(out).filter(|manifest| manifest.status == Status::Failed) else {
        return;
    };
    let own = !resume || matches!(manifest.files.get("summary.json"), Some(Some(_)));
    if let (true, Ok(text)) = (own, fs::read_to_string(out.join("summary.json"))) {
        assert!(text.contains("\"failed\"") && text.contains("was let fail"), "{context}: {text}");
    }
}

#[test]
fn whenever_the_power_goes_a_valid_result_remains() {
    let cases = Cases::new();
    for resume in BEGINNINGS {
        let before = Disk::of(&cases.template());
        let (out, result, log) = cases.attempt("logged", resume, Fail::None);
        result.unwrap();
        fs::remove_dir_all(&out).unwrap();
        let moved = |path: &PathBuf| cases.template().join(path.strip_prefix(&out).unwrap());
        let log: Vec<Done> = log.iter().map(|done| done.elsewhere(moved)).collect();
        each(log.len() + 1, |number| {
            let mut disk = before.clone();
            log[..number].iter().for_each(|done| disk.apply(done));
            let mut seed = number as u64 * 2 + 1;
            let mut random = move || {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                seed >> 63 == 1
            };
            for kind in ["all lost", "all kept", "some lost", "some lost again"] {
                let context = format!("{kind} after {number} of {}, resume: {resume:?}", log.len());
                let out = cases.scratch.path().join(format!("{kind}-{number}"));
                disk.after_loss(&out, || match kind {
                    "all lost" => false,
                    "all kept" => true,
                    _ => random(),
                });
                match resume {
                    None => check_standing(&out, &context),
                    Some(_) => drop(verify(&out).unwrap_or_else(|error| panic!("{context}: {error}"))),
                }
                if number % 16 == 0 && resume.is_some() {
                    check_resumes(&out, &cases.whole, &context);
                } else if number % 16 == 0 {
                    run(&out, NEW, None).unwrap_or_else(|error| panic!("{context}: {error}"));
                    check_complete(&out, &cases.whole, &context);
                }
                fs::remove_dir_all(out).unwrap();
            }
        });
    }
}
