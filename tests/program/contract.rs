//! The public contract: subcommands, files, columns, exit codes; the same bytes from the same scene.

use crate::common::{dashpot, fails, succeeds};
use std::path::Path;
use std::process::Command;

const COLUMNS: &str = "frame,time,kinetic,elastic,gravity,contact,attachment,total,px,py,pz,lx,ly,lz,\
                       cmx,cmy,cmz,damped,numerical,work,iterations,residual,min_volume_ratio,inverted,contact_loss,plastic";

#[test]
fn a_run_writes_what_the_contract_names() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = [
        "run",
        "bar",
        "--frames",
        "6",
        "--out",
        "r",
        "--export",
        "obj,ply,vtk,pc2,mdd,gltf,npy",
        "--every",
        "3",
    ];
    succeeds(folder.path(), &arguments);
    let out = folder.path().join("r");
    let ledger = std::fs::read_to_string(out.join("ledger.csv")).unwrap();
    let lines: Vec<&str> = ledger.lines().collect();
    assert_eq!(lines[0], COLUMNS);
    assert_eq!(lines.len(), 1 + 7, "frame 0 included");
    for (k, line) in lines[1..].iter().enumerate() {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        assert_eq!(cells.len(), 26);
        assert_eq!(cells[0], k as f64);
        assert_eq!(cells[2..7].iter().sum::<f64>(), cells[7], "total is the sum of the energies before it");
    }
    let exports =
        ["points.pc2", "points.mdd", "points.obj", "motion.glb", "frames.vtk.series", "trajectory.npy"];
    for file in ["scene.toml", "timings.csv", "summary.json", "checkpoint.bin"].into_iter().chain(exports) {
        assert!(out.join(file).is_file(), "{file}");
    }
    for frame in ["00000", "00003", "00006"] {
        for ending in ["obj", "ply", "vtk"] {
            assert!(out.join(format!("frames/frame_{frame}.{ending}")).is_file());
        }
    }
    assert!(!out.join("frames/frame_00001.obj").exists());
    let summary: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["status"], "done");
    assert_eq!(summary["frames"], 6);
    assert!(summary["backend"].as_str().unwrap().starts_with("cpu, f64, "), "{}", summary["backend"]);
    // float64, (frames + 1) × vertices × 3
    let vertices = summary["vertices"].as_u64().unwrap() as usize;
    let npy = std::fs::read(out.join("trajectory.npy")).unwrap();
    let header_length = u16::from_le_bytes([npy[8], npy[9]]) as usize;
    let header = std::str::from_utf8(&npy[10..10 + header_length]).unwrap().replace(' ', "");
    assert!(header.contains("'<f8'") && header.contains(&format!("(7,{vertices},3)")), "{header}");
    assert_eq!(npy.len(), 10 + header_length + 7 * vertices * 24);
    // the scene with its defaults runs again, to the same ledger
    succeeds(folder.path(), &["run", "r/scene.toml", "--out", "again"]);
    assert_eq!(ledger, std::fs::read_to_string(folder.path().join("again/ledger.csv")).unwrap());
}

/// A reader that closes the pipe early is not an error, and no panic.
#[test]
fn a_closed_pipe_is_no_failure() {
    use std::process::Stdio;
    for arguments in [&["run", "bar", "--frames", "1"][..], &["scenes"], &["bench", "kernels", "--help"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dashpot"));
        let mut child =
            command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{arguments:?}");
    }
}

fn bytes(folder: &Path, file: &str) -> Vec<u8> {
    std::fs::read(folder.join(file)).unwrap()
}

#[test]
fn two_runs_give_the_same_bytes_with_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    for scene in ["bar", "cube", "hair", "cloth", "ribbon"] {
        for (out, threads) in [("a", "1"), ("b", "2"), ("c", "3")] {
            let arguments =
                ["run", scene, "--frames", "4", "--out", out, "--export", "npy", "--threads", threads];
            succeeds(folder.path(), &arguments);
        }
        for file in ["ledger.csv", "trajectory.npy"] {
            let [a, b, c] = ["a", "b", "c"].map(|run| bytes(folder.path(), &format!("{run}/{file}")));
            assert!(a == b && b == c, "{scene}: {file}");
        }
    }
}

