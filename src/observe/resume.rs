//! Continues the files of an earlier run, in place or in another folder.

use super::folder::{Claims, Folder, Frames, layout};
use super::gltf::{self, GltfWriter};
use super::mesh_cache::MeshCacheWriter;
use super::output::{CACHED, Export, Plan, TRAJECTORY};
use super::point_cache::PointCacheWriter;
use super::{MotionSource, MotionWriter, Series, TrajectoryWriter, Visible};
use crate::disk::atomic;
use crate::error::{InputError, Result};
use std::fs::File;
use std::io;
use std::path::PathBuf;

impl Plan<'_> {
    /// Prepares the folder for what will be written.
    pub(super) fn begin(&self, folder: &mut Folder) -> Result<()> {
        match self.resumed {
            Some(resumed) if self.is_in_place() => folder.go_on(self.claims(), resumed),
            resumed => folder.begin(self.claims(), resumed.map(|resumed| resumed.folder())),
        }
    }

    /// Every file that may be written.
    fn claims(&self) -> Claims {
        let mut names = vec![layout::SCENE, layout::LEDGER, layout::TIMINGS, layout::SUMMARY];
        names.extend(self.requested().filter_map(Export::file));
        names.extend(self.exports.iter().any(Export::is_cache).then_some(CACHED));
        let own = self.requested().filter_map(Export::ending);
        let mut endings: Vec<String> =
            own.map(String::from).chain(self.drawn.iter().map(|ending| ending.to_string())).collect();
        endings.sort();
        let frames =
            (!endings.is_empty()).then_some(Frames { endings, every: self.every.max(1), last: self.frames });
        names.extend(frames.is_some().then_some(layout::FRAME_HASHES));
        let names = names.into_iter().map(String::from).chain(self.more.iter().cloned());
        Claims { names: names.collect(), frames }
    }

    /// Whether files are listed frame by frame.
    pub(super) fn has_frames(&self) -> bool {
        self.claims().frames.is_some()
    }

    /// Whether the run goes on in the folder of its checkpoint.
    pub(super) fn is_in_place(&self) -> bool {
        self.resumed.is_some_and(|resumed| super::folder::same(resumed.folder(), self.directory))
    }

    /// Refuses files of an earlier run that cannot be continued, before anything is written.
    pub(super) fn check_sources(&self, simulation: &dyn MotionSource, visible: &Visible) -> Result<()> {
        let Some(resumed) = self.resumed else { return Ok(()) };
        for export in self.requested() {
            let Some(name) = export.file() else { continue };
            let path = resumed.folder().join(name);
            let (times, vertices) = (self.times(simulation), visible.vertex_count());
            if export != Export::Vtk {
                std::fs::metadata(&path).map_err(|e| {
                    let message = format!("{e}; an export goes on with the file beside the checkpoint");
                    InputError::new(message).in_file(&path)
                })?;
            }
            match export {
                Export::Npy => TrajectoryWriter::check(&path, self.rows.len(), simulation.positions()),
                Export::Pc2 => PointCacheWriter::check(&path, vertices, self.every as f32, times.len()),
                Export::Mdd => MeshCacheWriter::check(&path, vertices, &times),
                Export::Gltf => GltfWriter::check(&path, visible, &times),
                Export::Obj | Export::Ply | Export::Vtk => Ok(()),
            }?;
        }
        Ok(())
    }

    /// Refuses to go on without a file that may hold frames after the checkpoint: it would keep them beside new ones. A frame is in the
    /// ledger before it is in any other file.
    pub(super) fn check_left_out(&self, folder: &Folder) -> Result<()> {
        let Some(resumed) = self.resumed.filter(|_| self.is_in_place()) else { return Ok(()) };
        let ledger = std::fs::metadata(folder.path(layout::LEDGER)).map_or(0, |data| data.len());
        if ledger <= resumed.ledger.bytes {
            return Ok(());
        }
        let grows = |export: &Export| export.ending().is_none();
        let asked = |export: &Export| self.exports.contains(export);
        for export in Export::ALL.into_iter().filter(|export| grows(export) && !asked(export)) {
            if let Some(name) = export.file().filter(|name| folder.owned(name)) {
                let (frame, option) = (resumed.frame, export.option());
                let message = format!(
                    "{name} may hold frames after {frame}, that of the checkpoint: --export {option} goes on with it, another --out leaves it \
                     as it is"
                );
                return Err(InputError::field("--resume", message).into());
            }
        }
        Ok(())
    }

    /// The trajectory to append to, if requested.
    pub(super) fn trajectory(&self, simulation: &dyn MotionSource) -> Result<Option<TrajectoryWriter>> {
        if !self.exports.contains(&Export::Npy) {
            return Ok(None);
        }
        let path = self.source(TRAJECTORY)?;
        match self.resumed {
            None => TrajectoryWriter::create(&path, simulation.model().vertex_count()),
            Some(_) => TrajectoryWriter::resume(&path, self.rows.len(), simulation.positions()),
        }
        .map(Some)
    }

    /// The requested exports, without duplicates.
    pub(super) fn requested(&self) -> impl Iterator<Item = Export> {
        Export::ALL.into_iter().filter(|export| self.exports.contains(export))
    }

    /// The motion files to append to, with their names.
    pub(super) fn motions(
        &self,
        simulation: &dyn MotionSource,
        visible: &Visible,
    ) -> Result<Vec<(&'static str, Box<dyn MotionWriter>)>> {
        let (vertices, every) = (visible.vertex_count(), self.every as f32);
        let times = self.resumed.map(|_| self.times(simulation));
        let mut motions: Vec<(&'static str, Box<dyn MotionWriter>)> = Vec::new();
        for export in self.requested() {
            let Some(name) = export.file() else { continue };
            if !matches!(export, Export::Pc2 | Export::Mdd | Export::Gltf) {
                continue;
            }
            let path = self.source(name)?;
            let motion: Box<dyn MotionWriter> = match (export, &times) {
                (Export::Pc2, None) => Box::new(PointCacheWriter::create(&path, vertices, 0.0, every)?),
                (Export::Pc2, Some(t)) => {
                    Box::new(PointCacheWriter::resume(&path, vertices, every, t.len())?)
                }
                (Export::Mdd, None) => Box::new(MeshCacheWriter::create(&path, vertices)?),
                (Export::Mdd, Some(t)) => Box::new(MeshCacheWriter::resume(&path, vertices, t)?),
                (_, None) => Box::new(GltfWriter::create(&path, visible, self.exported())?),
                (_, Some(t)) => Box::new(GltfWriter::resume(&path, visible, self.exported(), t)?),
            };
            motions.push((name, motion));
        }
        Ok(motions)
    }

    /// Times of the frames exported before (s).
    fn times(&self, simulation: &dyn MotionSource) -> Vec<f64> {
        let made = self.rows.iter().take(simulation.frame_number() + 1).step_by(self.every.max(1));
        made.map(|row| row.time).collect()
    }

    /// Where a file is to be written: if it is continued from another folder, a copy is there.
    fn source(&self, name: &str) -> Result<PathBuf> {
        let path = self.directory.join(name);
        if let (Some(resumed), false) = (self.resumed, self.is_in_place()) {
            let original = resumed.folder().join(name);
            let mut file =
                File::open(&original).map_err(|e| InputError::new(e.to_string()).in_file(&original))?;
            atomic::replace(&path, |out| io::copy(&mut file, out).map(drop))?;
        }
        Ok(path)
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
    pub(super) fn series(&self, path: PathBuf) -> Series {
        let mut series = Series::new(path);
        if self.is_in_place() {
            let name = |frame| layout::frame_name(frame, "vtk");
            series.take_up(self.rows.iter().map(|row| row.time), name);
        }
        series
    }

    /// Rows of `timings.csv` of the frames that are kept; empty if the earlier file is missing.
    pub(super) fn timings(&self) -> Vec<String> {
        let Some(resumed) = self.resumed else { return Vec::new() };
        let text = std::fs::read_to_string(resumed.folder().join(layout::TIMINGS)).unwrap_or_default();
        let mut next = 0;
        let mut kept = |line: &&str| {
            let frame = line.split(',').next().and_then(|frame| frame.parse::<usize>().ok());
            // the last row of a run that was killed may be cut off, its number, too
            let kept = frame.is_some_and(|frame| (next..self.rows.len()).contains(&frame));
            next = frame.filter(|_| kept).map_or(next, |frame| frame + 1);
            kept
        };
        text.lines().filter(|line| kept(line)).map(String::from).collect()
    }

    /// Whether the visible surface is needed.
    pub(super) fn needs_surface(&self) -> bool {
        self.exports.iter().any(|export| !matches!(export, Export::Vtk | Export::Npy))
    }
}
