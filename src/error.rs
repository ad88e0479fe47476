//! What can go wrong, in two kinds: the input is bad (exit code 2) or the run failed (exit code 1).

use std::fmt;
use std::path::{Path, PathBuf};

/// The result of everything in Dashpot that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong. Printed once, by `main`.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A scene, a mesh or an argument is not what it should be: exit code 2.
    #[error("{0}")]
    Input(#[from] InputError),
    /// The simulation failed: exit code 1. Files written so far are kept.
    #[error("{0}")]
    Run(#[from] RunError),
    /// A file could not be written: exit code 1.
    #[error("{path}: {source}")]
    Write { path: PathBuf, source: std::io::Error },
    /// A signal has ended the run, and what was done is kept: exit code 128 and the number of the signal, as shells have it.
    #[error("{message}")]
    Stopped { signal: u8, message: String },
}

impl Error {
    /// The exit code of the public contract: 1 the run failed, 2 bad input.
    pub fn exit_code(&self) -> u8 {
        match self {
            // the scene and the command line contradict each other, or ask for a factor that does not fit
            Error::Input(_)
            | Error::Run(RunError::OnlyOnCpu(_) | RunError::HalfPrecision(_) | RunError::Memory { .. }) => 2,
            Error::Run(_) | Error::Write { .. } => 1,
            Error::Stopped { signal, .. } => 128 + signal,
        }
    }

    /// Turns an I/O error into [`Error::Write`] for the file at `path`.
    pub fn write(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::Write { path, source }
    }
}

/// Bad input, located as precisely as possible: `file:line: field: message`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputError {
    /// The file the fault is in, if it is in a file.
    pub file: Option<PathBuf>,
    /// The line in that file, counted from 1.
    pub line: Option<usize>,
    /// The dotted path of the field in the scene, such as `body.bar.material.mu`.
    pub field: Option<String>,
    /// What is wrong and what was expected.
    pub message: String,
}

impl InputError {
    /// A fault at a location that is not known yet.
    pub fn new(message: impl Into<String>) -> Self {
        InputError { message: message.into(), ..Default::default() }
    }

    /// A fault of a field of the scene.
    pub fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        InputError { field: Some(field.into()), ..Self::new(message) }
    }

    /// A fault of a line of a file; lines count from 1.
    pub fn at(file: &Path, line: usize, message: impl Into<String>) -> Self {
        InputError { file: Some(file.into()), line: Some(line), ..Self::new(message) }
    }

    /// The fault of a field that lies within another one.
    pub fn within(self, outer: impl std::fmt::Display) -> Self {
        let field = match &self.field {
            Some(field) => format!("{outer}.{field}"),
            None => outer.to_string(),
        };
        InputError { field: Some(field), ..self }
    }

    /// Names the file, unless one is named already.
    pub fn in_file(mut self, file: &Path) -> Self {
        self.file.get_or_insert_with(|| file.into());
        self
    }
}

impl std::error::Error for InputError {}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", file.display())?;
            if let Some(line) = self.line {
                write!(f, "{line}:")?;
            }
            write!(f, " ")?;
        }
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        write!(f, "{}", self.message)
    }
}

