//! The names of all files that a run may write.

use std::path::Path;

pub const SCENE: &str = "scene.toml";
pub const LEDGER: &str = "ledger.csv";
pub const TIMINGS: &str = "timings.csv";
pub const SUMMARY: &str = "summary.json";
/// The newest checkpoint, and the one before it.
pub const CHECKPOINTS: [&str; 2] = ["checkpoint.bin", "checkpoint.previous.bin"];
/// Hashes of the files in `frames/`, a line each as `sha256sum` writes and reads it.
pub const FRAME_HASHES: &str = "frames.sha256";
/// The iterations of a traced frame.
pub const ITERATIONS: &str = "iterations.csv";
/// The folders of a result.
pub const FOLDERS: [&str; 2] = ["frames", "plots"];
/// Where a result stays until it is replaced.
pub const EARLIER: &str = "earlier";
pub const FRAME_ENDINGS: [&str; 4] = ["obj", "ply", "vtk", "png"];

/// First line of the scene that a run writes.
pub const SCENE_HEAD: &str = "# Written by dashpot: the scene of this run with all defaults filled in.\n";

/// Every name but those of frames, for folders without a list of their own.
pub fn all_names() -> impl Iterator<Item = String> {
    let exports = crate::observe::Export::ALL.into_iter().filter_map(crate::observe::Export::file);
    let plots = ["energies", "where_the_energy_went", "momentum", "angular_momentum", "centre_of_mass"];
    let plots = plots.into_iter().chain(["examples", "filmstrip"]);
    let pictures = plots.flat_map(|plot| ["svg", "png"].map(|ending| format!("plots/{plot}.{ending}")));
    let films = ["gif", "png", "mp4"].map(|ending| format!("animation.{ending}"));
    let tables = [SCENE, LEDGER, TIMINGS, SUMMARY, ITERATIONS, FRAME_HASHES];
    let others = [crate::observe::examples::FILE, crate::observe::output::CACHED];
    let names = tables.into_iter().chain(CHECKPOINTS).chain(others).chain(exports);
    names.map(String::from).chain(pictures).chain(films)
}

/// Whether a run may write a file of this name.
pub fn is_known(name: &str) -> bool {
    frame_of(name).is_some() || all_names().any(|known| known == name)
}

/// The file of a frame within the folder.
pub fn frame_name(frame: usize, ending: &str) -> String {
    format!("frames/frame_{frame:05}.{ending}")
}

/// Number and ending of the file of a frame; `None` if the name is none.
pub fn frame_of(name: &str) -> Option<(usize, &str)> {
    let (number, ending) = name.strip_prefix("frames/frame_")?.split_once('.')?;
    let frame = number.parse().ok()?;
    (frame_name(frame, ending) == name && FRAME_ENDINGS.contains(&ending)).then_some((frame, ending))
}

/// All files of frames in a folder.
pub fn frames_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory.join("frames")).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.map(|name| format!("frames/{name}")).filter(|name| frame_of(name).is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_known_by_their_names() {
        assert_eq!(frame_of("frames/frame_00012.obj"), Some((12, "obj")));
        assert_eq!(frame_of("frames/frame_123456.png"), Some((123456, "png")));
        for other in
            ["frame_00012.obj", "frames/frame_12.obj", "frames/frame_00012.txt", "frames/frame_00012"]
        {
            assert_eq!(frame_of(other), None, "{other}");
        }
        assert_eq!(frame_of("frames/frame_+0012.obj"), None);
    }
}
