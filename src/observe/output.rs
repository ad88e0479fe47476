//! The output folder of a run: `scene.toml`, `ledger.csv`, `timings.csv`, `trajectory.npy`, `frames/`, …

use super::{MotionSource, MotionWriter, Series, TrajectoryWriter, Visible, write_whole};
use crate::ledger::{HEADER, Row};
use crate::mesh::Mesh;
use crate::mesh::write::{VertexData, write, write_with_data};
use crate::step::clock::{Clock, PHASES};
use crate::step::trace::TracedIterate;
use crate::{Error, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// All frames in one array.
pub(super) const TRAJECTORY: &str = "trajectory.npy";
/// The iterations of a traced frame.
const ITERATIONS: &str = "iterations.csv";
/// The surface moved by the point caches.
const CACHED: &str = "points.obj";
/// Index of `.vtk` files and their times.
const SERIES: &str = "frames.vtk.series";

/// Additional exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Export {
    /// A surface a frame: skins, or boundaries
    Obj,
    /// A surface a frame: skins, or boundaries
    Ply,
    /// The elements with velocities, a file a frame, and frames.vtk.series for ParaView
    Vtk,
    /// All frames in points.pc2, for the mesh cache of points.obj
    Pc2,
    /// All frames in points.mdd, for the mesh cache of points.obj
    Mdd,
    /// The surfaces and their motion in motion.glb
    #[cfg_attr(feature = "cli", value(alias = "glb"))]
    Gltf,
    /// All frames in one array: trajectory.npy
    Npy,
}

impl Export {
    /// Its single file, if it does not write one per frame.
    pub const ALL: [Export; 7] =
        [Export::Obj, Export::Ply, Export::Vtk, Export::Pc2, Export::Mdd, Export::Gltf, Export::Npy];

    /// The one file that it writes, beside a file a frame.
    pub(super) fn file(self) -> Option<&'static str> {
        match self {
            Export::Obj | Export::Ply => None,
            Export::Vtk => Some(SERIES),
            Export::Pc2 => Some("points.pc2"),
            Export::Mdd => Some("points.mdd"),
            Export::Gltf => Some("motion.glb"),
            Export::Npy => Some(TRAJECTORY),
        }
    }

    /// Whether it is a point cache, which needs a mesh to move.
    fn is_cache(&self) -> bool {
        matches!(self, Export::Pc2 | Export::Mdd)
    }
}

/// A text table whose rows are flushed to disk immediately.
pub(super) struct Table {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Table {
    pub fn create(path: PathBuf, header: &str, rows: impl IntoIterator<Item = String>) -> Result<Self> {
        let file = File::create(&path).map_err(Error::write(&path))?;
        let mut table = Table { path, file: BufWriter::new(file) };
        table.line(header)?;
        rows.into_iter().try_for_each(|row| table.line(&row))?;
        Ok(table)
    }

    pub fn line(&mut self, line: &str) -> Result<()> {
        let Table { path, file } = self;
        writeln!(file, "{line}").and_then(|()| file.flush()).map_err(Error::write(path.as_path()))
    }
}

/// What a run writes, and what it resumes from.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    pub directory: &'a Path,
    /// The scene with all defaults.
    pub scene: &'a str,
    /// Existing ledger rows: the initial one, or those of a checkpoint.
    pub rows: &'a [Row],
    /// What to write beside the ledger.
    pub exports: &'a [Export],
    pub every: usize,
    /// The number of the last frame of the run.
    pub frames: usize,
    /// The folder of the checkpoint being resumed, whose files are continued.
    pub resumed: Option<&'a Path>,
}

/// The folder of a run.
pub struct Output {
    directory: PathBuf,
    ledger: Table,
    timings: Table,
    clock: Clock,
    /// Time of the last row (s).
    time: f64,
    mesh: Mesh,
    /// The body of each vertex.
    bodies: Vec<u32>,
    /// The visible surface, found once.
    visible: Visible,
    exports: Vec<Export>,
    every: usize,
    trajectory: Option<TrajectoryWriter>,
    motions: Vec<Box<dyn MotionWriter>>,
    series: Series,
}

impl Output {
    /// Creates the folder and writes what is known at the start.
    pub fn create(plan: &Plan<'_>, simulation: &dyn MotionSource) -> Result<Self> {
        let directory = plan.directory;
        let model = simulation.model();
        let visible = if plan.needs_surface() { Visible::of(model) } else { Visible::default() };
        plan.check(&visible)?;
        std::fs::create_dir_all(directory).map_err(Error::write(directory))?;
        let (trajectory, motions) = (plan.trajectory(simulation)?, plan.motions(simulation, &visible)?);
        let (timings, mesh) = (plan.timings(), mesh_of(simulation));
        if plan.resumed.is_none() {
            remove_earlier(plan);
        }
        write_whole(&directory.join("scene.toml"), plan.scene.as_bytes())?;
        if plan.exports.iter().any(Export::is_cache) {
            write(&directory.join(CACHED), &visible.mesh, &visible.mesh.positions)?;
        }
        let bodies = model.bodies.iter().zip(0..);
        let mut output = Output {
            directory: directory.into(),
            ledger: Table::create(directory.join("ledger.csv"), HEADER, plan.rows.iter().map(Row::csv))?,
            timings: Table::create(directory.join("timings.csv"), &timings_header(), timings)?,
            clock: Clock::default(),
            time: plan.rows.last().map_or(0.0, |row| row.time),
            mesh,
            bodies: bodies.flat_map(|(body, number)| vec![number; body.vertices.len()]).collect(),
            visible,
            exports: plan.requested().collect(),
            every: plan.every.max(1),
            trajectory,
            motions,
            series: plan.series(directory.join(SERIES), |frame| frame_name(frame, "vtk")),
        };
        if plan.resumed.is_none() {
            output.time(0, simulation)?;
            output.export(0, simulation)?;
        } else if plan.exports.contains(&Export::Vtk) {
            output.series.write()?;
        }
        output.clock = *simulation.clock();
        Ok(output)
    }

