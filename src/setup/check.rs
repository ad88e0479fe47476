//! Validation: every value is in the range in which it means something, and the message names the field and the range.
//!
//! Fields are named by number (`body.0.material.mu`); [`crate::scene::LoadedScene::place`] turns that into line and name.
//! The parameters of generated shapes are validated by the generators, but their numbers must be finite here too.

mod attach;
mod conservation;
mod contact;
mod damping;
mod designed;
mod example;
mod integrator;
mod joint;
mod solver;

use toml::Value;

use crate::Vec3;
use crate::error::InputError;
use crate::mesh::characters;
use crate::mesh::spec::{CharacterSpec, SurfaceFile};
use crate::model::check::check_material;
use crate::scene::check::{
    Checked, at_least_one, direction, fault, known, not_negative, positive, refuse_if,
};
use crate::scene::{Body, MatterKind, MeshSpec, Scene, Squeeze, Time, body_name_fault};

/// The largest number in a scene, whatever its unit.
const LARGEST: f64 = 1e100;
/// How long a time step may last (s).
const STEPS: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// Validates a whole scene. Bodies must have their names already.
pub fn check(scene: &Scene) -> Checked {
    all_finite(scene)?;
    check_time(&scene.time)?;
    check_energy_limit(scene.energy.limit)?;
    solver::check_solver(scene)?;
    integrator::check_integrator(scene)?;
    damping::check_damping(scene)?;
    designed::check_designed(scene)?;
    contact::check_contact(&scene.contact)?;
    for (index, obstacle) in scene.obstacles.iter().enumerate() {
        contact::check_obstacle(&format!("obstacle.{index}"), obstacle)?;
    }
    let message = "a scene needs at least one body, which begins with the line [[body]]";
    refuse_if(scene.bodies.is_empty(), "body", message)?;
    for (index, body) in scene.bodies.iter().enumerate() {
        check_name(scene, index)?;
        check_body(&format!("body.{index}"), body, scene.time.step / scene.time.substeps as f64)?;
    }
    joint::check_joints(scene)?;
    conservation::check_conservation(scene)
}

/// The energy available contains what was gained: a gain is never more than all of it.
fn check_energy_limit(limit: f64) -> Checked {
    let message = format!("expected a share between 0 and 1, got {limit}");
    refuse_if(!(limit > 0.0 && limit < 1.0), "energy.limit", message)
}

fn check_time(time: &Time) -> Checked {
    positive("time.step", time.step)?;
    if !STEPS.contains(&(time.step / time.substeps.max(1) as f64)) {
        let (shortest, longest) = (STEPS.start(), STEPS.end());
        return fault("time.step", format!("a time step must last from {shortest:e} to {longest:e} s"));
    }
    at_least_one("time.substeps", time.substeps)?;
    at_least_one("time.iterations", time.iterations)?;
    not_negative("time.tolerance", time.tolerance)
}

fn check_name(scene: &Scene, index: usize) -> Checked {
    let field = format!("body.{index}.name");
    let name = &scene.bodies[index].name;
    if let Some(reason) = body_name_fault(name) {
        return fault(field, format!("{reason}, got `{name}`"));
    }
    match scene.bodies[..index].iter().position(|earlier| earlier.name == *name) {
        Some(earlier) => fault(field, format!("must be unique, but body {earlier} is called `{name}` too")),
        None => Ok(()),
    }
}

fn check_surface(at: &str, mesh: &SurfaceFile) -> Checked {
    refuse_if(mesh.surface.as_os_str().is_empty(), format!("{at}.surface"), "must name a file")?;
    positive(format!("{at}.scale"), mesh.scale)?;
    match (mesh.target_tets, mesh.cell) {
        (Some(_), None) => Ok(()),
        (None, Some(cell)) => positive(format!("{at}.cell"), cell),
        (None, None) => {
            fault(format!("{at}.target_tets"), "give the number of tetrahedra, or the length `cell`")
        }
        (Some(_), Some(_)) => fault(format!("{at}.cell"), "give `target_tets` or `cell`, not both"),
    }
}

