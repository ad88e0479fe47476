//! What is in the folder of a run is not lost: to a second run, another writer, a link, a full disk, a signal.

use crate::common::{dashpot, fails, succeeds};
use dashpot::observe::folder::{Status, verify};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A small block, so that frames cost next to nothing.
pub const SCENE: &str = r#"
[time]
step = 0.02
frames = 40
[[body]]
name = "block"
mesh = { generate = "box", cells = [2, 1, 1], size = [0.2, 0.1, 0.1] }
material = { model = "arap", mu = 1e4, density = 1000.0 }
angular_velocity = [1.0, 2.0, 0.0]
"#;

/// A folder with the scene in it.
pub fn with_scene() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("block.toml"), SCENE).unwrap();
    folder
}

/// The arguments of a run of it into `r`.
pub fn run<'a>(more: &[&'a str]) -> Vec<&'a str> {
    run_into("r", more)
}

/// The same into another folder.
pub fn run_into<'a>(out: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "block.toml", "--backend", "cpu", "--threads", "1", "--out", out], more].concat()
}

/// A run that goes on in the background.
pub fn start(folder: &Path, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dashpot"));
    command.args(arguments).current_dir(folder).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits until a condition holds.
fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn rows(ledger: &Path) -> usize {
    fs::read_to_string(ledger).map_or(0, |text| text.lines().count().saturating_sub(1))
}

/// So many frames that it has to be stopped.
const ENDLESS: &[&str] = &["--frames", "10000000"];

#[test]
fn a_good_result_survives_a_second_run_that_is_killed() {
    let folder = with_scene();
    let path = folder.path();
    succeeds(path, &run(&["--export", "npy,gltf,obj"]));
    let before = fs::read(path.join("r/trajectory.npy")).unwrap();
    let mut second = start(path, &run(&[ENDLESS, &["--checkpoint", "1000000000"]].concat()));
    wait_for("rows of the second run", || rows(&path.join("r/ledger.csv")) > 60);
    second.kill().unwrap();
    second.wait().unwrap();
    assert_eq!(verify(&path.join("r/earlier/1")).unwrap().status, Status::Done);
    assert!(fs::read(path.join("r/earlier/1/trajectory.npy")).unwrap() == before);
    assert_eq!(verify(&path.join("r")).unwrap().status, Status::Running);
    // the third one is told of nothing new, and ends with a result of its own
    succeeds(path, &run(&[]));
    assert_eq!(verify(&path.join("r")).unwrap().status, Status::Done);
    for file in ["earlier", "trajectory.npy", "motion.glb", "frames"] {
        assert!(!path.join("r").join(file).exists(), "{file}");
    }
    let said = dashpot(path, &run(&[]));
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("the earlier result stays in r/earlier/1 until this run is done"), "{said}");
}

#[test]
fn a_run_goes_on_out_of_an_earlier_result() {
    let folder = with_scene();
    let path = folder.path();
    let exports = ["--export", "npy,pc2,mdd,gltf"];
    succeeds(path, &run_into("whole", &exports));
    succeeds(path, &run(&[&exports[..], &["--frames", "20"]].concat()));
    // fails in its first frames, and leaves the earlier result where it is
    let [gravity, step, density] =
        ["gravity=[0,-1e99,0]", "time.step=1e8", "body.block.material.density=1e99"];
    let overflow = ["--set", gravity, "--set", step, "--set", density];
    assert_eq!(dashpot(path, &run(&overflow)).status.code(), Some(1));
    assert_eq!(verify(&path.join("r")).unwrap().status, Status::Failed);
    succeeds(path, &run(&[&exports[..], &["--resume", "r/earlier/1/checkpoint.bin"]].concat()));
    assert_eq!(verify(&path.join("r")).unwrap().status, Status::Done);
    assert!(!path.join("r/earlier").exists());
    for file in ["ledger.csv", "trajectory.npy", "points.pc2", "points.mdd", "motion.glb"] {
        let [a, b] = ["whole", "r"].map(|out| fs::read(path.join(out).join(file)).unwrap());
        assert!(a == b, "{file}");
    }
}

