//! Every shader as browsers compile it: by Tint, which checks more than naga does (uniform control flow at barriers), on a device with the limits that
//! every browser promises. tests/tint/check_shaders.mjs runs Dawn, which has Tint, in node; the package comes from npm's registry, at the
//! version in tests/tint/package-lock.json.

use crate::common::{output_within, skipped};
use dashpot::gpu::kernel::KERNELS;
use dashpot::gpu::shader::{Library, Source};
use dashpot::view::renderer::shaders;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The registry may be slow or out of reach: then the test is skipped, and does not wait for it.
const INSTALLING: Duration = Duration::from_secs(120);
/// A check takes some seconds.
const CHECKING: Duration = Duration::from_secs(120);
/// The program's exit code where Dawn does not run.
const NO_DAWN: i32 = 3;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tint");

/// The folder with the package, installed once; or why there is none.
fn packages() -> Result<PathBuf, String> {
    output_within(Command::new("node").arg("--version"), CHECKING)?;
    let wanted = include_str!("../tint/package-lock.json");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tint");
    let installed = folder.join("installed.json");
    if std::fs::read_to_string(&installed).is_ok_and(|text| text == wanted) {
        return Ok(folder);
    }
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    for file in ["package.json", "package-lock.json"] {
        std::fs::copy(Path::new(FOLDER).join(file), folder.join(file)).map_err(|e| e.to_string())?;
    }
    let patience = ["--fetch-timeout=15000", "--fetch-retries=1"];
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let mut install = Command::new(npm);
    install.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).args(patience).current_dir(&folder);
    let output = output_within(&mut install, INSTALLING)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stdout);
        return Err(said.lines().find(|line| line.contains("error")).unwrap_or("npm failed").to_string());
    }
    std::fs::write(&installed, wanted).map_err(|e| e.to_string())?;
    Ok(folder)
}

/// Exit code and words of the check of all shaders in a folder.
fn check(packages: &Path, folder: &Path) -> (Option<i32>, String) {
    let program = Path::new(FOLDER).join("check_shaders.mjs");
    let mut command = Command::new("node");
    command.arg(program).args([packages, folder]);
    let output = output_within(&mut command, CHECKING).unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Writes the whole text of every kernel and every shader of the renderer; their number.
fn write_shaders(folder: &Path) -> usize {
    let kernels = KERNELS.iter().map(|kernel| kernel.file.to_string());
    let drawn = shaders().into_iter().map(|name| format!("render/{name}"));
    let all: Vec<String> = kernels.chain(drawn).collect();
    for file in &all {
        let source = Source::of(&Library::BuiltIn, file).unwrap();
        std::fs::write(folder.join(file.replace('/', "-") + ".wgsl"), source.text).unwrap();
    }
    all.len()
}

/// What naga lets pass and Tint does not, so that the test is known to see it: a barrier that not all threads reach, and
/// more workgroup memory than a browser promises.
const REFUSED: [(&str, &str, &str); 2] = [
    (
        "barrier",
        "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) lane: u32) {
            if a[lane] > 3u { return; }
            workgroupBarrier();
            a[lane] = 1u;
        }",
        "must only be called from uniform control flow",
    ),
    (
        "memory",
        "var<workgroup> all: array<vec4<f32>, 1025>;
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) lane: u32) { all[lane] = vec4(1.0); }",
        "workgroup storage",
    ),
];

#[test]
fn browsers_accept_every_shader() {
    let packages = match packages() {
        Ok(packages) => packages,
        Err(why) => return skipped(&format!("no node with Dawn ({why})")),
    };
    let folder = tempfile::tempdir().unwrap();
    for (name, text, _) in REFUSED {
        std::fs::write(folder.path().join(format!("{name}.wgsl")), text).unwrap();
    }
    let (code, said) = check(&packages, folder.path());
    if code == Some(NO_DAWN) {
        return skipped(&format!("Dawn does not run here ({})", said.trim()));
    }
    assert_eq!(code, Some(1), "{said}");
    for (name, _, reason) in REFUSED {
        assert!(said.lines().any(|line| line.starts_with(name) && line.contains(reason)), "{name}: {said}");
    }
    let folder = tempfile::tempdir().unwrap();
    let count = write_shaders(folder.path());
    let (code, said) = check(&packages, folder.path());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with(&format!("{count} shaders")), "{said}");
}
