//! Devices that nobody measured: times from bytes, calls and what is assumed of a device.

use super::RooflineCase;
use crate::Result;
use crate::error::InputError;
use serde::Serialize;

/// What is assumed of a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assumed {
    pub name: String,
    /// Bytes a second from memory.
    pub bandwidth: f64,
    /// Bytes of its cache and bytes a second from there: for what an iteration moves, if it fits.
    pub cache: Option<[f64; 2]>,
    /// A dependent dispatch (s).
    pub latency: f64,
    /// The same of a stage of the exact solve, which has three dependent loads and two barriers more.
    pub stage_latency: f64,
}

/// Times of the kernels of a bar.
#[derive(Debug, Clone, Serialize)]
pub struct AssumedTable {
    pub device: Assumed,
    /// For each bar its name and the kernels' (ms a frame).
    pub cases: Vec<AssumedCase>,
}

/// A bar on such a device.
#[derive(Debug, Clone, Serialize)]
pub struct AssumedCase {
    pub name: &'static str,
    pub rows: Vec<AssumedRow>,
    /// All kernels together (ms a frame).
    pub assumed_ms: f64,
}

/// A kernel on such a device.
#[derive(Debug, Clone, Serialize)]
pub struct AssumedRow {
    pub kernel: &'static str,
    pub calls: f64,
    pub bytes: f64,
    pub assumed_ms: f64,
}

/// 85 % of what memory could give is reached.
const REACHED: f64 = 0.85;

/// Reads `discrete`, `integrated` or a bandwidth and a latency, as in `500GB/s,4us`.
pub fn assumed(text: &str) -> Result<Assumed> {
    let (name, micro) = (text.to_string(), 1e-6);
    let preset = |bandwidth: f64, cache: [f64; 2], latency: f64, stage_latency: f64| Assumed {
        name: name.clone(),
        bandwidth: REACHED * bandwidth,
        cache: Some(cache),
        latency: latency * micro,
        stage_latency: stage_latency * micro,
    };
    match text {
        "discrete" => return Ok(preset(500e9, [24e6, 1.5e12], 4.0, 7.0)),
        "integrated" => return Ok(preset(60e9, [4e6, 150e9], 6.0, 9.0)),
        _ => {}
    }
    let parsed = text.split_once(',').and_then(|(rate, latency)| {
        let bandwidth = rate.trim().strip_suffix("GB/s")?.trim().parse::<f64>().ok()? * 1e9;
        let latency = latency.trim().strip_suffix("us")?.trim().parse::<f64>().ok()? * micro;
        let given = bandwidth > 0.0 && bandwidth.is_finite() && latency >= 0.0 && latency.is_finite();
        given.then_some(Assumed { name, bandwidth, cache: None, latency, stage_latency: latency })
    });
    let expected = "expected discrete, integrated, or a bandwidth and a latency such as 500GB/s,4us";
    parsed.ok_or_else(|| InputError::field("--assume", format!("{expected}, got `{text}`")).into())
}

impl Assumed {
    /// The same frames on this device.
    pub fn table(&self, cases: &[RooflineCase]) -> AssumedTable {
        AssumedTable { device: self.clone(), cases: cases.iter().map(|case| self.case(case)).collect() }
    }

    fn case(&self, case: &RooflineCase) -> AssumedCase {
        let cached = self.cache.filter(|[bytes, _]| case.iteration_bytes <= *bytes);
        let bandwidth = cached.map_or(self.bandwidth, |[_, rate]| rate);
        let row = |row: &super::KernelRow| {
            let is_stage = ["solve_up", "solve_down"].contains(&row.kernel);
            let latency = if is_stage { self.stage_latency } else { self.latency };
            let assumed_ms = 1e3 * (row.calls * latency + row.bytes / bandwidth);
            AssumedRow { kernel: row.kernel, calls: row.calls, bytes: row.bytes, assumed_ms }
        };
        let rows: Vec<_> = case.kernels.iter().map(row).collect();
        let assumed_ms = rows.iter().map(|row| row.assumed_ms).sum();
        AssumedCase { name: case.name, rows, assumed_ms }
    }

    /// What is assumed, in a line.
    pub fn line(&self) -> String {
        let cache = self.cache.map_or(String::new(), |[bytes, rate]| {
            format!(" ({:.0} GB/s where an iteration fits into {:.0} MB)", rate / 1e9, bytes / 1e6)
        });
        let stage = match self.stage_latency == self.latency {
            true => String::new(),
            false => format!(" ({:.0} µs for a stage of the solve)", self.stage_latency * 1e6),
        };
        format!("{:.0} GB/s{cache}, {:.1} µs a dispatch{stage}", self.bandwidth / 1e9, self.latency * 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::bench::roofline::KernelRow;

    #[test]
    fn devices_are_assumed_by_name_or_by_number() {
        let own = assumed("500GB/s,4us").unwrap();
        assert!(
            (own.bandwidth - 5e11).abs() < 1.0 && (own.latency - 4e-6).abs() < 1e-12 && own.cache.is_none()
        );
        assert!((assumed("discrete").unwrap().bandwidth - 425e9).abs() < 1.0);
        assert!((assumed("integrated").unwrap().bandwidth - 51e9).abs() < 1.0);
        for bad in ["", "fast", "500", "500GB/s", "4us,500GB/s", "0GB/s,4us", "-1GB/s,4us", "nanGB/s,1us"] {
            assert!(assumed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_calls_and_bytes() {
        let row = |kernel, calls, bytes| KernelRow {
            kernel,
            phase: "local",
            calls,
            bytes,
            predicted_ms: 0.0,
            measured_ms: 0.0,
            quotient: 0.0,
        };
        let mut case = RooflineCase {
            name: "M",
            vertices: 0,
            elements: 0,
            backend: String::new(),
            frame_ms: 0.0,
            iteration_bytes: 25e6,
            frame_bytes: 0.0,
            kernels: vec![row("project_tet", 10.0, 42.5e6), row("solve_up", 10.0, 0.0)],
        };
        let discrete = assumed("discrete").unwrap();
        let times = |case: &RooflineCase| {
            discrete.case(case).rows.iter().map(|row| row.assumed_ms).collect::<Vec<_>>()
        };
        // 10 × 4 µs and 42.5 MB at 425 GB/s; 10 × 7 µs
        assert!(
            times(&case).iter().zip([0.14, 0.07]).all(|(found, expected)| (found - expected).abs() < 1e-12)
        );
        case.iteration_bytes = 24e6;
        assert!((times(&case)[0] - (0.04 + 42.5e6 / 1.5e9)).abs() < 1e-12, "from the cache");
    }
}
