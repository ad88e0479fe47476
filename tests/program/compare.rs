//! CPU and GPU side by side on the command line: what it promises to print and to write.
//!
//! These tests need an adapter; one in software is enough.

use crate::common;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const SOFTWARE: &str = "computed in software on the CPU: these timings say nothing about a GPU";

fn dashpot(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dashpot")).args(arguments).current_dir(folder).output().unwrap()
}

fn ends(folder: &Path, arguments: &[&str], code: i32) -> (String, String) {
    let output = dashpot(folder, arguments);
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}\n{err}");
    assert!(!err.contains("panicked"), "{err}");
    (out, err)
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The adapter that `--backend gpu` takes.
fn adapter(folder: &Path) -> Value {
    let listing: Value = serde_json::from_str(&ends(folder, &["adapters", "--json"], 0).0).unwrap();
    listing["adapters"].get(0).expect("these tests need an adapter; one in software is enough").clone()
}

#[test]
fn adapters_are_listed_and_software_is_called_software() {
    if common::context().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let best = adapter(folder.path());
    let (out, _) = ends(folder.path(), &["adapters"], 0);
    let (name, kind) = (best["name"].as_str().unwrap(), best["kind"].as_str().unwrap());
    let line = out.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(line.contains(kind) && line.contains("MiB"), "{line}");
    assert!(out.contains(&format!("--backend gpu:  {name}")), "{out}");
    let software = best["software"].as_bool().unwrap();
    assert_eq!(out.contains(SOFTWARE), software, "{out}");
    assert_eq!(out.contains("--backend auto: cpu"), software, "{out}");
    assert_eq!(kind.contains("software"), software);
}

/// A bar of 24 cubes under its weight, small enough that a device in software is quick.
const SMALL: &str = r#"
gravity = [0.0, -9.81, 0.0]
time = { iterations = 4 }
damping = { model = "laplacian", stiffness = 1e-3 }
[[body]]
name = "beam"
mesh = { generate = "box", cells = [6, 2, 2], size = [0.6, 0.2, 0.2] }
material = { model = "arap", mu = 1e5, density = 1000.0 }
[[body.attach]]
select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }
stiffness = 1e5
"#;

fn small() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    folder
}

#[test]
fn a_comparison_tells_times_traffic_and_deviations() {
    if common::context().is_none() {
        return;
    }
    let folder = small();
    let path = folder.path();
    let best = adapter(path);
    let (out, _) = ends(path, &["compare", "small.toml", "--frames", "10", "--json", "c.json"], 0);
    assert!(out.contains(best["name"].as_str().unwrap()) && out.contains(best["kind"].as_str().unwrap()));
    assert_eq!(out.contains(SOFTWARE), best["software"].as_bool().unwrap(), "{out}");
    let report = json(&path.join("c.json"));
    assert_eq!((&report["adapter"], &report["software"]), (&best, &best["software"]));
    let runs = report["runs"].as_array().unwrap();
    let names: Vec<&str> = runs.iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["cpu", "gpu exact", "gpu chebyshev", "gpu hybrid"]);
    for run in runs {
        assert_eq!(run["status"], "done");
        assert!(run["median_ms"].as_f64().unwrap() > 0.0 && run["speed_up"].as_f64().unwrap() > 0.0);
        assert_eq!(run["frames_ms"].as_array().unwrap().len(), 8, "but the first and the profiled one");
        assert_eq!(run["iterations"], 4.0);
        for phase in ["predict", "local", "global", "advance", "observe"] {
            assert!(run["phases_ms"][phase].as_f64().unwrap() >= 0.0, "{phase}");
        }
    }
    assert!(runs[0]["adapter"].is_null() && runs[0]["deviation"].is_null());
    for run in &runs[1..] {
        assert_eq!((&run["adapter"], &run["software"]), (&best, &best["software"]));
        // a tip that falls by centimetres: single precision, and for inner iterations a solve to a tenth in each of four
        // iterations, are a small part of that
        for when in ["first_frame", "all_frames"] {
            let deviation = &run["deviation"][when];
            assert!(deviation["sizes"].as_f64().unwrap() < 1e-3, "{when}: {deviation}");
            assert!(deviation["metres"].as_f64().unwrap() > 0.0, "single precision cannot be exact");
            assert_eq!(deviation["body"], "beam");
        }
        for sum in ["energy", "momentum", "angular_momentum", "damped"] {
            assert!(run["deviation"][sum].as_f64().unwrap() < 1e-2, "{sum}");
        }
        if best["timestamps"] == true {
            assert!(run["device_phases_ms"]["local"].as_f64().unwrap() > 0.0);
        }
    }
    let [exact, chebyshev, hybrid] = [1, 2, 3].map(|run: usize| &runs[run]["per_frame"]);
    // per iteration the gradient comes (12 bytes a vertex) and the correction goes
    let vertices = report["vertices"].as_f64().unwrap();
    assert_eq!(hybrid["uploaded"].as_f64().unwrap(), 4.0 * 12.0 * vertices);
    for resident in [exact, chebyshev] {
        assert_eq!(resident["submissions"], 1.0, "a frame is one submission");
        assert_eq!(resident["uploaded"], 0.0);
    }
    assert_eq!(runs[1]["inner_iterations"], 0);
    assert!(runs[2]["inner_iterations"].as_u64().unwrap() > 0);
    // with the same inner iterations on the CPU only rounding is left: a few units of 1e-7 a frame
    let rounding = runs[2]["rounding"]["all_frames"]["sizes"].as_f64().unwrap();
    assert!(rounding < 1e-5, "{rounding}");
}

