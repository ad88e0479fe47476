//! A disk in memory that forgets, at a loss of power, what was not synced.
//!
//! Content of a file is kept as of its last sync, with any of the later writes; the names in a folder as of its last sync, with any of
//! the later creations, renames and removals. That is less than file systems with a journal keep.

use super::faults::Done;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A change that may be lost.
#[derive(Debug, Clone)]
enum Change {
    Write(u64, Vec<u8>),
    Cut(u64),
}

#[derive(Debug, Clone, Default)]
struct File {
    synced: Vec<u8>,
    changes: Vec<Change>,
}

#[derive(Debug, Clone)]
enum Naming {
    Create(PathBuf, usize),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf, usize),
    MakeFolder(PathBuf),
    RemoveFolder(PathBuf),
}

/// The files by their paths, and the folders.
#[derive(Debug, Clone, Default)]
struct Names {
    files: BTreeMap<PathBuf, usize>,
    folders: BTreeSet<PathBuf>,
}

/// All files below a folder.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    root: PathBuf,
    files: Vec<File>,
    /// What programs see.
    names: Names,
    /// What is safe.
    synced: Names,
    /// What may be lost, each with the folders that are still to be synced for it.
    changes: Vec<(Naming, BTreeSet<PathBuf>)>,
}

impl Disk {
    /// What is there, all of it safe.
    pub fn of(root: &Path) -> Self {
        let mut disk = Disk {
            root: root.into(),
            files: Vec::new(),
            names: Names::default(),
            synced: Names::default(),
            changes: Vec::new(),
        };
        disk.read(root);
        disk.synced = disk.names.clone();
        disk
    }

    fn read(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                self.read(&path);
                self.names.folders.insert(path);
            } else {
                let synced = fs::read(&path).unwrap();
                self.names.files.insert(path, self.files.len());
                self.files.push(File { synced, changes: Vec::new() });
            }
        }
    }

    /// Takes in what a program did.
    pub fn apply(&mut self, done: &Done) {
        match done {
            Done::Create(path) => match self.names.files.get(path) {
                Some(&file) => self.files[file].changes.push(Change::Cut(0)),
                None => {
                    self.name(Naming::Create(path.clone(), self.files.len()), &[path]);
                    self.files.push(File::default());
                }
            },
            Done::Write(path, at, bytes) => self.change(path, Change::Write(*at, bytes.clone())),
            Done::Cut(path, bytes) => self.change(path, Change::Cut(*bytes)),
            Done::Sync(path) => {
                let file = &mut self.files[self.names.files[path]];
                file.synced = file.content(|| true);
                file.changes.clear();
            }
            Done::Rename(from, to) => {
                let file = self.names.files[from];
                self.name(Naming::Rename(from.clone(), to.clone(), file), &[from, to]);
            }
            Done::Remove(path) => {
                assert!(self.names.files.contains_key(path), "{}", path.display());
                self.name(Naming::Remove(path.clone()), &[path]);
            }
            Done::SyncFolder(folder) => {
                for (change, folders) in std::mem::take(&mut self.changes) {
                    let left: BTreeSet<_> = folders.into_iter().filter(|left| left != folder).collect();
                    match left.is_empty() {
                        true => change.make(&mut self.synced),
                        false => self.changes.push((change, left)),
                    }
                }
            }
            Done::MakeFolder(path) => self.name(Naming::MakeFolder(path.clone()), &[path]),
            Done::RemoveFolder(path) => self.name(Naming::RemoveFolder(path.clone()), &[path]),
        }
    }

    fn change(&mut self, path: &Path, change: Change) {
        let file = self.names.files[path];
        self.files[file].changes.push(change);
    }

    fn name(&mut self, change: Naming, paths: &[&PathBuf]) {
        // joining with nothing gives a folder the path that it is synced by, with or without a slash at its end
        let folders = paths.iter().filter_map(|path| path.parent()).map(Path::to_path_buf).collect();
        change.make(&mut self.names);
        self.changes.push((change, folders));
    }

    /// Writes what is left after a loss of power into another folder; `kept` decides on each change that may be lost.
    pub fn after_loss(&self, target: &Path, mut kept: impl FnMut() -> bool) {
        let mut names = self.synced.clone();
        for (change, _) in &self.changes {
            if kept() {
                change.make(&mut names);
            }
        }
        let within = |path: &Path| target.join(path.strip_prefix(&self.root).unwrap());
        // what is in a folder is lost with it
        let stands = |path: &Path| {
            let mut above = path.ancestors().skip(1).take_while(|above| *above != self.root);
            above.all(|above| names.folders.contains(above))
        };
        for path in names.folders.iter().filter(|path| stands(path)) {
            fs::create_dir_all(within(path)).unwrap();
        }
        fs::create_dir_all(target).unwrap();
        for (path, &file) in names.files.iter().filter(|(path, _)| stands(path)) {
            fs::write(within(path), self.files[file].content(&mut kept)).unwrap();
        }
    }
}

