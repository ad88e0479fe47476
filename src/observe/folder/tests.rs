//! A folder changes hands.

use super::layout::{CHECKPOINTS, EARLIER, FRAME_HASHES, SCENE_HEAD};
use super::*;
use crate::disk::faults::{Fail, watch};
use std::fs;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

fn claims() -> Claims {
    let frames = Some(Frames { endings: names(&["obj"]), every: 2, last: 8 });
    Claims { names: names(&["scene.toml", "ledger.csv", "plots/a.svg", FRAME_HASHES]), frames }
}

/// Writes a result whose files all hold this text; if it is not done, it is as a killed run leaves it.
fn write(directory: &Path, text: &str, done: bool) -> Result<Vec<String>> {
    let mut folder = Folder::open(directory, false)?;
    folder.begin(claims(), None)?;
    folder.stage("scene.toml", text.as_bytes())?;
    folder.stage("ledger.csv", text.as_bytes())?;
    folder.stage("plots/a.svg", text.as_bytes())?;
    folder.commit()?;
    folder.list_frames(None)?;
    folder.write_frame("frames/frame_00004.obj", text.as_bytes())?;
    folder.sync(&[])?;
    if done {
        folder.finish(Status::Done, true)?;
    }
    Ok(folder.take_notes())
}

fn text_of(directory: &Path) -> String {
    verify(directory).unwrap();
    let texts = ["scene.toml", "ledger.csv", "plots/a.svg", "frames/frame_00004.obj"]
        .map(|name| fs::read_to_string(directory.join(name)).unwrap());
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
    texts[0].clone()
}

#[test]
fn a_result_is_replaced_as_a_whole() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("a/b");
    assert!(write(&out, "first", true).unwrap().is_empty());
    assert_eq!(text_of(&out), "first");
    fs::write(out.join("notes.txt"), "mine").unwrap();
    fs::write(out.join("frames/mine.txt"), "mine").unwrap();
    // killed before it has a checkpoint
    let notes = write(&out, "second", false).unwrap();
    assert!(notes[0].contains("earlier/1") && notes.len() == 1, "{notes:?}");
    assert_eq!(text_of(&out.join("earlier/1")), "first");
    // nothing to go on with: removed; the first one stays
    assert!(write(&out, "third", false).unwrap().is_empty());
    assert_eq!(text_of(&out.join("earlier/1")), "first");
    // one with a checkpoint stays, too
    fs::write(out.join(CHECKPOINTS[1]), "").unwrap();
    let mut manifest = Manifest::read(&out).unwrap();
    manifest.claim(CHECKPOINTS.map(String::from), None);
    manifest.write(&out).unwrap();
    assert_eq!(write(&out, "fourth", false).unwrap().len(), 1);
    assert_eq!(text_of(&out.join("earlier/2")), "third");
    // until one is done
    write(&out, "fifth", true).unwrap();
    assert_eq!(text_of(&out), "fifth");
    assert!(!out.join(EARLIER).exists());
    for file in ["notes.txt", "frames/mine.txt"] {
        assert_eq!(fs::read_to_string(out.join(file)).unwrap(), "mine", "left alone");
    }
}

#[test]
fn a_move_that_is_cut_off_is_taken_back() {
    let scratch = tempfile::tempdir().unwrap();
    let mut cut = 0;
    for number in 0.. {
        let out = scratch.path().join(number.to_string());
        write(&out, "old", true).unwrap();
        let (result, _) = watch(Fail::From(number), || write(&out, "new", false));
        if result.is_ok() {
            break;
        }
        cut += usize::from(out.join("earlier/1").exists() && !out.join("earlier/1/manifest.json").exists());
        assert!(verify(&out).is_ok() || verify(&out.join("earlier/1")).is_ok(), "{number}");
        drop(Folder::open(&out, false).unwrap());
        let place =
            [out.join("earlier/1"), out.clone()].into_iter().find(|place| place.join("plots").exists());
        let moved = verify(&out.join("earlier/1")).is_ok();
        assert_eq!(
            text_of(&if moved { out.join("earlier/1") } else { out.clone() }),
            "old",
            "{number} {place:?}"
        );
    }
    assert!(cut > 5, "{cut} moves were cut off");
}