#[test]
fn a_scene_that_the_device_refuses_runs_on_the_cpu_alone() {
    if common::context().is_none() {
        return;
    }
    let folder = small();
    let heavy = ["--set", "gravity=[0,-1e60,0]"];
    let arguments = [&["compare", "small.toml", "--frames", "2", "--json", "c.json"], &heavy[..]].concat();
    let (out, err) = ends(folder.path(), &arguments, 1);
    assert!(out.contains("refused") && out.contains("single precision"), "{out}");
    assert!(out.contains("speed-up") && err.contains("gpu exact: gravity is 1e60"), "{out}\n{err}");
    let report = json(&folder.path().join("c.json"));
    let status: Vec<&Value> = report["runs"].as_array().unwrap().iter().map(|run| &run["status"]).collect();
    assert_eq!(status, ["done", "refused", "refused", "refused"]);
}

/// On the CPU these numbers are finite; 24 tonnes at 1.6e18 m/s have 3e40 J, which single precision has not.
#[test]
fn a_run_that_fails_on_one_backend_is_named_and_the_others_go_on() {
    if common::context().is_none() {
        return;
    }
    let folder = small();
    let fast = ["--set", "body.beam.velocity=[9e17,9e17,9e17]", "--set", "body.beam.material.density=1e6"];
    let arguments = [&["compare", "small.toml", "--frames", "3", "--json", "c.json"], &fast[..]].concat();
    let (out, err) = ends(folder.path(), &arguments, 1);
    assert!(err.contains("error: gpu exact: "), "{err}");
    assert!(out.contains("failed"), "{out}");
    let report = json(&folder.path().join("c.json"));
    let status: Vec<&Value> = report["runs"].as_array().unwrap().iter().map(|run| &run["status"]).collect();
    assert_eq!(status, ["done", "failed", "failed", "failed"]);
}

#[test]
fn bisecting_tries_every_kernel_and_blames_none_that_is_right() {
    if common::context().is_none() {
        return;
    }
    let folder = small();
    let arguments = ["compare", "small.toml", "--bisect", "--frames", "1", "--json", "b.json"];
    let (out, _) = ends(folder.path(), &arguments, 0);
    let found = json(&folder.path().join("b.json"));
    let switches = found["switches"].as_array().unwrap();
    assert_eq!(switches.len(), dashpot::gpu::kernel::KERNELS.len());
    assert_eq!(switches[0]["gpu_from"], dashpot::gpu::kernel::KERNELS[0].name);
    assert!(out.contains("solve_up") && out.contains("chebyshev_update"), "{out}");
    assert_eq!(found["culprits"].as_array().unwrap().len(), 0, "{out}");
}

