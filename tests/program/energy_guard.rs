//! Energy that nobody gave is told at the frame, ends the run, or is prevented by shorter steps.

use crate::common::{dashpot, fails, succeeds};
use std::path::Path;

/// A cube that is stretched and spins: the implicit midpoint rule with ten iterations at 1/30 s cannot hold its energy.
const GROWS: [&str; 8] = [
    "run",
    "conserved-cube",
    "--set",
    "conservation.method=none",
    "--set",
    "integrator.kind=implicit-midpoint",
    "--frames",
    "140",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    GROWS.iter().copied().chain(more.iter().copied()).collect()
}

/// The largest total energy of a run, of that at its start.
fn largest(folder: &Path) -> f64 {
    let ledger = std::fs::read_to_string(folder.join("ledger.csv")).unwrap();
    let totals: Vec<f64> =
        ledger.lines().skip(1).map(|row| row.split(',').nth(7).unwrap().parse().unwrap()).collect();
    totals.iter().fold(0.0, |largest: f64, total| largest.max(*total)) / totals[0]
}

#[test]
fn a_gain_is_told_at_its_frame() {
    let folder = tempfile::tempdir().unwrap();
    let output = dashpot(folder.path(), &with(&["--out", "r"]));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("warning: frame") && said.contains("energy is growing"), "{said}");
    let summary = std::fs::read_to_string(folder.path().join("r/summary.json")).unwrap();
    assert!(summary.contains("energy is growing"), "{summary}");
    assert!(largest(&folder.path().join("r")) > 1.2, "it does grow");
}

#[test]
fn a_gain_ends_a_run_that_asks_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let stop = with(&["--set", "energy.guard=stop", "--out", "r"]);
    let words = ["energy is growing", "beyond energy.limit since frame", "energy.guard is \"stop\""];
    fails(folder.path(), &stop, 1, &words);
    let summary: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("r/summary.json")).unwrap()).unwrap();
    assert_eq!(summary["status"], "failed");
    // the row that ended it is kept
    let largest = largest(&folder.path().join("r"));
    assert!((1.1..2.0).contains(&largest), "{largest}");
}

/// Shorter steps hold the energy at the limit, and a resumed run makes the same frames again.
#[test]
fn shorter_steps_keep_a_gain_small_and_resume_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let substep = ["--set", "energy.guard=substep", "--out"];
    let output = dashpot(folder.path(), &[&with(&substep)[..], &["whole"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.matches("backend: ").count() <= 1, "where it computes is chosen once: {said}");
    let largest = largest(&folder.path().join("whole"));
    assert!(largest < 1.3, "{largest} of the energy at the start");
    let summary = std::fs::read_to_string(folder.path().join("whole/summary.json")).unwrap();
    assert!(summary.contains("made again in shorter steps"), "{summary}");
    let half = [&with(&substep)[..], &["cut", "--frames", "120"]].concat();
    let half: Vec<&str> = half.iter().copied().filter(|word| *word != "140").collect();
    let first = half.iter().position(|word| *word == "--frames").unwrap();
    let half = [&half[..first], &half[first + 1..]].concat();
    succeeds(folder.path(), &half);
    succeeds(folder.path(), &[&with(&substep)[..], &["cut", "--resume", "cut/checkpoint.bin"]].concat());
    let ledger = |name: &str| std::fs::read_to_string(folder.path().join(name).join("ledger.csv")).unwrap();
    assert_eq!(ledger("whole"), ledger("cut"));
}

/// The standard output being full hides nothing of what went wrong.
#[test]
#[cfg(target_os = "linux")]
fn a_run_that_cannot_speak_still_tells_why_it_ends() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dashpot"));
    let output = command.args(with(&["--set", "energy.guard=stop"])).stdout(full).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("energy.guard is \"stop\""), "{said}");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dashpot"));
    let output = command.args(["run", "bar", "--frames", "1"]).stdout(full).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("standard output"), "{said}");
}

/// The energy available contains the gain: a limit of all of it would never be reached.
#[test]
fn a_limit_is_a_share_below_one() {
    let folder = tempfile::tempdir().unwrap();
    for limit in ["1", "1.0", "7", "0", "-0.2"] {
        let set = format!("energy.limit={limit}");
        fails(folder.path(), &["run", "bar", "--set", &set], 2, &["energy.limit", "a share between 0 and 1"]);
    }
    succeeds(folder.path(), &["run", "bar", "--frames", "1", "--set", "energy.limit=0.99"]);
}

/// A pile that explodes in contact took longer with every frame, up to 40 s; an explicit bar went on to numbers that are none.
#[test]
fn a_run_that_runs_away_ends() {
    let folder = tempfile::tempdir().unwrap();
    for (scene, kind) in [("box-pile", "newmark"), ("bar", "symplectic-euler")] {
        let kind = format!("integrator.kind={kind}");
        fails(folder.path(), &["run", scene, "--set", &kind], 1, &["a thousand times what there was"]);
    }
}

/// Damping inside the solve, beside an energy that is held, gains nothing.
#[test]
fn what_is_held_beside_damping_is_no_gain() {
    let folder = tempfile::tempdir().unwrap();
    let damped = ["--set", "damping.model=laplacian", "--set", "damping.stiffness=1e-3", "--frames", "60"];
    let output = dashpot(folder.path(), &[&["run", "conserved-cube"][..], &damped].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !said.contains("growing"), "{said}");
}

/// Matrices that cannot be factored name the body.
#[test]
fn a_matrix_without_a_factor_names_the_element() {
    let folder = tempfile::tempdir().unwrap();
    let flat = ["run", "bar", "--backend", "cpu", "--frames", "1", "--set", "body.0.mesh.size.1=1e-9"];
    let words = ["cannot factor the system matrix", "not positive definite at tetrahedron", "of body `bar`"];
    fails(folder.path(), &flat, 1, &words);
}