const RESUMED: [&str; 8] = [
    "ledger.csv",
    "trajectory.npy",
    "points.pc2",
    "points.mdd",
    "points.obj",
    "motion.glb",
    "scene.toml",
    "frames/frame_00012.obj",
];

#[test]
fn a_resumed_run_gives_the_bytes_of_the_uninterrupted_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (scene, settings) in [
        ("bar", &["integrator.kind=bdf2"][..]),
        ("cube", &["damping.model=laplacian", "damping.stiffness=1e-3"][..]),
        ("ribbon", &["solver.precision=single"][..]),
    ] {
        let mut base = vec!["run", scene, "--export", "npy,pc2,mdd,gltf,vtk,obj,vtk", "--every", "2"];
        settings.iter().for_each(|setting| base.extend(["--set", setting]));
        let run = |more: &[&str]| succeeds(path, &[base.as_slice(), more].concat());
        run(&["--frames", "12", "--out", "whole"]);
        run(&["--frames", "5", "--out", "part"]);
        run(&["--frames", "12", "--resume", "part/checkpoint.bin", "--out", "elsewhere"]);
        run(&["--frames", "12", "--resume", "part/checkpoint.bin", "--out", "part"]);
        let series = bytes(path, "whole/frames.vtk.series");
        assert!(series == bytes(path, "part/frames.vtk.series"), "{scene}: the series in the same folder");
        let elsewhere = String::from_utf8(bytes(path, "elsewhere/frames.vtk.series")).unwrap();
        assert_eq!(
            elsewhere.matches("\"name\"").count(),
            4,
            "{scene}: only the frames of that folder: {elsewhere}"
        );
        for file in RESUMED {
            let whole = bytes(path, &format!("whole/{file}"));
            assert!(whole == bytes(path, &format!("part/{file}")), "{scene}: {file} in the same folder");
            assert!(whole == bytes(path, &format!("elsewhere/{file}")), "{scene}: {file} in another folder");
        }
        let timings = std::fs::read_to_string(path.join("part/timings.csv")).unwrap();
        assert_eq!(
            timings.lines().count(),
            1 + 13,
            "the timings of all frames, frame 0 (factoring) included"
        );
    }
}

#[test]
fn bad_arguments_end_with_code_two() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fails(path, &["run", "no-such-scene"], 2, &["no-such-scene", "bar"]);
    fails(path, &["run", "missing.toml"], 2, &["missing.toml"]);
    fails(path, &["run"], 2, &["SCENE"]);
    fails(path, &["frobnicate", "x"], 2, &[]);
    fails(path, &["run", "bar", "--frames", "many"], 2, &["many"]);
    fails(path, &["run", "bar", "--set", "damping.stiffnes=1"], 2, &["stiffnes"]);
    fails(path, &["run", "bar", "--set", "damping.model=glue"], 2, &["glue", "laplacian"]);
    fails(path, &["run", "bar", "--resume", "missing.bin"], 2, &["missing.bin"]);
    std::fs::write(path.join("garbage.bin"), b"dashpot checkpoint 7\n\xff\xff\xff\xff\xff\xff").unwrap();
    fails(path, &["run", "bar", "--resume", "garbage.bin"], 2, &["garbage.bin", "damaged"]);
    succeeds(path, &["run", "bar", "--frames", "2", "--out", "bar"]);
    let whole = bytes(path, "bar/checkpoint.bin");
    for at in [25, whole.len() / 3, whole.len() - 1] {
        let mut flipped = whole.clone();
        flipped[at] ^= 4;
        std::fs::write(path.join("flipped.bin"), flipped).unwrap();
        fails(path, &["run", "bar", "--resume", "flipped.bin"], 2, &["damaged"]);
        std::fs::write(path.join("cut.bin"), &whole[..at]).unwrap();
        fails(path, &["run", "bar", "--resume", "cut.bin"], 2, &["damaged"]);
    }
    let step = ["run", "bar", "--resume", "bar/checkpoint.bin", "--set", "time.step=0.01"];
    fails(path, &step, 2, &["time.step"]);
    fails(path, &["run", "bar", "--every", "0", "--out", "r"], 2, &["--every"]);
    fails(path, &["run", "bar", "--threads", "100000"], 2, &["100000"]);
    succeeds(path, &["run", "cube", "--frames", "1", "--out", "cube"]);
    fails(path, &["run", "bar", "--resume", "cube/checkpoint.bin"], 2, &["vertices"]);
}

