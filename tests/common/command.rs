//! The program, as a user calls it.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

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

/// A command's output, or why there is none within the time.
pub fn output_within(command: &mut Command, time: Duration) -> Result<Output, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    // a file and not a pipe: a full pipe would stop a command that nobody reads from
    let said = tempfile::NamedTempFile::new().map_err(|e| e.to_string())?;
    let (out, err) = (said.reopen().map_err(|e| e.to_string())?, said.reopen().map_err(|e| e.to_string())?);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::from(out))
        .stderr(Stdio::from(err))
        .spawn()
        .map_err(|e| format!("{name}: {e}"))?;
    let end = Instant::now() + time;
    loop {
        if let Some(status) = child.try_wait().map_err(|e| e.to_string())? {
            let stdout = std::fs::read(said.path()).map_err(|e| e.to_string())?;
            return Ok(Output { status, stdout, stderr: Vec::new() });
        }
        if Instant::now() > end {
            let _ = child.kill().and_then(|()| child.wait());
            return Err(format!("{name} took more than {} s", time.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
