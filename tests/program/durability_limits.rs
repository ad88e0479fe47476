//! Killed at any moment, on a disk that is full, over a ledger that cannot be written, over thousands of frames.

use crate::common::{Random, dashpot, succeeds};
use crate::durability::{SCENE, run, run_into, start, with_scene};
use dashpot::observe::folder::{Status, verify};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

/// Moments at which runs are killed, unless DASHPOT_KILLS says how many.
const KILLS: usize = 24;
const EXPORTS: [&str; 4] = ["--export", "npy,pc2,mdd,gltf,obj,vtk", "--every", "2"];

/// All files of frames, and what else is the same for the same scene.
fn computed(out: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut names: Vec<PathBuf> = ["ledger.csv", "trajectory.npy", "points.pc2", "points.mdd", "points.obj"]
        .into_iter()
        .chain(["motion.glb", "frames.vtk.series", "frames.sha256", "scene.toml", "checkpoint.bin"])
        .map(PathBuf::from)
        .collect();
    let frames = fs::read_dir(out.join("frames")).unwrap();
    names.extend(frames.map(|entry| Path::new("frames").join(entry.unwrap().file_name())));
    names.sort();
    names.into_iter().map(|name| (name.clone(), fs::read(out.join(name)).unwrap())).collect()
}

/// What a run that is done should have cleared away.
fn left_behind(out: &Path, was_killed: bool) -> Vec<OsString> {
    let names = fs::read_dir(out).unwrap().map(|entry| entry.unwrap().file_name());
    // killed after its manifest said so, it has not cleared away what it replaced
    names
        .filter(|name| name == "earlier" && !was_killed || name.to_string_lossy().ends_with(".part"))
        .collect()
}

