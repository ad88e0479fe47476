//! Curves of a lane: rows of the ledger since its beginning, thinned out when there are many.

use super::session::News;
use crate::observe::ledger::Row;

/// Rows that are kept, at most; then every second one goes.
const MOST: usize = 2400;

/// Rows of one beginning.
#[derive(Debug, Clone, Default)]
pub struct History {
    epoch: u64,
    /// Evenly spaced, the first one included.
    pub rows: Vec<Row>,
    /// Only every so many rows are kept.
    stride: usize,
    seen: usize,
}

impl History {
    /// Adds what is new; forgets all of it when time has started anew.
    pub fn add(&mut self, news: &News) {
        if news.epoch != self.epoch {
            *self = History { epoch: news.epoch, ..History::default() };
        }
        for row in &news.rows {
            if self.seen.is_multiple_of(self.stride.max(1)) {
                self.rows.push(*row);
            }
            self.seen += 1;
            if self.rows.len() > MOST {
                let mut number = 0;
                self.rows.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.stride = 2 * self.stride.max(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_history_is_thinned_out_evenly_and_starts_anew_with_time() {
        let mut history = History::default();
        let rows: Vec<Row> = (0..20_000).map(|frame| Row { frame, ..Row::default() }).collect();
        for part in rows.chunks(700) {
            history.add(&News { epoch: 1, rows: part.to_vec() });
        }
        assert!((MOST / 2..=MOST).contains(&history.rows.len()), "{}", history.rows.len());
        let gaps: Vec<usize> = history.rows.windows(2).map(|pair| pair[1].frame - pair[0].frame).collect();
        assert!(gaps.iter().all(|gap| *gap == gaps[0]), "{gaps:?}");
        assert_eq!(history.rows[0].frame, 0);
        history.add(&News { epoch: 2, rows: vec![Row::default()] });
        assert_eq!(history.rows.len(), 1);
    }
}
