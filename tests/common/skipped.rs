//! Tests that cannot be made here.

use std::io::Write;
use std::panic::Location;

/// Says on the terminal that the test is skipped, and why; `./x test` counts these lines.
#[track_caller]
pub fn skipped(why: &str) {
    let place = Location::caller();
    let thread = std::thread::current();
    let name = thread.name().filter(|name| *name != "main").unwrap_or(place.file());
    let line = format!("SKIPPED, {why}: {name} ({})\n", place.file());
    // not by eprintln, which the test harness would keep to itself
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(list) = std::env::var_os("DASHPOT_SKIPPED") {
        let opened = std::fs::File::options().append(true).create(true).open(list);
        let _ = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}
