//! The folder that a run writes: `scene.toml`, `ledger.csv`, `timings.csv`, `trajectory.npy`, `frames/`, …

use super::ledger::{HEADER, Row};
use super::npy::TrajectoryWriter;
use super::point_cache::PointCacheWriter;
use super::write_whole;
use crate::mesh::Mesh;
use crate::step::Simulation;
use crate::step::clock::{Clock, PHASES};
use crate::{Error, Result, Vec3};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// All frames in one array.
pub(super) const TRAJECTORY: &str = "trajectory.npy";
/// All frames in one point cache.
pub(super) const CACHE: &str = "points.pc2";

/// What to write beside the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Export {
    /// A surface a frame.
    Obj,
    /// A surface a frame.
    Ply,
    /// The elements, a file a frame.
    Vtk,
    /// All frames in one point cache, for mesh cache modifiers.
    Pc2,
    /// All frames in one array: `trajectory.npy`.
    Npy,
}

/// A text file of rows, each of them on the disk as soon as it is written.
struct Table {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Table {
    fn create(path: PathBuf, header: &str, rows: impl IntoIterator<Item = String>) -> Result<Self> {
        let file = File::create(&path).map_err(Error::write(&path))?;
        let mut table = Table { path, file: BufWriter::new(file) };
        table.line(header)?;
        rows.into_iter().try_for_each(|row| table.line(&row))?;
        Ok(table)
    }

    fn line(&mut self, line: &str) -> Result<()> {
        let Table { path, file } = self;
        writeln!(file, "{line}").and_then(|()| file.flush()).map_err(Error::write(path.as_path()))
    }
}

/// What a run writes, and what it goes on from.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// The folder.
    pub directory: &'a Path,
    /// The scene with all defaults.
    pub scene: &'a str,
    /// The rows of the ledger made already: that of the start, or those of a checkpoint.
    pub rows: &'a [Row],
    /// What to write beside the ledger.
    pub exports: &'a [Export],
    /// Export every so many frames.
    pub every: usize,
    /// The folder of the checkpoint that the run goes on from: what was written there is continued.
    pub resumed: Option<&'a Path>,
}

/// The folder of a run.
pub struct Output {
    directory: PathBuf,
    ledger: Table,
    timings: Table,
    clock: Clock,
    mesh: Mesh,
    /// What can be seen of the mesh, found once.
    skin: Mesh,
    exports: Vec<Export>,
    every: usize,
    trajectory: Option<TrajectoryWriter>,
    cache: Option<PointCacheWriter>,
}

impl Output {
    /// Makes the folder and writes what is known at the start.
    pub fn create(plan: &Plan<'_>, simulation: &Simulation) -> Result<Self> {
        let directory = plan.directory;
        std::fs::create_dir_all(directory).map_err(Error::write(directory))?;
        let (trajectory, cache) = (plan.trajectory(simulation)?, plan.cache(simulation)?);
        let (timings, mesh) = (plan.timings(), mesh_of(simulation));
        if plan.resumed.is_none() {
            remove_earlier(plan);
        }
        write_whole(&directory.join("scene.toml"), plan.scene.as_bytes())?;
        let mut output = Output {
            directory: directory.into(),
            ledger: Table::create(directory.join("ledger.csv"), HEADER, plan.rows.iter().map(Row::csv))?,
            timings: Table::create(directory.join("timings.csv"), &timings_header(), timings)?,
            clock: Clock::default(),
            skin: if plan.needs_skin() { mesh.skin() } else { Mesh::default() },
            mesh,
            exports: plan.exports.to_vec(),
            every: plan.every.max(1),
            trajectory,
            cache,
        };
        if plan.resumed.is_none() {
            output.time(0, simulation)?;
            output.export(0, simulation.positions())?;
        }
        output.clock = *simulation.clock();
        Ok(output)
    }

    /// Writes the row of a frame, and the time spent.
    pub fn row(&mut self, row: &Row, simulation: &Simulation) -> Result<()> {
        self.ledger.line(&row.csv())?;
        self.time(row.frame, simulation)
    }

    /// Whether [`Output::export`] writes something of this frame.
    pub fn exports(&self, frame: usize) -> bool {
        self.trajectory.is_some() || !self.exports.is_empty() && frame.is_multiple_of(self.every)
    }

    /// A row of `timings.csv`: the time spent since the row before was written. Where a device runs ahead, that is on
    /// later frames, too.
    fn time(&mut self, frame: usize, simulation: &Simulation) -> Result<()> {
        let spent = simulation.clock().since(&self.clock);
        self.clock = *simulation.clock();
        let phases: Vec<f64> = PHASES.iter().map(|(phase, _)| spent.milliseconds(*phase)).collect();
        let total: f64 = phases.iter().sum();
        let columns: Vec<_> = phases.iter().chain([&total]).map(|ms| format!("{ms:.4}")).collect();
        self.timings.line(&format!("{frame},{}", columns.join(",")))
    }

    /// Writes the positions at a frame.
    pub fn export(&mut self, frame: usize, positions: &[Vec3]) -> Result<()> {
        if let Some(trajectory) = &mut self.trajectory {
            trajectory.append(positions)?;
        }
        if !frame.is_multiple_of(self.every) {
            return Ok(());
        }
        if let Some(cache) = &mut self.cache {
            cache.append(positions)?;
        }
        for export in &self.exports {
            let (ending, mesh) = match export {
                Export::Obj => ("obj", &self.skin),
                Export::Ply => ("ply", &self.skin),
                Export::Vtk => ("vtk", &self.mesh),
                Export::Pc2 | Export::Npy => continue,
            };
            let folder = self.directory.join("frames");
            std::fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
            crate::mesh::write::write(&folder.join(format!("frame_{frame:05}.{ending}")), mesh, positions)?;
        }
        Ok(())
    }

    /// The folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

/// The shapes of all bodies as one mesh.
fn mesh_of(simulation: &Simulation) -> Mesh {
    let meshes: Vec<Mesh> = simulation.model().bodies.iter().map(|body| body.mesh.clone()).collect();
    Mesh::concat(&meshes)
}

fn timings_header() -> String {
    let names: Vec<_> = PHASES.iter().map(|(_, name)| format!("{name}_ms")).collect();
    format!("frame,{},total_ms", names.join(","))
}

/// Removes what an earlier run into the same folder wrote and this one will not write anew, or only at its end:
/// results of two runs side by side would be taken for one.
fn remove_earlier(plan: &Plan<'_>) {
    let mut files = vec!["summary.json", "checkpoint.bin"];
    files.extend((!plan.exports.contains(&Export::Npy)).then_some(TRAJECTORY));
    files.extend((!plan.exports.contains(&Export::Pc2)).then_some(CACHE));
    let mut earlier: Vec<PathBuf> = files.iter().map(|name| plan.directory.join(name)).collect();
    let frames = std::fs::read_dir(plan.directory.join("frames")).into_iter().flatten().flatten();
    earlier.extend(frames.map(|entry| entry.path()).filter(|path| is_frame(path)));
    // most of them are not there; one that cannot be removed is no reason not to run
    earlier.iter().for_each(|path| drop(std::fs::remove_file(path)));
}

/// Whether a file is one of our exported frames.
fn is_frame(path: &Path) -> bool {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    let number = stem.strip_prefix("frame_").unwrap_or_default();
    !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
        && ["obj", "ply", "vtk", "png"].contains(&&*ending)
}
