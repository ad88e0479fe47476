//! What a run came to: a page for people, `summary.json` for scripts.

use super::ledger::Row;
use crate::scene::Scene;
use crate::step::Simulation;
use crate::step::clock::PHASES;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// The end of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// `done`, or `failed` with the reason in `error`.
    pub status: &'static str,
    /// Why the run failed.
    pub error: Option<String>,
    /// Name or file of the scene.
    pub scene: String,
    /// Where it was computed, such as `cpu, f64, 2 threads`.
    pub backend: String,
    /// Integrator and damping model.
    pub integrator: String,
    /// Damping model.
    pub damping: String,
    /// Threads of the processor.
    pub threads: usize,
    /// Vertices of all bodies.
    pub vertices: usize,
    /// Elements by kind.
    pub elements: BTreeMap<&'static str, usize>,
    /// Frames made, the resumed ones included.
    pub frames: usize,
    /// Simulated time (s).
    pub time: f64,
    /// Mean time of each phase a frame, over the frames of this run (ms).
    pub milliseconds_per_frame: BTreeMap<&'static str, f64>,
    /// First row of the ledger.
    pub first: Row,
    /// Last row of the ledger.
    pub last: Row,
    /// What the mesh readers repaired or ignored.
    pub warnings: Vec<String>,
}

impl Summary {
    /// Sums up a run that went on from frame `from`.
    pub fn new(name: &str, scene: &Scene, simulation: &Simulation, first: Row, from: usize) -> Self {
        let model = simulation.model();
        let last = simulation.last_row();
        let counts = [
            ("tetrahedra", model.tets.len()),
            ("triangles", model.triangles.len()),
            ("springs", model.springs.len()),
            ("bendings", model.bendings.len()),
            ("attachments", model.attachments.len()),
        ];
        let made = (last.frame.saturating_sub(from)).max(1) as f64;
        let per_frame = |(phase, name)| (name, simulation.clock().milliseconds(phase) / made);
        Summary {
            status: "done",
            error: None,
            scene: name.into(),
            backend: simulation.describe(),
            integrator: scene.integrator.kind.clone(),
            damping: scene.damping.model.clone(),
            threads: rayon::current_num_threads(),
            vertices: model.vertex_count(),
            elements: counts.into_iter().filter(|(_, count)| *count > 0).collect(),
            frames: last.frame,
            time: last.time,
            milliseconds_per_frame: PHASES.into_iter().map(per_frame).collect(),
            first,
            last,
            warnings: Vec::new(),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elements: Vec<_> = self.elements.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let (a, b) = (&self.first, &self.last);
        writeln!(f, "scene       {}: {} vertices, {}", self.scene, self.vertices, elements.join(", "))?;
        writeln!(f, "method      {}, damping {}", self.integrator, self.damping)?;
        writeln!(f, "backend     {}", self.backend)?;
        writeln!(f, "time        {} frames, {:.3} s", self.frames, self.time)?;
        let ms = |name: &str| self.milliseconds_per_frame.get(name).copied().unwrap_or(0.0);
        let frame: f64 = PHASES.iter().map(|(_, name)| ms(name)).sum::<f64>() - ms("factor");
        write!(f, "cost        {frame:.2} ms a frame:")?;
        for (_, name) in PHASES.iter().filter(|(_, name)| *name != "factor") {
            write!(f, " {name} {:.2}", ms(name))?;
        }
        writeln!(f, "\n\nenergy (J)      at the start       at the end")?;
        let mut line = |name: &str, a: f64, b: f64| writeln!(f, "  {name:<12}{a:>14.6}  {b:>15.6}");
        line("kinetic", a.kinetic, b.kinetic)?;
        line("elastic", a.elastic, b.elastic)?;
        line("gravity", a.gravity, b.gravity)?;
        if a.contact != 0.0 || b.contact != 0.0 || b.contact_loss != 0.0 {
            line("contact", a.contact, b.contact)?;
        }
        line("attachment", a.attachment, b.attachment)?;
        line("total", a.total, b.total)?;
        writeln!(f, "\nwhere it went (J)")?;
        writeln!(f, "  {:<28}{:>17.6}", "taken by damping", b.damped)?;
        if b.contact_loss != 0.0 {
            writeln!(f, "  {:<28}{:>17.6}", "taken by contact", b.contact_loss)?;
        }
        let verb = if b.numerical < 0.0 { "gained by the integrator" } else { "lost by the integrator" };
        writeln!(f, "  {verb:<28}{:>17.6}", b.numerical.abs())?;
        writeln!(f, "  {:<28}{:>17.6}", "given from outside", b.work)?;
        if self.elements.contains_key("tetrahedra") {
            let (ratio, inverted) = (b.min_volume_ratio, b.inverted);
            writeln!(f, "\nleast volume ratio {ratio:.4}, {inverted} inverted tetrahedra at the end")?;
        }
        Ok(())
    }
}
