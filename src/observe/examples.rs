//! `examples.csv`: excitation and damping of each example, one row per frame.

use super::output::Output;
use super::table::Table;
use crate::Result;
use crate::scene::{Example, Over};
use crate::step::Simulation;
use std::path::Path;

pub const FILE: &str = "examples.csv";

/// A row: the motion along every example at the end of a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct ExcitationRow {
    pub frame: usize,
    /// Its time (s).
    pub time: f64,
    /// χ, χ̇ (1/s) and the last step's γ of every example.
    pub along: Vec<[f64; 3]>,
}

impl ExcitationRow {
    /// The current motion. Reads the state without changing it.
    fn of(simulation: &mut Simulation) -> Result<Self> {
        let (excitations, rates) = (simulation.excitations()?, simulation.excitation_rates()?);
        let numbers = excitations.into_iter().zip(rates).zip(simulation.gammas()?);
        Ok(ExcitationRow {
            frame: simulation.frame_number(),
            time: simulation.time(),
            along: numbers.map(|((chi, rate), gamma)| [chi, rate, gamma]).collect(),
        })
    }

    /// The row as CSV, without line end. Numbers read back to the same bits.
    fn csv(&self) -> String {
        let numbers = self.along.iter().flatten().map(|number| format!(",{number:?}"));
        format!("{},{:?}{}", self.frame, self.time, numbers.collect::<String>())
    }

    /// Parses a line with this many examples; `None` if it does not match.
    fn read(line: &str, examples: usize) -> Option<Self> {
        let (frame, numbers) = line.split_once(',')?;
        let numbers: Vec<f64> = numbers.split(',').map(|cell| cell.parse().ok()).collect::<Option<_>>()?;
        let (time, along) = numbers.split_first()?;
        let (triples, rest) = along.as_chunks::<3>();
        (rest.is_empty() && triples.len() == examples)
            .then_some(())
            .and(frame.parse().ok())
            .map(|frame| ExcitationRow { frame, time: *time, along: triples.to_vec() })
    }
}

/// The file being written.
pub struct ExcitationTable {
    table: Table,
    pub names: Vec<String>,
    pub rows: Vec<ExcitationRow>,
}

impl ExcitationTable {
    /// Creates the file in a run's folder, or continues that in `resumed`; `None` without examples.
    pub fn create(
        output: &mut Output,
        examples: &[Example],
        simulation: &mut Simulation,
        resumed: Option<&Path>,
    ) -> Result<Option<Self>> {
        if examples.is_empty() {
            return Ok(None);
        }
        let names: Vec<String> = examples.iter().map(|example| example.name.clone()).collect();
        let header = header(&names);
        let mut rows = resumed.map(|folder| earlier(folder, &header, names.len())).unwrap_or_default();
        let now = ExcitationRow::of(simulation)?;
        rows.retain(|row| row.frame <= now.frame);
        if rows.last().is_none_or(|row| row.frame != now.frame) {
            rows.push(now); // the initial row, or the earlier rows are missing
        }
        let table = output.table(FILE, &header, rows.iter().map(ExcitationRow::csv))?;
        Ok(Some(ExcitationTable { table, names, rows }))
    }

    /// Writes the row of the current frame.
    pub fn row(&mut self, simulation: &mut Simulation) -> Result<()> {
        let row = ExcitationRow::of(simulation)?;
        self.table.line(&row.csv())?;
        self.rows.push(row);
        Ok(())
    }
}

/// Rows written by an earlier run for the same examples; empty if its file is missing.
fn earlier(folder: &Path, header: &str, examples: usize) -> Vec<ExcitationRow> {
    let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    let mine = text.strip_prefix(header).and_then(|rows| rows.strip_prefix('\n')).unwrap_or_default();
    mine.lines().map_while(|line| ExcitationRow::read(line, examples)).collect()
}

fn header(names: &[String]) -> String {
    let columns = names.iter().flat_map(|name| ["chi", "rate", "gamma"].map(|what| format!("{name}.{what}")));
    let columns: Vec<String> = columns.map(|column| quoted(&column)).collect();
    format!("frame,time,{}", columns.join(","))
}

/// A CSV cell. (Names contain no control characters: a header is one line.)
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.into() }
}

/// Short descriptions of examples: name, and γ or curve.
pub fn described(examples: &[Example]) -> Vec<String> {
    let how = |example: &Example| match &example.curve {
        None => format!("{} γ {}", example.name, example.gamma),
        Some(curve) => {
            let over = match curve.over {
                Over::Deformation => "deformation",
                Over::Velocity => "velocity",
            };
            format!("{} (curve over {over})", example.name)
        }
    };
    examples.iter().map(how).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_and_quotes_stay_one_cell_each() {
        let names = ["ear".to_string(), "a,b".into(), "the \"tail\"".into()];
        assert_eq!(
            header(&names),
            "frame,time,ear.chi,ear.rate,ear.gamma,\"a,b.chi\",\"a,b.rate\",\"a,b.gamma\",\
             \"the \"\"tail\"\".chi\",\"the \"\"tail\"\".rate\",\"the \"\"tail\"\".gamma\""
        );
    }

    #[test]
    fn a_row_reads_back_to_the_same_bits() {
        let row = ExcitationRow {
            frame: 3,
            time: 0.1 + 0.2,
            along: vec![[1.0 / 3.0, -2e-300, 5.0], [0.0, 1e9, 0.1]],
        };
        assert_eq!(ExcitationRow::read(&row.csv(), 2), Some(row.clone()));
        for (bad, examples) in
            [(row.csv(), 1), (String::new(), 0), ("3,0.1,x,2,3".into(), 1), ("3".into(), 0)]
        {
            assert_eq!(ExcitationRow::read(&bad, examples), None, "{bad}");
        }
    }
}