impl Naming {
    fn make(&self, names: &mut Names) {
        match self {
            Naming::Create(path, file) => drop(names.files.insert(path.clone(), *file)),
            Naming::Remove(path) => drop(names.files.remove(path)),
            Naming::Rename(from, to, file) => {
                names.files.remove(from);
                names.files.insert(to.clone(), *file);
            }
            Naming::MakeFolder(path) => drop(names.folders.insert(path.clone())),
            Naming::RemoveFolder(path) => drop(names.folders.remove(path)),
        }
    }
}

impl File {
    fn content(&self, mut kept: impl FnMut() -> bool) -> Vec<u8> {
        let mut content = self.synced.clone();
        for change in self.changes.iter().filter(|_| kept()) {
            match change {
                Change::Cut(bytes) => content.resize(*bytes as usize, 0),
                Change::Write(at, bytes) => {
                    let end = *at as usize + bytes.len();
                    content.resize(content.len().max(end), 0);
                    content[*at as usize..end].copy_from_slice(bytes);
                }
            }
        }
        content
    }
}

#[test]
fn what_was_not_synced_is_lost() {
    let [before, after] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    let at = |name: &str| before.path().join(name);
    fs::write(at("a"), "old").unwrap();
    let mut disk = Disk::of(before.path());
    let part = at(".a.part");
    let steps = [
        Done::Create(part.clone()),
        Done::Write(part.clone(), 0, b"newer".into()),
        Done::Sync(part.clone()),
        Done::Rename(part, at("a")),
        Done::SyncFolder(before.path().into()),
        Done::Write(at("a"), 5, b"!".into()),
        Done::Remove(at("a")),
    ];
    let expected =
        [Some("old"), Some("old"), Some("old"), Some("old"), Some("newer"), Some("newer"), Some("newer")];
    for (step, expected) in steps.iter().zip(expected) {
        disk.apply(step);
        let target = after.path().join("lost");
        disk.after_loss(&target, || false);
        assert_eq!(fs::read_to_string(target.join("a")).ok().as_deref(), expected, "{step:?}");
        fs::remove_dir_all(target).unwrap();
    }
    let target = after.path().join("kept");
    disk.after_loss(&target, || true);
    assert!(!target.join("a").exists(), "removed, and that was kept");
}

#[test]
fn a_folder_is_there_once_it_is_made() {
    use super::faults::{Fail, watch};
    let [before, after] = [0; 2].map(|_| tempfile::tempdir().unwrap());
    let folder = before.path().join("a/b");
    let file = folder.join("c");
    let make = || {
        super::make_folder(&folder).unwrap();
        super::atomic::replace(&file, |out| std::io::Write::write_all(out, b"new")).unwrap();
        super::sync_folder(&folder).unwrap();
    };
    let ((), log) = watch(Fail::None, make);
    let left = |log: &[Done]| {
        let mut disk = Disk::of(after.path());
        disk.root = before.path().into();
        log.iter().for_each(|done| disk.apply(done));
        let target = after.path().join("lost");
        disk.after_loss(&target, || false);
        let read = fs::read_to_string(target.join("a/b/c")).ok();
        fs::remove_dir_all(target).unwrap();
        read
    };
    assert_eq!(left(&log).as_deref(), Some("new"));
    assert_eq!(left(&log[..log.len() - 1]), None);
    for folder in [before.path(), &before.path().join("a")] {
        let without: Vec<Done> =
            log.iter().filter(|done| **done != Done::SyncFolder(folder.into())).cloned().collect();
        assert_eq!((without.len(), left(&without)), (log.len() - 1, None), "{}", folder.display());
    }
}
