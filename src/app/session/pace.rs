//! How many frames are due: wall-clock time times speed, but never more than can be made.

use std::time::Duration;

/// Playback speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// Simulated seconds per second.
    Times(f64),
    Unbounded,
}

impl Default for Speed {
    fn default() -> Self {
        Speed::Times(1.0)
    }
}

/// Available speeds, from slow motion to fast-forward.
pub const SPEEDS: [f64; 7] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0];

/// Largest backlog (s of wall-clock time): more is dropped, so that a slow scene runs slowly instead of trying to
/// catch up for ever.
const LONGEST_DEBT: f64 = 0.1;

/// Fraction of the measured pace forgotten per second.
const FORGETTING: f64 = 0.7;

/// Simulated time due and done.
#[derive(Debug, Clone, Default)]
pub struct Pace {
    /// Simulated time due but not made yet (s).
    debt: f64,
    /// Recent simulated and wall-clock time, exponentially weighted (s).
    made: f64,
    passed: f64,
}

impl Pace {
    /// Adds elapsed wall-clock time to the backlog. One whole frame (s) is always kept, however long.
    pub fn elapse(&mut self, wall: Duration, speed: Speed, frame: f64) {
        let wall = wall.as_secs_f64();
        let keep = (-FORGETTING * wall).exp();
        self.made *= keep;
        self.passed = (self.passed + wall) * keep;
        match speed {
            Speed::Times(speed) => self.debt = (self.debt + wall * speed).min(frame + LONGEST_DEBT * speed),
            Speed::Unbounded => self.debt = 0.0,
        }
    }

    /// Whether a frame of this length (s) is due.
    pub fn is_due(&self, frame: f64, speed: Speed) -> bool {
        speed == Speed::Unbounded || self.debt >= frame
    }

    /// A frame was made.
    pub fn made(&mut self, frame: f64) {
        self.debt -= frame;
        self.made += frame;
    }

    /// Time until a frame is due.
    pub fn until_due(&self, frame: f64, speed: Speed) -> Duration {
        match speed {
            Speed::Times(speed) if speed > 0.0 => {
                Duration::from_secs_f64(((frame - self.debt) / speed).clamp(0.0, 1.0))
            }
            _ => Duration::ZERO,
        }
    }

    /// Recent simulated seconds per second.
    pub fn measured(&self) -> f64 {
        if self.passed > 0.0 { self.made / self.passed } else { 0.0 }
    }

    /// Drops the backlog, as after a pause.
    pub fn clear_debt(&mut self) {
        *self = Pace::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays `seconds` of the wall in ticks of 10 ms, where making a frame takes `cost` seconds.
    fn play(speed: Speed, frame: f64, cost: f64, seconds: f64) -> (usize, Pace) {
        let (mut pace, mut frames, mut now) = (Pace::default(), 0, 0.0);
        while now < seconds {
            let mut spent = 0.0;
            while pace.is_due(frame, speed) && spent < 0.02 {
                pace.made(frame);
                frames += 1;
                spent += cost;
            }
            let tick = f64::max(spent, 0.01);
            now += tick;
            pace.elapse(Duration::from_secs_f64(tick), speed, frame);
        }
        (frames, pace)
    }

    #[test]
    fn a_fast_scene_keeps_the_time_of_the_wall_at_any_speed() {
        for speed in SPEEDS {
            let (frames, pace) = play(Speed::Times(speed), 1.0 / 60.0, 1e-4, 10.0);
            // at most a frame and a tick are still due; the pace is of the last seconds
            assert!((frames as f64 - 600.0 * speed).abs() <= 2.0 + 0.6 * speed, "{speed}: {frames}");
            assert!((pace.measured() / speed - 1.0).abs() < 0.3, "{speed}: {}", pace.measured());
        }
    }

    #[test]
    fn a_slow_scene_is_slow_and_does_not_pile_up_debt() {
        // a frame of 1/60 s takes 50 ms: a third of real time, and each tick makes one frame
        let (frames, pace) = play(Speed::Times(1.0), 1.0 / 60.0, 0.05, 10.0);
        assert!((195..=201).contains(&frames), "{frames}");
        assert!((pace.measured() - 1.0 / 3.0).abs() < 0.02, "{}", pace.measured());
        assert!(pace.debt <= LONGEST_DEBT + 1.0 / 60.0);
    }

    #[test]
    fn long_frames_come_to_be_due_in_slow_motion() {
        let (frames, _) = play(Speed::Times(0.125), 0.5, 1e-3, 40.0);
        assert!((9..=11).contains(&frames), "{frames}");
    }

    #[test]
    fn as_fast_as_it_can_is_always_due() {
        let (frames, _) = play(Speed::Unbounded, 1.0 / 60.0, 0.001, 1.0);
        assert!(frames > 900, "{frames}");
    }
}
