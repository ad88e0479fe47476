//! Summary of a run: a page for people, `summary.json` for scripts.

use super::folder::Status;
use super::number::fixed;
use crate::ledger::Row;
use crate::scene::{ContactLaw, Method, Quantity, Scene};
use crate::step::parts::conservation::ConstraintStats;
use crate::step::stable::StableStep;
use crate::step::{DeviceUse, PHASES, Simulation};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// Deviations beyond this many tolerances are worth a warning.
const MISSED: f64 = 10.0;

/// A share of the motion left unsolved in each step beyond this is worth a hint: the estimate is low by three to five times where
/// iterations are slow. Compact bodies and bodies at rest stay below 1 %, hair reaches 3 %.
const UNSOLVED: f64 = 0.04;

/// The end of a run.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// As in the manifest; after a failure its reason is in `error`.
    pub status: Status,
    /// Why the run failed.
    pub error: Option<String>,
    /// Name or file of the scene.
    pub scene: String,
    /// The backend, such as `cpu, f64, 2 threads`.
    pub backend: String,
    /// What a frame costs a device beside its kernels, and why the host looks in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceSummary>,
    pub integrator: String,
    /// τ of non-oscillatory motion (s), given or calibrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tau: Option<f64>,
    pub damping: String,
    /// Damping examples: names, and γ or curve.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Stability limit of an explicit integrator.
    pub stable_step: Option<StableStep>,
    pub conservation: Option<ConservationSummary>,
    /// Contact settings, if anything can touch.
    pub contact: Option<ContactSummary>,
    /// What iterations have left unsolved, as a share of the motion's velocity (see docs/theory.md), where it is estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsolved: Option<f64>,
    /// Threads of the processor.
    pub threads: usize,
    pub vertices: usize,
    pub elements: BTreeMap<&'static str, usize>,
    /// Frames made, including resumed ones.
    pub frames: usize,
    /// Simulated time (s).
    pub time: f64,
    /// Mean time of each phase a frame, over the frames of this run (ms).
    pub milliseconds_per_frame: BTreeMap<&'static str, f64>,
    pub first: Row,
    pub last: Row,
    /// Repairs by the mesh readers, and problems of the run.
    pub warnings: Vec<String>,
}

/// Conserved quantities of a run, and how well they were conserved.
#[derive(Debug, Clone, Serialize)]
pub struct ConservationSummary {
    /// `cpd` or `fepr`.
    pub method: Method,
    /// Which: `P`, `L`, `H`.
    pub hold: Vec<Quantity>,
    /// γ (1/s).
    pub gamma: f64,
    pub tolerance: f64,
    /// Largest deviation after a time step, and the number of steps beyond the tolerance.
    #[serde(flatten)]
    pub record: ConstraintStats,
    /// What was off that far: `P`, `L` or `H`, and of which body.
    pub quantity: Option<Quantity>,
    /// Its body.
    pub of: Option<String>,
    /// Whether contact is possible: bodies in contact are not counted.
    #[serde(skip)]
    touching: bool,
}

/// What a frame asks of a device, mean of all frames but the first of a run.
#[derive(Debug, Clone, Serialize)]
pub struct DeviceSummary {
    /// Why the host looks into the steps; empty where it does not.
    pub host_reasons: Vec<String>,
    /// Whether it looks at surfaces, for contact, while the device makes the steps.
    pub looks_at_surfaces: bool,
    pub dispatches: f64,
    pub submissions: f64,
    /// Times that the host waited for the device: in its steps, or for the report of three frames before.
    pub waits: f64,
    pub bytes_up: f64,
    pub bytes_down: f64,
}

impl DeviceSummary {
    /// Of `made` between two readings `frames` apart; `None` without frames.
    pub fn new(made: &DeviceUse, frames: usize, simulation: &Simulation) -> Option<Self> {
        let mean = |count: u64| count as f64 / frames as f64;
        (frames > 0).then(|| DeviceSummary {
            host_reasons: simulation.host_reasons().to_vec(),
            looks_at_surfaces: simulation.looks_at_surfaces(),
            dispatches: mean(made.dispatches),
            submissions: mean(made.submissions),
            waits: mean(made.waits),
            bytes_up: mean(made.uploaded),
            bytes_down: mean(made.downloaded),
        })
    }

    /// Where frames are made, and why not on the device alone.
    pub fn place(&self) -> String {
        match self.host_reasons.is_empty() {
            true if self.looks_at_surfaces => "steps on the device, contact forces from the host".into(),
            true => "whole frames on the device".into(),
            false => format!("host looks in: {}", self.host_reasons.join(", ")),
        }
    }
}