fn check_character(at: &str, mesh: &CharacterSpec) -> Checked {
    known(format!("{at}.character"), &mesh.character, &characters::names())?;
    positive(format!("{at}.scale"), mesh.scale)?;
    match (mesh.target_tets, mesh.cell) {
        (Some(_), Some(_)) => fault(format!("{at}.cell"), "give `target_tets` or `cell`, not both"),
        (_, Some(cell)) => positive(format!("{at}.cell"), cell),
        (_, None) => Ok(()),
    }
}

fn check_body(at: &str, body: &Body, h: f64) -> Checked {
    if let MeshSpec::File(mesh) = &body.mesh {
        refuse_if(mesh.file.as_os_str().is_empty(), format!("{at}.mesh.file"), "must name a file")?;
        positive(format!("{at}.mesh.scale"), mesh.scale)?;
        if mesh.skin.as_ref().is_some_and(|skin| skin.as_os_str().is_empty()) {
            return fault(format!("{at}.mesh.skin"), "must name a file");
        }
    }
    if let MeshSpec::Surface(mesh) = &body.mesh {
        check_surface(&format!("{at}.mesh"), mesh)?;
    }
    if let MeshSpec::Character(mesh) = &body.mesh {
        check_character(&format!("{at}.mesh"), mesh)?;
    }
    check_material(&format!("{at}.material"), &body.material, MatterKind::of(&body.mesh))?;
    direction(format!("{at}.rotation.axis"), body.rotation.axis)?;
    for (axis, factor) in body.stretch.iter().enumerate() {
        let message = "must not be 0, which would flatten the body";
        refuse_if(*factor == 0.0, format!("{at}.stretch.{axis}"), message)?;
    }
    if body.shape.as_ref().is_some_and(|shape| shape.as_os_str().is_empty()) {
        return fault(format!("{at}.shape"), "must name a file");
    }
    if let Some(Squeeze { min, max }) = &body.squeeze {
        let is_ordered = min.iter().zip(max).all(|(min, max)| min <= max);
        refuse_if(!is_ordered, format!("{at}.squeeze"), "`min` must not be above `max`")?;
    }
    for (index, displace) in body.displace.iter().enumerate() {
        let at = format!("{at}.displace.{index}");
        attach::check_select(&format!("{at}.select"), &displace.select)?;
        let length = |[from, to]: [[f64; 3]; 2]| (Vec3::from(to) - Vec3::from(from)).norm_squared();
        if displace.ramp.is_some_and(|ramp| length(ramp) < f64::MIN_POSITIVE) {
            return fault(format!("{at}.ramp"), "needs two points that are apart");
        }
    }
    for (index, attach) in body.attach.iter().enumerate() {
        attach::check_attach(&format!("{at}.attach.{index}"), attach, h)?;
    }
    Ok(())
}

/// TOML can write nan and inf; nothing in a scene can mean them.
fn all_finite(scene: &Scene) -> Checked {
    let tree = Value::try_from(scene).map_err(|error| InputError::new(error.to_string()))?;
    finite_below(&tree, &mut Vec::new())
}

fn finite_below(value: &Value, path: &mut Vec<String>) -> Checked {
    let mut below = |segment: String, value: &Value| {
        path.push(segment);
        let checked = finite_below(value, path);
        path.pop();
        checked
    };
    match value {
        Value::Float(number) if !number.is_finite() => {
            fault(path.join("."), format!("must be a finite number, got {number}"))
        }
        // beyond it squares and products overflow, and a run would end in numbers that are not finite
        Value::Float(number) if number.abs() > LARGEST => {
            fault(path.join("."), format!("must not be larger than {LARGEST:e}, got {number:e}"))
        }
        Value::Array(list) => list.iter().enumerate().try_for_each(|(i, entry)| below(i.to_string(), entry)),
        Value::Table(table) => table.iter().try_for_each(|(key, entry)| below(key.clone(), entry)),
        _ => Ok(()),
    }
}
