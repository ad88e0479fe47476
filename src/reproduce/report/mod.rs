//! Results as one HTML page that stands alone, as Markdown, and as JSON.

mod html;
mod markdown;

use super::claim::{Claim, Kind, Paper};
use super::record::{Measure, Record, Verdict, number};
use super::runner::PICTURES;
use crate::observe::write_whole;
use crate::{Error, Result};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What was tried, and what came of it.
pub struct Report {
    entries: Vec<(&'static Paper, &'static Claim, Record)>,
    is_quick: bool,
}

/// Files of a report.
pub struct Written {
    pub html: PathBuf,
    pub markdown: PathBuf,
    pub json: PathBuf,
}

/// As JSON has it.
#[derive(Serialize)]
struct Entry<'a> {
    paper: &'a str,
    place: &'a str,
    says: &'a str,
    runs: &'a str,
    #[serde(flatten)]
    record: &'a Record,
}

/// The verdicts in the order in which they are counted.
const VERDICTS: [Verdict; 4] =
    [Verdict::Reproduced, Verdict::Qualified, Verdict::NotReproduced, Verdict::Open];

/// Heads of a table of measures.
const HEADS: [&str; 5] = ["measured", "theirs", "ours", "asked for", ""];

impl Report {
    /// A report of these records.
    pub fn new(entries: Vec<(&'static Paper, &'static Claim, Record)>, is_quick: bool) -> Self {
        Report { entries, is_quick }
    }

    /// Everything found, in the papers' order.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.entries.iter().map(|(_, _, record)| record)
    }

    /// How many claims got this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.records().filter(|record| record.verdict == verdict).count()
    }

    /// The counts in a sentence.
    pub fn counts(&self) -> String {
        let count = |verdict: &Verdict| format!("{} {}", self.count(*verdict), verdict.name());
        let counts: Vec<String> = VERDICTS.iter().map(count).collect();
        format!("{} claims: {}", self.entries.len(), counts.join(", "))
    }

    /// Writes `reproduction.html`, `.md` and `.json`.
    pub fn write(&self, folder: &Path) -> Result<Written> {
        let file = |ending: &str| folder.join(format!("reproduction.{ending}"));
        let written = Written { html: file("html"), markdown: file("md"), json: file("json") };
        let entries: Vec<Entry> = self.entries.iter().map(entry).collect();
        let json = serde_json::to_string_pretty(&entries).unwrap_or_default();
        write_whole(&written.json, json.as_bytes())?;
        write_whole(&written.markdown, markdown::page(self).as_bytes())?;
        write_whole(&written.html, html::page(self, &folder.join(PICTURES))?.as_bytes())?;
        Ok(written)
    }

    /// Papers with a claim, and their claims: motions and times apart.
    fn papers(&self, timed: bool) -> Vec<(&'static Paper, Vec<(&'static Claim, &Record)>)> {
        let mut papers: Vec<(&'static Paper, Vec<(&'static Claim, &Record)>)> = Vec::new();
        for (paper, claim, record) in &self.entries {
            if (claim.kind == Kind::Timing) != timed {
                continue;
            }
            match papers.iter_mut().find(|(known, _)| known.key == paper.key) {
                Some((_, claims)) => claims.push((claim, record)),
                None => papers.push((paper, vec![(claim, record)])),
            }
        }
        papers
    }

    /// What stands above everything.
    fn introduction(&self) -> String {
        let how = if self.is_quick { "dashpot reproduce --quick" } else { "dashpot reproduce" };
        format!(
            "Written by `{how}`, Dashpot {}. Every figure, table and quantitative sentence of the five papers is tried by a run of \
             ours. *Reproduced*: what the paper says was measured within the bounds given. *Qualified*: it was, but weaker or under \
             other conditions, as the text says. *Not reproduced*: it was not. *Open*: something that it needs is missing. {}.",
            env!("CARGO_PKG_VERSION"),
            self.counts()
        )
    }
}

fn entry<'a>((paper, claim, record): &'a (&'static Paper, &'static Claim, Record)) -> Entry<'a> {
    Entry { paper: paper.key, place: claim.place, says: claim.says, runs: claim.runs, record }
}

/// A row of a table of measures.
fn cells(measure: &Measure) -> [String; 5] {
    let unit = if measure.unit.is_empty() { String::new() } else { format!(" {}", measure.unit) };
    let ours = measure.ours.map_or("no number".into(), |ours| format!("{}{unit}", number(ours)));
    let bound = match measure.weaker {
        Some(weaker) if !measure.holds() => format!("{}; at least {weaker}", measure.bound),
        _ => measure.bound.to_string(),
    };
    let holds = if measure.holds() { "yes" } else { "no" };
    [measure.what.clone(), measure.theirs.clone(), ours, bound, holds.into()]
}

/// Checks that a folder can be written to before anything is computed for it.
pub fn check(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(Error::write(folder))
}