#[test]
fn a_folder_has_one_writer_until_that_one_is_dead() {
    let folder = with_scene();
    let path = folder.path();
    let mut first = start(path, &run(ENDLESS));
    wait_for("rows of the first run", || rows(&path.join("r/ledger.csv")) > 3);
    fails(path, &run(&[]), 2, &["--out", &format!("process {}", first.id()), "r"]);
    fails(path, &run(&["--resume", "r/checkpoint.bin"]), 2, &["another run"]);
    first.kill().unwrap();
    first.wait().unwrap();
    succeeds(path, &run(&[]));
}

#[test]
fn files_of_others_are_not_touched() {
    let folder = with_scene();
    let path = folder.path();
    fs::create_dir_all(path.join("r/frames")).unwrap();
    let mine = ["r/motion.glb", "r/scene.toml", "r/frames/frame_00000.obj", "r/thesis.txt"];
    mine.iter().for_each(|file| fs::write(path.join(file), "mine").unwrap());
    let exports = ["--export", "gltf,obj"];
    fails(path, &run(&exports), 2, &["--out", "frames, motion.glb, scene.toml", "--force"]);
    assert!(mine.iter().all(|file| fs::read_to_string(path.join(file)).unwrap() == "mine"));
    let forced = dashpot(path, &run(&[&exports[..], &["--force"]].concat()));
    let said = String::from_utf8_lossy(&forced.stderr);
    assert!(forced.status.success(), "{said}");
    assert!(said.contains("replacing frames/frame_00000.obj, motion.glb, scene.toml"), "{said}");
    assert_eq!(fs::read_to_string(path.join("r/thesis.txt")).unwrap(), "mine");
    // in a folder of ours what no run wrote is not ours, either
    fs::write(path.join("r/points.pc2"), "mine").unwrap();
    fails(path, &run(&["--export", "pc2"]), 2, &["points.pc2", "--force"]);
    succeeds(path, &run(&[]));
    assert_eq!(fs::read_to_string(path.join("r/points.pc2")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(path.join("r/thesis.txt")).unwrap(), "mine");
    assert!(!path.join("r/motion.glb").exists() && !path.join("r/frames").exists());
}

#[test]
fn a_folder_that_is_a_file_is_bad_input() {
    let folder = with_scene();
    fs::write(folder.path().join("file"), "mine").unwrap();
    for out in ["file", "file/r"] {
        fails(folder.path(), &run_into(out, &[]), 2, &["--out", "file is a file"]);
    }
    fs::create_dir(folder.path().join("r")).unwrap();
    succeeds(folder.path(), &run(&["--frames", "1"]));
    fs::write(folder.path().join("r/frames"), "mine").unwrap();
    fails(folder.path(), &run(&["--export", "vtk"]), 2, &["r/frames is a file"]);
}

#[test]
#[cfg(unix)]
fn nothing_is_written_through_a_link() {
    use std::os::unix::fs::symlink;
    let folder = with_scene();
    let path = folder.path();
    fs::create_dir(path.join("elsewhere")).unwrap();
    fs::write(path.join("elsewhere/precious"), "mine").unwrap();
    fs::create_dir(path.join("real")).unwrap();
    symlink("real", path.join("r")).unwrap();
    succeeds(path, &run(&["--export", "obj"]));
    let resumed = ["--resume", "r/checkpoint.bin", "--frames", "50"];
    for (link, target) in [
        ("ledger.csv", "elsewhere/precious"),
        ("trajectory.npy", "elsewhere/precious"),
        ("manifest.json", "elsewhere/precious"),
        (".lock", "elsewhere/precious"),
        ("checkpoint.bin", "nowhere"),
        ("frames", "elsewhere"),
        ("plots", "elsewhere"),
        ("earlier", "elsewhere"),
    ] {
        let (link, kept) = (path.join("r").join(link), path.join("kept"));
        let moved = fs::rename(&link, &kept).is_ok();
        symlink(path.join(target), &link).unwrap();
        for more in [&["--export", "obj,npy"][..], &resumed] {
            let name = link.file_name().unwrap().to_str().unwrap();
            // what a run does not write may be a link
            if name != "trajectory.npy" || more[0] == "--export" {
                fails(path, &run(more), 2, &[name]);
                fails(path, &run(&[more, &["--force"]].concat()), 2, &[name]);
            }
        }
        assert_eq!(fs::read_to_string(path.join("elsewhere/precious")).unwrap(), "mine");
        assert_eq!(fs::read_dir(path.join("elsewhere")).unwrap().count(), 1);
        fs::remove_file(&link).unwrap();
        if moved {
            fs::rename(&kept, &link).unwrap();
        }
    }
    assert_eq!(verify(&path.join("r")).unwrap().status, Status::Done);
}

#[test]
fn what_a_killed_run_has_half_written_is_removed() {
    let folder = with_scene();
    let path = folder.path();
    succeeds(path, &run(&[]));
    for (file, stays) in [
        ("r/.ledger.csv.4242.part", false),
        ("r/plots/.energies.svg.1.part", false),
        ("r/.mine.part", true),
        ("r/.mine.12.part", true),
    ] {
        fs::write(path.join(file), "half").unwrap();
        succeeds(path, &run(&["--resume", "r/checkpoint.bin", "--frames", "41"]));
        assert_eq!(path.join(file).exists(), stays, "{file}");
    }
}

#[test]
fn a_damaged_checkpoint_names_the_one_before() {
    let folder = with_scene();
    let path = folder.path();
    let exports = ["--export", "npy,obj,vtk,mdd", "--checkpoint", "10"];
    succeeds(path, &run_into("whole", &exports));
    succeeds(path, &run(&[&exports[..], &["--frames", "30"]].concat()));
    let newest = fs::read(path.join("r/checkpoint.bin")).unwrap();
    fs::write(path.join("r/checkpoint.bin"), &newest[..newest.len() / 2]).unwrap();
    let words = ["damaged", "checkpoint.previous.bin in the same folder is intact"];
    fails(path, &run(&["--resume", "r/checkpoint.bin"]), 2, &words);
    // a ledger that is not that of the checkpoint
    let ledger = fs::read_to_string(path.join("r/ledger.csv")).unwrap();
    let previous = ["--resume", "r/checkpoint.previous.bin"];
    for (bad, word) in
        [(ledger.replacen("\n3,", "\n4,", 1), "damaged"), (ledger[..ledger.len() / 4].to_string(), "shorter")]
    {
        fs::write(path.join("r/ledger.csv"), bad).unwrap();
        fails(path, &run(&previous), 2, &["ledger.csv", word]);
    }
    fs::remove_file(path.join("r/ledger.csv")).unwrap();
    fails(path, &run(&previous), 2, &["ledger.csv", "beside it"]);
    fs::write(path.join("r/ledger.csv"), ledger).unwrap();
    succeeds(path, &run(&[&exports[..], &previous].concat()));
    assert_eq!(verify(&path.join("r")).unwrap().status, Status::Done);
    for file in ["ledger.csv", "trajectory.npy", "points.mdd", "frames.sha256", "frames.vtk.series"] {
        let [a, b] = ["whole", "r"].map(|out| fs::read(path.join(out).join(file)).unwrap());
        assert!(a == b, "{file}");
    }
}

#[test]
fn exports_that_are_not_gone_on_with_end_at_the_checkpoint_or_are_refused() {
    let folder = with_scene();
    let path = folder.path();
    succeeds(path, &run(&["--export", "obj,vtk", "--checkpoint", "10"]));
    succeeds(path, &run(&["--resume", "r/checkpoint.previous.bin"]));
    assert_eq!(verify(&path.join("r")).unwrap().status, Status::Done);
    for (frame, there) in [(30, true), (31, false)] {
        assert_eq!(path.join(format!("r/frames/frame_000{frame}.obj")).exists(), there);
    }
    for file in ["frames.sha256", "frames.vtk.series"] {
        let text = fs::read_to_string(path.join("r").join(file)).unwrap();
        assert!(text.contains("frame_00030.vtk") && !text.contains("frame_00031"), "{file}: {text}");
    }
    for (export, file) in
        [("npy", "trajectory.npy"), ("pc2", "points.pc2"), ("mdd", "points.mdd"), ("gltf", "motion.glb")]
    {
        succeeds(path, &run(&["--export", export, "--checkpoint", "10"]));
        let previous = ["--resume", "r/checkpoint.previous.bin"];
        fails(path, &run(&previous), 2, &["--resume", file, "after 30", &format!("--export {export}")]);
        assert_eq!(verify(&path.join("r")).unwrap().status, Status::Done, "nothing was touched");
        succeeds(path, &run_into("other", &previous));
        // nothing is beyond the newest one
        let before = fs::read(path.join("r").join(file)).unwrap();
        succeeds(path, &run(&["--resume", "r/checkpoint.bin", "--frames", "45"]));
        assert!(fs::read(path.join("r").join(file)).unwrap() == before);
        assert_eq!(verify(&path.join("r")).unwrap().status, Status::Done);
    }
}

/// Sends a signal as a terminal or a batch system does.
#[cfg(unix)]
fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
#[cfg(unix)]
fn a_signal_ends_the_run_after_the_frame_and_it_goes_on_to_the_same_bytes() {
    let folder = with_scene();
    let path = folder.path();
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let _ = fs::remove_dir_all(path.join("r"));
        let mut child = start(path, &run(&[ENDLESS, &["--export", "npy,pc2"]].concat()));
        wait_for("rows", || rows(&path.join("r/ledger.csv")) > 20);
        signal(&child, name);
        let mut said = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{said}");
        assert!(said.contains("--resume r/checkpoint.bin --out r"), "{said}");
        let summary = fs::read_to_string(path.join("r/summary.json")).unwrap();
        assert!(summary.contains("\"stopped\""), "{summary}");
        assert!(path.join("r/plots/energies.svg").exists());
        let manifest = verify(&path.join("r")).unwrap();
        let frames = rows(&path.join("r/ledger.csv")) - 1;
        assert_eq!((manifest.status, manifest.frame), (Status::Stopped, Some(frames)));
        let more = (frames + 15).to_string();
        let frames = ["--frames", &more, "--export", "npy,pc2"];
        succeeds(path, &run(&[&frames[..], &["--resume", "r/checkpoint.bin"]].concat()));
        succeeds(path, &run_into("whole", &frames));
        for file in ["ledger.csv", "trajectory.npy", "points.pc2", "checkpoint.bin"] {
            let [a, b] = ["whole", "r"].map(|out| fs::read(path.join(out).join(file)).unwrap());
            assert!(a == b, "{name}: {file}");
        }
    }
    // nothing to write: it ends all the same
    let endless = [&["run", "block.toml", "--backend", "cpu"], ENDLESS].concat();
    let child = start(path, &endless);
    wait_for_watch(&child);
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(143), "{said}");
    assert!(said.contains("stopped by SIGTERM after frame"), "{said}");
}

