//! Where the groups of example shapes are, and how much of each shape there is.

use super::super::super::buffer::{Buffer, Contents};
use super::super::super::kernel::{Call, Magnitudes};
use super::super::super::layout::*;
use super::super::{Output, Sum, place, wide};
use super::{Estimate, chunks, column, dot, groups, sum_along, totals, turn};
use crate::damping::example::excitation::closest_rotation;
use crate::damping::pbd;
use crate::{Mat3, Vec3};
use nalgebra::{Rotation3, UnitQuaternion};

/// Smallest moment of inertia, relative to the largest, about which a group can spin, as in `shared/inertia.wgsl`.
const LEAST_INERTIA: f64 = 1e-5;

/// From the group's first vertex to another (m).
fn arm(all: &Contents, i: usize, origin: u32) -> Vec3 {
    let vertices = all.items::<Vertex>(Buffer::Vertices);
    place(&vertices[i]) - place(&vertices[origin as usize])
}

fn velocity(all: &Contents, i: usize) -> Vec3 {
    wide(&all.items::<Motion>(Buffer::Motions)[i].velocity)
}

/// Twin of `measure_pose`.
pub fn measure_pose(all: &mut Contents, _: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::ExamplePartials);
    for (number, chunk) in chunks(all).iter().enumerate() {
        let mut sums = [(0.0, 0.0); 24];
        for i in chunk.first as usize..chunk.end as usize {
            let rest = all.items::<[f32; 4]>(Buffer::ExampleRests)[i];
            let (r, weight, rest) = (arm(all, i, chunk.origin), f64::from(rest[3]), wide(&rest));
            let u = velocity(all, i) - velocity(all, chunk.origin as usize);
            let mut add = |slot: usize, value: f64, size: f64| {
                let sum: &mut Estimate = &mut sums[slot];
                *sum = (sum.0 + value, sum.1 + size.abs());
            };
            let angular = r.cross(&u) * weight;
            for a in 0..3 {
                add(a, weight * r[a], weight * r.norm());
                (0..3).for_each(|b| {
                    add(3 + 3 * a + b, weight * r[a] * rest[b], weight * r.norm() * rest.norm())
                });
                add(12 + a, weight * u[a], weight * u.norm());
                add(15 + a, angular[a], weight * r.norm() * u.norm());
                let (b, c) = ((a + 1) % 3, (a + 2) % 3);
                add(18 + a, weight * (r[b] * r[b] + r[c] * r[c]), weight * r.norm_squared());
                add(21 + a, -weight * r[b] * r[c], weight * r.norm_squared());
            }
        }
        for (slot, (value, size)) in sums.into_iter().enumerate() {
            out.number(all, 2 * SHAPES * number + slot, value, size);
        }
    }
    out.done()
}

/// Twin of `reduce_pose`.
pub fn reduce_pose(all: &mut Contents, _: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::ExampleStates);
    for (number, group) in groups(all).iter().enumerate() {
        let [turn, centre, drift, spin] = match group.followed {
            0.0 => unfollowed(all, group),
            mass => followed(&totals(all, group), f64::from(mass)),
        };
        let mut put = |offset: usize, values: &[f64], size: f64| {
            let at = ExampleState::STRIDE / 4 * number + offset;
            values.iter().enumerate().for_each(|(k, value)| out.number(all, at + k, *value, size));
        };
        put(0, &turn.0, turn.1);
        put(4, &centre.0[..3], centre.1);
        put(8, &drift.0[..3], drift.1);
        put(12, &spin.0[..3], spin.1);
    }
    out.done()
}

/// Numbers of a state and how large their terms are.
type Part = ([f64; 4], f64);

fn part(v: Vec3, size: f64) -> Part {
    ([v.x, v.y, v.z, 0.0], size)
}

