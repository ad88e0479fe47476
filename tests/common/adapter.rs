//! The device of tests.

// by its path: tests inside the library take this file, too
#[path = "skipped.rs"]
pub mod skipped;

use dashpot::gpu::context::Context;
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
    skipped::skipped("no adapter");
    None
}
