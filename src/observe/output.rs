//! The output folder of a run: `scene.toml`, `ledger.csv`, `timings.csv`, `trajectory.npy`, `frames/`, …

use super::checkpoint::Checkpoint;
use super::folder::{Folder, Resumed, Status, layout};
use super::table::Table;
use super::{MotionSource, MotionWriter, Series, TrajectoryWriter, Visible};
use crate::ledger::{HEADER, Row};
use crate::mesh::Mesh;
use crate::mesh::write::{VertexData, encode};
use crate::step::Simulation;
use crate::step::clock::{Clock, PHASES};
use crate::step::trace::TracedIterate;
use crate::{Error, Result};
use std::path::Path;

/// All frames in one array.
pub(super) const TRAJECTORY: &str = "trajectory.npy";
/// The surface moved by the point caches.
pub(super) const CACHED: &str = "points.obj";
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
    /// All of them.
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

    /// What it is called on the command line.
    pub(super) fn option(self) -> &'static str {
        match self {
            Export::Obj => "obj",
            Export::Ply => "ply",
            Export::Vtk => "vtk",
            Export::Pc2 => "pc2",
            Export::Mdd => "mdd",
            Export::Gltf => "gltf",
            Export::Npy => "npy",
        }
    }

    /// The ending of its files, if it writes one per frame.
    pub(super) fn ending(self) -> Option<&'static str> {
        matches!(self, Export::Obj | Export::Ply | Export::Vtk).then(|| self.option())
    }

    /// Whether it is a point cache, which needs a mesh to move.
    pub(super) fn is_cache(&self) -> bool {
        matches!(self, Export::Pc2 | Export::Mdd)
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
    /// The checkpoint being resumed, whose folder's files are continued.
    pub resumed: Option<&'a Resumed>,
    /// Files that others write into the folder: checkpoints, plots, …
    pub more: &'a [String],
    /// Endings of files of frames that others write.
    pub drawn: &'a [&'a str],
}

/// The folder of a run.
pub struct Output {
    folder: Folder,
    /// Tables that grow by a row a frame.
    tables: Vec<&'static str>,
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
    motions: Vec<(&'static str, Box<dyn MotionWriter>)>,
    series: Series,
    /// Whether something was written since all was put on the disk.
    is_behind: bool,
}

impl Output {
    /// Prepares the folder and writes what is known at the start.
    pub fn create(plan: &Plan<'_>, mut folder: Folder, simulation: &dyn MotionSource) -> Result<Self> {
        let model = simulation.model();
        let visible = if plan.needs_surface() { Visible::of(model) } else { Visible::default() };
        plan.check(&visible)?;
        plan.check_sources(simulation, &visible)?;
        plan.check_left_out(&folder)?;
        let timings = plan.timings();
        plan.begin(&mut folder)?;
        folder.stage(layout::SCENE, plan.scene.as_bytes())?;
        if plan.exports.iter().any(Export::is_cache) {
            let mesh = &visible.mesh;
            folder
                .stage(CACHED, &encode(Path::new(CACHED), mesh, &mesh.positions, VertexData::default())?)?;
        }
        folder.commit()?;
        if plan.has_frames() || plan.is_in_place() && folder.owned(layout::FRAME_HASHES) {
            folder.list_frames(plan.resumed.filter(|_| plan.is_in_place()).map(|resumed| resumed.frame))?;
        }
        let ledger = Table::open(&folder.path(layout::LEDGER), Some(HEADER), plan.rows.iter().map(Row::csv))?;
        let bodies = model.bodies.iter().zip(0..);
        let mut output = Output {
            ledger,
            timings: Table::open(&folder.path(layout::TIMINGS), Some(&timings_header()), timings)?,
            tables: vec![layout::LEDGER, layout::TIMINGS],
            clock: Clock::default(),
            time: plan.rows.last().map_or(0.0, |row| row.time),
            mesh: mesh_of(simulation),
            bodies: bodies.flat_map(|(body, number)| vec![number; body.vertices.len()]).collect(),
            exports: plan.requested().collect(),
            every: plan.every.max(1),
            trajectory: plan.trajectory(simulation)?,
            motions: plan.motions(simulation, &visible)?,
            series: plan.series(folder.path(SERIES)),
            visible,
            folder,
            is_behind: true,
        };
        match plan.resumed {
            None => {
                output.time(0, simulation)?;
                output.export(0, simulation)?;
            }
            // the checkpoint that is here stands for these files as they are now
            Some(resumed) if plan.is_in_place() => {
                output.settle(false)?;
                output.folder.record(resumed.frame)?;
            }
            Some(_) => {}
        }
        output.clock = *simulation.clock();
        Ok(output)
    }

