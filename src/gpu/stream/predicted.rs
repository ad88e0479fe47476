//! What commands are predicted to cost, and submissions that are short enough for the watchdogs of operating systems.

use super::Stream;
use crate::Result;
use crate::gpu::context::Adapter;
use crate::gpu::kernel::{Call, Id};

/// How long a submission may take (s): Windows resets a device after 2 s, and what draws the window waits behind it.
const LONGEST_SUBMISSION: f64 = 0.1;

/// Bytes a second that a device of this kind moves; `None` where nobody watches.
fn assumed_bandwidth(adapter: &Adapter) -> Option<f64> {
    match adapter.kind {
        _ if adapter.software => None,
        "discrete GPU" => Some(500e9),
        _ => Some(60e9),
    }
}

/// Bytes that a submission may move at most.
pub(super) fn most_bytes(adapter: &Adapter) -> Option<u64> {
    assumed_bandwidth(adapter).map(|rate| (rate * LONGEST_SUBMISSION) as u64)
}

impl Stream {
    /// Bytes that a call of a compiled kernel moves through memory, see [`crate::gpu::traffic`].
    pub fn bytes_of(&self, id: Id, call: &Call) -> u64 {
        let length = |buffer| self.arena.bound_length(buffer, call);
        self.traffic.bytes(id, call, &self.sizes, self.pipelines.accesses(id), length)
    }

    /// Submits whenever more than this many bytes would be moved, or never of its own accord; at first as the kind of device
    /// demands. Results do not depend on it.
    pub fn limit_submissions(&mut self, most: Option<u64>) {
        self.most_bytes = most;
    }

    /// Submits what is recorded if it would take too long together with one more call.
    pub(super) fn make_room(&mut self, id: Id, call: &Call) -> Result<()> {
        let Some(most) = self.most_bytes else { return Ok(()) };
        let bytes = self.bytes_of(id, call);
        if self.recorded_bytes > 0 && self.recorded_bytes + bytes > most {
            self.submit()?;
        }
        self.recorded_bytes += bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a frame of ten iterations moves (bytes): `dashpot bench roofline`.
    const M: u64 = 148_000_000;
    const XL: u64 = 11_350_000_000;

    #[test]
    fn frames_of_the_bars_are_one_submission_unless_the_watchdog_would_bark() {
        let of = |kind: &'static str| {
            let software = kind == "software (CPU)";
            let [name, api, driver] = [const { String::new() }; 3];
            most_bytes(&Adapter { name, kind, api, driver, software, largest_binding: 0, timestamps: false })
        };
        assert_eq!(of("software (CPU)"), None);
        for kind in ["discrete GPU", "integrated GPU", "virtual GPU", "unknown"] {
            assert!(of(kind).is_some_and(|most| most > M), "{kind}");
        }
        assert!(of("discrete GPU") > Some(XL) && of("integrated GPU") < Some(XL));
    }
}
