//! What a run exports is what programs that are not ours read: meshio, plyfile, trimesh and pygltflib, by
//! tests/reference/check_exports.py. They come from the Python index, at the versions in tests/reference/exports.txt.

use crate::common::{self, output_within};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The index may be slow or out of reach: then the test is skipped, and does not wait for it.
const INSTALLING: Duration = Duration::from_secs(120);
/// A check takes some seconds.
const CHECKING: Duration = Duration::from_secs(120);

/// A Python with the programs, in an environment of its own that is made once; or why there is none.
fn python() -> Result<PathBuf, String> {
    let wanted = include_str!("../reference/exports.txt");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("exports-python");
    let program = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
    let (python, installed) = (folder.join(program), folder.join("installed.txt"));
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == wanted) && python.exists() {
        return Ok(python);
    }
    let succeed = |command: &mut Command| {
        let output = output_within(command, INSTALLING)?;
        let said = String::from_utf8_lossy(&output.stdout);
        let last = said.lines().last().unwrap_or_default().to_string();
        output.status.success().then_some(()).ok_or(last)
    };
    succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/exports.txt");
    let patience = ["--timeout", "15", "--retries", "1", "--no-input", "--requirement", list];
    succeed(Command::new(&python).args(pip).args(patience))?;
    std::fs::write(&installed, wanted).map_err(|e| e.to_string())?;
    Ok(python)
}

/// A solid, a solid with a skin, a cloth and strands. Backward Euler: velocities are differences of positions.
const ZOO: &str = r#"
    time = { step = 0.02, frames = 9 }
    integrator = { kind = "backward-euler" }
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [4, 3, 3], size = [0.4, 0.3, 0.3] }
    material = { model = "corotated", young_modulus = 1e4, poisson_ratio = 0.3, density = 1000.0 }
    velocity = [0.3, 0.0, 0.0]
    stretch = [1.2, 1.0, 1.0]
    [[body]]
    name = 'a "ball"'
    mesh = { file = "rest.mesh", skin = "skin.obj" }
    material = { model = "corotated", young_modulus = 1e4, poisson_ratio = 0.3, density = 1000.0 }
    position = [0.0, 2.0, 0.0]
    angular_velocity = [0.0, 3.0, 1.0]
    [[body]]
    name = "sheet"
    mesh = { generate = "cloth", cells = [5, 4], size = [1.0, 0.8] }
    material = { model = "spring", stiffness = 200.0, mass = 0.2 }
    position = [2.0, 0.0, 0.0]
    [[body]]
    name = "hair"
    mesh = { generate = "hair", strands = 4, segments = 5, length = 0.3, radius = 0.08 }
    material = { model = "spring", stiffness = 20.0, bending_stiffness = 0.5, mass = 0.05 }
    position = [-2.0, 0.0, 0.0]
"#;

fn dashpot(folder: &Path, arguments: &[&str]) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_dashpot")).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn other_programs_read_every_export() {
    let python = match python() {
        Ok(python) => python,
        Err(why) => {
            return common::skipped(&format!("no Python with the programs that read exports ({why})"));
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // the skin lies inside the coarse ball, where it is plain which tetrahedron carries a vertex
    for (radius, cells, file) in [(0.4, 5, "rest.mesh"), (0.3, 9, "skin.obj")] {
        let ball = format!(r#"{{ generate = "ball", radius = {radius}, cells = {cells} }}"#);
        dashpot(path, &["mesh", "--generate", &ball, "--out", file]);
    }
    std::fs::write(path.join("zoo.toml"), ZOO).unwrap();
    let run =
        ["run", "zoo.toml", "--backend", "cpu", "--export", "obj,ply,vtk,pc2,mdd,gltf,npy", "--every", "2"];
    dashpot(path, &[&run[..], &["--out", "part", "--frames", "5"]].concat());
    dashpot(path, &[&run[..], &["--out", "whole"]].concat());
    dashpot(path, &[&run[..], &["--out", "part", "--resume", "part/checkpoint.bin"]].concat());
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/check_exports.py");
    let check = |run: &str| {
        let arguments = [program, run, "2", "1", "rest.mesh", "skin.obj"];
        let output =
            output_within(Command::new(&python).args(arguments).current_dir(path), CHECKING).unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for run in ["whole", "part"] {
        let (agree, said) = check(run);
        assert!(agree && said.contains("all exports agree: 5 frames"), "{run}: {said}");
    }
    // it does look: a bit of any of the files is noticed
    for file in ["points.pc2", "points.mdd", "motion.glb", "frames/frame_00008.ply"] {
        let file = path.join("whole").join(file);
        let bytes = std::fs::read(&file).unwrap();
        let mut other = bytes.clone();
        // in the last frame, in the sign and exponent of a coordinate, or an edge; glTF's weights are at its end
        let back = if file.ends_with("motion.glb") { 4 * 5 + 4 * 5 * 4 + 1 } else { 1 };
        let place = other.len() - back - if file.ends_with("points.mdd") { 3 } else { 0 };
        other[place] ^= 0x41;
        std::fs::write(&file, other).unwrap();
        let (agree, said) = check("whole");
        assert!(!agree && said.contains("FAILED"), "{}: {said}", file.display());
        std::fs::write(&file, bytes).unwrap();
    }
    assert!(check("whole").0, "all is as it was");
}
