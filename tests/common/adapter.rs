//! The device of tests.

use dashpot::gpu::context::Context;
use std::io::Write;
use std::sync::Arc;

/// The best adapter, opened. Without one the test fails, for a test that was not made must not look like one that passed;
/// with `DASHPOT_ADAPTER=none` in the environment it says that it is skipped, and the test returns.
#[track_caller]
pub fn context() -> Option<Arc<Context>> {
    let error = match Context::open(None) {
        Ok(context) => return Some(context),
        Err(error) => error,
    };
    let asked = std::env::var("DASHPOT_ADAPTER").unwrap_or_default();
    assert!(asked == "none", "{error}. DASHPOT_ADAPTER=none skips the tests of the device");
    let place = std::panic::Location::caller();
    let thread = std::thread::current();
    let name = thread.name().filter(|name| *name != "main").unwrap_or(place.file());
    // not by eprintln, which the test harness would keep to itself
    let _ = writeln!(std::io::stderr(), "SKIPPED, no adapter: {name} ({})", place.file());
    None
}
