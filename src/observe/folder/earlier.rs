//! `earlier/1`, `earlier/2`, …: results that stay until a run into the same folder has reached its end.
//!
//! A result moves file by file, its manifest last. So `earlier/N` without a manifest is a move that was cut off, and is taken back
//! before anything else is done.

use super::layout::{EARLIER, FOLDERS};
use super::lock;
use super::manifest::{self, Manifest};
use crate::Result;
use crate::disk;
use std::fs;
use std::path::{Path, PathBuf};

/// The numbered folders of `earlier/`.
fn numbered(directory: &Path) -> Vec<(usize, PathBuf)> {
    let folder = directory.join(EARLIER);
    if disk::is_link(&folder) {
        return Vec::new();
    }
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path()));
    let mut found: Vec<_> =
        entries.filter_map(number).filter(|(_, path)| path.is_dir() && !disk::is_link(path)).collect();
    found.sort();
    found
}

/// The results that are kept, the oldest first.
pub fn results(directory: &Path) -> Vec<PathBuf> {
    let kept = numbered(directory).into_iter().map(|(_, path)| path);
    kept.filter(|path| Manifest::read(path).is_some()).collect()
}

/// Where parts of the folder's result are after a move that was cut off.
pub fn cut_off(directory: &Path) -> Vec<PathBuf> {
    let moved = numbered(directory).into_iter().map(|(_, path)| path);
    moved.filter(|path| !disk::exists(&path.join(manifest::NAME))).collect()
}

/// Moves the folder's result to `earlier/N`, and returns that. If it fails, the result is where it was, or whole in `earlier/N`.
pub fn move_aside(directory: &Path, manifest: &Manifest) -> Result<PathBuf> {
    let number = numbered(directory).last().map_or(1, |(number, _)| number + 1);
    let target = directory.join(EARLIER).join(number.to_string());
    let moved = move_all(directory, &target, manifest);
    moved.inspect_err(|_| drop(take_back(directory, manifest)))?;
    Ok(target)
}

fn move_all(directory: &Path, target: &Path, manifest: &Manifest) -> Result<()> {
    disk::make_folder(target)?;
    move_files(directory, target, manifest)?;
    disk::rename(&directory.join(manifest::NAME), &target.join(manifest::NAME))?;
    disk::sync_folder(target)?;
    disk::sync_folder(directory)
}

/// Moves the files of a result from one folder to another, but for the manifest.
fn move_files(from: &Path, to: &Path, manifest: &Manifest) -> Result<()> {
    for name in manifest.present(from).iter().filter(|name| !disk::exists(&to.join(name))) {
        let target = to.join(name);
        target.parent().map_or(Ok(()), disk::make_folder)?;
        disk::rename(&from.join(name), &target)?;
    }
    for folder in [""].into_iter().chain(FOLDERS) {
        for folder in [to.join(folder), from.join(folder)].iter().filter(|folder| folder.is_dir()) {
            disk::sync_folder(folder)?;
        }
    }
    FOLDERS.iter().for_each(|folder| disk::remove_empty(&from.join(folder)));
    Ok(())
}

/// Brings back what a move that was cut off has taken away.
pub fn take_back(directory: &Path, manifest: &Manifest) -> Result<()> {
    for folder in cut_off(directory).into_iter().filter(|folder| lock::of_kept(folder).is_ok()) {
        move_files(&folder, directory, manifest)?;
        disk::remove_empty(&folder);
    }
    disk::remove_empty(&directory.join(EARLIER));
    Ok(())
}

/// Removes the files of a result, but for the manifest.
pub fn remove_files(directory: &Path, manifest: &Manifest) -> Result<()> {
    manifest.present(directory).iter().try_for_each(|name| disk::remove(&directory.join(name)))?;
    for folder in [""].into_iter().chain(FOLDERS).map(|name| directory.join(name)) {
        if folder.is_dir() {
            disk::sync_folder(&folder)?;
        }
    }
    FOLDERS.iter().for_each(|folder| disk::remove_empty(&directory.join(folder)));
    Ok(())
}

/// Removes all results that are kept, but for one and those that other runs write into. A manifest goes last: what is left of a result
/// is known to be one.
pub fn remove_all(directory: &Path, but: Option<&Path>) -> Result<()> {
    for folder in results(directory) {
        if but.is_some_and(|but| same(but, &folder)) {
            continue;
        }
        let Ok(lock) = lock::of_kept(&folder) else { continue };
        let Some(manifest) = Manifest::read(&folder) else { continue };
        remove_files(&folder, &manifest)?;
        if lock.is_some() {
            // left by a run into that very folder; some systems keep what is open
            drop(lock);
            disk::remove(&folder.join(lock::NAME))?;
        }
        disk::remove(&folder.join(manifest::NAME))?;
    }
    for (_, folder) in numbered(directory) {
        disk::remove_empty(&folder);
    }
    disk::remove_empty(&directory.join(EARLIER));
    Ok(())
}

/// Whether two paths lead to the same folder.
pub fn same(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| fs::canonicalize(if path == Path::new("") { Path::new(".") } else { path });
    matches!((place(a), place(b)), (Ok(a), Ok(b)) if a == b)
}
