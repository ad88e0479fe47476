//! What an adapter can do, measured: bytes a second, microseconds a dispatch, a round trip.

mod probe;

use super::context::{Adapter, Context};
use crate::Result;
use probe::Probe;
use serde::Serialize;

/// The shaders that measure, in `shaders/` without the extension. They are no part of a step and have no twins.
pub const SHADERS: [&str; 2] = ["measure/count_up", "measure/read_stream"];

/// One megabyte, as bandwidths are measured at.
const MB: u64 = 1_000_000;

/// Bytes of a round trip: about the report of a frame of a body.
const ROUND_TRIP: u64 = 256;

/// How thoroughly to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// A second or less: bandwidth at 64 MB, latencies.
    Quick,
    /// Everything.
    Full,
}

/// Rate of a kernel that reads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bandwidth {
    /// Bytes that it reads again and again.
    pub bytes: u64,
    /// Bytes a second, the dispatch itself not counted.
    pub rate: f64,
}

/// What an adapter can do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    pub adapter: Adapter,
    /// Ascending by size.
    pub bandwidths: Vec<Bandwidth>,
    /// A dispatch that depends on the one before it (µs), by the clock of the wall.
    pub dispatch_us: f64,
    /// The same by the device's clock, where it has one.
    pub dispatch_device_us: Option<f64>,
    /// Recording a dispatch on the host (µs).
    pub record_us: f64,
    /// 256 bytes up, and down again (µs).
    pub round_trip_us: f64,
    /// Bytes a second to the device.
    pub upload: f64,
    /// … and back.
    pub download: f64,
}

impl Figures {
    /// Measures the adapter of a context.
    pub fn measure(context: &Context, effort: Effort) -> Result<Figures> {
        let (sizes, dispatches, rounds, crossing): (&[u64], u32, usize, u64) = match effort {
            Effort::Quick => (&[64], 250, 10, 4),
            Effort::Full => (&[1, 4, 16, 64, 256], 1000, 50, 32),
        };
        let probe = Probe::new(context)?;
        let idle = probe.dispatches(0)?;
        let many = probe.dispatches(dispatches)?;
        let each = f64::from(dispatches);
        let dispatch = ((many.wall - idle.wall) / each).max(0.0);
        let on_device = many.device.map(|spent| spent / each);
        let mut bandwidths = Vec::new();
        for megabytes in sizes {
            let bytes = megabytes * MB;
            let rate = probe.bandwidth(bytes, on_device.unwrap_or(dispatch), idle.wall)?;
            bandwidths.extend(rate.map(|rate| Bandwidth { bytes, rate }));
        }
        let [up, down] = probe.crossing(crossing * MB)?;
        Ok(Figures {
            adapter: context.adapter.clone(),
            bandwidths,
            dispatch_us: dispatch * 1e6,
            dispatch_device_us: on_device.map(|spent| spent * 1e6),
            record_us: many.record / each * 1e6,
            round_trip_us: probe.round_trip(ROUND_TRIP, rounds)? * 1e6,
            upload: up,
            download: down,
        })
    }

    /// Bytes a second where a working set of `bytes` is read again and again: between two measured sizes by the logarithm of the
    /// size, beyond them as at the nearest.
    pub fn bandwidth(&self, bytes: u64) -> f64 {
        let above = self.bandwidths.iter().position(|known| known.bytes >= bytes);
        match above {
            _ if self.bandwidths.is_empty() => 0.0,
            None => self.bandwidths[self.bandwidths.len() - 1].rate,
            Some(0) => self.bandwidths[0].rate,
            Some(k) => {
                let [low, high] = [self.bandwidths[k - 1], self.bandwidths[k]];
                let way =
                    (bytes as f64 / low.bytes as f64).ln() / (high.bytes as f64 / low.bytes as f64).ln();
                low.rate + way * (high.rate - low.rate)
            }
        }
    }

    /// A dispatch that depends on the one before it (s): by the device's clock, where it has one.
    pub fn latency(&self) -> f64 {
        self.dispatch_device_us.unwrap_or(self.dispatch_us) * 1e-6
    }

    /// One line for the head of a table.
    pub fn line(&self) -> String {
        let rate = self.bandwidth(64 * MB) / 1e9;
        format!(
            "{rate:.1} GB/s at 64 MB, {:.1} µs a dispatch, {:.0} µs for a round trip of {ROUND_TRIP} bytes",
            self.latency() * 1e6,
            self.round_trip_us
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_lie_between_those_measured() {
        let known = [(1, 8e9), (4, 4e9), (64, 2e9)];
        let adapter = Adapter {
            name: String::new(),
            kind: "unknown",
            api: String::new(),
            driver: String::new(),
            software: false,
            largest_binding: 0,
            timestamps: false,
        };
        let figures = Figures {
            adapter,
            bandwidths: known.map(|(mb, rate)| Bandwidth { bytes: mb * MB, rate }).to_vec(),
            dispatch_us: 3.0,
            dispatch_device_us: None,
            record_us: 1.0,
            round_trip_us: 100.0,
            upload: 1e9,
            download: 1e9,
        };
        let expected = [(1, 8e9), (1000, 8e9), (2 * MB, 6e9), (16 * MB, 3e9), (1000 * MB, 2e9)];
        for (bytes, rate) in expected {
            assert!((figures.bandwidth(bytes) / rate - 1.0).abs() < 1e-12, "{bytes}");
        }
        assert_eq!(figures.latency(), 3e-6);
    }
}
