//! Tables of aligned columns, for a terminal and for a pipe alike.

/// Rows of cells: the first column flush left, the others flush right.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// How many columns are flush left.
    left: usize,
}

impl Table {
    /// A table with these heads of columns, the first `left` of them flush left.
    pub fn new<S: Into<String>>(left: usize, heads: impl IntoIterator<Item = S>) -> Self {
        let mut table = Table { left, rows: Vec::new() };
        table.row(heads);
        table
    }

    /// One more row; columns that it does not have stay empty.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |k: usize| {
            self.rows.iter().filter_map(|row| row.get(k)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (n, row) in self.rows.iter().enumerate() {
            let line: Vec<String> = (row.iter().zip(&widths).enumerate())
                .map(
                    |(k, (cell, &width))| {
                        if k < self.left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                    },
                )
                .collect();
            let end = if n + 1 == self.rows.len() { "" } else { "\n" };
            write!(f, "{}{end}", line.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// A time (ms), with as many digits as it deserves.
pub fn ms(value: f64) -> String {
    match value {
        v if v < 10.0 => format!("{v:.3}"),
        v if v < 1000.0 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// A mean count a frame: whole if it is.
pub fn count(value: f64) -> String {
    if value == value.round() { format!("{value:.0}") } else { format!("{value:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_whatever_their_letters() {
        let mut table = Table::new(1, ["", "µs"]);
        table.row(["predict", "1.5"]);
        table.row(["ŷ"]);
        assert_eq!(table.to_string(), "          µs\npredict  1.5\nŷ");
    }
}