#[test]
fn killed_at_any_moment_a_run_ends_with_the_same_bytes() {
    let folder = with_scene();
    let path = folder.path();
    let kills = std::env::var("DASHPOT_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let frames = [&EXPORTS[..], &["--checkpoint", "5", "--frames", "60"]].concat();
    let begun = Instant::now();
    succeeds(path, &run_into("whole", &frames));
    let duration = begun.elapsed();
    let whole = computed(&path.join("whole"));
    let (out, mut random) = (path.join("r"), Random::new(22));
    let [mut killed, mut resumed, mut rounds] = [0; 3];
    while killed < kills {
        assert!(rounds < 10 * kills, "{killed} of {rounds} were killed before their end");
        rounds += 1;
        // over a good result in every second round
        if rounds % 2 == 0 {
            let _ = fs::remove_dir_all(&out);
        }
        let (mut moments, mut was_killed) = (0, false);
        while !out.join("summary.json").exists()
            || moments == 0
            || verify(&out).unwrap().status != Status::Done
        {
            let checkpoint = ["r/checkpoint.bin", "r/checkpoint.previous.bin"].into_iter().find(|file| {
                let is_new = moments > 0;
                is_new && path.join(file).exists()
            });
            let resume = checkpoint.map_or(vec![], |file| vec!["--resume", file]);
            let mut child = start(path, &run(&[&frames[..], &resume].concat()));
            // three times at most: then it may come to its end
            if moments < 3 {
                let moment = duration.mul_f64(0.55 * (1.0 + random.number()));
                std::thread::sleep(moment);
                let _ = child.kill();
            }
            let output = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!([Some(0), None].contains(&output.status.code()), "round {rounds}, {resume:?}: {said}");
            was_killed = output.status.code().is_none();
            killed += usize::from(was_killed);
            resumed += usize::from(checkpoint.is_some());
            if out.join("manifest.json").exists() {
                verify(&out).unwrap_or_else(|error| panic!("round {rounds}: {error}"));
            }
            moments += 1;
        }
        let made = computed(&out);
        assert_eq!(made.len(), whole.len(), "round {rounds}");
        for ((name, made), (_, whole)) in made.iter().zip(&whole) {
            assert!(made == whole, "round {rounds}: {}", name.display());
        }
        let left = left_behind(&out, was_killed);
        assert!(left.is_empty(), "round {rounds}: {left:?}");
    }
    assert!(resumed > 0, "some had a checkpoint");
    eprintln!("{killed} killed in {rounds} rounds, {resumed} resumed");
}

/// What a shell's `script` says, in a folder; `$DASHPOT` is the program.
#[cfg(target_os = "linux")]
fn shell(folder: &Path, script: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", script]).current_dir(folder).env("DASHPOT", env!("CARGO_BIN_EXE_dashpot"));
    command.output().unwrap()
}

/// After a run that found no more room: it says so, in its summary if that had room, and what is there is valid.
#[cfg(target_os = "linux")]
fn check_full(out: &Path, output: &Output, context: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{context}: {said}");
    assert!(said.contains("error: "), "{context}: {said}");
    let found = verify(out).unwrap_or_else(|error| panic!("{context}: {error}"));
    if found.status == Status::Done {
        // there was not even room to begin: the earlier one, of ten frames
        assert_eq!(found.frame, Some(10), "{context}");
        return;
    }
    if let Ok(summary) = fs::read_to_string(out.join("summary.json")) {
        assert!(summary.contains("\"failed\""), "{context}: {summary}");
    }
    let ledger = fs::read_to_string(out.join("ledger.csv")).unwrap_or_default();
    assert!(ledger.is_empty() || ledger.ends_with('\n'), "{context}: half a row");
    assert!(ledger.lines().all(|line| line.split(',').count() == 26), "{context}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_that_may_not_grow_ends_with_code_one_and_a_shorter_result() {
    let folder = with_scene();
    let path = folder.path();
    succeeds(path, &run(&["--frames", "10"]));
    // 12 vertices of 24 bytes a frame: 64 blocks of 512 bytes are reached after 113 frames
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$DASHPOT\" run block.toml --backend cpu --threads 1 --out r \
                  --frames 400 --export npy --checkpoint 20";
    let output = shell(path, script);
    check_full(&path.join("r"), &output, "a limit on the size of files");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("File too large"), "{said}");
    let manifest = verify(&path.join("r")).unwrap();
    assert!(
        manifest.status == Status::Failed && manifest.frame.is_some_and(|frame| frame >= 20),
        "{manifest:?}"
    );
    assert!(fs::read_to_string(path.join("r/summary.json")).unwrap().contains("File too large"));
    assert_eq!(verify(&path.join("r/earlier/1")).unwrap().status, Status::Done);
    // with room it goes on to the same bytes
    let more = ["--frames", "400", "--export", "npy"];
    succeeds(path, &run(&[&more[..], &["--resume", "r/checkpoint.bin"]].concat()));
    succeeds(path, &run_into("whole", &more));
    for file in ["ledger.csv", "trajectory.npy"] {
        assert!(
            fs::read(path.join("whole").join(file)).unwrap() == fs::read(path.join("r").join(file)).unwrap()
        );
    }
}

/// A disk in memory of a given size, where the system lets us mount one.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_ends_with_code_one_and_a_valid_result() {
    let folder = with_scene();
    let path = folder.path();
    let mount = |kilobytes: usize| {
        format!("mount -t tmpfs -o size={kilobytes}k none r 2>/dev/null || exit 99; cp -a good/. r; ")
    };
    succeeds(path, &run_into("good", &["--frames", "10"]));
    fs::create_dir(path.join("r")).unwrap();
    let used = String::from_utf8(shell(path, "du -sk good").stdout).unwrap();
    let used: usize = used.split_whitespace().next().unwrap().parse().unwrap();
    let mut full = 0;
    for room in [4, 12, 30, 60, 100, 160, 250, 400].map(|more| used + more) {
        let run = "\"$DASHPOT\" run block.toml --backend cpu --threads 1 --out r --frames 500 --checkpoint 20 \
                   --export npy,pc2,mdd,gltf,obj,vtk --every 5; code=$?; cp -a r copy; exit $code";
        let script = format!("unshare -m sh -c '{}{run}'", mount(room));
        let output = shell(path, &script);
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(99) || said.contains("unshare") {
            eprintln!("skipped: no disk may be mounted here: {said}");
            return;
        }
        if said.contains("No space left") {
            let copy = path.join("copy");
            full += 1;
            if copy.join("manifest.json").exists() {
                check_full(&copy, &output, &format!("{room} kB"));
            }
            let kept = [copy.clone(), copy.join("earlier/1")];
            let whole = kept.iter().any(|kept| verify(kept).is_ok_and(|found| found.status == Status::Done));
            assert!(whole, "{room} kB: the earlier result is lost: {said}");
        }
        fs::remove_dir_all(path.join("copy")).unwrap();
    }
    assert!(full > 2, "{full} disks were full");
}

