use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::{BLOCK, SLOTS, TET_NUMBERS, Tet, Vertex};
use super::law::{law_of, terms};
use super::{Output, Sum, is_over, sizes, step, wide};
use crate::elastic::rotation::closest_quaternion;
use crate::elastic::volume::closest_unit_determinant;
use crate::model::law::Law;
use crate::model::law::stretches::Stretches;
use crate::{Mat3, Vec3};
use nalgebra::{Quaternion, UnitQuaternion, Vector4};

/// The kernels round as if F had an error of this many ulps of its terms. The effect on the closest rotation depends
/// on F, and is large near a flat or inverted F: it is measured by perturbation, see [`shaken`].
const UNITS: f64 = 16.0;
const EPSILON: f64 = f32::EPSILON as f64;

/// Twin of `project_tet`.
pub fn project_tet(all: &mut Contents, _call: &Call) -> Magnitudes {
    project(all, |_, _, e| without_volume(e))
}

/// Twin of `project_tet_volume`.
pub fn project_tet_volume(all: &mut Contents, _call: &Call) -> Magnitudes {
    project(all, |_, _, e| (*e, Law::Projective))
}

/// Twin of `project_tet_law`.
pub fn project_tet_law(all: &mut Contents, _call: &Call) -> Magnitudes {
    project(all, |all, index, e| (*e, obeyed(all, index)))
}

/// An element without volume preservation.
fn without_volume(e: &Tet) -> (Tet, Law) {
    (Tet { volume_weight: 0.0, ..*e }, Law::Projective)
}

/// The law of an element.
fn obeyed(all: &Contents, index: usize) -> Law {
    law_of(all, all.items::<u32>(Buffer::TetLaws)[index])
}

/// The closest matrix of some set.
type Projection = fn(&Mat3) -> Mat3;

/// Stress and energy (J), and the magnitudes of their terms.
#[derive(Default)]
struct Loaded {
    stress: Mat3,
    stress_size: f64,
    energy: f64,
    energy_size: f64,
}

impl Loaded {
    /// At F, whose terms have this size.
    fn at(f: &Mat3, size: f64, e: &Tet, law: &Law) -> Self {
        let (w_s, w_v) = (f64::from(e.shape_weight), f64::from(e.volume_weight));
        if law.is_projective() {
            return Loaded::projected(f, size, [(w_s, rotation), (w_v, unit_determinant)]);
        }
        let (mu, lambda) = (0.5 * w_s, w_v / 3.0);
        let sigma = Stretches::<3>::of(f).sigma;
        let here = law.principal(sigma, mu, lambda);
        let strains = sigma.map(|s| s - 1.0);
        // for F = 0 every rotation is closest, and the kernels use the identity
        let stress_at = |f: &Mat3| match f.amax() {
            0.0 => rotation(f) * Mat3::from_diagonal(&here.stress.into()),
            _ => law.energy_and_stress(f, mu, lambda).1,
        };
        let stress = stress_at(f);
        let (energy_terms, stress_terms) = terms(law, strains, mu, lambda);
        // effect of the rounding of F on both; where the rotation is ambiguous the stress rotates with it
        let shaken_stress = shaken(f, size, stress_at);
        let turned = stress.norm() * shaken(f, size, rotation);
        let shaken_energy = shaken(f, size, |f| Mat3::repeat(law.energy(f, mu, lambda) / 3.0));
        // RᵀF − I also has the rounding error of R, of size 1
        let [by_rotation, stress_terms] = [here.curvature.as_flattened(), &stress_terms]
            .map(|all| all.iter().map(|s| s.abs()).sum::<f64>());
        Loaded {
            stress,
            stress_size: shaken_stress + turned + stress_terms + by_rotation,
            energy: here.energy,
            energy_size: shaken_energy + energy_terms + stress_terms,
        }
    }

    fn projected(f: &Mat3, size: f64, closest: [(f64, Projection); 2]) -> Self {
        let mut all = Loaded::default();
        for (weight, closest) in closest.into_iter().filter(|(weight, _)| *weight != 0.0) {
            let p = closest(f);
            let (energy, energy_size) = energy_of(weight, f, size, closest);
            all.stress += weight * (f - p);
            all.stress_size += weight * (size + p.norm() + shaken(f, size, closest));
            all.energy += energy;
            all.energy_size += energy_size;
        }
        all
    }
}

