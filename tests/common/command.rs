//! The program, as a user calls it.

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in a folder.
pub fn dashpot(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dashpot")).args(arguments).current_dir(folder).output().unwrap()
}

/// What it says when it ends well.
pub fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = dashpot(folder, arguments);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{out}\n{err}");
    out.into_owned()
}

/// That it ends with this code and names all of this.
pub fn fails(folder: &Path, arguments: &[&str], code: i32, mentions: &[&str]) {
    let output = dashpot(folder, arguments);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{err}");
    assert!(!err.contains("panicked"), "{err}");
    for word in mentions {
        assert!(err.contains(word), "{arguments:?}: no `{word}` in: {err}");
    }
}

/// That it refuses its input and names all of this.
pub fn refused(folder: &Path, arguments: &[&str], mentions: &[&str]) {
    fails(folder, arguments, 2, mentions);
}
