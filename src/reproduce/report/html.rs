//! The report as one HTML page with its pictures in it.

use super::{HEADS, Report, cells};
use crate::reproduce::claim::{Claim, Kind, Paper};
use crate::reproduce::record::{Record, Verdict};
use crate::{Error, Result};
use base64::Engine;
use std::fmt::Write;
use std::path::Path;

const STYLE: &str = "
body { font: 16px/1.5 system-ui, sans-serif; color: #262b34; max-width: 74rem; margin: 2rem auto; padding: 0 1rem }
h1, h2, h3 { line-height: 1.2 } h2 { margin-top: 3rem; border-bottom: 1px solid #d8dce2 }
article { margin: 2rem 0; padding: 0.1rem 1.2rem 1rem; border-left: 4px solid #d8dce2 }
table { border-collapse: collapse; margin: 0.8rem 0; font-size: 0.9rem } td, th { padding: 0.2rem 0.7rem; text-align: left;
border-bottom: 1px solid #e4e7eb } img { max-width: 100% } figure { margin: 1rem 0 } figcaption { color: #5a6270; font-size: 0.9rem }
.verdict { font-size: 0.8rem; font-weight: 600; padding: 0.1rem 0.6rem; border-radius: 1rem; white-space: nowrap }
.reproduced { background: #dcefdc; color: #1f5c2b } .qualified { background: #fbeecb; color: #6b4e00 }
.not-reproduced { background: #f8d9d6; color: #8a1f16 } .open { background: #e6e8ec; color: #4a5260 }
.no td { background: #fdf1f0 } .command { color: #5a6270; font-size: 0.9rem }";

/// The whole page; pictures are read from their folder. (Writing to a string cannot fail: results of `write!` are dropped.)
pub fn page(report: &Report, pictures: &Path) -> Result<String> {
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Dashpot: five papers, claim by claim</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\n\
         <h1>Five papers, claim by claim</h1>\n<p>{}</p>\n<table><tr><th>claim</th><th></th><th>verdict</th></tr>\n",
        emphasised(&report.introduction())
    );
    for (paper, claim, record) in &report.entries {
        let name = paper.name(claim);
        let chip = chip(record.verdict);
        let _ = writeln!(
            text,
            "<tr><td><a href=\"#{name}\">{name}</a></td><td>{}</td><td>{chip}</td></tr>",
            plain(claim.place)
        );
    }
    text.push_str("</table>\n");
    for (paper, claims) in report.papers(false) {
        let _ = writeln!(text, "<h2>{}</h2>\n<p>{}</p>", plain(paper.title), plain(paper.authors));
        claims.iter().try_for_each(|(claim, record)| entry(&mut text, paper, claim, record, pictures))?;
    }
    let timed = report.papers(true);
    if !timed.is_empty() {
        text.push_str(
            "<h2>Time</h2>\n<p>Of the machine that wrote this page; it says nothing about others.</p>\n",
        );
        for (paper, claims) in timed {
            claims.iter().try_for_each(|(claim, record)| entry(&mut text, paper, claim, record, pictures))?;
        }
    }
    text.push_str("</body></html>\n");
    Ok(text)
}

fn entry(text: &mut String, paper: &Paper, claim: &Claim, record: &Record, pictures: &Path) -> Result<()> {
    let name = paper.name(claim);
    let _ = writeln!(text, "<article id=\"{name}\"><h3>{name} {}</h3>", chip(record.verdict));
    let _ = writeln!(text, "<p><b>{}.</b> {}</p>", plain(claim.place), emphasised(claim.says));
    if !claim.runs.is_empty() {
        let _ = writeln!(text, "<p><i>Run:</i> {}</p>", emphasised(claim.runs));
    }
    if !record.measures.is_empty() {
        let rows = record.measures.iter().map(|measure| (cells(measure).to_vec(), measure.holds()));
        table(text, &HEADS, rows);
    }
    let error = record.error.iter().map(|error| format!("The run ended early: {error}"));
    for note in error.chain(record.notes.iter().cloned()) {
        let _ = writeln!(text, "<p>{}</p>", emphasised(&note));
    }
    if !record.reason.is_empty() {
        let head = if record.verdict == Verdict::Open { "Missing" } else { "Why" };
        let _ = writeln!(text, "<p><i>{head}:</i> {}</p>", emphasised(&record.reason));
    }
    for made in &record.tables {
        let _ = writeln!(text, "<p>{}</p>", emphasised(&made.title));
        let heads: Vec<&str> = made.heads.iter().map(String::as_str).collect();
        table(text, &heads, made.rows.iter().map(|row| (row.clone(), true)));
    }
    for picture in &record.pictures {
        let path = pictures.join(&picture.file);
        let bytes = std::fs::read(&path).map_err(Error::write(&path))?;
        let kind = if picture.file.ends_with("svg") { "svg+xml" } else { "png" };
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        let shows = plain(&picture.shows);
        let _ = writeln!(
            text,
            "<figure><img alt=\"{shows}\" src=\"data:image/{kind};base64,{data}\"><figcaption>{shows}</figcaption></figure>"
        );
    }
    if !matches!(claim.kind, Kind::Open(_)) {
        let seconds = record.seconds.max(1.0);
        let _ =
            writeln!(text, "<p class=\"command\"><code>dashpot reproduce {name}</code>: {seconds:.0} s</p>");
    }
    text.push_str("</article>\n");
    Ok(())
}

fn chip(verdict: Verdict) -> String {
    let name = verdict.name();
    format!("<span class=\"verdict {}\">{name}</span>", name.replace(' ', "-"))
}

fn table(text: &mut String, heads: &[&str], rows: impl Iterator<Item = (Vec<String>, bool)>) {
    let heads: String = heads.iter().map(|head| format!("<th>{}</th>", plain(head))).collect();
    let _ = writeln!(text, "<table><tr>{heads}</tr>");
    for (row, holds) in rows {
        let cells: String = row.iter().map(|cell| format!("<td>{}</td>", plain(cell))).collect();
        let _ = writeln!(text, "<tr{}>{cells}</tr>", if holds { "" } else { " class=\"no\"" });
    }
    text.push_str("</table>\n");
}

/// Text as HTML shows it.
fn plain(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The same with `code` and *emphasis*.
fn emphasised(text: &str) -> String {
    let marked = |text: String, mark: char, tag: &str| {
        let parts: Vec<&str> = text.split(mark).collect();
        // an odd mark is a character like others
        if parts.len().is_multiple_of(2) {
            return text;
        }
        let part = |(k, part): (usize, &&str)| match k % 2 {
            1 => format!("<{tag}>{part}</{tag}>"),
            _ => part.to_string(),
        };
        parts.iter().enumerate().map(part).collect()
    };
    marked(marked(plain(text), '`', "code"), '*', "em")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_text() {
        assert_eq!(plain("a < b & \"c\""), "a &lt; b &amp; &quot;c&quot;");
        assert_eq!(emphasised("*all* of `x < y`"), "<em>all</em> of <code>x &lt; y</code>");
        assert_eq!(emphasised("2 * 3"), "2 * 3");
    }
}
