//! Reads a scene: text, overrides, types, validation; errors name file, line and field.

use std::path::PathBuf;

use serde::Deserialize;
use toml::Table;
use toml::de::DeTable;

use super::source::Source;
use super::{DEEPEST, MeshSpec, Scene, SourceMap, explain, set, source_map};
use crate::error::{Error, InputError};

/// A scene that has been read and validated.
#[derive(Debug, Clone)]
pub struct LoadedScene {
    /// The scene, every default filled in.
    pub scene: Scene,
    /// The folder that mesh paths are relative to.
    pub base_dir: PathBuf,
    /// The name of the built-in scene, or that of the file without its ending.
    pub name: String,
    places: SourceMap,
}

impl LoadedScene {
    /// Completes a fault found later: names file and line (or the `--set`) of its field, which may be given as
    /// `body.0.material.mu` or `body.bar.material.mu`, and calls the body by its name.
    pub fn place(&self, error: InputError) -> InputError {
        self.places.place(error)
    }

    /// The same of any error that a field of the scene may be to blame for; options of commands stay as they are.
    pub fn place_error(&self, error: Error) -> Error {
        match error {
            Error::Input(e) if e.field.as_ref().is_some_and(|field| !field.starts_with("--")) => {
                self.place(e).into()
            }
            other => other,
        }
    }

    /// The scene with its mesh files, and those of its examples, named so that it can be run from any folder.
    pub fn standalone(&self) -> Scene {
        let mut scene = self.scene.clone();
        for body in &mut scene.bodies {
            body.shape.iter_mut().for_each(|file| self.make_absolute(file));
            let files = match &mut body.mesh {
                MeshSpec::File(mesh) => [Some(&mut mesh.file), mesh.skin.as_mut()],
                MeshSpec::Surface(mesh) => [Some(&mut mesh.surface), None],
                MeshSpec::Generate(_) | MeshSpec::Character(_) => continue,
            };
            files.into_iter().flatten().for_each(|file| self.make_absolute(file));
        }
        let shapes = scene.damping.examples.iter_mut().map(|example| &mut example.shape);
        shapes.filter_map(|shape| shape.file.as_mut()).for_each(|file| self.make_absolute(file));
        scene
    }

    fn make_absolute(&self, file: &mut PathBuf) {
        let path = std::path::absolute(self.base_dir.join(&*file));
        // a path that is not UTF-8 cannot be written in TOML: it stays relative
        if let Some(path) = path.ok().filter(|path| path.to_str().is_some()) {
            *file = path;
        }
    }
}

/// Reads the built-in scene of that name or the file at that path, with `--set` overrides in their order.
/// What its values mean is not checked yet.
pub fn read(name_or_path: &str, overrides: &[String]) -> Result<LoadedScene, InputError> {
    read_source(Source::find(name_or_path)?, overrides)
}

/// Reads a scene from a text that is no file; messages call it `file`, mesh paths are relative to its folder.
pub fn read_text(
    file: impl Into<PathBuf>,
    text: &str,
    overrides: &[String],
) -> Result<LoadedScene, InputError> {
    let file = file.into();
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let base_dir = file.parent().map(PathBuf::from).unwrap_or_default();
    read_source(Source { name, file, base_dir, text: text.into() }, overrides)
}

fn read_source(source: Source, overrides: &[String]) -> Result<LoadedScene, InputError> {
    let Source { name, file, base_dir, text } = source;
    let (document, faults) = DeTable::parse_recoverable(&text);
    if let Some(byte) = source_map::too_deep(DEEPEST, document.get_ref()) {
        let line = 1 + text.bytes().take(byte).filter(|&byte| byte == b'\n').count();
        return Err(InputError::at(&file, line, "the tables are nested too deeply"));
    }
    let mut places = SourceMap::new(file, &text, document.get_ref());
    if let Some(first) = faults.iter().min_by_key(|fault| fault.span().map(|span| span.start)) {
        return Err(syntax_fault(&places, &text, first));
    }
    let mut table = Table::deserialize(toml::Deserializer::from(document))
        .map_err(|fault| syntax_fault(&places, &text, &fault))?;
    set::apply(&mut table, &mut places, overrides)?;
    places.name_bodies(set::body_names(&table));
    let scene = explain::scene_from(table).map_err(|fault| places.fault(&fault.path, &fault.message))?;
    Ok(LoadedScene { scene, base_dir, name, places })
}

/// A fault of the TOML itself: its line, and the field that was being written there.
fn syntax_fault(places: &SourceMap, text: &str, fault: &toml::de::Error) -> InputError {
    let start = fault.span().map_or(0, |span| span.start).min(text.len());
    let rest_of_line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let before = text.get(..start).unwrap_or_default().trim_end_matches([' ', '\t']);
    let message = if before.ends_with('=') && rest_of_line.trim().is_empty() {
        "expected a value after `=`".into()
    } else if text.contains('\0') {
        "is not text; expected a scene in TOML".into()
    } else {
        explain::reword(fault.message())
    };
    // The place of a fault at the end of a line is that line, not the next.
    let line = places.line_of_byte(start.min(text.trim_end().len()));
    InputError { line: Some(line), ..places.fault(&places.field_at_byte(start), &message) }
}
