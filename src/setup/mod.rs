//! From the text of a scene to what a simulation is made of: a scene that is checked, and its model.

mod check;

use crate::Result;
use crate::error::InputError;
use crate::model::build::{self, Built};
use crate::modes::shape;
use crate::scene::{self, LoadedScene, Scene};
use std::path::PathBuf;

/// Reads the built-in scene of that name or the file at that path, with `--set` overrides in their order, and validates it.
pub fn load(name_or_path: &str, overrides: &[String]) -> Result<LoadedScene> {
    checked(scene::read(name_or_path, overrides)?)
}

/// The same from a text that is no file; messages call it `file`, mesh paths are relative to its folder.
pub fn load_text(file: impl Into<PathBuf>, text: &str, overrides: &[String]) -> Result<LoadedScene> {
    checked(scene::read_text(file, text, overrides)?)
}

fn checked(mut loaded: LoadedScene) -> Result<LoadedScene> {
    complete(&mut loaded.scene).map_err(|fault| loaded.place(fault))?;
    Ok(loaded)
}

/// Gives every body a name and every optional field its default, and validates the whole.
///
/// A scene read by [`load`] has been through this; one put together in code should be.
pub fn prepare(mut scene: Scene) -> Result<Scene, InputError> {
    complete(&mut scene)?;
    Ok(scene)
}

fn complete(scene: &mut Scene) -> Result<(), InputError> {
    scene.name_bodies();
    check::check(scene)?;
    scene.fill_defaults();
    Ok(())
}

/// Reads the meshes of a scene and builds its model, with the shapes of damping by example. Errors name file, line and field.
pub fn build(loaded: &LoadedScene) -> Result<Built> {
    let mut built = build::build(loaded)?;
    built.model.examples = shape::examples(loaded, &built.model)?;
    Ok(built)
}
