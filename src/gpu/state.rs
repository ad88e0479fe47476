//! The state on the device: step numbers, fetching, snapshots.

use super::contents::split;
use super::twin::{place, wide};
use super::{Buffer, Motion, Step, Stream, Vertex};
use crate::error::RunError;
use crate::model::Model;
use crate::step::{BackendState, StepCoefficients};
use crate::{Result, Vec3};

/// The numbers of a step, in differences: x = x_n + d. Every integrator's target and evaluation point are x_n plus a
/// difference (`position + position_before = 1` and `c₂ + offset = 1`), so x_n itself drops out. The filter's numbers
/// stay as `before`.
pub fn numbers(coefficients: &StepCoefficients, gravity: Vec3, before: &Step) -> Result<Step> {
    let (row, h) = (coefficients.row, coefficients.h);
    let (target, velocity) = (&row.target, &row.velocity);
    let [inertia, laplacian, holding] = coefficients.metric();
    let single = |value: f64| value as f32;
    let numbers = Step {
        gravity: gravity.map(single),
        h: single(h),
        target_displacement: single(-target.position_before),
        target_velocity: single(target.velocity * h),
        target_velocity_before: single(target.velocity_before * h),
        target_acceleration: single(target.acceleration * h * h),
        slope: single(coefficients.velocity_slope()),
        // v'(y) in terms of v_{n−1} and the last displacement; v_n has the remaining weight, the factors sum to one
        free_velocity_before: single(velocity.position_new * target.velocity_before),
        free_velocity_displacement: single(
            -velocity.position_new * target.position_before - velocity.position_before,
        ),
        free_velocity_gravity: single(
            (velocity.position_new * target.acceleration + velocity.acceleration) * h,
        ),
        inertia: single(inertia),
        share: single(row.c2),
        viscous: single(coefficients.deformation_weight() - coefficients.projection_weight()),
        projection: single(coefficients.projection_weight()),
        laplacian: single(laplacian),
        attachment_weight: single(holding),
        mass_damping: single(coefficients.mass_damping),
        stiffness_damping: single(coefficients.stiffness_damping),
        dissipation: single(coefficients.dissipation_weight() / inertia),
        known_displacement: single(-velocity.position_before / h),
        known_velocity: single(velocity.velocity),
        damping_force: single(coefficients.damping_force_weight()),
        target_force: single(target.force * h * h),
        velocity_force: single(velocity.force * h),
        start_share: single(coefficients.start_share()),
        filter_coefficient: before.filter_coefficient,
        filter_mode: before.filter_mode,
        correction_factor: -1.0,
        ..Step::default()
    };
    let finite =
        |of: &str, value: f64| if single(value).is_finite() { Ok(()) } else { Err(beyond(of, value)) };
    finite("gravity", gravity.norm())?;
    finite("1/h² with damping", inertia)?;
    finite("the weight of damping", coefficients.deformation_weight())?;
    finite("damping.mass", coefficients.mass_damping)?;
    finite("damping.stiffness", coefficients.stiffness_damping)?;
    Ok(numbers)
}

/// The whole state, including the start force from the buffer that holds −f, if known. A double cannot always hold a
/// position and its rounding remainder, so the remainder is stored, too.
pub fn snapshot(stream: &mut Stream, force: Option<Buffer>) -> Result<BackendState> {
    let (vertices, motions) = stream.read_vertices()?;
    let warm_starts = match stream.sizes().tets {
        0 => Vec::new(),
        _ => stream.read_items::<f32>(Buffer::Rotations)?.into_iter().map(f64::from).collect(),
    };
    let forces = match force {
        Some(buffer) => stream.read_items::<f32>(buffer)?.into_iter().map(|g| -f64::from(g)).collect(),
        None => Vec::new(),
    };
    let flat = |of: &dyn Fn(usize) -> Vec3| -> Vec<f64> {
        (0..vertices.len()).flat_map(|i| <[f64; 3]>::from(of(i))).collect()
    };
    Ok(BackendState {
        positions: flat(&|i| place(&vertices[i])),
        velocities: flat(&|i| wide(&motions[i].velocity)),
        positions_before: flat(&|i| place(&vertices[i]) - wide(&motions[i].last_displacement)),
        velocities_before: flat(&|i| wide(&motions[i].velocity_before)),
        moved: flat(&|i| wide(&motions[i].last_displacement)),
        low: flat(&|i| wide(&vertices[i].low)),
        warm_starts,
        viscous: Vec::new(),
        forces,
        conserved: Vec::new(),
    })
}

/// Uploads a snapshot of the same model; `false` if it belongs to another model.
pub fn restore(stream: &mut Stream, model: &Model, snapshot: &BackendState) -> Result<bool> {
    let n = model.vertex_count();
    let parts =
        [&snapshot.positions, &snapshot.velocities, &snapshot.positions_before, &snapshot.velocities_before];
    let optional = [&snapshot.moved, &snapshot.low];
    if parts.iter().any(|part| part.len() != 3 * n) || optional.iter().any(|o| ![0, 3 * n].contains(&o.len()))
    {
        return Ok(false);
    }
    if let Some(value) = parts.into_iter().flatten().find(|value| !(**value as f32).is_finite()) {
        return Err(beyond("a number in the checkpoint", *value).into());
    }
    let vector = |part: &[f64], i: usize| Vec3::new(part[3 * i], part[3 * i + 1], part[3 * i + 2]);
    let single = |v: Vec3| -> [f32; 3] { v.map(|c| c as f32).into() };
    let mut vertices = stream.read_items::<Vertex>(Buffer::Vertices)?;
    let mut motions = vec![Motion::default(); n];
    for i in 0..n {
        let x = vector(&snapshot.positions, i);
        (vertices[i].position, vertices[i].low) = split(x);
        if !snapshot.low.is_empty() {
            let low = vector(&snapshot.low, i);
            (vertices[i].position, vertices[i].low) = (single(x - low), single(low));
        }
        let moved = match snapshot.moved.is_empty() {
            true => x - vector(&snapshot.positions_before, i),
            false => vector(&snapshot.moved, i),
        };
        motions[i].velocity = single(vector(&snapshot.velocities, i));
        motions[i].velocity_before = single(vector(&snapshot.velocities_before, i));
        motions[i].last_displacement = single(moved);
    }
    stream.write(Buffer::Vertices, bytemuck::cast_slice(&vertices));
    stream.write(Buffer::Motions, bytemuck::cast_slice(&motions));
    if snapshot.forces.len() == 3 * n {
        let gradient: Vec<f32> = snapshot.forces.iter().map(|f| -f as f32).collect();
        for buffer in [Buffer::Gradient, Buffer::StartGradient] {
            stream.write(buffer, bytemuck::cast_slice(&gradient));
        }
    }
    let mut rotations = vec![[1.0f32, 0.0, 0.0, 0.0]; model.tets.len()];
    for (rotation, start) in rotations.iter_mut().zip(snapshot.warm_starts.chunks_exact(4)) {
        *rotation = [0, 1, 2, 3].map(|k| start[k] as f32);
    }
    if !rotations.is_empty() {
        stream.write(Buffer::Rotations, bytemuck::cast_slice(&rotations));
    }
    Ok(true)
}

/// A number outside the range of single precision.
pub fn beyond(of: &str, value: f64) -> RunError {
    RunError::SinglePrecision { of: of.into(), value }
}
