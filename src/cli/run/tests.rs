//! A run on a backend that reports late writes the files of one that does not.

use super::{Args, Run};
use crate::backend::BackendChoice;
use crate::cli::backend::{BackendArgs, make};
use crate::disk::faults::{Fail, watch};
use crate::ledger::Row;
use crate::observe::output::Export;
use crate::setup::{self, build};
use crate::step::Simulation;
use crate::step::delayed_backend::{DelayedBackend, Gradient};
use std::path::Path;
use std::sync::Arc;

/// A run of ten frames of the bar into a folder, on the CPU or a late backend around it.
fn run(out: &Path, late: Option<Gradient>, export: Vec<Export>) -> crate::Result<()> {
    start(out, late, export, &[]).finish()
}

/// The same before its first frame, with overrides.
fn start(out: &Path, late: Option<Gradient>, export: Vec<Export>, set: &[&str]) -> Run {
    let set: Vec<String> = ["time.frames=10"].iter().chain(set).map(ToString::to_string).collect();
    let loaded = setup::load("bar", &set).unwrap();
    let model = Arc::new(build(&loaded).unwrap().model);
    let mut backend = make(&BackendArgs::of(BackendChoice::Cpu), &loaded, model.clone()).unwrap();
    if let Some(gradient) = late {
        backend = Box::new(DelayedBackend::new(backend, gradient));
    }
    let simulation = Simulation::new(&loaded.scene, model, backend).unwrap();
    let args = Args { out: Some(out.into()), export, every: 4, checkpoint: Some(3), ..Args::of_scene("bar") };
    Run::start(args, loaded, simulation, Vec::new()).unwrap()
}

fn text(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap()
}

#[test]
fn late_reports_give_the_same_files() {
    let folder = tempfile::tempdir().unwrap();
    let [prompt, late] = ["prompt", "late"].map(|name| folder.path().join(name));
    for export in
        [vec![], vec![Export::Obj, Export::Pc2, Export::Mdd, Export::Gltf, Export::Vtk], vec![Export::Npy]]
    {
        run(&prompt, None, export.clone()).unwrap();
        run(&late, Some(Gradient::Device), export.clone()).unwrap();
        let mut files = vec!["ledger.csv", "checkpoint.bin"];
        if export.contains(&Export::Pc2) {
            files.extend(["points.pc2", "points.mdd", "points.obj", "motion.glb", "frames.vtk.series"]);
            files.extend(["frames/frame_00004.obj", "frames/frame_00008.obj", "frames/frame_00008.vtk"]);
        }
        if export.contains(&Export::Npy) {
            files.push("trajectory.npy");
        }
        for file in files {
            let [a, b] = [&prompt, &late].map(|folder| std::fs::read(folder.join(file)).unwrap());
            assert!(a == b, "{export:?}: {file}");
        }
        let timings = text(&late, "timings.csv");
        let frames: Vec<_> = timings.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
        assert_eq!(frames, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"], "a row a frame");
        assert!(text(&late, "summary.json").contains("\"backend\": \"delayed, cpu, f64, "));
    }
}

/// The frame that fails is named, and the rows before it that were still on their way are in the ledger.
#[test]
fn a_run_that_fails_keeps_the_rows_on_their_way() {
    let folder = tempfile::tempdir().unwrap();
    run(&folder.path().join("whole"), None, vec![]).unwrap();
    let out = folder.path().join("failed");
    let error = run(&out, Some(Gradient::BreaksAt(5)), vec![]).unwrap_err().to_string();
    assert!(error.contains("frame 6"), "{error}");
    let (whole, kept) = (text(&folder.path().join("whole"), "ledger.csv"), text(&out, "ledger.csv"));
    assert_eq!(kept.lines().count(), 1 + 6, "header and frames 0 to 5");
    assert!(whole.starts_with(&kept));
    let summary = text(&out, "summary.json");
    assert!(summary.contains("failed") && summary.contains("frame 6"), "{summary}");
}

/// A device that goes away ends the run with its own error; rows that have arrived are kept.
#[test]
fn a_run_whose_device_is_lost_keeps_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    run(&folder.path().join("whole"), None, vec![]).unwrap();
    let out = folder.path().join("lost");
    let error = run(&out, Some(Gradient::LostAt(5)), vec![]).unwrap_err();
    assert_eq!(error.exit_code(), 1);
    assert!(error.to_string().contains("the device was lost: unplugged"), "{error}");
    let (whole, kept) = (text(&folder.path().join("whole"), "ledger.csv"), text(&out, "ledger.csv"));
    // the reports of frames 4 and 5 were on their way
    assert_eq!(kept.lines().count(), 1 + 4, "header and frames 0 to 3");
    assert!(whole.starts_with(&kept));
    let summary = text(&out, "summary.json");
    assert!(summary.contains("failed") && summary.contains("the device was lost"), "{summary}");
}

/// Shorter steps bring no device back.
#[test]
fn a_device_that_is_lost_is_no_reason_for_shorter_steps() {
    let folder = tempfile::tempdir().unwrap();
    let guarded =
        start(&folder.path().join("r"), Some(Gradient::LostAt(5)), vec![], &["energy.guard=substep"]);
    let error = guarded.finish().unwrap_err().to_string();
    assert!(error.contains("the device was lost: unplugged"), "{error}");
}