/// Why a simulation stopped.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// A position or velocity is no longer a finite number: the first element at such a vertex, like `tetrahedron 17`, and the frame
    /// that could not be finished.
    #[error(
        "frame {frame}: positions are no longer finite, first in {element} of body `{body}`; \
             try a smaller time.step, more damping or backward-euler"
    )]
    NotFinite { frame: usize, element: String, body: String },
    /// An element is inverted, and its material law does not push it back; that frame could not be finished.
    #[error(
        "frame {frame}: {element} of body `{body}` is inverted, and St. Venant–Kirchhoff has a second rest state there; \
             use the material `neo-hookean` or `corotated-linear`, or a smaller time.step"
    )]
    InsideOut { frame: usize, element: String, body: String },
    /// Another column of the ledger is no longer a finite number.
    #[error(
        "frame {frame}: `{column}` is no longer finite; try a smaller time.step, more damping or backward-euler"
    )]
    LedgerNotFinite { frame: usize, column: &'static str },
    /// More energy has been gained than `energy.limit` allows, or than any motion survives.
    #[error(
        "frame {frame}: energy is growing: {gained:.3e} J gained on {before:.3e} J, beyond energy.limit since frame {since}; the run ends because {rule}; \
             try damping, more time.iterations, a shorter time.step or another integrator.kind"
    )]
    EnergyGrows { frame: usize, since: usize, gained: f64, before: f64, rule: &'static str },
    /// The device cannot do what the scene asks for.
    #[error("{0} runs on the CPU only; use --backend cpu")]
    OnlyOnCpu(&'static str),
    /// Half precision where no device solves, or where it is too coarse.
    #[error("solver.precision = \"half\" is for solves on a device: {0}; use \"single\" or \"double\"")]
    HalfPrecision(String),
    /// One of several runs side by side failed.
    #[error("{backend}: {reason}")]
    SideBySide { backend: String, reason: String },
    /// The matrix of the global step could not be factored.
    #[error(
        "cannot factor the system matrix: {0}; check for extreme values of time.step, masses and stiffnesses"
    )]
    Factorisation(String),
    /// The matrix is not positive definite: a solver that can shift the diagonal may retry. The row is that of the first pivot that is
    /// not positive, in the numbering of the matrix.
    #[error(
        "cannot factor the system matrix: it is not positive definite (row {row}); check for extreme values of \
             time.step, masses and stiffnesses"
    )]
    NotPositiveDefinite { row: usize },
    /// An entry of the matrix is not a finite number.
    #[error(
        "cannot factor the system matrix: row {row} holds {value}; check for extreme values of time.step, masses and stiffnesses"
    )]
    MatrixEntry { row: usize, value: f64 },
    /// The same, with the element that makes it so.
    #[error(
        "cannot factor the system matrix: {why} at {element} of body `{body}`; check for extreme values of its mesh, density and \
             stiffnesses, and of time.step"
    )]
    MatrixAt { why: String, element: String, body: String },
    /// Not enough memory for the factored matrix.
    #[error(
        "out of memory: the factored matrix needs {megabytes} MB; a coarser mesh, solver.precision = \"single\" \
             or solver.global = \"chebyshev\" needs less"
    )]
    Memory { megabytes: usize },
    /// The compliance columns of the vertices in contact would exceed their memory limit.
    #[error(
        "too many vertices in contact: the compliance of {vertices} vertices needs {megabytes} MB, the limit is \
             2147 MB; a coarser mesh needs less"
    )]
    ContactMemory { vertices: usize, megabytes: usize },
    /// The study of a paper's claim could not be made to its end; all others were.
    #[error("{claim} could not be tried to its end: {why}")]
    Study { claim: String, why: String },
    /// An iteration did not converge.
    #[error("{0} did not converge")]
    NotConverged(String),
    /// A number of the model does not fit in single precision.
    #[error("{of} is {value:e}, outside the range of single precision; use --backend cpu")]
    SinglePrecision { of: String, value: f64 },
    /// Inverse damping design missed some targets; one line each.
    #[error("some targets were not met:\n  {0}")]
    Targets(String),
    /// A shader is not valid. The file has the folder of shaders in front of it; lines count from 1, 0 if it is not known.
    #[error("{file}:{line}: {message}")]
    Shader { file: String, line: usize, message: String },
    /// No adapter, or none that can be opened.
    #[error("{0}; --backend cpu needs none")]
    NoAdapter(String),
    /// A part that a simulation cannot take.
    #[error("{0}")]
    Part(String),
    /// A part has looked into a step without having said so.
    #[error(
        "a part looks into a step that the host does not see: `Part::needs` must return what it looks at"
    )]
    HostNeeds,
    /// The device was lost: unplugged, reset by the system, or its driver failed.
    #[error("the device was lost: {0}; --backend cpu needs none")]
    DeviceLost(String),
    /// The device refused a command.
    #[error("the device refused a command: {0}")]
    Device(String),
    /// The device has no memory left.
    #[error("the device is out of memory for {0}; use a coarser mesh or --backend cpu")]
    DeviceMemory(String),
    /// A buffer would be larger than the device allows.
    #[error(
        "the buffer {what} would have {bytes} bytes, the device allows {limit}; use a coarser mesh or --backend cpu"
    )]
    BeyondDevice { what: String, bytes: u64, limit: u64 },
}
