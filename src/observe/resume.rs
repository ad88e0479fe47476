//! Continues the files of an earlier run, in place or in another folder.

use super::gltf::{self, GltfWriter};
use super::mesh_cache::MeshCacheWriter;
use super::output::{Export, Plan, TRAJECTORY};
use super::point_cache::PointCacheWriter;
use super::{MotionSource, MotionWriter, Series, TrajectoryWriter, Visible};
use crate::error::InputError;
use crate::{Error, Result};
use std::path::{Path, PathBuf};

impl Plan<'_> {
    /// The trajectory to append to, if requested.
    pub(super) fn trajectory(&self, simulation: &dyn MotionSource) -> Result<Option<TrajectoryWriter>> {
        if !self.exports.contains(&Export::Npy) {
            return Ok(None);
        }
        let vertices = simulation.model().vertex_count();
        let path = self.directory.join(TRAJECTORY);
        match self.resumed {
            None => TrajectoryWriter::create(&path, vertices),
            Some(folder) => resume_file(&folder.join(TRAJECTORY), &path, |path| {
                TrajectoryWriter::resume(path, self.rows.len(), simulation.positions())
            }),
        }
        .map(Some)
    }

    /// The requested exports, without duplicates.
    pub(super) fn requested(&self) -> impl Iterator<Item = Export> {
        Export::ALL.into_iter().filter(|export| self.exports.contains(export))
    }

    /// The motion files to append to.
    pub(super) fn motions(
        &self,
        simulation: &dyn MotionSource,
        visible: &Visible,
    ) -> Result<Vec<Box<dyn MotionWriter>>> {
        let made = self.requested().filter_map(|export| {
            let (name, vertices) = (export.file()?, visible.vertex_count());
            Some(match export {
                Export::Pc2 => self.motion(name, simulation, |path, times| match times {
                    None => PointCacheWriter::create(path, vertices, 0.0, self.every as f32),
                    Some(times) => PointCacheWriter::resume(path, vertices, self.every as f32, times.len()),
                }),
                Export::Mdd => self.motion(name, simulation, |path, times| match times {
                    None => MeshCacheWriter::create(path, vertices),
                    Some(times) => MeshCacheWriter::resume(path, vertices, times),
                }),
                Export::Gltf => self.motion(name, simulation, |path, times| match times {
                    None => GltfWriter::create(path, visible, self.exported()),
                    Some(times) => GltfWriter::resume(path, visible, self.exported(), times),
                }),
                Export::Obj | Export::Ply | Export::Vtk | Export::Npy => return None,
            })
        });
        made.collect()
    }

    /// A motion file: a new one, or one continued after frames at these times (s).
    fn motion<M: MotionWriter + 'static>(
        &self,
        name: &str,
        simulation: &dyn MotionSource,
        open: impl Fn(&Path, Option<&[f64]>) -> Result<M>,
    ) -> Result<Box<dyn MotionWriter>> {
        let path = self.directory.join(name);
        let Some(folder) = self.resumed else { return Ok(Box::new(open(&path, None)?)) };
        let made = self.rows.iter().take(simulation.frame_number() + 1).step_by(self.every.max(1));
        let times: Vec<f64> = made.map(|row| row.time).collect();
        Ok(Box::new(resume_file(&folder.join(name), &path, |path| open(path, Some(&times)))?))
    }

    /// Number of exported frames, including the first.
    fn exported(&self) -> usize {
        self.frames / self.every.max(1) + 1
    }

    /// Refuses impossible exports before anything is written.
    pub(super) fn check(&self, visible: &Visible) -> Result<()> {
        if self.exports.contains(&Export::Gltf) {
            gltf::check(visible, self.exported(), self.every.max(1))?;
        }
        Ok(())
    }

    /// The frame index, including earlier frames in the same folder.
    pub(super) fn series(&self, path: PathBuf, name: impl Fn(usize) -> String) -> Series {
        let mut series = Series::new(path);
        let same = |folder: &Path| {
            let folder = if folder == Path::new("") { Path::new(".") } else { folder };
            matches!((folder.canonicalize(), self.directory.canonicalize()), (Ok(a), Ok(b)) if a == b)
        };
        if self.resumed.is_some_and(same) {
            series.take_up(self.rows.iter().map(|row| row.time), name);
        }
        series
    }

    /// Rows of `timings.csv` of the frames that are kept; empty if the earlier file is missing.
    pub(super) fn timings(&self) -> Vec<String> {
        let Some(folder) = self.resumed else { return Vec::new() };
        let text = std::fs::read_to_string(folder.join("timings.csv")).unwrap_or_default();
        let kept = |line: &&str| {
            let frame = line.split(',').next().and_then(|frame| frame.parse::<usize>().ok());
            frame.is_some_and(|frame| frame < self.rows.len())
        };
        text.lines().filter(kept).map(String::from).collect()
    }

    /// Whether the visible surface is needed.
    pub(super) fn needs_surface(&self) -> bool {
        self.exports.iter().any(|export| !matches!(export, Export::Vtk | Export::Npy))
    }
}

/// Opens a file of an earlier run for continuation at `path`. If that is another file, it is replaced only by a copy
/// that was found to match.
fn resume_file<W>(earlier: &Path, path: &Path, open: impl Fn(&Path) -> Result<W>) -> Result<W> {
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
        // already failing: a failed cleanup adds nothing
        let _ = std::fs::remove_file(&copy);
        return Err(match error {
            Error::Input(error) => InputError { file: Some(earlier.into()), ..error }.into(),
            other => other,
        });
    }
    std::fs::rename(&copy, path).map_err(Error::write(path))?;
    open(path)
}
