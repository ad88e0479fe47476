//! The adapter's own figures, the kernels that are kept from run to run, and submissions that are not too long.

use crate::common;
use crate::gpu_kernels::random_state;
use dashpot::gpu::buffer::Buffer;
use dashpot::gpu::figures::{Effort, Figures};
use dashpot::gpu::kernel::{Call, Id};
use dashpot::gpu::shader::Library;
use dashpot::gpu::stream::Stream;
use std::path::Path;
use std::process::{Command, Output};

#[test]
fn figures_of_an_adapter_are_measured() {
    let Some(context) = common::context() else { return };
    let figures = Figures::measure(&context, Effort::Quick).unwrap();
    println!("{figures:?}");
    let times = [figures.dispatch_us, figures.record_us, figures.round_trip_us, figures.latency()];
    let rates = [figures.upload, figures.download, figures.bandwidth(64_000_000)];
    assert!(rates.iter().chain(&times[1..]).all(|value| value.is_finite() && *value > 0.0), "{figures:?}");
    assert_eq!(figures.dispatch_device_us.is_some(), context.adapter.timestamps);
    // no memory gives a thousand times what the fastest has, and no driver needs a tenth of a second for a dispatch
    assert!(figures.bandwidth(64_000_000) < 1e16 && figures.latency() < 0.1, "{figures:?}");
}

const RECORDED: [Id; 5] =
    [Id::predict, Id::project_tet, Id::project_triangle, Id::project_spring, Id::gather_gradient];

/// Records the same commands three times over; returns what they leave, how many submissions they were, and their bytes.
fn gradient(limit: Option<u64>) -> Option<(Vec<u8>, u64, u64)> {
    let mut stream = Stream::new(common::context()?, &random_state(), Library::BuiltIn).unwrap();
    stream.limit_submissions(limit);
    let mut bytes = 0;
    for _ in 0..3 {
        for id in RECORDED {
            stream.kernel(id).unwrap();
            bytes += stream.bytes_of(id, &Call::default());
        }
        stream.copy(Buffer::Gradient, Buffer::StartGradient);
    }
    stream.submit().unwrap();
    let submissions = stream.usage().submissions;
    Some((stream.read(Buffer::StartGradient).unwrap(), submissions, bytes))
}

#[test]
fn long_submissions_are_split_and_nothing_else_changes() {
    let Some((expected, submissions, bytes)) = gradient(None) else { return };
    assert_eq!(submissions, 1);
    for (limit, expected_submissions) in [(bytes, 1), (bytes - 1, 2), (1, 3 * RECORDED.len() as u64)] {
        let (found, submissions, _) = gradient(Some(limit)).unwrap();
        assert_eq!(submissions, expected_submissions, "at most {limit} bytes");
        assert!(found == expected, "the same bits at most {limit} bytes");
    }
}

fn run(folder: &Path, is_off: bool) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_dashpot"));
    program.args(["run", "bar", "--frames", "1", "--backend", "gpu"]);
    program.env("XDG_CACHE_HOME", folder).env("LOCALAPPDATA", folder).env("HOME", folder);
    program.env("DASHPOT_NO_CACHE", if is_off { "1" } else { "0" });
    let output = program.current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The files below a folder that keep kernels.
fn kept(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder.join("dashpot")) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn kernels_are_kept_and_bad_files_ignored() {
    let Some(context) = common::context() else { return };
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), true);
    assert!(kept(folder.path()).is_empty(), "DASHPOT_NO_CACHE=1 keeps nothing");
    run(folder.path(), false);
    let files = kept(folder.path());
    if !context.device.features().contains(wgpu::Features::PIPELINE_CACHE) {
        assert!(files.is_empty());
        return;
    }
    assert_eq!(files.len(), 1, "{files:?}");
    let good = std::fs::read(&files[0]).unwrap();
    let mut changed = good.clone();
    *changed.last_mut().unwrap() ^= 1;
    for bad in [&changed[..], b"", b"something else", &good[..good.len() / 2]] {
        std::fs::write(&files[0], bad).unwrap();
        run(folder.path(), false);
        assert_eq!(kept(folder.path()), files, "one file, and no temporary one");
        assert!(std::fs::read(&files[0]).unwrap().starts_with(b"dashpot1"), "written anew");
    }
    // a folder that cannot be written
    std::fs::remove_dir_all(folder.path().join("dashpot")).unwrap();
    std::fs::write(folder.path().join("dashpot"), "a file where the folder should be").unwrap();
    run(folder.path(), false);
}

#[test]
fn the_roofline_has_a_row_a_kernel_and_never_mixes_what_is_assumed_with_what_is_measured() {
    if common::context().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let small = ["bench", "roofline", "--sizes", "S", "--frames", "1"];
    let out =
        common::succeeds(path, &[&small[..], &["--assume", "500GB/s,4us", "--json", "r.json"]].concat());
    let (measured, assumed) = out.split_once("assumed, not measured: 500GB/s,4us").expect("two tables");
    assert!(measured.contains("quotient") && !measured.contains("assumed ms"), "{out}");
    assert!(assumed.contains("assumed ms") && !assumed.contains("measured ms"), "{out}");
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path.join("r.json")).unwrap()).unwrap();
    assert_eq!(json["figures"]["bandwidths"].as_array().unwrap().len(), 5);
    let rows = json["cases"][0]["kernels"].as_array().unwrap();
    for name in ["predict", "project_tet", "gather_gradient", "solve_up", "apply_solution", "advance"] {
        assert!(rows.iter().any(|row| row["kernel"] == name), "{name}");
    }
    for row in rows {
        assert!(row["quotient"].as_f64().unwrap() > 0.0 && row["bytes"].as_f64().unwrap() > 0.0, "{row}");
    }
    common::refused(path, &[&small[..], &["--assume", "fast"]].concat(), &["--assume", "500GB/s,4us"]);
    common::refused(path, &["bench", "scale", "--assume", "discrete"], &["--assume", "roofline"]);
    common::succeeds(path, &["bench", "--sizes", "S", "--frames", "1", "--report", "report.json"]);
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path.join("report.json")).unwrap()).unwrap();
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    assert!(json["limits"]["max_buffer_size"].as_u64().unwrap() > 0);
    assert!(json["roofline"]["figures"]["adapter"]["driver"].is_string());
    let ways: Vec<_> =
        json["frames"].as_array().unwrap().iter().map(|row| row["variant"].as_str().unwrap()).collect();
    assert_eq!(ways, ["cpu", "cpu single", "gpu exact", "gpu chebyshev", "gpu hybrid"]);
}