/// Permissions do not bind the superuser: then the program is run as nobody.
#[test]
#[cfg(target_os = "linux")]
fn a_ledger_that_cannot_be_written_costs_neither_checkpoint_nor_summary() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let folder = tempfile::tempdir().unwrap();
    let (path, open) = (folder.path(), fs::Permissions::from_mode(0o777));
    fs::set_permissions(path, open).unwrap();
    fs::write(path.join("block.toml"), SCENE).unwrap();
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
    let call = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dashpot"));
        command.args(arguments).current_dir(path);
        if is_root {
            command.uid(65534).gid(65534);
        }
        command.output()
    };
    match call(&run(&["--frames", "10"])) {
        Ok(output) if output.status.success() => {}
        other => return eprintln!("skipped: the program cannot be run as nobody: {other:?}"),
    }
    let ledger = path.join("r/ledger.csv");
    fs::set_permissions(&ledger, fs::Permissions::from_mode(0o444)).unwrap();
    let kept =
        ["r/checkpoint.bin", "r/summary.json", "r/ledger.csv"].map(|file| fs::read(path.join(file)).unwrap());
    let output = call(&run(&["--resume", "r/checkpoint.bin"])).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("r/ledger.csv"), "{said}");
    let now =
        ["r/checkpoint.bin", "r/summary.json", "r/ledger.csv"].map(|file| fs::read(path.join(file)).unwrap());
    assert!(kept == now);
    verify(&path.join("r")).unwrap();
    // a new run moves it away and needs not write it
    let output = call(&run(&[])).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(verify(&path.join("r")).unwrap().status, Status::Done);
}

/// Bytes that a run writes, checkpoints and manifests included, as the system counts them.
#[cfg(target_os = "linux")]
fn written(folder: &Path, frames: &str) -> f64 {
    let script = format!(
        "\"$DASHPOT\" run block.toml --backend cpu --threads 1 --out r --frames {frames} --checkpoint 10 \
         --export npy,pc2,obj,vtk --every 10 >/dev/null 2>&1 || exit 1; cat /proc/$$/io"
    );
    let output = shell(folder, &script);
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let count = said.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap();
    count.parse().unwrap()
}

/// With a checkpoint every ten frames. Each costs the same, whenever it is written.
#[test]
#[cfg(target_os = "linux")]
fn ten_times_the_frames_write_ten_times_the_bytes() {
    let folder = with_scene();
    // plots and the summary are written once, whatever the frames
    let [none, few, many] = ["1", "200", "2000"].map(|frames| written(folder.path(), frames));
    let growth = (many - none) / (few - none);
    assert!(growth < 11.0, "{growth}: {none} {few} {many}");
    let size = |frames: &str| {
        assert!(dashpot(folder.path(), &run(&["--frames", frames])).status.success());
        fs::metadata(folder.path().join("r/checkpoint.bin")).unwrap().len()
    };
    let [few, many] = ["100", "1000"].map(size);
    // numbers of frames and bytes take a byte more each
    assert!(many <= few + 16, "{few} {many}");
}