impl fmt::Display for DeviceSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceSummary { dispatches, submissions, waits, bytes_up, bytes_down, .. } = self;
        write!(
            f,
            "{}; a frame is {dispatches:.0} dispatches, {submissions:.1} submissions, {waits:.1} waits, \
             {bytes_up:.0} bytes up, {bytes_down:.0} down",
            self.place()
        )
    }
}

/// Contact settings.
#[derive(Debug, Clone, Serialize)]
pub struct ContactSummary {
    /// `linear` or `cubic`.
    pub law: ContactLaw,
    pub friction: f64,
    pub obstacles: usize,
    /// Whether bodies touch each other.
    pub bodies: bool,
    /// Whether bodies touch themselves.
    #[serde(rename = "self")]
    pub itself: bool,
}

impl fmt::Display for ConservationSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.hold.iter().map(Quantity::to_string);
        let method = match self.method {
            Method::None => "the integrator",
            Method::Cpd => "cpd",
            Method::Fepr => "fepr",
        };
        write!(f, "{} by {method}", names.collect::<Vec<_>>().join(", "))?;
        if self.gamma > 0.0 {
            write!(f, ", gamma {} 1/s", self.gamma)?;
        }
        write!(f, ", tolerance {:.0e}", self.tolerance)?;
        if self.record.steps > 0 { write!(f, ": {}", self.deviation()) } else { Ok(()) }
    }
}

impl ConservationSummary {
    /// Text about the largest deviation.
    fn deviation(&self) -> String {
        let ConstraintStats { largest_off, steps, steps_beyond, .. } = self.record;
        let mut text = match (self.quantity, &self.of) {
            (Some(quantity), Some(body)) => {
                format!("{quantity} of `{body}` off by {largest_off:.1e} at most")
            }
            _ => format!("off by {largest_off:.1e} at most"),
        };
        if self.touching {
            text += " without contact";
        }
        if steps_beyond > 0 {
            text += &format!(", beyond the tolerance in {steps_beyond} of {steps} steps");
        }
        text
    }

    /// A warning if the deviation is large.
    pub fn warning(&self) -> Option<String> {
        let far = self.record.largest_off > MISSED * self.tolerance;
        far.then(|| format!("not conserved: {}; the tolerance is {:.0e}", self.deviation(), self.tolerance))
    }
}

impl fmt::Display for ContactSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let law = match self.law {
            ContactLaw::Linear => "linear",
            ContactLaw::Cubic => "cubic",
        };
        let obstacles = match self.obstacles {
            1 => "1 obstacle".to_string(),
            count => format!("{count} obstacles"),
        };
        let with: Vec<&str> =
            [(true, obstacles.as_str()), (self.bodies, "each other"), (self.itself, "themselves")]
                .into_iter()
                .filter(|(touch, _)| *touch)
                .map(|(_, whom)| whom)
                .collect();
        write!(f, "{law}, friction {}; bodies touch {}", self.friction, with.join(", "))
    }
}