fn project(all: &mut Contents, of: fn(&Contents, usize, &Tet) -> (Tet, Law)) -> Magnitudes {
    if is_over(all) {
        return Vec::new();
    }
    let step = step(all);
    let [share, damped, b] = [step.share, step.viscous, step.projection].map(f64::from);
    let iterate = all.items::<[f32; 4]>(Buffer::Iterate).to_vec();
    let (mut rows, mut rotations) = (Output::to(all, Buffer::Rows), Output::to(all, Buffer::Rotations));
    for (index, e) in all.items::<Tet>(Buffer::Tets).to_vec().iter().enumerate() {
        let (f, size) = deformed(all, e, |i| wide(&iterate[i]) * share);
        let (e, law) = of(all, index, e);
        let here = Loaded::at(&f, size, &e, &law);
        // viscous w (F − F_n) + b P
        let viscous = damped * (f64::from(e.shape_weight) + f64::from(e.volume_weight));
        let (change, change_size) = deformation_by(&e, |i| wide(&iterate[i]) * share);
        let stress = viscous * change + b * here.stress;
        let stress_size = viscous.abs() * change_size + b * here.stress_size;
        let first = TET_NUMBERS as usize * index;
        for (corner, rest) in rest_rows(&e).iter().enumerate() {
            let force = Sum { value: stress * rest, size: stress_size * rest.norm() };
            rows.vector(all, first + 3 * corner, &force);
        }
        rows.number(all, first + 9, here.energy, here.energy_size);
        remember(all, &mut rotations, index, &f, shaken(&f, size, rotation));
    }
    rows.done().into_iter().chain(rotations.done()).collect()
}

/// Writes the quaternion of the closest rotation, on the same side as the last one. The side is ambiguous where the
/// two are nearly half a turn apart.
fn remember(all: &mut Contents, rotations: &mut Output, index: usize, f: &Mat3, shaken_rotation: f64) {
    let last = Vector4::from(all.items::<[f32; 4]>(Buffer::Rotations)[index].map(f64::from));
    let q = Vector4::from(closest_quaternion(f));
    let along = q.dot(&last);
    let q = if along >= 0.0 { q } else { -q };
    let size = (1.0 + shaken_rotation) / along.abs().max(EPSILON);
    (0..4).for_each(|k| rotations.number(all, 4 * index + k, q[k], size));
}

/// Twin of `observe_tet`.
pub fn observe_tet(all: &mut Contents, _call: &Call) -> Magnitudes {
    let first_partial = sizes(all).tet_partials as usize;
    let tets = all.items::<Tet>(Buffer::Tets).to_vec();
    let mut partials = Output::to(all, Buffer::Partials);
    for (block, tets) in tets.chunks(BLOCK as usize).enumerate() {
        let at = SLOTS * (first_partial + block);
        (0..SLOTS).for_each(|slot| partials.number(all, at + slot, 0.0, 0.0));
        let (mut energy, mut energy_size, mut inverted, mut in_doubt) = (0.0, 0.0, 0.0, 0.0);
        let mut gained = (0.0, 0.0);
        let mut ratios = Vec::new();
        for (index, e) in (block * BLOCK as usize..).zip(tets) {
            let (f, size) = deformed(all, e, |_| Vec3::zeros());
            let here = Loaded::at(&f, size, e, &obeyed(all, index));
            energy += here.energy;
            energy_size += here.energy_size;
            let share = f64::from(e.stiffening_gain);
            gained = (gained.0 + share * here.energy, gained.1 + share.abs() * here.energy_size);
            let (ratio, ratio_size) = (f.determinant(), determinant_size(&f, size));
            inverted += f64::from(u8::from(ratio <= 0.0));
            in_doubt += f64::from(u8::from(ratio.abs() <= UNITS * EPSILON * ratio_size));
            ratios.push((ratio, ratio_size));
        }
        partials.number(all, at, energy, energy_size);
        // A flat element may be counted or not.
        partials.number(all, at + 1, inverted, in_doubt / (UNITS * EPSILON));
        partials.number(all, at + 2, gained.0, gained.1);
        let (least, least_size) = least_of(&ratios);
        partials.number(all, at + 15, least, least_size);
    }
    partials.done()
}

