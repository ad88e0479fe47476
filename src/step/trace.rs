//! What the iterations of a frame do to energy and momenta: H, P and L after each of them (Constrained paper, Figure 11).

use super::parts::{Progress, Verdict};
use super::{AttachmentTargets, HostNeeds, Part, Simulation, Snapshot, Stage, StepContext};
use crate::linear::reduce::sums;
use crate::model::{Attachment, Model};
use crate::{Result, Vec3};

/// What has made an iterate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MadeBy {
    /// A local and a global step, corrected where something is held; before the first of them the prediction.
    Solve,
    /// The projection after the solve (FEPR); before its first iteration what the solve has made, with the user's pushes.
    Projection,
}

impl MadeBy {
    /// In a table.
    pub fn name(self) -> &'static str {
        match self {
            MadeBy::Solve => "solve",
            MadeBy::Projection => "projection",
        }
    }
}

/// All bodies as they would be if the step ended with an iterate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TracedIterate {
    /// The time step within the frame, from 1 on.
    pub step: usize,
    /// The stage within the step, from 1 on: composite integrators have two.
    pub stage: usize,
    pub made_by: MadeBy,
    /// 0 is where iterations start.
    pub iteration: usize,
    /// Σ m |v'|²/2, elastic elements, weight, and springs of attachments (J).
    pub energies: [f64; 4],
    /// Σ m v' (kg m/s).
    pub momentum: Vec3,
    /// Σ m x × v' about the origin (kg m²/s).
    pub angular_momentum: Vec3,
}

impl TracedIterate {
    /// The names of the columns of [`TracedIterate::csv`].
    pub const HEADER: &str =
        "step,stage,made_by,iteration,kinetic,elastic,gravity,attachment,total,px,py,pz,lx,ly,lz";

    /// H (J), without the energy of contacts.
    pub fn total(&self) -> f64 {
        self.energies.iter().sum()
    }

    /// As a line of a table; numbers read back to the same bits.
    pub fn csv(&self) -> String {
        let [kinetic, elastic, gravity, attachment] = self.energies;
        let ([px, py, pz], [lx, ly, lz]) = (self.momentum.into(), self.angular_momentum.into());
        let numbers: [f64; 11] =
            [kinetic, elastic, gravity, attachment, self.total(), px, py, pz, lx, ly, lz];
        let columns: Vec<String> = numbers.iter().map(f64::to_string).collect();
        let TracedIterate { step, stage, iteration, .. } = self;
        format!("{step},{stage},{},{iteration},{}", self.made_by.name(), columns.join(","))
    }
}

/// The iterates of a frame so far.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    step: usize,
    stage: usize,
    /// Where attachments hold in the stage.
    attachments: AttachmentTargets,
    rows: Vec<TracedIterate>,
}

impl Trace {
    fn begin(&mut self, stage: &Stage) {
        (self.step, self.stage) =
            if stage.is_first { (self.step + 1, 1) } else { (self.step, self.stage + 1) };
        self.attachments = stage.targets.clone();
    }

    /// Whether the last row is of this iterate.
    fn has(&self, made_by: MadeBy, iteration: usize) -> bool {
        let is_it = |row: &TracedIterate| {
            (row.step, row.stage, row.made_by, row.iteration) == (self.step, self.stage, made_by, iteration)
        };
        self.rows.iter().any(is_it)
    }

    /// Adds an iterate: positions (m), velocities (m/s), and the elastic energy of each body there (J).
    pub fn record(
        &mut self,
        (made_by, iteration): (MadeBy, usize),
        model: &Model,
        x: &[Vec3],
        velocity: impl Fn(usize) -> Vec3 + Sync,
        elastic: &[f64],
    ) {
        let all = sums::<8>(x.len(), |i| {
            let (m, v) = (model.mass[i], velocity(i));
            let p = v * m;
            let l = x[i].cross(&p);
            [p.x, p.y, p.z, l.x, l.y, l.z, 0.5 * v.dot(&p), -m * model.gravity.dot(&x[i])]
        });
        let attached = model.attachments.iter().enumerate().filter(|(k, _)| self.attachments.active[*k]);
        let spring = |(k, a): (usize, &Attachment)| {
            0.5 * a.stiffness * (x[a.vertex as usize] - self.attachments.after[k]).norm_squared()
        };
        self.rows.push(TracedIterate {
            step: self.step,
            stage: self.stage,
            made_by,
            iteration,
            energies: [all[6], elastic.iter().sum(), all[7], attached.map(spring).sum()],
            momentum: Vec3::new(all[0], all[1], all[2]),
            angular_momentum: Vec3::new(all[3], all[4], all[5]),
        });
    }
}

/// Looks at every iterate of the solve.
struct Tracer;

impl Tracer {
    /// Evaluates the energies at the iterate itself, wherever the integrator takes its forces, and puts the local step back.
    fn look(iteration: usize, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        cx.backend.evaluate_end()?;
        let StepContext { backend, shared, model, .. } = cx;
        let (host, gravity) = (backend.host()?, model.gravity);
        if let Some(trace) = &mut shared.trace {
            let velocity = |i: usize| host.new_velocity(&stage.coefficients, gravity, i);
            trace.record((MadeBy::Solve, iteration), model, host.iterate, velocity, host.energies);
        }
        cx.local(stage)
    }
}

impl Part for Tracer {
    fn name(&self) -> &'static str {
        "tracer"
    }

    fn needs(&self) -> HostNeeds {
        HostNeeds::Energies
    }

    fn begin(&mut self, stage: &Stage, cx: &mut StepContext) -> Result<()> {
        cx.shared.trace.get_or_insert_default().begin(stage);
        Ok(())
    }

    fn verdict(&mut self, stage: &Stage, progress: Progress, cx: &mut StepContext) -> Result<Verdict> {
        Tracer::look(progress.iterations, stage, cx)?;
        Ok(Verdict::Indifferent)
    }

    fn solved(&mut self, stage: &Stage, progress: Progress, cx: &mut StepContext) -> Result<()> {
        // where the iterations were used up, no verdict was asked for after the last one
        let is_known = |trace: &Trace| trace.has(MadeBy::Solve, progress.iterations);
        if cx.shared.trace.as_ref().is_some_and(is_known) {
            return Ok(());
        }
        Tracer::look(progress.iterations, stage, cx)
    }
}

impl Simulation {
    /// Makes the next frame after `snapshot` and returns what its iterations have come to, in their order. It is a simulation of its own,
    /// which must not have made a step yet: a motion that goes on is not disturbed by it.
    pub fn trace_frame(mut self, snapshot: &Snapshot) -> Result<Vec<TracedIterate>> {
        self.add_part(Box::new(Tracer))?;
        self.restore(snapshot)?;
        self.frame()?;
        let mut rows = self.cx.shared.trace.take().unwrap_or_default().rows;
        rows.sort_by_key(|row| (row.step, row.stage, row.made_by, row.iteration));
        Ok(rows)
    }
}