    /// A table that grows by a row a frame.
    pub(super) fn table(
        &mut self,
        name: &'static str,
        header: &str,
        rows: impl IntoIterator<Item = String>,
    ) -> Result<Table> {
        self.tables.push(name);
        self.is_behind = true;
        Table::open(&self.folder.path(name), Some(header), rows)
    }

    /// Writes the row of a frame, and its timings.
    pub fn row(&mut self, row: &Row, simulation: &dyn MotionSource) -> Result<()> {
        self.is_behind = true;
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
        self.is_behind = true;
        let positions = simulation.positions();
        if let Some(trajectory) = &mut self.trajectory {
            trajectory.append(positions)?;
        }
        if !frame.is_multiple_of(self.every) {
            return Ok(());
        }
        let seen = self.visible.positions(positions);
        self.motions.iter_mut().try_for_each(|(_, motion)| motion.append(&seen, self.time))?;
        for export in &self.exports {
            let Some(ending) = export.ending() else { continue };
            let name = layout::frame_name(frame, ending);
            let bytes = if *export == Export::Vtk {
                let known = VertexData { velocities: simulation.velocities(), bodies: &self.bodies };
                self.series.add(name.clone(), self.time);
                encode(Path::new(&name), &self.mesh, positions, known)?
            } else {
                encode(Path::new(&name), &self.visible.mesh, &seen, VertexData::default())?
            };
            self.folder.write_frame(&name, &bytes)?;
        }
        Ok(())
    }

    /// Writes a checkpoint. When it returns, all that was written up to now is on the disk.
    pub fn checkpoint(&mut self, simulation: &mut Simulation, scene: &str) -> Result<()> {
        self.settle(false)?;
        let missing = || Error::write(self.folder.path(layout::LEDGER))(std::io::ErrorKind::NotFound.into());
        let ledger = self.folder.entry(layout::LEDGER).cloned().ok_or_else(missing)?;
        let checkpoint = Checkpoint::of(simulation, scene, ledger)?;
        self.folder.rotate(|out| checkpoint.write(out))?;
        self.folder.record(checkpoint.frame)
    }

    /// Puts on the disk what was appended to files; then their headers tell of it. At the end the headers must be on the disk, too.
    fn settle(&mut self, end: bool) -> Result<()> {
        let mut growing = self.tables.clone();
        growing.extend(self.trajectory.is_some().then_some(TRAJECTORY));
        growing.extend(self.motions.iter().map(|(name, _)| *name));
        if self.is_behind {
            self.folder.sync(&growing)?;
        }
        for name in &self.tables {
            self.folder.grown(name, None)?;
        }
        if let Some(trajectory) = &mut self.trajectory {
            trajectory.update_header()?;
            self.folder.grown(TRAJECTORY, Some(trajectory.final_bytes()))?;
        }
        for (name, motion) in &mut self.motions {
            if motion.will_replace(end) {
                self.folder.will_replace(&[name.to_string()])?;
            }
            if end { motion.finish() } else { motion.update_header() }?;
            self.folder.grown(name, Some(motion.final_bytes()))?;
        }
        if let Some(index) = self.series.due(end) {
            self.folder.stage(SERIES, &index)?;
            self.folder.commit()?;
        }
        if end {
            self.folder.sync(&growing)?;
        }
        self.is_behind = false;
        Ok(())
    }

    /// Ends the exports.
    pub fn finish(&mut self) -> Result<()> {
        self.settle(true)
    }

    /// Writes these files, each as a whole.
    pub fn write(&mut self, files: &[(String, Vec<u8>)]) -> Result<()> {
        files.iter().try_for_each(|(name, bytes)| self.folder.stage(name, bytes))?;
        self.folder.commit()
    }

    /// Closes the folder: its manifest says how the run has ended. If not everything could be written, it tells of what is known to be
    /// on the disk.
    pub fn close(&mut self, status: Status, complete: bool) -> Result<()> {
        self.folder.finish(status, complete)
    }

    /// The table of a traced frame.
    pub fn iterations(&mut self, traced: &[TracedIterate]) -> Result<()> {
        let mut text = format!("{}\n", TracedIterate::HEADER);
        traced.iter().for_each(|iterate| text += &format!("{}\n", iterate.csv()));
        self.write(&[(layout::ITERATIONS.into(), text.into_bytes())])
    }

    pub fn folder(&mut self) -> &mut Folder {
        &mut self.folder
    }

    pub fn directory(&self) -> &Path {
        self.folder.directory()
    }
}

/// All bodies as one mesh.
fn mesh_of(simulation: &dyn MotionSource) -> Mesh {
    let meshes: Vec<Mesh> = simulation.model().bodies.iter().map(|body| body.mesh.clone()).collect();
    Mesh::concat(&meshes)
}

fn timings_header() -> String {
    let names: Vec<_> = PHASES.iter().map(|(_, name)| format!("{name}_ms")).collect();
    format!("frame,{},total_ms", names.join(","))
}
