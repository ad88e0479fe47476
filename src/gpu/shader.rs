//! Assembles one WGSL text per kernel from files, and maps errors back to file and line.
//!
//! A line `//use shared/NAME.wgsl` includes another file once. WGSL allows declarations in any order, so files are
//! simply concatenated, the kernel's own first.

use super::kernel::SOURCES;
use crate::error::RunError;
use std::borrow::Cow;
use std::path::PathBuf;

/// Name and text of every shader of a folder.
macro_rules! folder {
    ($folder:literal: $($name:literal)*) => {
        &[$((
            concat!($folder, "/", $name, ".wgsl"),
            include_str!(concat!("../../shaders/", $folder, "/", $name, ".wgsl")),
        )),*]
    };
}

/// The shared files.
const SHARED: &[(&str, &str)] = folder! { "shared":
    "conserved" "direct" "direction" "energy" "filter" "free_velocity" "front" "inertia" "law" "layout" "metric" "pair" "place"
    "point" "project_tet" "reduce" "rigid" "rotation" "strain" "stretch" "tet" "tet_law" "vertex"
    "volume"
};

/// The files that the renderer uses.
const RENDER: &[(&str, &str)] = folder! { "render":
    "background" "embedded_vertex" "frame" "ground" "lighting" "marker" "measure_bending"
    "measure_range" "measure_rigid" "measure_spring" "measure_tet" "measure_triangle" "measure_vertex"
    "obstacle" "quantities" "ribbon" "skin_cofactors" "skin_normals" "skin_positions" "surface"
    "surface_normals" "vertex_colour" "wireframe"
};

/// The folders of `shaders/`: one a phase of a step, what draws, and what they share.
pub const FOLDERS: [&str; 9] =
    ["conservation", "explicit", "filters", "global", "local", "observe", "render", "shared", "step"];

/// Source of the shaders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Library {
    /// The texts compiled into the program.
    #[default]
    BuiltIn,
    /// The current files of a folder.
    Folder(PathBuf),
}

impl Library {
    /// Prefixes the file of an error with the library's folder, or that of the source tree.
    pub fn named(&self, error: RunError) -> RunError {
        let folder = match self {
            Library::BuiltIn => std::path::Path::new("shaders"),
            Library::Folder(folder) => folder,
        };
        match error {
            RunError::Shader { file, line, message } => {
                RunError::Shader { file: folder.join(file).display().to_string(), line, message }
            }
            other => other,
        }
    }

    fn text(&self, file: &str) -> Result<Cow<'static, str>, RunError> {
        let fault = |message: String| RunError::Shader { file: file.into(), line: 0, message };
        match self {
            Library::BuiltIn => {
                let found = SOURCES.iter().chain(SHARED).chain(RENDER).find(|(name, _)| *name == file);
                found
                    .map(|(_, text)| Cow::Borrowed(*text))
                    .ok_or_else(|| fault("there is no such file".into()))
            }
            Library::Folder(folder) => {
                std::fs::read_to_string(folder.join(file)).map(Cow::Owned).map_err(|e| fault(e.to_string()))
            }
        }
    }
}

/// A kernel's complete text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source {
    /// WGSL.
    pub text: String,
    /// Files and their numbers of lines, in the order of the text.
    files: Vec<(String, usize)>,
}

impl Source {
    /// Assembles the kernel in `NAME.wgsl` and its includes.
    pub fn of(library: &Library, name: &str) -> Result<Source, RunError> {
        let mut source = Source::default();
        source.include(library, &format!("{name}.wgsl"))?;
        Ok(source)
    }

    fn include(&mut self, library: &Library, file: &str) -> Result<(), RunError> {
        if self.files.iter().any(|(known, _)| known == file) {
            return Ok(());
        }
        let text = library.text(file)?;
        self.files.push((file.into(), text.lines().count()));
        for line in text.lines() {
            self.text.push_str(line);
            self.text.push('\n');
        }
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(used) = line.strip_prefix("//use ").map(str::trim) {
                self.include(library, used).map_err(|error| named_by(error, used, file, number))?;
            }
        }
        Ok(())
    }

    /// File and line (from 1) of a line of the text.
    pub fn place(&self, line: usize) -> (&str, usize) {
        let mut left = line.max(1);
        for (file, lines) in &self.files {
            if left <= *lines {
                return (file, left);
            }
            left -= lines;
        }
        (self.files.last().map_or("", |(file, _)| file), 0)
    }

    /// Parses and validates; the error names file and line.
    pub fn module(&self) -> Result<(naga::Module, naga::valid::ModuleInfo), RunError> {
        let module = naga::front::wgsl::parse_str(&self.text)
            .map_err(|e| self.error(e.labels().map(|(span, _)| span), e.message().into()))?;
        let mut validator = naga::valid::Validator::new(
            naga::valid::ValidationFlags::all(),
            naga::valid::Capabilities::default(),
        );
        let info = validator.validate(&module).map_err(|e| {
            let causes =
                std::iter::successors(std::error::Error::source(e.as_inner()), |cause| cause.source());
            let message = causes.fold(e.as_inner().to_string(), |all, cause| format!("{all}: {cause}"));
            self.error(e.spans().map(|(span, _)| *span), message)
        })?;
        Ok((module, info))
    }

    /// An error at the first defined location; some of naga's have none.
    fn error(&self, mut places: impl Iterator<Item = naga::Span>, message: String) -> RunError {
        let line = places.find(naga::Span::is_defined).map(|span| span.location(&self.text).line_number);
        let (file, line) = line.map_or((self.files[0].0.as_str(), 0), |line| self.place(line as usize));
        RunError::Shader { file: file.into(), line, message }
    }
}

/// An include that cannot be read is an error of the including line.
fn named_by(error: RunError, used: &str, by: &str, number: usize) -> RunError {
    match error {
        RunError::Shader { file, line: 0, message } if file == used => {
            RunError::Shader { file: by.into(), line: number, message: format!("{used}: {message}") }
        }
        other => other,
    }
}

/// All files of a kernel's text, for watching.
pub fn files(library: &Library, name: &str) -> Vec<String> {
    Source::of(library, name)
        .map(|source| source.files.into_iter().map(|(file, _)| file).collect())
        .unwrap_or_default()
}