/// Options that could have no effect, or whose fault would be known only when all is computed.
#[test]
fn options_that_cannot_be_meant_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let without = "--backend cpu uses none";
    fails(path, &["run", "bar", "--backend", "cpu", "--adapter", "x"], 2, &["--adapter", without]);
    fails(path, &["run", "bar", "--backend", "cpu", "--shaders", "."], 2, &["--shaders", without]);
    fails(path, &["run", "bar", "--backend", "cpu", "--gpu-from", "advance"], 2, &["--gpu-from", without]);
    fails(path, &["bench", "kernels", "--adapter", "x"], 2, &["--adapter", without]);
    for suite in ["papers", "scale", "kernels"] {
        fails(path, &["bench", suite, "--largest", "10"], 2, &["--largest", "the smallest case", "got 10"]);
    }
    std::fs::write(path.join("file"), "").unwrap();
    for command in [&["bench", "scale", "--largest", "2000"][..], &["compare", "bar", "--rivals"]] {
        for (json, word) in [
            ("none/r.json", "folder none does not exist"),
            (".", "is a folder"),
            ("file/r.json", "does not exist"),
        ] {
            fails(path, &[command, &["--json", json]].concat(), 2, &["--json", word]);
        }
    }
    assert_eq!(std::fs::read_dir(path).unwrap().count(), 1, "what was tried leaves no file");
}

/// The summary names what is held and how well, and contact; for readers and for scripts.
#[test]
fn the_summary_tells_what_is_held_and_what_touches() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let page = succeeds(path, &["run", "pushed-block", "--backend", "cpu", "--frames", "66", "--out", "r"]);
    assert!(page.contains("conserved   P, L, H by cpd, tolerance 1e-4: H of `block` off by "), "{page}");
    assert!(page.contains("contact     linear, friction 0.5; bodies touch 1 obstacle"), "{page}");
    let summary: serde_json::Value = serde_json::from_slice(&bytes(path, "r/summary.json")).unwrap();
    let held = &summary["conservation"];
    assert_eq!((&held["method"], &held["hold"]), (&"cpd".into(), &serde_json::json!(["P", "L", "H"])));
    // two substeps a frame
    assert_eq!((&held["tolerance"], &held["steps"]), (&1e-4.into(), &132.into()));
    let off = held["largest_off"].as_f64().unwrap();
    assert!(off > 0.0 && off < 1e-4 && held["steps_beyond"] == 0, "{held}");
    assert_eq!((&summary["contact"]["law"], &summary["contact"]["obstacles"]), (&"linear".into(), &1.into()));
    // two iterations are not enough for energy: that is told, too
    let arguments = ["run", "pushed-block", "--backend", "cpu", "--frames", "66"];
    let page = succeeds(path, &[&arguments[..], &["--set", "conservation.iterations=2"]].concat());
    assert!(page.contains("beyond the tolerance in "), "{page}");
    succeeds(path, &["run", "bar", "--backend", "cpu", "--frames", "1", "--out", "r"]);
    let summary: serde_json::Value = serde_json::from_slice(&bytes(path, "r/summary.json")).unwrap();
    assert!(summary["conservation"].is_null() && summary["contact"].is_null(), "{summary}");
}

/// Energies of 1e200 J stand in the columns of those of 1 J.
#[test]
fn large_numbers_stay_in_their_columns() {
    let folder = tempfile::tempdir().unwrap();
    let huge = ["--set", "body.bar.material.density=1e90", "--set", "body.bar.velocity=[1e50,0,0]"];
    let arguments = [&["run", "bar", "--backend", "cpu", "--frames", "1"], &huge[..]].concat();
    let page = succeeds(folder.path(), &arguments);
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("  ")).collect();
    assert!(rows.len() >= 8 && rows.iter().any(|row| row.contains("e1")), "{page}");
    let heads = page.lines().find(|line| line.starts_with("energy (J)")).unwrap();
    for row in rows {
        let account = ["lost to", "gained from", "external work"].iter().any(|part| row.contains(part));
        let width = if account { 47 } else { heads.len() };
        assert_eq!(row.len(), width, "{row:?} in\n{page}");
    }
}