fn unfollowed(all: &Contents, group: &ExampleGroup) -> [Part; 4] {
    let origin = all.items::<Vertex>(Buffer::Vertices)[group.first as usize];
    let centre = wide(&group.centre) + wide(&group.centre_low) - place(&origin);
    let size = (wide(&group.centre) - wide(&origin.position)).norm() + centre.norm();
    let drift = -velocity(all, group.first as usize);
    [([1.0, 0.0, 0.0, 0.0], 0.0), part(centre, size), part(drift, 0.0), part(Vec3::zeros(), 0.0)]
}

fn followed(sums: &[Estimate; 2 * SHAPES], mass: f64) -> [Part; 4] {
    let vector = |k: usize| Vec3::new(sums[k].0, sums[k + 1].0, sums[k + 2].0);
    let size = |k: usize| sums[k].1 + sums[k + 1].1 + sums[k + 2].1;
    let (centre, centre_size) = (vector(0) / mass, size(0) / mass);
    let (drift, drift_size) = (vector(12) / mass, size(12) / mass);
    let angular = vector(15) - centre.cross(&drift) * mass;
    let angular_size = size(15) + mass * centre_size * drift_size;
    let (d, o) = (vector(18), vector(21));
    let inertia = Mat3::new(d.x, o.z, o.y, o.z, d.y, o.x, o.y, o.x, d.z)
        - (Mat3::from_diagonal_element(centre.norm_squared()) - centre * centre.transpose()) * mass;
    let inertia_size = size(18) + size(21) + mass * centre_size * centre_size;
    let spin = pbd::solve_inertia(inertia, angular, LEAST_INERTIA);
    // (I + δI)(ω + δω) = L + δL: δω is I⁻¹(δL − δI ω)
    let moments = inertia.symmetric_eigenvalues();
    let kept = moments.iter().copied().filter(|moment| *moment > LEAST_INERTIA * moments.max().max(0.0));
    let spin_size = (angular_size + inertia_size * spin.norm()) / kept.fold(f64::INFINITY, f64::min);
    let spread = Mat3::from_rows(&[3, 6, 9].map(|k| vector(k).transpose()));
    let turn = quaternion(&spread, size(3) + size(6) + size(9));
    [turn, part(centre, centre_size), part(drift, drift_size), part(spin, spin_size)]
}

/// The quaternion of the closest rotation, on the side of the identity: an error of A turns it by that over the curvature of tr(RᵀA).
fn quaternion(a: &Mat3, size: f64) -> Part {
    let turn = closest_rotation(a);
    let q = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(turn));
    let q = if q.w < 0.0 { -q.into_inner() } else { q.into_inner() };
    let stretch = turn.tr_mul(a);
    let curvature = (Mat3::from_diagonal_element(stretch.trace()) - (stretch + stretch.transpose()) * 0.5)
        .symmetric_eigenvalues()
        .min();
    // where nothing tells the rotation, any will do
    let size = if curvature > 0.0 { 1.0 + 2.0 * size / curvature } else { f64::INFINITY };
    ([q.w, q.i, q.j, q.k], size)
}

/// Twin of `measure_excitation`.
pub fn measure_excitation(all: &mut Contents, _: &Call) -> Magnitudes {
    sum_along(all, |all, chunk, shape, i| {
        let state: ExampleState = all.small(Buffer::ExampleStates, chunk.group as usize);
        let (centre, drift, spin) = (wide(&state.centre), wide(&state.drift), wide(&state.spin));
        let from_origin = arm(all, i, chunk.origin);
        let r = from_origin - centre;
        let r_size = from_origin.norm() + centre.norm();
        let y = if chunk.velocities >> shape & 1 == 1 {
            let u = velocity(all, i) - velocity(all, chunk.origin as usize);
            Sum { value: u - drift - spin.cross(&r), size: u.norm() + drift.norm() + spin.norm() * r_size }
        } else {
            let rest = wide(&all.items::<[f32; 4]>(Buffer::ExampleRests)[i]);
            Sum { value: r - turn(all, chunk.group) * rest, size: r_size + rest.norm() }
        };
        let turned = Sum { value: turn(all, chunk.group).tr_mul(&y.value), size: y.size };
        [dot(&column(all, Buffer::ExampleMeasures, chunk, shape, i, 0), &turned)]
    })
}
