//! What is in a folder before a run writes into it.

use super::earlier;
use super::layout::{self, EARLIER, FOLDERS};
use super::manifest::{self, Manifest};
use super::{Claims, lock, refusal};
use crate::disk::{self, atomic};
use crate::error::{Error, Result};
use std::fs;
use std::path::Path;

/// Files that are named in a message.
const NAMED: usize = 4;

/// What a folder holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Nothing, or results of ours in `earlier/` only.
    Nothing,
    /// A result of ours, complete or not.
    Ours(Manifest),
    /// Files, and no result of ours among them.
    Foreign(Vec<String>),
}

impl Found {
    pub fn in_folder(directory: &Path) -> Result<Self> {
        if !disk::exists(directory) {
            return Ok(Found::Nothing);
        }
        Manifest::check_age(directory)
            .map_err(|newer| refusal(&format!("{}; choose another folder", newer.message)))?;
        if let Some(manifest) = Manifest::read(directory).or_else(|| Manifest::of_older(directory)) {
            return Ok(Found::Ours(manifest));
        }
        if !earlier::results(directory).is_empty() {
            // a run was killed between the move of the result before and its own manifest
            return Ok(Found::Nothing);
        }
        let mut foreign = Vec::new();
        for entry in fs::read_dir(directory).map_err(Error::write(directory))? {
            let name = entry.map_err(Error::write(directory))?.file_name().to_string_lossy().into_owned();
            if name != lock::NAME && !is_part(&name, |_| false) {
                foreign.push(name);
            }
        }
        foreign.sort();
        Ok(if foreign.is_empty() { Found::Nothing } else { Found::Foreign(foreign) })
    }

    pub fn owns(&self, name: &str) -> bool {
        matches!(self, Found::Ours(manifest) if manifest.owns(name))
    }
}

/// Refuses a folder that is none.
pub fn check_is_folder(directory: &Path) -> Result<()> {
    for folder in directory.ancestors().filter(|folder| !folder.as_os_str().is_empty()) {
        match fs::metadata(folder) {
            Ok(there) if there.is_dir() => return Ok(()),
            Ok(_) => return Err(refusal(&format!("{} is a file, expected a folder", folder.display()))),
            Err(_) => {}
        }
    }
    Ok(())
}

/// Refuses to write over files of others, and through links. With `force` the files are returned instead: they will be replaced.
pub fn check_names(directory: &Path, found: &Found, claims: &Claims, force: bool) -> Result<Vec<String>> {
    let mut written: Vec<String> = claims.written_in(directory);
    if let Found::Ours(manifest) = found {
        written.extend(manifest.present(directory));
    }
    let inner = FOLDERS.into_iter().chain([EARLIER, manifest::NAME]);
    let looked_at = inner.chain(written.iter().map(String::as_str));
    if let Some(link) = looked_at.map(|name| directory.join(name)).find(|path| disk::is_link(path)) {
        let message =
            format!("{} is a link, and nothing is written or deleted through links", link.display());
        return Err(refusal(&message));
    }
    let needed = |folder: &&str| {
        let within = |name: &String| name.split('/').next() == Some(folder);
        claims.names.iter().any(within) || *folder == FOLDERS[0] && claims.frames.is_some()
    };
    if let Some(file) = FOLDERS.iter().copied().filter(needed).find(|name| directory.join(name).is_file()) {
        let file = directory.join(file);
        return Err(refusal(&format!("{} is a file, where a folder is needed", file.display())));
    }
    let in_the_way = written.iter().map(|name| directory.join(name)).find(|path| path.is_dir());
    if let Some(folder) = in_the_way {
        return Err(refusal(&format!("{} is a folder, where a file is needed", folder.display())));
    }
    written.retain(|name| !found.owns(name));
    written.sort();
    match found {
        _ if force => Ok(written),
        Found::Foreign(names) => Err(refusal(&format!(
            "{} holds files, and no result of dashpot: {}; choose another folder, or --force to write there nevertheless",
            directory.display(),
            some_of(names),
        ))),
        _ if written.is_empty() => Ok(written),
        _ => Err(refusal(&format!(
            "would overwrite what no run of dashpot wrote: {} in {}; choose another folder, or --force",
            some_of(&written),
            directory.display(),
        ))),
    }
}

/// The first few names.
pub fn some_of(names: &[String]) -> String {
    let mut text = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > NAMED {
        text += &format!(" and {} more", names.len() - NAMED);
    }
    text
}

/// Whether a file, by its path within the folder, is what a killed run has left of one of ours.
fn is_part(name: &str, owns: impl Fn(&str) -> bool) -> bool {
    let (folder, part) = name.rsplit_once('/').map_or(("", name), |(folder, part)| (folder, part));
    let Some(whole) = atomic::name_of_part(part) else { return false };
    let whole = if folder.is_empty() { whole.into() } else { format!("{folder}/{whole}") };
    whole == manifest::NAME || owns(&whole) || layout::is_known(&whole)
}

/// Removes what runs left that were killed while they wrote a file. Nobody else writes here: the folder is locked.
pub fn remove_parts(directory: &Path, found: &Found) {
    for name in [""].into_iter().chain(FOLDERS) {
        let folder = directory.join(name);
        if disk::is_link(&folder) && !name.is_empty() {
            continue;
        }
        let within = |part: &str| if name.is_empty() { part.into() } else { format!("{name}/{part}") };
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let part = entry.file_name().to_str().map(within);
            if part.is_some_and(|part| is_part(&part, |whole| found.owns(whole))) {
                // one that stays does no harm
                let _ = disk::remove(&entry.path());
            }
        }
    }
}
