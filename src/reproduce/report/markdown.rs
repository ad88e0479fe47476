//! The report as Markdown, with pictures beside it.

use super::{HEADS, Report, cells};
use crate::reproduce::claim::{Claim, Kind, Paper};
use crate::reproduce::record::{Record, Verdict};
use crate::reproduce::runner::PICTURES;
use std::fmt::Write;

/// The whole page. (Writing to a string cannot fail: results of `write!` are dropped.)
pub fn page(report: &Report) -> String {
    let mut text = format!("# Five papers, claim by claim\n\n{}\n", report.introduction());
    let _ = write!(text, "\n| claim | | verdict |\n|---|---|---|\n");
    for (paper, claim, record) in &report.entries {
        let (name, verdict) = (paper.name(claim), record.verdict.name());
        let _ = writeln!(text, "| [{name}](#{}) | {} | {verdict} |", anchor(&name), claim.place);
    }
    for (paper, claims) in report.papers(false) {
        let _ = write!(text, "\n## {}\n\n{}.\n", paper.title, paper.authors);
        claims.iter().for_each(|(claim, record)| entry(&mut text, paper, claim, record));
    }
    let timed = report.papers(true);
    if !timed.is_empty() {
        let _ =
            write!(text, "\n## Time\n\nOf the machine that wrote this page; it says nothing about others.\n");
        for (paper, claims) in timed {
            claims.iter().for_each(|(claim, record)| entry(&mut text, paper, claim, record));
        }
    }
    text
}

/// The anchor that Markdown makes of a heading.
fn anchor(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect()
}

fn entry(text: &mut String, paper: &Paper, claim: &Claim, record: &Record) {
    let name = paper.name(claim);
    let _ = write!(text, "\n### {name}\n\n**{}: {}.** {}\n", claim.place, record.verdict.name(), claim.says);
    if !claim.runs.is_empty() {
        let _ = write!(text, "\n*Run:* {}\n", claim.runs);
    }
    if !record.measures.is_empty() {
        table(text, &HEADS, record.measures.iter().map(|measure| cells(measure).to_vec()));
    }
    let notes = record.error.iter().map(|error| format!("The run ended early: {error}"));
    for note in notes.chain(record.notes.iter().cloned()) {
        let _ = write!(text, "\n{note}\n");
    }
    if !record.reason.is_empty() {
        let head = if record.verdict == Verdict::Open { "Missing" } else { "Why" };
        let _ = write!(text, "\n*{head}:* {}\n", record.reason);
    }
    for made in &record.tables {
        let heads: Vec<&str> = made.heads.iter().map(String::as_str).collect();
        let _ = write!(text, "\n{}\n", made.title);
        table(text, &heads, made.rows.iter().cloned());
    }
    for picture in &record.pictures {
        let _ = write!(text, "\n![{}]({PICTURES}/{})\n\n{}\n", picture.shows, picture.file, picture.shows);
    }
    if !matches!(claim.kind, Kind::Open(_)) {
        let _ = write!(text, "\n`dashpot reproduce {name}`: {:.0} s.\n", record.seconds.max(1.0));
    }
}

fn table(text: &mut String, heads: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    let plain = |cell: &str| cell.replace('|', "\\|");
    let _ = write!(text, "\n| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
    for row in rows {
        let row: Vec<String> = row.iter().map(|cell| plain(cell)).collect();
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
}
