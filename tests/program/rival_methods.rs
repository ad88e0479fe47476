//! `dashpot compare SCENE --rivals`: what it promises to print and to write, and who keeps the energy.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// A stretched cube that spins; nothing acts on it.
const SMALL: &str = r#"
gravity = [0.0, 0.0, 0.0]
damping = { model = "laplacian", stiffness = 1e-3 }
[[body]]
name = "cube"
mesh = { generate = "box", cells = [3, 3, 3], size = [1.0, 1.0, 1.0] }
material = { model = "corotated", young_modulus = 3e4, poisson_ratio = 0.3, density = 1000.0 }
stretch = [1.0, 1.3, 1.0]
angular_velocity = [0.0, 0.0, 3.0]
"#;

const NAMES: [&str; 5] = ["PD", "midpoint", "PD + FEPR", "midpoint + FEPR", "CPD"];

fn small() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    folder
}

fn ends(folder: &Path, arguments: &[&str], code: i32) -> (String, String) {
    let program = env!("CARGO_BIN_EXE_dashpot");
    let output = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}\n{err}");
    assert!(!err.contains("panicked"), "{err}");
    (out, err)
}

fn rivals(folder: &Path, more: &[&str]) -> (String, Value) {
    let arguments = [&["compare", "small.toml", "--rivals", "--json", "r.json"], more].concat();
    let (out, _) = ends(folder, &arguments, 0);
    let report: Value = serde_json::from_slice(&std::fs::read(folder.join("r.json")).unwrap()).unwrap();
    (out, report)
}

#[test]
fn every_method_has_a_row_and_cpd_drifts_least() {
    let folder = small();
    let (out, report) = rivals(folder.path(), &["--frames", "20"]);
    let rows = report["rivals"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, NAMES);
    for name in NAMES {
        assert!(out.lines().any(|line| line.starts_with(name)), "{name}: {out}");
    }
    let number = |row: &Value, field: &str| row[field].as_f64().unwrap();
    for row in rows {
        assert_eq!(
            (&row["status"], &row["frames"], &row["inverted"]),
            (&"done".into(), &20.into(), &0.into())
        );
        assert!(number(row, "median_ms") > 0.0 && number(row, "iterations") >= 1.0);
    }
    let (pd, cpd) = (&rows[0], &rows[4]);
    // backward Euler at h = 1/30 s eats a vibration of 2 Hz in some frames
    assert!(number(pd, "energy_end") < 0.8, "{pd}");
    // a step is solved when the energy is within 1e-4; in 20 of them that does not add up
    assert!(number(cpd, "energy_drift") < 2e-4, "{cpd}");
    let spin = report["angular_momentum"].as_f64().unwrap();
    assert!(number(cpd, "angular_momentum_drift") < 1e-9 * spin, "linear, so right to rounding: {cpd}");
    for other in &rows[..2] {
        for drift in ["energy_drift", "angular_momentum_drift"] {
            assert!(number(other, drift) > 10.0 * number(cpd, drift), "{drift}: {other} {cpd}");
        }
    }
    for projected in &rows[2..4] {
        assert!(number(projected, "angular_momentum_drift") >= number(cpd, "angular_momentum_drift"));
    }
}

/// A body of 1e100 kg at 1e100 m/s: its energy can be written, the square of its momentum cannot.
#[test]
fn a_method_that_fails_is_a_row_and_the_others_go_on() {
    let folder = small();
    let heavy = ["--set", "body.cube.velocity=[1e100,0,0]", "--set", "body.cube.material.density=1e100"];
    let (out, report) = rivals(folder.path(), &[&["--frames", "3"], &heavy[..]].concat());
    let rows = report["rivals"].as_array().unwrap();
    let status: Vec<&Value> = rows.iter().map(|row| &row["status"]).collect();
    assert_eq!(status, ["done", "done", "done", "done", "failed"]);
    assert_eq!((&rows[0]["frames"], &rows[4]["frames"]), (&3.into(), &0.into()));
    assert!(rows[4]["error"].as_str().unwrap().contains("frame 1: "), "{}", rows[4]);
    assert!(out.contains("failed after frame 0: frame 1: "), "{out}");
}

#[test]
fn what_is_held_or_touched_has_no_drift_of_angular_momentum() {
    let folder = small();
    let floor = format!("{SMALL}\n[[obstacle]]\nshape = \"plane\"\npoint = [0.0, -5.0, 0.0]\n");
    std::fs::write(folder.path().join("small.toml"), floor).unwrap();
    let (_, report) = rivals(folder.path(), &["--frames", "1"]);
    assert!(report["rivals"].as_array().unwrap().iter().all(|row| row["angular_momentum_drift"].is_null()));
}

#[test]
fn bad_arguments_are_bad_input() {
    let folder = small();
    let base = ["compare", "small.toml", "--rivals"];
    for more in [&["--frames", "0"][..], &["--bisect"], &["--adapter", "x"], &["--set", "time.step=-1"]] {
        let (_, err) = ends(folder.path(), &[&base[..], more].concat(), 2);
        assert!(err.contains("error"), "{err}");
    }
    ends(folder.path(), &["compare", "nowhere.toml", "--rivals"], 2);
}