/// Rows arrive in batches, and some of one are dropped where another ends the run, or cannot be written.
#[test]
fn a_ledger_has_no_holes() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("r");
    let mut run = start(&out, None, vec![], &["energy.guard=stop"]);
    let mut output = run.open_output("").unwrap();
    let first = run.rows[0];
    let row = |frame, numerical| Row { frame, numerical, ..first };
    run.keep_row(row(1, 0.0), &mut output).unwrap();
    let error = run.keep_row(row(2, -1e9), &mut output).unwrap_err().to_string();
    assert!(error.contains("frame 2: energy is growing: 1.000e9 J gained on"), "{error}");
    assert!(error.contains("since frame 2; the run ends because"), "{error}");
    run.keep_row(row(4, -1e9), &mut output).unwrap();
    let frames = || -> Vec<String> {
        let ledger = text(&out, "ledger.csv");
        ledger.lines().skip(1).map(|line| line.split(',').next().unwrap().to_string()).collect()
    };
    assert_eq!((frames(), run.rows.len()), (["0", "1", "2"].map(String::from).to_vec(), 3));
    let (failed, _) = watch(Fail::Only(0), || run.keep_row(row(3, -1e9), &mut output));
    assert!(failed.unwrap_err().to_string().contains("was let fail"));
    run.keep_row(row(4, -1e9), &mut output).unwrap();
    assert_eq!((frames().len(), run.rows.len()), (3, 3));
}

/// A run of a bar with two examples into a folder, from a checkpoint if there is one.
fn run_examples(out: &Path, frames: usize, late: bool, resume: Option<&Path>) {
    let loaded = setup::load("bar-directions", &[format!("time.frames={frames}")]).unwrap();
    let model = Arc::new(build(&loaded).unwrap().model);
    let mut backend = make(&BackendArgs::of(BackendChoice::Cpu), &loaded, model.clone()).unwrap();
    if late {
        backend = Box::new(DelayedBackend::new(backend, Gradient::Device));
    }
    let simulation = Simulation::new(&loaded.scene, model, backend).unwrap();
    let args = Args {
        out: Some(out.into()),
        resume: resume.map(Path::to_path_buf),
        ..Args::of_scene("bar-directions")
    };
    Run::start(args, loaded, simulation, Vec::new()).unwrap().finish().unwrap();
}

/// Motion along examples is written a row a frame; asking for it changes nothing, and a run that is gone on with writes the same.
#[test]
fn examples_are_followed_frame_by_frame() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, late, part] = ["whole", "late", "part"].map(|name| folder.path().join(name));
    run_examples(&whole, 8, false, None);
    let table = text(&whole, "examples.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines[0],
        "frame,time,up-down.chi,up-down.rate,up-down.gamma,left-right.chi,left-right.rate,left-right.gamma"
    );
    assert_eq!(lines.len(), 1 + 9, "frame 0 included");
    let rows: Vec<Vec<f64>> =
        lines[1..].iter().map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    assert!(rows.iter().enumerate().all(|(frame, row)| row.len() == 8 && row[0] == frame as f64));
    assert!(rows[1..].iter().all(|row| (row[4], row[7]) == (5.0, 0.1)), "γ of the scene: {rows:?}");
    // lifted against the first pull and along the second one, it is let go at rest and comes back along both
    let [up, side] = [2, 5].map(|column| [rows[0][column], rows[8][column]]);
    assert!(up[0] < up[1] && up[1] < 0.0 && side[0] > side[1] && side[1] > 0.0, "{up:?} {side:?}");
    assert_eq!([rows[0][3], rows[0][6]], [0.0, 0.0]);
    for file in ["plots/examples.svg", "plots/examples.png"] {
        assert!(whole.join(file).is_file(), "{file}");
    }
    // nobody asks: the same motion
    let loaded = setup::load("bar-directions", &[]).unwrap();
    let model = Arc::new(build(&loaded).unwrap().model);
    let backend = make(&BackendArgs::of(BackendChoice::Cpu), &loaded, model.clone()).unwrap();
    let mut unasked = Simulation::new(&loaded.scene, model, backend).unwrap();
    let ledger: Vec<String> = (0..8).map(|_| unasked.frame().unwrap().csv()).collect();
    assert_eq!(text(&whole, "ledger.csv").lines().skip(2).collect::<Vec<_>>(), ledger);
    run_examples(&late, 8, true, None);
    assert_eq!(text(&late, "examples.csv"), table);
    run_examples(&part, 5, false, None);
    let checkpoint = part.join("checkpoint.bin");
    for out in [folder.path().join("elsewhere"), part] {
        run_examples(&out, 8, false, Some(&checkpoint));
        assert_eq!(text(&out, "examples.csv"), table, "{}", out.display());
    }
    // a scene without examples leaves nothing of those before it
    run(&whole, None, vec![]).unwrap();
    assert!(!whole.join("examples.csv").exists() && !whole.join("plots/examples.svg").exists());
}
