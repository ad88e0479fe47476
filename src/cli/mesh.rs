//! `dashpot mesh`: what a mesh is like, and conversion between formats.

use crate::error::{InputError, Result};
use crate::mesh::spec::{MeshFile, MeshSpec};
use crate::mesh::{self, Loaded};
use clap::Args;
use std::path::{Path, PathBuf};

/// Prints statistics of a mesh and converts it.
#[derive(Debug, Clone, Args)]
pub struct MeshArgs {
    /// A mesh file: .mesh, .msh, .node/.ele, .veg, .vtk, .obj, .ply
    #[arg(required_unless_present = "generate", conflicts_with = "generate")]
    pub input: Option<PathBuf>,

    /// A generator as in a scene: '{ generate = "box", cells = [2, 2, 2], size = [1.0, 1.0, 1.0] }'
    #[arg(long, value_name = "TOML")]
    pub generate: Option<String>,

    /// Write the mesh to this file: .mesh, .msh, .vtk (elements), .obj, .ply (surface)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Multiply all lengths by this
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    pub scale: f64,
}

/// Prints the table to standard output and warnings to standard error; converts with `--out`.
pub fn run(args: &MeshArgs) -> Result<()> {
    if let Some(out) = &args.out {
        mesh::write::check_ending(out)?;
        refuse_overwriting(args.input.as_deref(), out)?;
    }
    let Loaded { mesh, warnings } = load(args)?;
    for warning in warnings {
        tell!("warning: {warning}");
    }
    say!("{}", mesh.statistics().to_string().trim_end())?;
    match &args.out {
        Some(out) => mesh::write::write(out, &mesh, &mesh.positions),
        None => Ok(()),
    }
}

fn load(args: &MeshArgs) -> Result<Loaded> {
    let here = Path::new("");
    match (&args.input, &args.generate) {
        (Some(file), _) => {
            mesh::load(&MeshSpec::File(MeshFile { file: file.clone(), scale: args.scale }), here)
        }
        (None, Some(table)) => {
            if !(args.scale.is_finite() && args.scale > 0.0) {
                return Err(InputError::field("--scale", "expected a positive number").into());
            }
            let spec = parse_generator(table)?;
            let mut loaded = mesh::load(&spec, here)?;
            loaded.mesh.positions.iter_mut().for_each(|p| *p *= args.scale);
            Ok(loaded)
        }
        (None, None) => Err(InputError::new("give a mesh file or --generate").into()),
    }
}

/// Reads an inline table as a scene has it after `mesh =`; the braces may be left out.
fn parse_generator(table: &str) -> std::result::Result<MeshSpec, InputError> {
    #[derive(serde::Deserialize)]
    struct Holder {
        mesh: MeshSpec,
    }
    let table = table.trim();
    let document =
        if table.starts_with('{') { format!("mesh = {table}") } else { format!("mesh = {{ {table} }}") };
    match toml::from_str::<Holder>(&document) {
        Ok(Holder { mesh: MeshSpec::File(_) }) => {
            Err(InputError::field("--generate", "names a file: give the file itself"))
        }
        Ok(Holder { mesh }) => Ok(mesh),
        Err(e) => Err(InputError::field("--generate", e.message())),
    }
}

/// A conversion must not destroy what it reads.
fn refuse_overwriting(input: Option<&Path>, out: &Path) -> std::result::Result<(), InputError> {
    let real = |path: &Path| path.canonicalize().ok();
    if let Some(input) = input
        && real(input).is_some()
        && real(input) == real(out)
    {
        return Err(InputError::field("--out", "is the input itself: choose another name").in_file(out));
    }
    Ok(())
}
