//! Finds the text of a scene: a built-in one by its name, or a file by its path.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::builtin;
use crate::error::InputError;
use crate::suggest;

/// Longest scene file that is read (bytes). A scene is written by hand or by a script; what is longer is not one,
/// and reading it would take minutes and gigabytes.
pub const MAX_BYTES: u64 = 4 << 20;

/// The text of a scene and where it came from.
#[derive(Debug, Clone)]
pub struct Source {
    /// The scene's name: that of the built-in, or the file's without its ending.
    pub name: String,
    /// What messages call the file.
    pub file: PathBuf,
    /// The folder that mesh paths are relative to.
    pub base_dir: PathBuf,
    /// The text, UTF-8.
    pub text: String,
}

impl Source {
    /// `name_or_path` is a path if it ends in `.toml` or something is there, else the name of a built-in scene.
    pub fn find(name_or_path: &str) -> Result<Source, InputError> {
        let path = Path::new(name_or_path);
        let is_path = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"));
        if let (false, Some(text)) = (is_path || path.is_file(), builtin::text(name_or_path)) {
            return Ok(Source {
                name: name_or_path.into(),
                file: format!("{name_or_path}.toml (built-in)").into(),
                base_dir: ".".into(),
                text: text.into(),
            });
        }
        if is_path || path.exists() { Self::read(path) } else { Err(unknown_scene(name_or_path)) }
    }

    fn read(path: &Path) -> Result<Source, InputError> {
        let fault = |message: String| InputError::new(message).in_file(path);
        if path.is_dir() {
            return Err(fault("is a folder; expected a scene, a .toml file".into()));
        }
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|error| fault(format!("cannot be read: {error}")))?;
        if bytes.len() as u64 > MAX_BYTES {
            let limit = MAX_BYTES >> 20;
            return Err(fault(format!("is longer than {limit} MiB; a scene is not, so this is not read")));
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
            InputError::at(path, line, "is not UTF-8 text; expected a scene in TOML")
        })?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Ok(Source {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            file: path.into(),
            base_dir: folder.unwrap_or(Path::new(".")).into(),
            text,
        })
    }
}

fn unknown_scene(name: &str) -> InputError {
    let hint = match suggest::closest(name, builtin::SCENES.iter().map(|scene| scene.name)) {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => ".".into(),
    };
    let names: Vec<_> = builtin::SCENES.iter().map(|scene| scene.name).collect();
    InputError::new(format!(
        "there is no scene `{name}`{hint} Expected the path of a .toml file or one of the built-in scenes: {}",
        names.join(", ")
    ))
}