/// A shader with a fault in it is found: attachments that pull a tenth too hard.
#[test]
fn bisecting_finds_the_kernel_that_is_wrong() {
    let folder = small();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    copy(&sources, &folder.path().join("shaders"));
    let shader = folder.path().join("shaders/local/project_attachment.wgsl");
    let right = std::fs::read_to_string(&shader).unwrap();
    let wrong = right.replacen("attachment.stiffness", "1.1 * attachment.stiffness", 1);
    assert_ne!(right, wrong);
    std::fs::write(&shader, wrong).unwrap();
    let arguments =
        ["compare", "small.toml", "--bisect", "--frames", "2", "--shaders", "shaders", "--json", "b.json"];
    let (out, _) = ends(folder.path(), &arguments, 0);
    let found = json(&folder.path().join("b.json"));
    assert_eq!(found["culprits"], serde_json::json!(["project_attachment"]), "{out}");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, target) = entry.map(|entry| (entry.path(), to.join(entry.file_name()))).unwrap();
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

#[test]
fn bad_input_and_missing_adapters_have_their_exit_codes() {
    if common::context().is_none() {
        return;
    }
    let folder = small();
    let path = folder.path();
    ends(path, &["compare", "nosuch"], 2);
    ends(path, &["compare", "small.toml", "--frames", "0"], 2);
    ends(path, &["compare", "small.toml", "--set", "time.step=-1"], 2);
    let best = adapter(path);
    let (_, err) = ends(path, &["compare", "small.toml", "--adapter", "nosuch"], 1);
    assert!(err.contains("nosuch") && err.contains(best["name"].as_str().unwrap()), "{err}");
}

#[test]
fn a_benchmark_of_both_backends_names_the_adapter_with_every_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let best = adapter(path);
    let both = ["--backend", "cpu,gpu", "--frames", "2", "--json", "b.json"];
    let (out, _) = ends(path, &[&["bench", "scale", "--largest", "2000"], &both[..]].concat(), 0);
    assert!(out.contains(best["name"].as_str().unwrap()), "{out}");
    assert_eq!(out.contains(SOFTWARE), best["software"].as_bool().unwrap(), "{out}");
    let records = json(&path.join("b.json"));
    let records = records.as_array().unwrap();
    let variants: Vec<&str> = records.iter().map(|record| record["variant"].as_str().unwrap()).collect();
    assert_eq!(variants, ["cpu", "cpu single", "gpu exact", "gpu chebyshev", "gpu hybrid"]);
    for record in records {
        let on_device = record["variant"].as_str().unwrap().starts_with("gpu");
        let expected =
            if on_device { (&best, &best["software"]) } else { (&Value::Null, &Value::Bool(false)) };
        assert_eq!((&record["adapter"], &record["software"]), expected);
        assert!(record["median_ms"].as_f64().unwrap() > 0.0);
        assert!(record["speed_up"].as_f64().unwrap() > 0.0);
        // two frames of a bar that hangs from one end: single precision, and the inexact solve of inner iterations
        assert!(record["energy_deviation"].as_f64().unwrap() < 1e-2, "{record}");
        assert_eq!(record["per_frame"].is_object(), on_device);
    }
    let (_, err) = ends(path, &[&["bench", "--adapter", "nosuch"], &both[..]].concat(), 1);
    assert!(err.contains("nosuch") && err.contains(best["name"].as_str().unwrap()), "{err}");
}

/// What scripts read: without a device the benchmark's columns and fields are those they have always been.
#[test]
fn a_benchmark_of_the_cpu_is_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["bench", "scale", "--largest", "2000", "--frames", "2", "--json", "b.json"];
    let (out, _) = ends(folder.path(), &arguments, 0);
    let head = out.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(head, "case verts tets prec setup predict local global advance min median peak MB");
    let records = json(&folder.path().join("b.json"));
    let fields: Vec<&String> = records[0].as_object().unwrap().keys().collect();
    let expected = [
        "backend",
        "elements",
        "frames_ms",
        "iterating_ms",
        "iterations",
        "least_ms",
        "means_ms",
        "median_ms",
        "min_ms",
        "name",
        "phases_ms",
        "setup_ms",
        "variant",
        "vertices",
    ];
    assert_eq!(fields, expected);
}
