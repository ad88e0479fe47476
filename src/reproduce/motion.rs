//! Runs of a study.

use crate::ledger::Row;
use crate::{Error, Simulation};

/// The ledger of a run, the first row that of the start; shorter than asked for if the run failed.
#[derive(Debug, Clone)]
pub struct Motion {
    pub rows: Vec<Row>,
    /// What ended it before its end, such as a position that is no number: that is a result, too.
    pub failed: Option<String>,
}

/// A run and a number of every state in it, the start included.
#[derive(Debug, Clone)]
pub struct Watched {
    pub motion: Motion,
    pub values: Vec<f64>,
}

impl Motion {
    /// Makes frames and looks at the state after each, and at the start.
    pub(super) fn of(
        simulation: &mut Simulation,
        frames: usize,
        mut look: impl FnMut(&mut Simulation) -> crate::Result<()>,
    ) -> crate::Result<Self> {
        let mut motion = Motion { rows: vec![simulation.last_row()], failed: None };
        look(simulation)?;
        for _ in 0..frames {
            match simulation.frame() {
                Ok(row) => motion.rows.push(row),
                Err(error @ Error::Input(_)) => return Err(error),
                Err(error) => {
                    motion.failed = Some(error.to_string());
                    break;
                }
            }
            look(simulation)?;
        }
        Ok(motion)
    }

    /// A quantity over time (s).
    pub fn over_time(&self, quantity: impl Fn(&Row) -> f64) -> Vec<(f64, f64)> {
        self.rows.iter().map(|row| (row.time, quantity(row))).collect()
    }

    /// The last row.
    pub fn last(&self) -> &Row {
        &self.rows[self.rows.len() - 1]
    }

    /// Mean iterations of a frame.
    pub fn iterations(&self) -> f64 {
        let made = &self.rows[1..];
        made.iter().map(|row| row.iterations as f64).sum::<f64>() / made.len().max(1) as f64
    }

    /// Whether it ran to its end and no energy ever exceeded the start's this many times.
    pub fn is_stable(&self, most: f64) -> bool {
        let size = |row: &Row| row.kinetic + row.elastic;
        let start = self.rows[0].total.abs().max(size(&self.rows[0]));
        self.failed.is_none() && self.rows.iter().all(|row| size(row) <= most * start)
    }
}

impl Watched {
    /// The numbers over time (s).
    pub fn over_time(&self) -> Vec<(f64, f64)> {
        self.motion.rows.iter().map(|row| row.time).zip(self.values.iter().copied()).collect()
    }
}
