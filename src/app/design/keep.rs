//! Files of designed scenes and shapes.

use crate::observe::write_whole;
use crate::scene::{Example, LoadedScene};
use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// An unused file in a folder, created if necessary: `dashpot-bar-pose-001.obj`. The path is valid from any working
/// directory.
pub fn free_file(folder: &Path, stem: &str, ending: &str) -> Result<PathBuf> {
    std::fs::create_dir_all(folder).map_err(Error::write(folder))?;
    let folder = std::path::absolute(folder).map_err(Error::write(folder))?;
    Ok(crate::app::recording::free_name(&folder, stem, ending))
}

/// Writes a scene with these examples to a folder.
pub fn save_scene(folder: &Path, loaded: &LoadedScene, examples: Vec<Example>) -> Result<PathBuf> {
    let mut loaded = loaded.clone();
    loaded.scene.damping.examples = examples;
    let path = free_file(folder, &format!("{}-designed", loaded.name), "toml")?;
    write_whole(&path, loaded.standalone().to_toml().as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_scene_is_the_same_scene_with_the_examples() {
        let folder = tempfile::tempdir().unwrap();
        let sets = ["damping.model=laplacian".to_string(), "damping.stiffness=0.01".into()];
        let loaded = crate::setup::load("bar", &sets).unwrap();
        let mut examples = Vec::new();
        for gamma in [2.0, 0.5] {
            let sets = [
                sets.to_vec(),
                vec![format!("damping.example=[{{ shape = {{ mode = 1 }}, gamma = {gamma} }}]")],
            ];
            examples.extend(crate::setup::load("bar", &sets.concat()).unwrap().scene.damping.examples);
        }
        examples[1].name = "other".into();
        let path = save_scene(folder.path(), &loaded, examples.clone()).unwrap();
        let read = crate::setup::load(path.to_str().unwrap(), &[]).unwrap();
        assert_eq!(read.scene.damping.examples, examples);
        assert_eq!(read.scene.bodies, loaded.scene.bodies);
        let second = save_scene(folder.path(), &loaded, examples).unwrap();
        assert!(second != path && path.exists());
    }
}
