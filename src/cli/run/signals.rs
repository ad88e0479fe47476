//! Ctrl-C and its like end a run after the frame; the second one ends the program at once.

use crate::{Error, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{SigId, flag, low_level};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Signals and their names.
const WATCHED: [(i32, &str); 2] = [(SIGINT, "SIGINT"), (SIGTERM, "SIGTERM")];

/// A signal that has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signal {
    pub number: u8,
    name: &'static str,
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Watches for signals until it is dropped.
pub(super) struct Signals {
    caught: Arc<AtomicUsize>,
    hooks: Vec<SigId>,
}

impl Signals {
    pub fn watch() -> Result<Self> {
        let mut signals = Signals { caught: Arc::new(AtomicUsize::new(0)), hooks: Vec::new() };
        let again = Arc::new(AtomicBool::new(false));
        for (signal, name) in WATCHED {
            let hook = || -> std::io::Result<[SigId; 3]> {
                // in this order: the first signal only sets what the second one finds
                let end = flag::register_conditional_shutdown(signal, 128 + signal, again.clone())?;
                let arm = flag::register(signal, again.clone())?;
                let tell =
                    flag::register_usize(signal, signals.caught.clone(), signal.unsigned_abs() as usize)?;
                Ok([end, arm, tell])
            };
            signals.hooks.extend(hook().map_err(Error::write(name))?);
        }
        Ok(signals)
    }

    /// The last one that has come.
    pub fn caught(&self) -> Option<Signal> {
        let caught = self.caught.load(Ordering::Relaxed);
        let of = |(number, name)| u8::try_from(number).ok().map(|number| Signal { number, name });
        WATCHED.into_iter().find(|(number, _)| number.unsigned_abs() as usize == caught).and_then(of)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.hooks.drain(..).for_each(|hook| {
            low_level::unregister(hook);
        });
    }
}
