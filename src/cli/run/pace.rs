//! When checkpoints are written.

use crate::Result;
use std::time::{Duration, Instant};

/// Frames from one to the next, where the user has not said.
const FRAMES: usize = 100;
/// They may then take this part of the time: waiting for the disk costs more than many frames of a small scene.
const SHARE: u32 = 50;

/// Decides on checkpoints.
pub(super) struct Pace {
    /// Every how many frames, if the user has said so.
    every: Option<usize>,
    /// Frame of the last one, when it was done, and how long it took.
    last: usize,
    done: Instant,
    cost: Duration,
}

impl Pace {
    pub fn new(every: Option<usize>, from: usize) -> Self {
        Pace { every, last: from, done: Instant::now(), cost: Duration::ZERO }
    }

    /// Whether one is to be written after this frame.
    pub fn is_due(&self, frame: usize) -> bool {
        match self.every {
            Some(every) => frame.is_multiple_of(every),
            None => frame >= self.last + FRAMES && self.done.elapsed() >= SHARE * self.cost,
        }
    }

    /// Writes one.
    pub fn write(&mut self, frame: usize, write: impl FnOnce() -> Result<()>) -> Result<()> {
        let start = Instant::now();
        write()?;
        (self.last, self.done, self.cost) = (frame, Instant::now(), start.elapsed());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_takes_a_small_part_of_the_time() {
        let mut pace = Pace::new(Some(7), 3);
        assert!([7, 14].iter().all(|frame| pace.is_due(*frame)) && !pace.is_due(10));
        pace.write(7, || Ok(())).unwrap();
        assert!(pace.is_due(14), "whatever it costs");
        let mut pace = Pace::new(None, 20);
        assert!(!pace.is_due(119) && pace.is_due(120));
        let wait = Duration::from_millis(20);
        let slow = || {
            std::thread::sleep(wait);
            Ok(())
        };
        pace.write(120, slow).unwrap();
        assert!(!pace.is_due(1000), "a second has to pass");
        pace.done -= 50 * 2 * wait;
        assert!(pace.is_due(220) && !pace.is_due(219));
    }
}
