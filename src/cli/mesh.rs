//! `dashpot mesh`: what a mesh is like, conversion between formats, tetrahedra that fill a surface, and characters.

mod make;

use crate::error::{InputError, Result};
use crate::mesh::spec::{MeshFile, MeshSpec, SurfaceFile};
use crate::mesh::{self, Loaded};
use crate::scene::check::refuse_if;
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// Prints statistics of a mesh, fills a surface and converts it.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct MeshArgs {
    #[command(subcommand)]
    command: Option<MeshCommand>,

    /// A mesh file: .mesh, .msh, .node/.ele, .veg, .vtk, .obj, .ply, .stl, .gltf, .glb
    #[arg(required_unless_present = "generate", conflicts_with = "generate")]
    pub input: Option<PathBuf>,

    /// A generator as in a scene: '{ generate = "box", cells = [2, 2, 2], size = [1.0, 1.0, 1.0] }'
    #[arg(long, value_name = "TOML")]
    pub generate: Option<String>,

    /// Fill the closed surface in the file with about this many tetrahedra
    #[arg(long, value_name = "TETS", requires = "input", conflicts_with = "cell")]
    pub fill: Option<usize>,

    /// Fill the closed surface in the file with tetrahedra on a lattice of cells of this length (m)
    #[arg(long, value_name = "LENGTH", requires = "input")]
    pub cell: Option<f64>,

    /// Write the mesh to this file: .mesh, .msh, .vtk (elements), .obj, .ply (surface)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Multiply all lengths by this
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    pub scale: f64,
}

/// What else there is to do with meshes.
#[derive(Debug, Clone, Subcommand)]
enum MeshCommand {
    /// Make one of the characters; without a name, list them
    Make(make::MakeArgs),
}

/// Prints the table to standard output and warnings to standard error; converts with `--out`.
pub fn run(args: &MeshArgs) -> Result<()> {
    if let Some(MeshCommand::Make(args)) = &args.command {
        return make::run(args);
    }
    if let Some(out) = &args.out {
        mesh::write::check_ending(out)?;
        refuse_overwriting(args.input.as_deref(), out)?;
    }
    let (loaded, summary) = load(args)?;
    show(loaded, summary, args.out.as_deref())
}

/// Prints what a mesh is like, and writes it if there is a file to write to.
fn show(Loaded { mesh, warnings, .. }: Loaded, summary: Option<String>, out: Option<&Path>) -> Result<()> {
    for warning in warnings {
        tell!("warning: {warning}");
    }
    say!("{}", mesh.statistics().to_string().trim_end())?;
    if let Some(summary) = summary {
        say!("{summary}")?;
    }
    out.map_or(Ok(()), |out| mesh::write::write(out, &mesh, &mesh.positions))
}

/// The mesh, and a sentence about how it was filled.
fn load(args: &MeshArgs) -> Result<(Loaded, Option<String>)> {
    let here = Path::new("");
    match (&args.input, &args.generate) {
        (Some(file), _) if args.fill.is_some() || args.cell.is_some() => {
            let (surface, scale) = (file.clone(), args.scale);
            let spec = SurfaceFile { surface, target_tets: args.fill, cell: args.cell, scale, skin: false };
            let (loaded, report) = mesh::read::read_filled(&spec, here).map_err(as_option)?;
            Ok((loaded, Some(report.summary())))
        }
        (Some(file), _) => {
            let spec = MeshSpec::File(MeshFile { file: file.clone(), scale: args.scale, skin: None });
            Ok((mesh::load(&spec, here)?, None))
        }
        (None, Some(table)) => {
            let message = "expected a positive number";
            refuse_if(!(args.scale.is_finite() && args.scale > 0.0), "--scale", message)?;
            let spec = parse_generator(table)?;
            let mut loaded = mesh::load(&spec, here)?;
            loaded.mesh.positions.iter_mut().for_each(|p| *p *= args.scale);
            Ok((loaded, None))
        }
        (None, None) => Err(InputError::new("give a mesh file or --generate").into()),
    }
}

/// A fault of a field of the scene, said of the option that stands for it.
fn as_option(mut error: InputError) -> InputError {
    error.field = error.field.map(|field| match &field[..] {
        "target_tets" => "--fill".into(),
        _ => format!("--{field}"),
    });
    error
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
        Ok(Holder { mesh: MeshSpec::File(_) | MeshSpec::Surface(_) }) => {
            Err(InputError::field("--generate", "names a file: give the file itself"))
        }
        Ok(Holder { mesh: MeshSpec::Character(_) }) => {
            Err(InputError::field("--generate", "names a character: use `dashpot mesh make`"))
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
