//! Tables of the suite.

use super::RooflineCase;
use super::assume::AssumedTable;
use crate::cli::compare::adapter_lines;
use crate::cli::table::{Table, count, ms};
use crate::gpu::figures::Figures;

/// What the columns mean.
pub const NOTE: &str = "\
a frame of ten iterations, solved exactly. bytes: through memory, counted from the buffers of each kernel. predicted for this adapter:
calls × latency + bytes / bandwidth at the size of what an iteration moves. measured: by the device's clock, each kernel in a pass of its own.";

/// The adapter's own figures.
pub fn figures(figures: &Figures) -> String {
    let mut table = Table::new(1, ["this adapter", ""]);
    for bandwidth in &figures.bandwidths {
        let label = format!("reading {} MB again and again", bandwidth.bytes / 1_000_000);
        table.row([label, format!("{:.2} GB/s", bandwidth.rate / 1e9)]);
    }
    let own = figures.dispatch_device_us.map_or("-".into(), |us| format!("{us:.2} µs"));
    let rows = [
        ("a dependent dispatch, by the wall", format!("{:.2} µs", figures.dispatch_us)),
        ("the same by its own clock", own),
        ("recording one on the host", format!("{:.2} µs", figures.record_us)),
        ("a round trip of 256 bytes", format!("{:.0} µs", figures.round_trip_us)),
        ("up", format!("{:.2} GB/s", figures.upload / 1e9)),
        ("down", format!("{:.2} GB/s", figures.download / 1e9)),
    ];
    rows.into_iter().for_each(|(label, value)| table.row([label.into(), value]));
    format!("{}\n{table}", adapter_lines(&figures.adapter))
}

/// A row a kernel.
pub fn case(case: &RooflineCase) -> String {
    let head = format!(
        "{}: {} vertices, {} elements; {}\n{:.1} MB an iteration, {:.0} MB a frame; frame by the wall: {} ms",
        case.name,
        case.vertices,
        case.elements,
        case.backend,
        case.iteration_bytes / 1e6,
        case.frame_bytes / 1e6,
        ms(case.frame_ms)
    );
    if case.kernels.is_empty() {
        return format!("{head}\nthis adapter has no clock: its kernels cannot be measured");
    }
    let heads = ["kernel", "phase", "calls", "MB", "predicted ms", "measured ms", "quotient"];
    let mut table = Table::new(2, heads);
    let mut sums = [0.0; 4];
    for row in &case.kernels {
        table.row([
            row.kernel.to_string(),
            row.phase.into(),
            count(row.calls),
            format!("{:.3}", row.bytes / 1e6),
            ms(row.predicted_ms),
            ms(row.measured_ms),
            format!("{:.2}", row.quotient),
        ]);
        let all = [row.calls, row.bytes, row.predicted_ms, row.measured_ms];
        sums.iter_mut().zip(all).for_each(|(sum, more)| *sum += more);
    }
    let [calls, bytes, predicted, measured] = sums;
    table.row([
        "all".to_string(),
        String::new(),
        count(calls),
        format!("{:.3}", bytes / 1e6),
        ms(predicted),
        ms(measured),
        format!("{:.2}", measured / predicted),
    ]);
    format!("{head}\n{table}")
}

/// A device that is assumed, never in the same table as one that was measured.
pub fn assumed(table: &AssumedTable) -> String {
    let mut heads = vec!["kernel".to_string()];
    for case in &table.cases {
        heads.extend(["calls", "MB", "assumed ms"].map(|head| format!("{}: {head}", case.name)));
    }
    let mut printed = Table::new(1, heads);
    let mut names: Vec<&str> = Vec::new();
    for row in table.cases.iter().flat_map(|case| &case.rows) {
        if !names.contains(&row.kernel) {
            names.push(row.kernel);
        }
    }
    for name in names {
        let mut cells = vec![name.to_string()];
        for case in &table.cases {
            cells.extend(match case.rows.iter().find(|row| row.kernel == name) {
                Some(row) => {
                    [count(row.calls), format!("{:.3}", row.bytes / 1e6), format!("{:.4}", row.assumed_ms)]
                }
                None => [const { String::new() }; 3],
            });
        }
        printed.row(cells);
    }
    let mut cells = vec!["all".to_string()];
    for case in &table.cases {
        cells.extend([String::new(), String::new(), format!("{:.3}", case.assumed_ms)]);
    }
    printed.row(cells);
    let device = &table.device;
    format!("assumed, not measured: {}: {}\n{printed}", device.name, device.line())
}
