//! What does not fit into memory is refused with the numbers, in a second, and does not end in an abort.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// The program in a shell that limits its address space (KiB).
fn limited(folder: &Path, kilobytes: u64, arguments: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_dashpot");
    let command = format!("ulimit -v {kilobytes}; exec {program} {arguments} --backend cpu --threads 2");
    Command::new("sh").args(["-c", &command]).current_dir(folder).output().unwrap()
}

fn scene(folder: &Path, mesh: &str, material: &str) {
    let text = format!(
        "time = {{ frames = 2 }}\n[[body]]\nname = \"bar\"\nmesh = {{ {mesh} }}\nmaterial = {{ {material} }}\n"
    );
    std::fs::write(folder.join("scene.toml"), text).unwrap();
}

const ARAP: &str = "model = \"arap\", mu = 1e4";

/// That it is refused soon, naming all of this.
fn refused(folder: &Path, kilobytes: u64, arguments: &str, mentions: &[&str]) {
    let start = Instant::now();
    let output = limited(folder, kilobytes, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    for word in mentions {
        assert!(said.contains(word), "{arguments}: no `{word}` in {said}");
    }
}

#[test]
fn a_scene_too_large_for_the_memory_is_refused_with_the_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let address_space = "the limit of the address space";
    scene(path, "generate = \"box\", cells = [150, 150, 100], size = [1.0, 1.0, 1.0]", ARAP);
    let numbers = [
        "scene.toml:4: body.bar.mesh.cells",
        "13500000 elements",
        "about 8.6 GB",
        " GB are left",
        address_space,
    ];
    refused(path, 6_000_000, "run scene.toml", &numbers);
    // not even the mesh fits
    refused(path, 400_000, "run scene.toml", &["body.bar.mesh.cells", "a mesh of 13500000 elements", "MB"]);
    scene(path, "generate = \"cloth\", cells = [1000, 1000], size = [1.0, 1.0]", ARAP);
    refused(path, 1_000_000, "run scene.toml", &["body.bar.mesh.cells", address_space]);
    let springs = "model = \"spring\", stiffness = 10.0";
    scene(path, "generate = \"hair\", strands = 50000, segments = 40, length = 1.0, radius = 0.5", springs);
    refused(path, 600_000, "run scene.toml", &["body.bar.mesh.strands", address_space]);
    scene(path, "character = \"pig\", target_tets = 20000000", ARAP);
    refused(path, 4_000_000, "run scene.toml", &["body.bar.mesh.target_tets", "filling", address_space]);
}

/// A factor that does not fit is left out, or refused if the scene insists on it.
#[test]
fn a_factor_that_does_not_fit_is_replaced_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    scene(path, "generate = \"box\", cells = [40, 40, 40], size = [1.0, 1.0, 1.0]", ARAP);
    let few = "--set time.iterations=1 --frames 1";
    let output = limited(path, 550_000, &format!("run scene.toml {few} --out r"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let summary = std::fs::read_to_string(path.join("r/summary.json")).unwrap();
    assert!(summary.contains("do not fit into the memory"), "{summary}");
    refused(
        path,
        550_000,
        &format!("run scene.toml {few} --set solver.global=cholesky"),
        &["the factored matrix needs", "MB", "solver.global"],
    );
}
