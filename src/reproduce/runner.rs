//! Tries claims: motions side by side on all cores, then times, one by one.

use super::claim::{Claim, Kind, Paper};
use super::film::Film;
use super::record::Record;
use super::report::Report;
use super::study::Study;
use crate::error::InputError;
use crate::gpu::context::Context;
use crate::observe::write_whole;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What is to be tried, and where the results go.
pub struct Order {
    /// In the order of the report.
    pub claims: Vec<(&'static Paper, &'static Claim)>,
    /// The folder of the results; nothing is written without one.
    pub folder: Option<PathBuf>,
    /// Only claims of a few seconds.
    pub quick: bool,
    pub threads: usize,
    /// Draws filmstrips.
    pub context: Option<Arc<Context>>,
}

/// What is told while claims are tried.
pub trait Progress: Sync {
    /// A claim is done; `again` if its result of an earlier run was kept.
    fn done(&self, record: &Record, again: bool, left: usize);
}

/// A result on disk, and of which program it is: only the same program's results are kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    program: String,
    record: Record,
}

/// The folder of pictures and of single results, beside the report.
pub const PICTURES: &str = "reproduction";

struct Runner<'a> {
    order: &'a Order,
    film: Option<Film>,
    /// Names this build of the program and this kind of run.
    program: String,
    left: AtomicUsize,
    progress: &'a dyn Progress,
}

/// Tries the claims. Results that the same program has left in the folder are kept.
pub fn run(order: &Order, progress: &dyn Progress) -> Result<Report> {
    let pictures = order.folder.as_ref().map(|folder| folder.join(PICTURES));
    if let Some(pictures) = &pictures {
        let results = pictures.join("claims");
        std::fs::create_dir_all(&results).map_err(Error::write(&results))?;
    }
    let runner = Runner {
        film: order.context.as_ref().map(Film::new).transpose()?,
        program: format!("{} {}", fingerprint(), if order.quick { "quick" } else { "whole" }),
        left: AtomicUsize::new(order.claims.len()),
        order,
        progress,
    };
    let is_timed = |k: &usize| order.claims[*k].1.kind == Kind::Timing;
    let (timed, motions): (Vec<usize>, Vec<usize>) = (0..order.claims.len()).partition(is_timed);
    let mut records: Vec<Option<Record>> = vec![None; order.claims.len()];
    for (k, record) in runner.side_by_side(&motions)? {
        records[k] = Some(record);
    }
    let pool = pool(order.threads)?;
    for k in timed {
        records[k] = Some(pool.install(|| runner.claim(k))?);
    }
    std::mem::forget(pool);
    let tried = order.claims.iter().copied().zip(records.into_iter().flatten());
    Ok(Report::new(tried.map(|((paper, claim), record)| (paper, claim, record)).collect(), order.quick))
}

/// Threads for the work of one study. They are left alone at the end: see `cli::Threads`.
fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| InputError::field("--threads", e.to_string()).into())
}

impl Runner<'_> {
    /// Claims on as many threads as there are, each claim on one.
    fn side_by_side(&self, claims: &[usize]) -> Result<Vec<(usize, Record)>> {
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || -> Result<()> {
            let pool = pool(1)?;
            let worked = loop {
                let Some(&k) = claims.get(next.fetch_add(1, Ordering::Relaxed)) else { break Ok(()) };
                match pool.install(|| self.claim(k)) {
                    Ok(record) => done.lock().unwrap_or_else(|p| p.into_inner()).push((k, record)),
                    Err(error) => break Err(error),
                }
            };
            std::mem::forget(pool);
            worked
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.order.threads.max(1)).map(|_| scope.spawn(work)).collect();
            let ended = workers.into_iter().map(|worker| {
                // a panic in a study is a fault of ours: it goes on
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            ended.collect::<Result<()>>()
        })?;
        Ok(done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Tries a claim, or takes what an earlier run has found.
    fn claim(&self, k: usize) -> Result<Record> {
        let (paper, claim) = self.order.claims[k];
        let kept = self.file(paper, claim);
        let known = kept.as_deref().and_then(|file| self.known(file));
        let again = known.is_some();
        let record = match known {
            Some(record) => record,
            None => self.study(paper, claim),
        };
        if let Some(file) = kept.filter(|_| !again) {
            let kept = Kept { program: self.program.clone(), record: record.clone() };
            write_whole(&file, serde_json::to_string_pretty(&kept).unwrap_or_default().as_bytes())?;
        }
        let left = self.left.fetch_sub(1, Ordering::Relaxed) - 1;
        self.progress.done(&record, again, left);
        Ok(record)
    }

    fn study(&self, paper: &Paper, claim: &Claim) -> Record {
        let pictures = self.order.folder.as_ref().map(|folder| folder.join(PICTURES));
        let mut study = Study {
            record: Record::new(paper.name(claim)),
            is_quick: self.order.quick,
            folder: pictures.as_deref(),
            film: self.film.as_ref(),
        };
        let start = Instant::now();
        if !matches!(claim.kind, Kind::Open(_)) {
            study.record.error = (claim.study)(&mut study).err().map(|error| error.to_string());
        }
        study.record.seconds = start.elapsed().as_secs_f64();
        study.record.judge(claim);
        study.record
    }

    /// The file that keeps the result of a claim.
    fn file(&self, paper: &Paper, claim: &Claim) -> Option<PathBuf> {
        let name = paper.name(claim).replace('/', "-");
        Some(self.order.folder.as_ref()?.join(PICTURES).join("claims").join(format!("{name}.json")))
    }

    /// What an earlier run of this program has found; its pictures must still be there.
    fn known(&self, file: &Path) -> Option<Record> {
        let kept: Kept = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
        let pictures = self.order.folder.as_ref()?.join(PICTURES);
        let complete = kept.record.pictures.iter().all(|picture| pictures.join(&picture.file).is_file());
        (kept.program == self.program && kept.record.error.is_none() && complete).then_some(kept.record)
    }
}

/// Names this build: results of another program are not kept.
fn fingerprint() -> String {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    // where the program cannot be read, nothing is kept
    match std::env::current_exe().and_then(std::fs::read) {
        Ok(bytes) => hasher.write(&bytes),
        Err(_) => hasher.write_u128(
            std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |elapsed| elapsed.as_nanos()),
        ),
    }
    format!("{} {:016x}", env!("CARGO_PKG_VERSION"), hasher.finish())
}