/// w/2 |F − p|² and its magnitude: F − p has the error of F. Where p is ambiguous, all candidates are nearly equally
/// close, so the squared distance is off by no more than F's error times their distance.
fn energy_of(weight: f64, f: &Mat3, size: f64, closest: fn(&Mat3) -> Mat3) -> (f64, f64) {
    let p = closest(f);
    let distance = (f - p).norm();
    let apart = UNITS * EPSILON * (size + p.norm() + shaken(f, size, closest));
    let energy = 0.5 * weight * distance * distance;
    (energy, energy + weight * (size + p.norm()) * (distance + apart))
}

/// The minimum, and the magnitude of the terms of a number that may be mistaken for it.
fn least_of(numbers: &[(f64, f64)]) -> (f64, f64) {
    let least = numbers.iter().fold((f64::INFINITY, 0.0), |m, n| if n.0 < m.0 { *n } else { m });
    let lowest = |(value, size): &(f64, f64)| value - UNITS * EPSILON * size;
    let below = numbers.iter().map(lowest).fold(f64::INFINITY, f64::min);
    (least.0, least.1.max((least.0 - below) / (UNITS * EPSILON)))
}

/// The rows of Dm⁻¹ (1/m).
fn rest_rows(e: &Tet) -> [Vec3; 3] {
    [wide(&e.rest_0), wide(&e.rest_1), wide(&e.rest_2)]
}

/// F with vertices displaced from x_n (m), and the magnitude of its terms.
fn deformed(all: &Contents, e: &Tet, displacement: impl Fn(usize) -> Vec3) -> (Mat3, f64) {
    let vertices = all.items::<Vertex>(Buffer::Vertices);
    let [origin, corners @ ..] = e.vertices.map(|v| v as usize);
    let (mut f, mut size) = (Mat3::zeros(), 0.0);
    for (corner, rest) in corners.into_iter().zip(rest_rows(e)) {
        let high = wide(&vertices[corner].position) - wide(&vertices[origin].position);
        let low = wide(&vertices[corner].low) - wide(&vertices[origin].low);
        let displaced = displacement(corner) - displacement(origin);
        f += (high + low + displaced) * rest.transpose();
        size += (high.norm() + low.norm() + displaced.norm()) * rest.norm();
    }
    (f, size)
}

/// The change of F by these displacements (m), and the magnitude of its terms.
fn deformation_by(e: &Tet, displacement: impl Fn(usize) -> Vec3) -> (Mat3, f64) {
    let [origin, corners @ ..] = e.vertices.map(|v| v as usize);
    let (mut f, mut size) = (Mat3::zeros(), 0.0);
    for (corner, rest) in corners.into_iter().zip(rest_rows(e)) {
        let displaced = displacement(corner) - displacement(origin);
        f += displaced * rest.transpose();
        size += displaced.norm() * rest.norm();
    }
    (f, size)
}

/// R.
fn rotation(f: &Mat3) -> Mat3 {
    let [w, x, y, z] = closest_quaternion(f);
    UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z)).to_rotation_matrix().into_inner()
}

/// P.
fn unit_determinant(f: &Mat3) -> Mat3 {
    let r = rotation(f);
    r * closest_unit_determinant(&(r.transpose() * f))
}

/// Sensitivity of `closest` to rounding of the entries of F, in ulps. A closest rotation changes by |F|/(σ2 + σ3)
/// times the change of F, and arbitrarily where it is not unique.
fn shaken(f: &Mat3, size: f64, closest: impl Fn(&Mat3) -> Mat3) -> f64 {
    let here = closest(f);
    let changed = |entry: usize| {
        let mut f = *f;
        f[entry] += UNITS * EPSILON * size;
        (closest(&f) - here).norm()
    };
    (0..9).map(changed).sum::<f64>() / (UNITS * EPSILON)
}

/// Magnitude of the terms of det F.
fn determinant_size(f: &Mat3, size: f64) -> f64 {
    let [a, b, c] = [0, 1, 2].map(|j| f.column(j).into_owned());
    let areas = a.cross(&b).norm() + b.cross(&c).norm() + c.cross(&a).norm();
    a.norm() * b.norm() * c.norm() + areas * size + UNITS * EPSILON * size.powi(3)
}

#[cfg(test)]
mod tests;