#[test]
fn bad_input_leaves_earlier_results_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    succeeds(path, &["run", "bar", "--frames", "2", "--out", "r"]);
    let before = bytes(path, "r/ledger.csv");
    fails(path, &["run", "bar", "--set", "time.step=-1", "--out", "r"], 2, &["time.step"]);
    let scene = "[[body]]\nmesh = { file = \"none.mesh\" }\nmaterial = { model = \"arap\", mu = 1.0 }\n";
    std::fs::write(path.join("s.toml"), scene).unwrap();
    fails(path, &["run", "s.toml", "--out", "r"], 2, &["none.mesh"]);
    assert!(before == bytes(path, "r/ledger.csv"));
}

/// Scenes whose energy overflows in the first frame, though every number in them is in range.
const OVERFLOWS: [&str; 6] =
    ["--set", "gravity=[0,-1e99,0]", "--set", "time.step=1e8", "--set", "body.bar.material.density=1e99"];

/// A run whose numbers overflow stops with code 1, names frame and body, and keeps the frames before.
#[test]
fn a_run_that_is_no_longer_finite_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fails(path, &[&["run", "bar", "--out", "r"], &OVERFLOWS[..]].concat(), 1, &["frame 1", "`bar`"]);
    let ledger = std::fs::read_to_string(path.join("r/ledger.csv")).unwrap();
    assert_eq!(ledger.lines().count(), 2, "header and frame 0");
    let summary = std::fs::read_to_string(path.join("r/summary.json")).unwrap();
    assert!(summary.contains("failed") && summary.contains("frame 1"));
}

/// A user's scene is never overwritten by the one that a run writes; what is no regular file is written through.
#[test]
fn a_run_does_not_overwrite_its_scene() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let scene = succeeds(path, &["scenes", "bar"]);
    std::fs::create_dir(path.join("mine")).unwrap();
    std::fs::write(path.join("mine/scene.toml"), &scene).unwrap();
    fails(
        path,
        &["run", "mine/scene.toml", "--frames", "1", "--out", "mine"],
        2,
        &["overwrite", "scene.toml"],
    );
    let forced = ["run", "mine/scene.toml", "--frames", "1", "--out", "mine", "--force"];
    fails(path, &forced, 2, &["overwrite", "scene.toml"]);
    assert_eq!(std::fs::read_to_string(path.join("mine/scene.toml")).unwrap(), scene);
    // the one of a run may be gone on with in place
    succeeds(path, &["run", "bar", "--frames", "2", "--out", "r"]);
    let go_on = ["run", "r/scene.toml", "--frames", "3", "--resume", "r/checkpoint.bin", "--out", "r"];
    succeeds(path, &go_on);
}

/// A second run into a folder leaves nothing of the first that could be taken for its own.
#[test]
fn results_of_two_runs_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    succeeds(path, &["run", "bar", "--frames", "4", "--out", "r", "--export", "obj,npy,pc2,mdd,gltf,vtk"]);
    fails(path, &[&["run", "bar", "--out", "r"], &OVERFLOWS[..]].concat(), 1, &["frame 1"]);
    assert!(path.join("r/earlier/1/frames/frame_00004.obj").exists(), "kept, since the second has failed");
    for file in ["checkpoint.bin", "frames/frame_00004.obj"]
        .iter()
        .chain(&RESUMED[1..6])
        .chain(&["frames.vtk.series"])
    {
        assert!(!path.join("r").join(file).exists(), "{file} of the first run");
    }
    assert!(std::fs::read_to_string(path.join("r/summary.json")).unwrap().contains("failed"));
}

#[test]
#[cfg(target_os = "linux")]
fn an_output_that_cannot_be_written_ends_with_code_one() {
    let folder = tempfile::tempdir().unwrap();
    fails(folder.path(), &["run", "bar", "--frames", "1", "--out", "/proc/none"], 1, &["/proc/none"]);
}

/// The scenes of the README run, and say nothing that a reader would have to worry about.
#[test]
fn the_scenes_of_the_readme_run() {
    let readme = include_str!("../../README.md");
    let scenes: Vec<&str> =
        readme.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(scenes.len(), 2);
    for (number, scene) in scenes.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("scene.toml"), scene).unwrap();
        let output = dashpot(folder.path(), &["run", "scene.toml", "--frames", "60", "--backend", "cpu"]);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !told.contains("warning"), "scene {number}: {told}");
    }
}
