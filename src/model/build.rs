//! From a scene and its meshes to a model: placing, masses, elements, attachments.

use super::check::check_material;
use super::material::{elements, lumped_masses};
use super::needs::Needs;
use super::{Attachment, Body, Model};
use crate::error::InputError;
use crate::mesh::{self, Embedding, Mesh};
use crate::scene::{self, LoadedScene, MatterKind, Scene, Select};
use crate::{Result, Vec3};
use std::sync::Arc;

/// A model and what was odd about its meshes.
#[derive(Debug)]
pub struct Built {
    pub model: Model,
    /// What the mesh readers repaired or ignored, one line each.
    pub warnings: Vec<String>,
}

/// Reads the meshes of a scene and builds its model, without the shapes of damping by example: those are of
/// [`setup::build`](crate::setup::build). Errors name file, line and field.
pub(crate) fn build(loaded: &LoadedScene) -> Result<Built> {
    let scene = &loaded.scene;
    let mut model = Model { gravity: scene.gravity.into(), ..Model::default() };
    let mut warnings = Vec::new();
    let mut needs = Needs::new();
    for (index, body) in scene.bodies.iter().enumerate() {
        let read = mesh::load(&body.mesh, &loaded.base_dir).map_err(|e| match e {
            crate::Error::Input(e) if e.file.is_none() => {
                loaded.place(e.within(format_args!("body.{index}.mesh"))).into()
            }
            other => other,
        })?;
        warnings.extend(read.warnings.into_iter().map(|w| format!("body {}: {w}", body.name)));
        let added = (needs.add(scene, body, &read.mesh))
            .and_then(|()| start_shape(loaded, body, &read.mesh))
            .and_then(|shape| add_body(&mut model, body, read.mesh, read.surface, &shape));
        added.map_err(|e| loaded.place(e.within(format_args!("body.{index}"))))?;
    }
    model.add_joints(scene).map_err(|e| loaded.place(e))?;
    Ok(Built { model, warnings })
}

/// Appends a body to the model. Errors name the field within the body.
fn add_body(
    model: &mut Model,
    body: &scene::Body,
    mesh: Mesh,
    surface: Option<Mesh>,
    shape: &[Vec3],
) -> Result<(), InputError> {
    check_material("material", &body.material, Some(kind(&mesh)))?;
    let first = model.vertex_count();
    let masses = lumped_masses(&body.material, &mesh);
    if let Some(v) = masses.iter().position(|m| !m.is_finite() || *m <= 0.0) {
        let message = format!("vertex {v} has mass {} kg; every vertex must belong to an element", masses[v]);
        return Err(InputError::field("mesh", message));
    }
    let mut parts = elements(&body.material, &mesh).map_err(|e| e.within("material"))?;
    parts.shift(first as u32);
    let (mut positions, velocities) = place(body, &mesh, shape, &masses);
    displace(body, &mesh, &mut positions)?;
    model.attachments.extend(attachments(body, &mesh, &positions, first as u32)?);
    let skin = surface.map(|surface| Embedding::new(&mesh, &surface)).transpose();
    let skin = skin.map_err(|e| e.within("mesh.skin"))?.map(Arc::new);
    model.tets.extend(parts.tets);
    model.triangles.extend(parts.triangles);
    model.springs.extend(parts.springs);
    model.bendings.extend(parts.bendings);
    model.mass.extend(masses);
    model.initial_positions.extend(positions);
    model.initial_velocities.extend(velocities);
    let vertices = first..model.vertex_count();
    model.bodies.push(Body { name: body.name.clone(), vertices, mesh, skin });
    Ok(())
}

/// Where the vertices of a body start before it is stretched, turned and moved, in rest coordinates (m).
fn start_shape(loaded: &LoadedScene, body: &scene::Body, mesh: &Mesh) -> Result<Vec<Vec3>, InputError> {
    let mut shape = match &body.shape {
        Some(file) => {
            let path = loaded.base_dir.join(file);
            let read = mesh::read::deformed(&path, body.mesh.file_unit(), mesh.positions.len());
            read.map_err(|e| InputError { field: Some("shape".into()), ..e })?
        }
        None => mesh.positions.clone(),
    };
    if let Some(squeeze) = &body.squeeze {
        shape.iter_mut().for_each(|x| *x = squeeze.of(*x));
    }
    Ok(shape)
}

/// Moves the vertices that a body's `displace` picks.
fn displace(body: &scene::Body, mesh: &Mesh, positions: &mut [Vec3]) -> Result<(), InputError> {
    for (number, displace) in body.displace.iter().enumerate() {
        let chosen = select(&displace.select, mesh);
        for v in chosen.map_err(|e| e.within(format_args!("displace.{number}.select")))? {
            positions[v as usize] += displace.of(mesh.positions[v as usize]);
        }
    }
    Ok(())
}

