//! The global step of the next metric, made in the background while the present one is used.
//!
//! It has a thread of its own: among the threads of the step a factorisation would hold up whoever waits for them. What
//! comes of it does not depend on when it is done, for a metric is taken up at a step that the scene fixes, and waited
//! for if need be.

use super::metric::{Job, Metric, Prefactored};
use crate::Result;
use crate::elastic::Scalar;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, sync_channel};

/// Where it will arrive; locked, because a backend is shared among the threads of a step.
type Arrival<T> = Mutex<Receiver<Result<Prefactored<T>>>>;

/// What is being made, if anything.
pub(super) struct LookAhead<T: Scalar> {
    /// The thread, once it was needed.
    worker: Option<ThreadPool>,
    pending: Option<(Metric, Arrival<T>)>,
}

impl<T: Scalar> LookAhead<T> {
    pub fn new() -> Self {
        LookAhead { worker: None, pending: None }
    }

    /// Whether this metric is being made, or ready.
    pub fn is_for(&self, metric: &Metric) -> bool {
        self.pending.as_ref().is_some_and(|(pending, _)| pending == metric)
    }

    /// Begins to make a metric, and forgets any other. Does nothing where there is no thread to be had.
    pub fn begin(&mut self, metric: Metric, job: Job<T>) {
        if self.worker.is_none() {
            let builder = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "next metric".into());
            self.worker = builder.build().ok();
        }
        let Some(worker) = &self.worker else { return };
        let (sender, receiver) = sync_channel(1);
        worker.spawn(move || {
            // nobody may be waiting any more, because another metric is asked for: then it is not needed
            let _ = sender.send(job.make());
        });
        self.pending = Some((metric, Mutex::new(receiver)));
    }

    /// What was made for this metric, waited for; `None` if it was not begun, or its thread is gone.
    pub fn take(&mut self, metric: &Metric) -> Option<Result<Prefactored<T>>> {
        let (_, receiver) = self.pending.take_if(|(pending, _)| pending == metric)?;
        receiver.into_inner().ok()?.recv().ok()
    }
}