#[test]
fn a_folder_has_one_writer() {
    let scratch = tempfile::tempdir().unwrap();
    let first = Folder::open(scratch.path(), false).unwrap();
    let error = Folder::open(scratch.path(), false).unwrap_err();
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    drop(first);
    Folder::open(scratch.path(), false).unwrap();
}

#[test]
fn files_of_others_are_refused_or_replaced_by_force() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("r");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("scene.toml"), "mine").unwrap();
    fs::write(out.join("other.txt"), "mine").unwrap();
    let error = write(&out, "new", true).unwrap_err();
    assert!(error.exit_code() == 2 && error.to_string().contains("other.txt, scene.toml"), "{error}");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 2, "not even a lock is left");
    let mut folder = Folder::open(&out, true).unwrap();
    folder.begin(claims(), None).unwrap();
    assert_eq!(folder.take_notes(), ["--force: replacing scene.toml"]);
    drop(folder);
    assert!(!out.join("scene.toml").exists() && out.join("other.txt").exists());
    // in a folder of ours
    fs::create_dir(out.join("frames")).unwrap();
    write(&out, "new", true).unwrap();
    let mut folder = Folder::open(&out, false).unwrap();
    fs::write(out.join("motion.glb"), "mine").unwrap();
    let more = Claims { names: names(&["motion.glb"]), frames: None };
    let error = folder.begin(more, None).unwrap_err();
    assert!(error.exit_code() == 2 && error.to_string().contains("motion.glb"), "{error}");
    assert_eq!(text_of(&out), "new");
}

#[test]
fn a_folder_of_an_older_version_is_ours() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path();
    fs::create_dir(out.join("frames")).unwrap();
    for name in ["ledger.csv", "frames/frame_00001.ply", "points.pc2"] {
        fs::write(out.join(name), "old").unwrap();
    }
    fs::write(out.join("scene.toml"), format!("{SCENE_HEAD}x")).unwrap();
    fs::write(out.join("summary.json"), "{\"status\": \"done\"}").unwrap();
    write(out, "new", false).unwrap();
    for name in ["ledger.csv", "frames/frame_00001.ply", "points.pc2", "summary.json"] {
        assert!(out.join("earlier/1").join(name).exists(), "{name}");
    }
    assert_eq!(verify(&out.join("earlier/1")).unwrap().status, Status::Done);
    write(out, "newer", true).unwrap();
    assert!(!out.join("earlier").exists() && !out.join("points.pc2").exists());
}

#[test]
fn a_manifest_names_nothing_outside_its_folder() {
    let scratch = tempfile::tempdir().unwrap();
    for (name, sound) in [
        ("ledger.csv", true),
        ("plots/a.svg", true),
        ("../a", false),
        ("/etc/passwd", false),
        ("plots/../../a", false),
        ("earlier/1", false),
        ("manifest.json", false),
        (".lock", false),
        ("", false),
    ] {
        Manifest::new([name.to_string()], None).write(scratch.path()).unwrap();
        assert_eq!(Manifest::read(scratch.path()).is_some(), sound, "{name}");
    }
}

#[test]
fn damage_is_found() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path();
    for name in ["scene.toml", "plots/a.svg", "frames/frame_00004.obj", FRAME_HASHES] {
        write(out, "good", true).unwrap();
        let bytes = fs::read(out.join(name)).unwrap();
        for damage in [&b"bad!"[..], b""] {
            fs::write(out.join(name), damage).unwrap();
            assert!(verify(out).unwrap_err().to_string().contains(name), "{name}");
        }
        fs::remove_file(out.join(name)).unwrap();
        assert!(verify(out).unwrap_err().to_string().contains("missing"), "{name}");
        fs::write(out.join(name), bytes).unwrap();
        verify(out).unwrap();
    }
}

