//! The device of tests.

// by its path: tests inside the library take this file, too
#[path = "skipped.rs"]
pub mod skipped;

use dashpot::gpu::context::Context;
use std::sync::{Arc, OnceLock};

/// The best adapter, opened once for all tests of a program, so that each kernel is compiled once. Without an adapter the
/// test fails, for a test that was not made must not look like one that passed; with `DASHPOT_ADAPTER=none` in the environment
/// it says that it is skipped, and the test returns.
#[track_caller]
pub fn context() -> Option<Arc<Context>> {
    static SHARED: OnceLock<Result<Arc<Context>, String>> = OnceLock::new();
    or_skip(SHARED.get_or_init(open).clone())
}

/// A device of its own, for a test that breaks it.
#[track_caller]
#[allow(dead_code)] // some programs break none
pub fn own_context() -> Option<Arc<Context>> {
    or_skip(open())
}

fn open() -> Result<Arc<Context>, String> {
    Context::open(None).map_err(|error| error.to_string())
}

#[track_caller]
fn or_skip(opened: Result<Arc<Context>, String>) -> Option<Arc<Context>> {
    let error = match opened {
        Ok(context) => return Some(context),
        Err(error) => error,
    };
    let asked = std::env::var("DASHPOT_ADAPTER").unwrap_or_default();
    assert!(asked == "none", "{error}. DASHPOT_ADAPTER=none skips the tests of the device");
    skipped::skipped("no adapter");
    None
}
