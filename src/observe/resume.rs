//! Going on with the files of an earlier run, in its folder or in another.

use super::npy::TrajectoryWriter;
use super::output::{CACHE, Export, Plan, TRAJECTORY};
use super::point_cache::PointCacheWriter;
use crate::error::InputError;
use crate::step::Simulation;
use crate::{Error, Result};
use std::path::Path;

impl Plan<'_> {
    /// The trajectory to append to, if one is asked for.
    pub(super) fn trajectory(&self, simulation: &Simulation) -> Result<Option<TrajectoryWriter>> {
        if !self.exports.contains(&Export::Npy) {
            return Ok(None);
        }
        let vertices = simulation.model().vertex_count();
        let path = self.directory.join(TRAJECTORY);
        match self.resumed {
            None => TrajectoryWriter::create(&path, vertices),
            Some(folder) => carry_on(&folder.join(TRAJECTORY), &path, |path| {
                TrajectoryWriter::resume(path, self.rows.len(), simulation.positions())
            }),
        }
        .map(Some)
    }

    /// The point cache to append to, if one is asked for.
    pub(super) fn cache(&self, simulation: &Simulation) -> Result<Option<PointCacheWriter>> {
        if !self.exports.contains(&Export::Pc2) {
            return Ok(None);
        }
        let vertices = simulation.model().vertex_count();
        let (path, rate) = (self.directory.join(CACHE), self.every as f32);
        match self.resumed {
            None => PointCacheWriter::create(&path, vertices, 0.0, rate),
            Some(folder) => carry_on(&folder.join(CACHE), &path, |path| {
                let frames = simulation.frame_number() / self.every + 1;
                PointCacheWriter::resume(path, vertices, rate, frames)
            }),
        }
        .map(Some)
    }

    /// The rows of `timings.csv` of the frames that are kept; none if the earlier run's file is gone.
    pub(super) fn timings(&self) -> Vec<String> {
        let Some(folder) = self.resumed else { return Vec::new() };
        let text = std::fs::read_to_string(folder.join("timings.csv")).unwrap_or_default();
        let kept = |line: &&str| {
            let frame = line.split(',').next().and_then(|frame| frame.parse::<usize>().ok());
            frame.is_some_and(|frame| frame < self.rows.len())
        };
        text.lines().filter(kept).map(String::from).collect()
    }

    /// Whether a surface has to be found.
    pub(super) fn needs_skin(&self) -> bool {
        self.exports.iter().any(|export| matches!(export, Export::Obj | Export::Ply))
    }
}

/// Opens the file of an earlier run for going on with it at `path`. If that is another file, what stands there is
/// replaced only by a copy that was found to fit.
fn carry_on<W>(earlier: &Path, path: &Path, open: impl Fn(&Path) -> Result<W>) -> Result<W> {
    let original = std::fs::canonicalize(earlier).map_err(|e| {
        let message = format!("{e}; an export goes on with the file beside the checkpoint");
        InputError::new(message).in_file(earlier)
    })?;
    if std::fs::canonicalize(path).is_ok_and(|path| path == original) {
        return open(path);
    }
    let copy = path.with_extension("part");
    let checked =
        std::fs::copy(&original, &copy).map_err(Error::write(&copy)).and_then(|_| open(&copy).map(drop));
    if let Err(error) = checked {
        // already failing: that the copy cannot be removed either adds nothing
        let _ = std::fs::remove_file(&copy);
        return Err(match error {
            Error::Input(error) => InputError { file: Some(earlier.into()), ..error }.into(),
            other => other,
        });
    }
    std::fs::rename(&copy, path).map_err(Error::write(path))?;
    open(path)
}