#[test]
fn a_kept_result_that_another_run_writes_into_stays() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("r");
    write(&out, "old", true).unwrap();
    write(&out, "new", false).unwrap();
    let kept = out.join("earlier/1");
    let other = Folder::open(&kept, false).unwrap();
    write(&out, "newer", true).unwrap();
    assert_eq!(text_of(&kept), "old");
    drop(other);
    // its lock is left, and goes with it
    assert!(kept.join(".lock").exists());
    write(&out, "newest", true).unwrap();
    assert!(!out.join(EARLIER).exists());
    // one that is between two results of its own is no move that was cut off
    fs::create_dir_all(&kept).unwrap();
    fs::write(kept.join("scene.toml"), "other").unwrap();
    fs::remove_file(out.join("scene.toml")).unwrap();
    let other = lock::Lock::take(&kept).unwrap();
    drop(Folder::open(&out, false).unwrap());
    assert!(kept.join("scene.toml").exists());
    drop(other);
    drop(Folder::open(&out, false).unwrap());
    assert!(!kept.join("scene.toml").exists());
}

/// A result with a scene and a ledger of ours, whose manifest is replaced by this text.
fn with_manifest(out: &Path, text: &str) {
    fs::create_dir_all(out).unwrap();
    fs::write(out.join("scene.toml"), format!("{SCENE_HEAD}x")).unwrap();
    fs::write(out.join("ledger.csv"), "old").unwrap();
    fs::write(out.join("summary.json"), "{\"status\": \"done\"}").unwrap();
    fs::write(out.join("manifest.json"), text).unwrap();
}

#[test]
fn a_damaged_manifest_is_made_anew() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path();
    with_manifest(out, "{\"layout\": 1, \"fil");
    write(out, "new", false).unwrap();
    assert_eq!(verify(&out.join("earlier/1")).unwrap().status, Status::Done);
    assert_eq!(fs::read_to_string(out.join("earlier/1/ledger.csv")).unwrap(), "old");
    write(out, "newer", true).unwrap();
    assert!(!out.join(EARLIER).exists());
}

#[test]
fn a_folder_of_a_newer_version_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path();
    with_manifest(out, "{\"layout\": 2, \"objects\": []}");
    for force in [false, true] {
        let error = Folder::open(out, force).unwrap_err();
        let words = "was written by a newer version of dashpot (layout 2); choose another folder";
        assert!(error.exit_code() == 2 && error.to_string().contains(words), "{error}");
    }
    assert!(verify(out).unwrap_err().to_string().contains("newer version"));
    assert_eq!(fs::read_to_string(out.join("ledger.csv")).unwrap(), "old");
}

#[test]
fn parts_of_others_are_not_removed() {
    let scratch = tempfile::tempdir().unwrap();
    let out = scratch.path().join("r");
    fs::create_dir(&out).unwrap();
    fs::write(out.join(".thesis.txt.12.part"), "mine").unwrap();
    let error = Folder::open(&out, false).unwrap_err();
    assert!(error.to_string().contains(".thesis.txt.12.part"), "{error}");
    fs::rename(out.join(".thesis.txt.12.part"), out.join(".manifest.json.12.part")).unwrap();
    write(&out, "first", true).unwrap();
    let parts = [
        (".thesis.txt.12.part", true),
        ("plots/.mine.svg.3.part", true),
        ("frames/.frame_12.obj.3.part", true),
        (".manifest.json.12.part", false),
        (".points.mdd.12.part", false),
        ("plots/.a.svg.3.part", false),
        ("frames/.frame_00012.obj.3.part", false),
    ];
    parts.iter().for_each(|(name, _)| fs::write(out.join(name), "half").unwrap());
    write(&out, "second", false).unwrap();
    for (name, stays) in parts {
        assert_eq!(out.join(name).exists(), stays, "{name}");
    }
}
