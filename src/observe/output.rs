//! The folder that a run writes: `scene.toml`, `ledger.csv`, `timings.csv`, `trajectory.npy`, `frames/`, …

use super::ledger::{HEADER, Row};
use super::npy::TrajectoryWriter;
use super::point_cache::PointCacheWriter;
use super::write_whole;
use crate::error::InputError;
use crate::mesh::Mesh;
use crate::step::Simulation;
use crate::step::clock::{Clock, PHASES};
use crate::{Error, Result, Vec3};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

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
    fn create(path: PathBuf, header: &str) -> Result<Self> {
        let file = File::create(&path).map_err(Error::write(&path))?;
        let mut table = Table { path, file: BufWriter::new(file) };
        table.line(header)?;
        Ok(table)
    }

    fn line(&mut self, line: &str) -> Result<()> {
        let Table { path, file } = self;
        writeln!(file, "{line}").and_then(|()| file.flush()).map_err(Error::write(path.as_path()))
    }
}

/// The folder of a run.
pub struct Output {
    directory: PathBuf,
    ledger: Table,
    timings: Table,
    clock: Clock,
    mesh: Mesh,
    exports: Vec<Export>,
    every: usize,
    trajectory: Option<TrajectoryWriter>,
    cache: Option<PointCacheWriter>,
}

impl Output {
    /// Makes the folder and writes what is known at the start: the scene and the `rows` made already.
    ///
    /// `resumed` is the folder of the checkpoint that the run goes on from: a trajectory there is continued.
    pub fn create(
        directory: &Path,
        scene: &str,
        simulation: &Simulation,
        rows: &[Row],
        exports: &[Export],
        every: usize,
        resumed: Option<&Path>,
    ) -> Result<Self> {
        std::fs::create_dir_all(directory).map_err(Error::write(directory))?;
        let model = simulation.model();
        let meshes: Vec<Mesh> = model.bodies.iter().map(|body| body.mesh.clone()).collect();
        let mesh = Mesh::concat(&meshes);
        let n = model.vertex_count();
        let trajectory = match exports.contains(&Export::Npy) {
            true => Some(open_trajectory(directory, n, rows.len(), resumed)?),
            false => None,
        };
        let cache = match exports.contains(&Export::Pc2) {
            true => Some(PointCacheWriter::create(
                &directory.join("points.pc2"),
                n,
                simulation.frame_number() as f32,
                every as f32,
            )?),
            false => None,
        };
        write_whole(&directory.join("scene.toml"), scene.as_bytes())?;
        let mut ledger = Table::create(directory.join("ledger.csv"), HEADER)?;
        rows.iter().try_for_each(|row| ledger.line(&row.csv()))?;
        let names: Vec<_> = PHASES.iter().map(|(_, name)| format!("{name}_ms")).collect();
        let timings =
            Table::create(directory.join("timings.csv"), &format!("frame,{},total_ms", names.join(",")))?;
        let mut output = Output {
            directory: directory.into(),
            ledger,
            timings,
            clock: *simulation.clock(),
            mesh,
            exports: exports.to_vec(),
            every: every.max(1),
            trajectory,
            cache,
        };
        if resumed.is_none() {
            output.export(simulation.frame_number(), simulation.positions())?;
        }
        Ok(output)
    }

    /// Writes a frame.
    pub fn frame(&mut self, row: &Row, simulation: &Simulation) -> Result<()> {
        self.ledger.line(&row.csv())?;
        let spent = simulation.clock().since(&self.clock);
        self.clock = *simulation.clock();
        let phases: Vec<f64> = PHASES.iter().map(|(phase, _)| spent.milliseconds(*phase)).collect();
        let total: f64 = phases.iter().sum();
        let columns: Vec<_> = phases.iter().chain([&total]).map(|ms| format!("{ms:.4}")).collect();
        self.timings.line(&format!("{},{}", row.frame, columns.join(",")))?;
        self.export(row.frame, simulation.positions())
    }

    fn export(&mut self, frame: usize, positions: &[Vec3]) -> Result<()> {
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
            let ending = match export {
                Export::Obj => "obj",
                Export::Ply => "ply",
                Export::Vtk => "vtk",
                Export::Pc2 | Export::Npy => continue,
            };
            let folder = self.directory.join("frames");
            std::fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
            let path = folder.join(format!("frame_{frame:05}.{ending}"));
            crate::mesh::write::write(&path, &self.mesh, positions)?;
        }
        Ok(())
    }

    /// The folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

/// A new trajectory, or the one of the run that is gone on with, cut to the frames that are kept.
fn open_trajectory(
    directory: &Path,
    vertices: usize,
    frames: usize,
    resumed: Option<&Path>,
) -> Result<TrajectoryWriter> {
    let path = directory.join("trajectory.npy");
    let Some(resumed) = resumed else { return TrajectoryWriter::create(&path, vertices) };
    let earlier = resumed.join("trajectory.npy");
    let same = std::path::absolute(&earlier).ok() == std::path::absolute(&path).ok();
    if !same {
        let missing = |e: std::io::Error| {
            let message = format!("{e}; --export npy goes on with the trajectory beside the checkpoint");
            InputError::new(message).in_file(&earlier)
        };
        std::fs::metadata(&earlier).map_err(missing)?;
        std::fs::copy(&earlier, &path).map_err(Error::write(&path))?;
    }
    TrajectoryWriter::resume(&path, vertices, frames)
}