impl Summary {
    /// Summarises a run that started at frame `from`.
    pub fn new(name: &str, scene: &Scene, simulation: &Simulation, first: Row, from: usize) -> Self {
        let model = simulation.model();
        let last = simulation.last_row();
        let counts = [
            ("tetrahedra", model.tets.len()),
            ("triangles", model.triangles.len()),
            ("springs", model.springs.len() - model.joints().count()),
            ("joints", model.joints().count()),
            ("bendings", model.bendings.len()),
            ("attachments", model.attachments.len()),
        ];
        let made = (last.frame.saturating_sub(from)).max(1) as f64;
        let per_frame = |(phase, name)| (name, simulation.clock().milliseconds(phase) / made);
        Summary {
            status: Status::Done,
            error: None,
            scene: name.into(),
            backend: simulation.describe(),
            device: None,
            integrator: scene.integrator.kind.clone(),
            tau: simulation.tau(),
            damping: scene.damping.model.clone(),
            examples: super::examples::described(&scene.damping.examples),
            stable_step: simulation.stable_step(),
            conservation: simulation.conserved().map(|record| ConservationSummary {
                method: scene.conservation.method,
                hold: match scene.conservation.method {
                    // by the integrator itself
                    Method::None => vec![Quantity::Momentum, Quantity::AngularMomentum],
                    _ => scene.conservation.hold.clone(),
                },
                gamma: scene.conservation.gamma,
                tolerance: scene.conservation.tolerance,
                quantity: record.worst.map(|(quantity, _)| quantity),
                of: record.worst.map(|(_, body)| model.bodies[body].name.clone()),
                record,
                touching: simulation.can_touch(),
            }),
            contact: simulation.can_touch().then_some(ContactSummary {
                law: scene.contact.law,
                friction: scene.contact.friction,
                obstacles: scene.obstacles.len(),
                bodies: scene.contact.bodies && scene.bodies.len() > 1,
                itself: scene.contact.itself,
            }),
            unsolved: simulation.unsolved(),
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

/// A share of the motion.
fn percent(share: f64) -> String {
    match 100.0 * share {
        little if little < 0.1 => "less than 0.1 % of the motion".into(),
        some => format!("at least {some:.1} % of the motion"),
    }
}

/// An energy in a column of the page (J).
fn joules(value: f64) -> String {
    fixed(value, 6, 15)
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elements: Vec<_> = self.elements.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let (a, b) = (&self.first, &self.last);
        writeln!(f, "scene       {}: {} vertices, {}", self.scene, self.vertices, elements.join(", "))?;
        let tau = self.tau.map_or(String::new(), |tau| format!(" with tau {:.4} s", tau));
        writeln!(f, "method      {}{tau}, damping {}", self.integrator, self.damping)?;
        if !self.examples.is_empty() {
            writeln!(f, "examples    {}", self.examples.join(", "))?;
        }
        if let Some(stable) = &self.stable_step {
            writeln!(f, "stable      {stable}")?;
        }
        if let Some(conservation) = &self.conservation {
            writeln!(f, "conserved   {conservation}")?;
        }
        if let Some(contact) = &self.contact {
            writeln!(f, "contact     {contact}")?;
        }
        if let Some(share) = self.unsolved {
            let hint = "; solver.history = 5, more time.iterations or a shorter time.step solve more of it";
            let hint = if share > UNSOLVED { hint } else { "" };
            writeln!(f, "unsolved    {} in each step{hint}", percent(share))?;
        }
        writeln!(f, "backend     {}", self.backend)?;
        if let Some(device) = &self.device {
            writeln!(f, "device      {device}")?;
        }
        writeln!(f, "time        {} frames, {:.3} s", self.frames, self.time)?;
        let ms = |name: &str| self.milliseconds_per_frame.get(name).copied().unwrap_or(0.0);
        let frame: f64 = PHASES.iter().map(|(_, name)| ms(name)).sum::<f64>() - ms("factor");
        write!(f, "cost        {frame:.2} ms per frame:")?;
        for (_, name) in PHASES.iter().filter(|(_, name)| *name != "factor") {
            write!(f, " {name} {:.2}", ms(name))?;
        }
        writeln!(f, "\n\nenergy (J)      at the start       at the end")?;
        let mut line = |name: &str, a: f64, b: f64| {
            let [a, b] = [joules(a), joules(b)];
            writeln!(f, "  {name:<11}{a:>15}  {b:>15}")
        };
        line("kinetic", a.kinetic, b.kinetic)?;
        line("elastic", a.elastic, b.elastic)?;
        line("gravity", a.gravity, b.gravity)?;
        if a.contact != 0.0 || b.contact != 0.0 || b.contact_loss != 0.0 {
            line("contact", a.contact, b.contact)?;
        }
        line("attachment", a.attachment, b.attachment)?;
        line("total", a.total, b.total)?;
        writeln!(f, "\nwhere it went (J)")?;
        writeln!(f, "  {:<28}{:>17}", "lost to damping", joules(b.damped))?;
        if b.contact_loss != 0.0 {
            writeln!(f, "  {:<28}{:>17}", "lost to contact", joules(b.contact_loss))?;
        }
        if b.plastic != 0.0 {
            writeln!(f, "  {:<28}{:>17}", "lost to yielding", joules(b.plastic))?;
        }
        let verb = if b.numerical < 0.0 { "gained from the integrator" } else { "lost to the integrator" };
        writeln!(f, "  {verb:<28}{:>17}", joules(b.numerical.abs()))?;
        writeln!(f, "  {:<28}{:>17}", "external work", joules(b.work))?;
        if self.elements.contains_key("tetrahedra") {
            let (ratio, inverted) = (b.min_volume_ratio, b.inverted);
            let ratio = fixed(ratio, 4, 12);
            writeln!(f, "\nleast volume ratio {ratio}, {inverted} inverted tetrahedra at the end")?;
        }
        Ok(())
    }
}