/// The attachments of a body whose vertices are counted from `first` on.
fn attachments(
    body: &scene::Body,
    mesh: &Mesh,
    positions: &[Vec3],
    first: u32,
) -> Result<Vec<Attachment>, InputError> {
    let mut all = Vec::new();
    for (number, attach) in body.attach.iter().enumerate() {
        let chosen = select(&attach.select, mesh);
        let chosen = chosen.map_err(|e| e.within(format_args!("attach.{number}.select")))?;
        all.extend(chosen.into_iter().map(|v| Attachment {
            vertex: first + v,
            stiffness: attach.stiffness,
            anchor: positions[v as usize],
            path: attach.path.clone(),
            from: attach.from.unwrap_or(0.0),
            until: attach.until.unwrap_or(f64::INFINITY),
        }));
    }
    Ok(all)
}

fn kind(mesh: &Mesh) -> MatterKind {
    match (mesh.tets.is_empty(), mesh.triangles.is_empty()) {
        (false, _) => MatterKind::Solid,
        (true, false) => MatterKind::Cloth,
        (true, true) => MatterKind::Strands,
    }
}

/// x = position + c + R S (Y − c), Y the `shape` and c the rest centre of mass; v = velocity + ω × (x − x_cm).
fn place(body: &scene::Body, mesh: &Mesh, shape: &[Vec3], masses: &[f64]) -> (Vec<Vec3>, Vec<Vec3>) {
    let centre = centre_of_mass(&mesh.positions, masses);
    let stretch = Vec3::from(body.stretch);
    let rotation = body.rotation.matrix();
    let shift = Vec3::from(body.position) + centre;
    let positions: Vec<Vec3> =
        shape.iter().map(|x| shift + rotation * (x - centre).component_mul(&stretch)).collect();
    let pivot = centre_of_mass(&positions, masses);
    let spin = Vec3::from(body.angular_velocity);
    let drift = Vec3::from(body.velocity);
    let velocities = positions.iter().map(|x| drift + spin.cross(&(x - pivot))).collect();
    (positions, velocities)
}

/// Where all vertices would be if the bodies were placed as they rest: neither shaped nor displaced (m).
pub fn undeformed(scene: &Scene, model: &Model) -> Vec<Vec3> {
    let bodies = scene.bodies.iter().zip(&model.bodies);
    let placed = bodies.flat_map(|(given, body)| {
        let plain = scene::Body { stretch: [1.0; 3], ..given.clone() };
        place(&plain, &body.mesh, &body.mesh.positions, &model.mass[body.vertices.clone()]).0
    });
    placed.collect()
}

fn centre_of_mass(positions: &[Vec3], masses: &[f64]) -> Vec3 {
    let total: f64 = masses.iter().sum();
    positions.iter().zip(masses).map(|(x, m)| x * *m).sum::<Vec3>() / total
}

/// The vertices that a selection picks, ascending; an empty choice is an error, since it would hold nothing.
pub(crate) fn select(select: &Select, mesh: &Mesh) -> Result<Vec<u32>, InputError> {
    let n = mesh.positions.len() as u32;
    if let Some(vertices) = &select.vertices {
        if let Some(v) = vertices.iter().find(|&&v| v >= n) {
            let message = format!("there is no vertex {v}; the body has {n}, counted from 0");
            return Err(InputError::field("vertices", message));
        }
        let mut chosen = vertices.clone();
        chosen.sort_unstable();
        chosen.dedup();
        if chosen.is_empty() {
            return Err(InputError::field("vertices", "names no vertex"));
        }
        return Ok(chosen);
    }
    if let Some(point) = select.nearest {
        let point = Vec3::from(point);
        let distance = |v: &u32| (mesh.positions[*v as usize] - point).norm_squared();
        return Ok((0..n).min_by(|a, b| distance(a).total_cmp(&distance(b))).into_iter().collect());
    }
    let low = Vec3::from(select.min.unwrap_or([f64::NEG_INFINITY; 3]));
    let high = Vec3::from(select.max.unwrap_or([f64::INFINITY; 3]));
    let inside = |x: &Vec3| (0..3).all(|k| low[k] <= x[k] && x[k] <= high[k]);
    let chosen: Vec<u32> = (0..n).filter(|&v| inside(&mesh.positions[v as usize])).collect();
    if chosen.is_empty() {
        let message = format!("no vertex of the rest shape lies in this box; the shape spans {}", span(mesh));
        return Err(InputError::new(message));
    }
    Ok(chosen)
}

/// The bounding box of a mesh, for a message.
fn span(mesh: &Mesh) -> String {
    let low = mesh.positions.iter().fold(Vec3::repeat(f64::INFINITY), |a, b| a.inf(b));
    let high = mesh.positions.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |a, b| a.sup(b));
    format!("[{}, {}, {}] to [{}, {}, {}]", low.x, low.y, low.z, high.x, high.y, high.z)
}
