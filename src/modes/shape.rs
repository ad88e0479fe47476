//! Example shapes as displacements.

use super::{Mode, modes, static_equilibrium};
use crate::error::{Error, InputError, RunError};
use crate::mesh::{Mesh, read};
use crate::model::build::select;
use crate::model::{ExampleShape, Model};
use crate::scene::{Example, LoadedScene, Select, Shape};
use crate::{Result, Vec3};
use std::path::Path;

/// Default largest displacement of a mode, relative to the diagonal of the body's box.
const MODE_SIZE: f64 = 0.1;

/// The shapes of a scene's `damping.example`, in order. Errors name file, line and field.
pub fn examples(loaded: &LoadedScene, model: &Model) -> Result<Vec<ExampleShape>> {
    let examples = &loaded.scene.damping.examples;
    let bodies: Vec<usize> = examples.iter().map(|example| body_of(example, model)).collect();
    // one eigensolve for all modes of a body
    let wanted = |body: usize| {
        let own = examples.iter().zip(&bodies).filter(|(_, of)| **of == body);
        own.filter_map(|(example, _)| example.shape.mode).max()
    };
    let mut known: Vec<Option<Vec<Mode>>> = vec![None; model.bodies.len()];
    let shape_of = |(index, example): (usize, &Example)| -> Result<ExampleShape> {
        let body = bodies[index];
        if example.shape.mode.is_some() && known[body].is_none() {
            known[body] = Some(modes(model, body, wanted(body).unwrap_or(0)).map_err(in_mode)?);
        }
        let own = known[body].as_deref().unwrap_or_default();
        let unit = loaded.scene.bodies.get(body).map_or(1.0, |body| body.mesh.file_unit());
        let displacement = displacement(model, body, &example.shape, own, (&loaded.base_dir, unit))?;
        Ok(ExampleShape { body, displacement })
    };
    let mut shape_of = shape_of;
    let place = |index: usize, error: Error| match error {
        Error::Input(e) => loaded.place(e.within(format_args!("damping.example.{index}.shape"))).into(),
        other => other,
    };
    let shapes = examples.iter().enumerate();
    shapes.map(|(index, example)| shape_of((index, example)).map_err(|e| place(index, e))).collect()
}

/// The body of an example: the first if it names none, which only single-body scenes allow.
fn body_of(example: &Example, model: &Model) -> usize {
    let named = |name: &String| model.bodies.iter().position(|body| body.name == *name);
    example.body.as_ref().and_then(named).unwrap_or(0)
}

/// The displacements (m) of a shape, for a body whose slowest `modes` are known as far as needed. Files are relative
/// to `base_dir`, in this unit (m). Errors name the field within the shape.
pub fn displacement(
    model: &Model,
    body: usize,
    shape: &Shape,
    modes: &[Mode],
    (base_dir, unit): (&Path, f64),
) -> Result<Vec<Vec3>> {
    let mesh = &model.bodies[body].mesh;
    let name = &model.bodies[body].name;
    let (field, mut made, usual) = match shape {
        Shape { mode: Some(number), .. } => {
            let mode = number.checked_sub(1).and_then(|k| modes.get(k));
            let mode = mode.ok_or_else(|| {
                InputError::field("mode", format!("body `{name}` has no mode {number}, only {}", modes.len()))
            })?;
            ("mode", mode.shape.clone(), Some(mode_size(mesh)))
        }
        Shape { pull: Some(force), select: Some(chosen), .. } => {
            ("pull", displacement_under_force(model, body, Vec3::from(*force), chosen)?, None)
        }
        Shape { file: Some(file), .. } => ("file", from_file(&base_dir.join(file), unit, mesh)?, None),
        _ => return Err(InputError::new("give one of `mode`, `pull` with `select`, and `file`").into()),
    };
    let farthest = farthest(&made);
    if farthest == 0.0 {
        return Err(
            InputError::field(field, format!("does not deform body `{name}`: there is no shape")).into()
        );
    }
    if let Some(size) = shape.size.or(usual) {
        made.iter_mut().for_each(|u| *u *= size / farthest);
    }
    Ok(made)
}

/// The largest displacement (m).
fn farthest(displacement: &[Vec3]) -> f64 {
    displacement.iter().map(|u| u.norm()).fold(0.0, f64::max)
}

/// Default largest displacement of a mode (m): a tenth of the diagonal of the body's box.
pub fn mode_size(mesh: &Mesh) -> f64 {
    let low = mesh.positions.iter().fold(Vec3::repeat(f64::INFINITY), |a, b| a.inf(b));
    let high = mesh.positions.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |a, b| a.sup(b));
    MODE_SIZE * (high - low).norm()
}

/// The shape of a mode, scaled to the largest displacement `size` (m).
pub fn sized(mode: &Mode, size: f64) -> Vec<Vec3> {
    let factor = size / farthest(&mode.shape);
    mode.shape.iter().map(|u| u * factor).collect()
}

/// Displacements under a force (N) distributed over the selected vertices by mass.
fn displacement_under_force(model: &Model, body: usize, force: Vec3, chosen: &Select) -> Result<Vec<Vec3>> {
    let whole = &model.bodies[body];
    let chosen = select(chosen, &whole.mesh).map_err(|e| {
        let message = format!("body `{}`: {}", whole.name, e.message);
        InputError { message, ..e.within("select") }
    })?;
    let mass = &model.mass[whole.vertices.clone()];
    let total: f64 = chosen.iter().map(|&v| mass[v as usize]).sum();
    let mut forces = vec![Vec3::zeros(); mass.len()];
    chosen.iter().for_each(|&v| forces[v as usize] = force * (mass[v as usize] / total));
    static_equilibrium(model, body, &forces).map_err(|error| match error {
        Error::Input(e) => InputError { field: Some("pull".into()), ..e }.into(),
        Error::Run(RunError::NotConverged(what)) => {
            let message =
                format!("{what} has no equilibrium; is the force too large, or is the body free to rotate?");
            InputError::field("pull", message).into()
        }
        other => other,
    })
}

/// A mesh of the deformed body minus the body's own.
fn from_file(path: &Path, unit: f64, mesh: &Mesh) -> Result<Vec<Vec3>> {
    let place = |e: InputError| InputError { field: Some("file".into()), ..e };
    let deformed = read::deformed(path, unit, mesh.positions.len()).map_err(place)?;
    Ok(deformed.iter().zip(&mesh.positions).map(|(x, rest)| x - rest).collect())
}

/// Attributes an error to a mode's number.
fn in_mode(error: Error) -> Error {
    match error {
        Error::Input(e) => InputError { field: Some("mode".into()), ..e }.into(),
        other => other,
    }
}
