//! `dashpot mesh make`: the characters, as tetrahedra or as a fine surface.

use crate::error::{InputError, Result};
use crate::mesh::characters::{self, Character, names};
use crate::mesh::{self, CharacterSpec, Loaded};
use clap::Args;
use std::path::PathBuf;

/// Makes one of the characters.
#[derive(Debug, Clone, Args)]
pub struct MakeArgs {
    /// bear, bunny, dummy, elephant, hippo, koala, penguin or pig
    pub name: Option<String>,

    /// About this many tetrahedra; without it as many as in the character's paper
    #[arg(long, value_name = "TETS", conflicts_with = "cell")]
    pub tets: Option<usize>,

    /// Length of a cell of the lattice of tetrahedra (m)
    #[arg(long, value_name = "LENGTH")]
    pub cell: Option<f64>,

    /// Multiply all lengths by this; with 1 a character is about 1 m tall
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    pub scale: f64,

    /// Write the mesh to this file: .mesh, .msh, .vtk (elements), .obj, .ply (surface)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Make a fine closed surface of about this many triangles instead of tetrahedra [default: 12000]
    #[arg(long, value_name = "TRIANGLES", num_args = 0..=1, conflicts_with_all = ["tets", "cell"])]
    pub surface: Option<Option<usize>>,
}

/// Prints statistics and quality of a character; writes it with `--out`.
pub fn run(args: &MakeArgs) -> Result<()> {
    if let Some(out) = &args.out {
        mesh::write::check_ending(out)?;
    }
    let Some(name) = &args.name else { return list() };
    let (loaded, summary) = make(name, args).map_err(as_option)?;
    super::show(loaded, summary, args.out.as_deref())
}

fn make(name: &str, args: &MakeArgs) -> std::result::Result<(Loaded, Option<String>), InputError> {
    let character = Character::find(name)?;
    let (target_tets, cell, scale) = (args.tets, args.cell, args.scale);
    let spec = CharacterSpec { target_tets, cell, scale, ..CharacterSpec::new(name) };
    if let Some(triangles) = args.surface {
        let mesh = character.surface(triangles.unwrap_or(characters::SKIN), spec.factor()?)?;
        return Ok((Loaded { mesh, surface: None, warnings: Vec::new() }, None));
    }
    let filled = character.fill(&spec)?;
    let warnings = filled.report.warnings();
    Ok((Loaded { mesh: filled.mesh, surface: None, warnings }, Some(filled.report.summary())))
}

/// A line for each character.
fn list() -> Result<()> {
    for name in names() {
        let character = Character::find(name)?;
        let fits = character.fits.iter().map(|fit| match fit.vertices {
            Some(vertices) => format!("{} tetrahedra and {vertices} vertices", fit.tets),
            None => format!("{} tetrahedra", fit.tets),
        });
        say!("{name:10} {}", fits.collect::<Vec<_>>().join(", or "))?;
    }
    Ok(())
}

/// A fault of a field of the scene, said of the option that stands for it.
fn as_option(mut error: InputError) -> InputError {
    error.field = error.field.map(|field| match &field[..] {
        "target_tets" => "--tets".into(),
        "triangles" => "--surface".into(),
        "character" => "NAME".into(),
        _ => format!("--{field}"),
    });
    error
}