    /// Writes the row of a frame, and its timings.
    pub fn row(&mut self, row: &Row, simulation: &dyn MotionSource) -> Result<()> {
        self.ledger.line(&row.csv())?;
        self.time = row.time;
        self.time(row.frame, simulation)
    }

    /// Whether [`Output::export`] writes this frame.
    pub fn exports(&self, frame: usize) -> bool {
        self.trajectory.is_some() || !self.exports.is_empty() && frame.is_multiple_of(self.every)
    }

    /// A row of `timings.csv`: the time since the previous row. If a device runs ahead, it includes work on later
    /// frames.
    fn time(&mut self, frame: usize, simulation: &dyn MotionSource) -> Result<()> {
        let spent = simulation.clock().since(&self.clock);
        self.clock = *simulation.clock();
        let phases: Vec<f64> = PHASES.iter().map(|(phase, _)| spent.milliseconds(*phase)).collect();
        let total: f64 = phases.iter().sum();
        let columns: Vec<_> = phases.iter().chain([&total]).map(|ms| format!("{ms:.4}")).collect();
        self.timings.line(&format!("{frame},{}", columns.join(",")))
    }

    /// Exports the state of a frame whose row has been written.
    pub fn export(&mut self, frame: usize, simulation: &dyn MotionSource) -> Result<()> {
        let positions = simulation.positions();
        if let Some(trajectory) = &mut self.trajectory {
            trajectory.append(positions)?;
        }
        if !frame.is_multiple_of(self.every) {
            return Ok(());
        }
        let seen = self.visible.positions(positions);
        self.motions.iter_mut().try_for_each(|motion| motion.append(&seen, self.time))?;
        for export in &self.exports {
            let ending = match export {
                Export::Obj => "obj",
                Export::Ply => "ply",
                Export::Vtk => "vtk",
                Export::Pc2 | Export::Mdd | Export::Gltf | Export::Npy => continue,
            };
            let folder = self.directory.join("frames");
            std::fs::create_dir_all(&folder).map_err(Error::write(&folder))?;
            let name = frame_name(frame, ending);
            let path = self.directory.join(&name);
            if *export == Export::Vtk {
                let known = VertexData { velocities: simulation.velocities(), bodies: &self.bodies };
                write_with_data(&path, &self.mesh, positions, known)?;
                self.series.add(name, self.time)?;
            } else {
                write(&path, &self.visible.mesh, &seen)?;
            }
        }
        Ok(())
    }

    pub fn finish(&mut self) -> Result<()> {
        self.motions.iter_mut().try_for_each(|motion| motion.finish())
    }

    /// The table of a traced frame.
    pub fn iterations(&self, traced: &[TracedIterate]) -> Result<()> {
        let path = self.directory.join(ITERATIONS);
        Table::create(path, TracedIterate::HEADER, traced.iter().map(TracedIterate::csv)).map(drop)
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

/// All bodies as one mesh.
fn mesh_of(simulation: &dyn MotionSource) -> Mesh {
    let meshes: Vec<Mesh> = simulation.model().bodies.iter().map(|body| body.mesh.clone()).collect();
    Mesh::concat(&meshes)
}

/// The file of a frame, relative to the folder of the run.
fn frame_name(frame: usize, ending: &str) -> String {
    format!("frames/frame_{frame:05}.{ending}")
}

fn timings_header() -> String {
    let names: Vec<_> = PHASES.iter().map(|(_, name)| format!("{name}_ms")).collect();
    format!("frame,{},total_ms", names.join(","))
}

/// Removes files of an earlier run in the same folder that this run will not rewrite, or only at its end: a mixture
/// would be taken for one run.
fn remove_earlier(plan: &Plan<'_>) {
    let mut files = vec!["summary.json", "checkpoint.bin", ITERATIONS, super::examples::FILE];
    files.extend(["plots/examples.svg", "plots/examples.png"]);
    let others = Export::ALL.iter().filter(|export| !plan.exports.contains(export));
    files.extend(others.filter_map(|export| export.file()));
    files.extend((!plan.exports.iter().any(Export::is_cache)).then_some(CACHED));
    let mut earlier: Vec<PathBuf> = files.iter().map(|name| plan.directory.join(name)).collect();
    let frames = std::fs::read_dir(plan.directory.join("frames")).into_iter().flatten().flatten();
    earlier.extend(frames.map(|entry| entry.path()).filter(|path| is_frame(path)));
    // most of them do not exist; one that cannot be removed does not stop the run
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