/// Waits until the program watches for SIGTERM, as Linux tells; elsewhere for a while.
#[cfg(unix)]
fn wait_for_watch(child: &Child) {
    let status = || fs::read_to_string(format!("/proc/{}/status", child.id()));
    if status().is_err() {
        return std::thread::sleep(Duration::from_secs(5));
    }
    wait_for("a handler of SIGTERM", || {
        let status = status().unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        // SIGTERM is 15, and the lowest bit is that of 1
        u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << 14) != 0
    });
}

/// Pictures that cannot be drawn are told, and no reason to end otherwise.
#[test]
#[cfg(unix)]
fn a_signal_is_what_ends_a_run_that_lacks_its_pictures() {
    let folder = with_scene();
    let path = folder.path();
    let pictures = ["--render", "64x48", "--adapter", "no such adapter"];
    let child = start(path, &run(&[ENDLESS, &pictures].concat()));
    wait_for("rows", || rows(&path.join("r/ledger.csv")) > 20);
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("no pictures: ") && said.contains("--resume r/checkpoint.bin --out r"), "{said}");
    let summary = fs::read_to_string(path.join("r/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["status"], "stopped");
    assert!(summary["error"].as_str().unwrap().contains("no such adapter"), "{summary}");
    assert_eq!(verify(&path.join("r")).unwrap().status, Status::Stopped);
}

/// A frame of this takes minutes: the first signal waits for its end, the second one does not.
#[test]
#[cfg(unix)]
fn a_second_signal_ends_at_once() {
    let folder = with_scene();
    let slow = ["--set", "time.iterations=100000000", "--set", "time.tolerance=0"];
    let child = start(folder.path(), &run(&slow));
    wait_for("the first row", || rows(&folder.path().join("r/ledger.csv")) == 1);
    std::thread::sleep(Duration::from_millis(200));
    signal(&child, "-INT");
    std::thread::sleep(Duration::from_millis(200));
    let start = Instant::now();
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    assert!(start.elapsed() < Duration::from_secs(20));
    assert!(!folder.path().join("r/summary.json").exists());
}
