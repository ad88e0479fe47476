//! Ledger rows of a slot since its start, thinned out when there are many.

use super::session::LedgerUpdate;
use crate::ledger::Row;

/// Maximum number of rows kept; then every second one is dropped.
const MOST: usize = 2400;

/// How long excitations are kept (s).
pub const SPAN: f64 = 12.0;

/// The rows since one start.
#[derive(Debug, Clone, Default)]
pub struct History {
    epoch: u64,
    /// Evenly spaced, including the first.
    pub rows: Vec<Row>,
    /// Every how many rows one is kept.
    stride: usize,
    seen: usize,
    /// Time (s) and excitations of the examples, over the last [`SPAN`].
    pub excitations: Vec<(f64, Vec<f64>)>,
}

/// Adds the updates of every slot. Histories are matched by epoch, not by index, since slots may have been closed.
pub fn follow(histories: &mut Vec<History>, news: &[LedgerUpdate]) {
    let mut before = std::mem::take(histories);
    for news in news {
        let known = before.iter().position(|history| history.epoch == news.epoch);
        let mut history = known.map(|k| before.swap_remove(k)).unwrap_or_default();
        history.add(news);
        histories.push(history);
    }
}

impl History {
    /// Adds an update; starts over when time has restarted.
    pub fn add(&mut self, news: &LedgerUpdate) {
        if news.epoch != self.epoch {
            *self = History { epoch: news.epoch, ..History::default() };
        }
        self.excitations.extend_from_slice(&news.excitations);
        let from = self.excitations.last().map_or(0.0, |(time, _)| time - SPAN);
        let old = self.excitations.partition_point(|(time, _)| *time < from);
        // keep a few more, so that not every new row moves all others
        if old > 64 {
            self.excitations.drain(..old);
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
            history.add(&LedgerUpdate { epoch: 1, rows: part.to_vec(), ..LedgerUpdate::default() });
        }
        assert!((MOST / 2..=MOST).contains(&history.rows.len()), "{}", history.rows.len());
        let gaps: Vec<usize> = history.rows.windows(2).map(|pair| pair[1].frame - pair[0].frame).collect();
        assert!(gaps.iter().all(|gap| *gap == gaps[0]), "{gaps:?}");
        assert_eq!(history.rows[0].frame, 0);
        history.add(&LedgerUpdate { epoch: 2, rows: vec![Row::default()], ..LedgerUpdate::default() });
        assert_eq!(history.rows.len(), 1);
    }

    #[test]
    fn curves_stay_when_a_lane_before_them_is_closed() {
        let news = |epoch: u64, rows: usize| LedgerUpdate {
            epoch,
            rows: vec![Row::default(); rows],
            ..LedgerUpdate::default()
        };
        let mut histories = Vec::new();
        follow(&mut histories, &[news(1, 3), news(2, 4), news(3, 5)]);
        follow(&mut histories, &[news(2, 1), news(3, 1)]);
        let seen: Vec<(u64, usize)> = histories.iter().map(|h| (h.epoch, h.rows.len())).collect();
        assert_eq!(seen, [(2, 5), (3, 6)]);
    }
}
