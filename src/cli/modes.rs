//! `dashpot modes SCENE`: the slowest modes of a body, their damping, and how they look.

use super::{Table, Threads, check_folder};
use crate::error::{Error, InputError, Result};
use crate::mesh::write::write;
use crate::model::Model;
use crate::modes::shape::{mode_size, sized};
use crate::modes::{Decay, Mode, decays, isolate_body, modes};
use crate::observe::gltf::{self, GltfWriter};
use crate::observe::{MotionWriter, Visible, write_whole};
use crate::scene::check::refuse_if;
use crate::setup::{self, build};
use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

/// Find the slowest modes of a body: frequencies, damping ratios, shapes.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A built-in scene (see `dashpot scenes`) or a .toml file
    scene: String,
    /// Number of modes
    #[arg(long, value_name = "K", default_value_t = 10)]
    count: usize,
    /// The body, if the scene has several
    #[arg(long, value_name = "NAME")]
    body: Option<String>,
    /// Folder for modes.csv, and for each mode its shape (mode01.obj) and its animation (mode01.glb)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Frames of an animation: one period, shown in a second
    #[arg(long, value_name = "N", default_value_t = 24)]
    frames: usize,
    /// Largest vertex displacement in shapes and animations (m); a tenth of the body's diagonal if not given
    #[arg(long, value_name = "LENGTH")]
    size: Option<f64>,
    /// Override a field of the scene, such as damping.stiffness=1e-4 (repeatable)
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    threads: Threads,
}

/// Finds the modes, prints them, and writes them if there is a folder.
pub fn run(args: &Args) -> Result<()> {
    for (option, value, least) in [("--count", args.count, 1), ("--frames", args.frames, 2)] {
        refuse_if(value < least, option, format!("must be at least {least}"))?;
    }
    let message = "must be a positive length";
    refuse_if(args.size.is_some_and(|size| !(size.is_finite() && size > 0.0)), "--size", message)?;
    args.threads.install(|| {
        let loaded = setup::load(&args.scene, &args.set)?;
        let built = build(&loaded)?;
        built.warnings.iter().for_each(|warning| tell!("warning: {warning}"));
        let number = chosen(&built.model, args.body.as_deref())?;
        if let Some(folder) = &args.out {
            check_folder(folder, "modes.csv")?;
        }
        let found = modes(&built.model, number, args.count).map_err(|error| match error {
            Error::Input(e) => InputError { field: Some("--count".into()), ..e }.into(),
            other => other,
        })?;
        let decays = decays(&loaded.scene, &built.model, number, &found)?;
        let rows = Rows { modes: &found, decays: decays.as_deref() };
        say!("{}", rows.table())?;
        if found.iter().any(|mode| mode.omega == 0.0) {
            tell!("0 Hz means too slow to resolve in double precision next to the body's fastest motion");
        }
        if decays.is_none() {
            let model = &loaded.scene.damping.model;
            tell!("no damping ratios: `{model}` with this integrator is not a combination of mass and stiffness matrices");
        } else if !loaded.scene.damping.examples.is_empty() || loaded.scene.damping.curve.is_some() {
            tell!("damping ratios ignore the scene's examples and curves");
        }
        let Some(folder) = &args.out else { return Ok(()) };
        let body = isolate_body(&built.model, number);
        let unit = loaded.scene.bodies[number].mesh.file_unit();
        write_all(args, folder, (&body, unit), &rows)?;
        say!("written to {}", folder.display())
    })
}

/// The number of the body of that name, or of the only one.
fn chosen(model: &Model, name: Option<&str>) -> Result<usize> {
    let names: Vec<&str> = model.bodies.iter().map(|body| body.name.as_str()).collect();
    let message = match name {
        None if names.len() == 1 => return Ok(0),
        None => format!("the scene has several bodies, choose one: {}", names.join(", ")),
        Some(name) => match names.iter().position(|other| *other == name) {
            Some(number) => return Ok(number),
            None => format!("there is no body `{name}`; the bodies are {}", names.join(", ")),
        },
    };
    Err(InputError::field("--body", message).into())
}

/// Modes and their decay, if that is known.
struct Rows<'a> {
    modes: &'a [Mode],
    decays: Option<&'a [Decay]>,
}

impl Rows<'_> {
    /// Of mode k, counted from 0: frequency (Hz), ω (rad/s), ξ and half-life (s), if they are known.
    fn numbers(&self, k: usize) -> [Option<f64>; 4] {
        let (mode, decay) = (&self.modes[k], self.decays.map(|decays| decays[k]));
        [Some(mode.hertz()), Some(mode.omega), decay.map(|d| d.ratio), decay.map(|d| d.half_life)]
    }

    fn table(&self) -> Table {
        let mut table = Table::new(0, ["mode", "Hz", "rad/s", "damping ratio", "half-life (s)"]);
        for k in 0..self.modes.len() {
            let cells = self.numbers(k).map(|number| number.map_or("-".into(), short));
            table.row([(k + 1).to_string()].into_iter().chain(cells));
        }
        table
    }

    /// All digits; cells that are not known stay empty.
    fn csv(&self) -> String {
        let mut text = String::from("mode,hertz,omega,damping_ratio,half_life\n");
        for k in 0..self.modes.len() {
            let cells =
                self.numbers(k).map(|number| number.map_or(String::new(), |number| format!("{number:?}")));
            text.push_str(&format!("{},{}\n", k + 1, cells.join(",")));
        }
        text
    }
}

/// Five digits, without a power of ten where that is readable.
fn short(number: f64) -> String {
    match number.abs() {
        0.0 => "0".into(),
        size if size.is_infinite() => "inf".into(),
        size if (1e-3..1e6).contains(&size) => {
            let digits = (4.0 - size.log10().floor()).clamp(0.0, 7.0) as usize;
            format!("{number:.digits$}")
        }
        _ => format!("{number:.4e}"),
    }
}

/// `modes.csv`, `mode01.obj`, `mode01.glb`, …; the first in the unit of the body's own file (m), so that it can be a shape.
fn write_all(args: &Args, folder: &Path, (body, unit): (&Model, f64), rows: &Rows<'_>) -> Result<()> {
    let (mesh, visible) = (&body.bodies[0].mesh, Visible::of(body));
    // the first place comes again at the end, so that it can be played in a loop
    let frames = args.frames + 1;
    gltf::check(&visible, frames, 1).map_err(|_| {
        InputError::field("--frames", "the animation would be too large for most viewers; use fewer frames")
    })?;
    std::fs::create_dir_all(folder).map_err(Error::write(folder))?;
    write_whole(&folder.join("modes.csv"), rows.csv().as_bytes())?;
    let size = args.size.unwrap_or_else(|| mode_size(mesh));
    let digits = rows.modes.len().to_string().len().max(2);
    for (k, mode) in rows.modes.iter().enumerate() {
        let shape = sized(mode, size);
        let at = |share: f64| -> Vec<_> {
            mesh.positions.iter().zip(&shape).map(|(x, u)| x + u * share).collect()
        };
        let name = format!("mode{:0digits$}", k + 1);
        let deformed: Vec<_> = at(1.0).into_iter().map(|x| x / unit).collect();
        write(&folder.join(format!("{name}.obj")), mesh, &deformed)?;
        let mut motion = GltfWriter::create(&folder.join(format!("{name}.glb")), &visible, frames)?;
        for frame in 0..frames {
            let time = frame as f64 / args.frames as f64;
            motion.append(&visible.positions(&at((TAU * time).sin())), time)?;
        }
        motion.finish()?;
    }
    Ok(())
}
