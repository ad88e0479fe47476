//! Parses, runs, prints the one error.

use clap::Parser;
use dashpot::cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    quiet_vulkan();
    match cli::run(cli::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            cli::report(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

/// Without a session of a desktop, Mesa's layer that asks it for a preferred device can only print an error to the terminal;
/// adapters are put in order by Dashpot itself.
fn quiet_vulkan() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: nothing else runs yet that could read the environment.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}
