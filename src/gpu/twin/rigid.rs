//! The rigid motion of each body from partial sums.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::whole::segments;
use super::{Output, wide};
use crate::damping::pbd;
use crate::{Mat3, Vec3};

/// Smallest moment of inertia, relative to the largest, about which a body can spin, as in `shared/inertia.wgsl`.
const LEAST_INERTIA: f64 = 1e-5;

/// Numbers of a [`Rigid`] from its start.
mod at {
    pub const ORIGIN: usize = 0;
    pub const MASS: usize = 3;
    pub const CENTRE: usize = 4;
    pub const BASE: usize = 8;
    pub const DRIFT: usize = 12;
    pub const SPIN: usize = 16;
}

/// Twin of `reduce_centre`.
pub fn reduce_centre(all: &mut Contents, _call: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Rigids);
    for body in 0..all.count(Buffer::Rigids) {
        let segment = all.items::<Segment>(Buffer::Segments)[body];
        let chunks =
            &all.items::<[f32; SLOTS]>(Buffer::Partials)[segment.first as usize..segment.end as usize];
        let first = chunks[0];
        let (origin, base, low) = (wide(&first[7..]), wide(&first[10..]), wide(&first[13..]));
        let (mut mass, mut mass_size) = (0.0, 0.0);
        let (mut place, mut velocity) = ((Vec3::zeros(), 0.0), (Vec3::zeros(), 0.0));
        for chunk in chunks {
            let m = f64::from(chunk[0]);
            let from_origin =
                [wide(&chunk[1..]), (wide(&chunk[7..]) - origin) * m, (wide(&chunk[13..]) - low) * m];
            let from_base = [wide(&chunk[4..]), (wide(&chunk[10..]) - base) * m];
            (mass, mass_size) = (mass + m, mass_size + m.abs());
            from_origin.iter().for_each(|term| place = (place.0 + term, place.1 + term.norm()));
            from_base.iter().for_each(|term| velocity = (velocity.0 + term, velocity.1 + term.norm()));
        }
        // the divisor's error counts as well
        let divided = |size: f64| size / mass.abs() * (mass_size / mass.abs());
        let mut put = |offset: usize, v: Vec3, size: f64| {
            let first = Rigid::STRIDE / 4 * body + offset;
            (0..3).for_each(|axis| out.number(all, first + axis, v[axis], size));
        };
        put(at::ORIGIN, origin, 0.0);
        put(at::CENTRE, place.0 / mass + low, divided(place.1) + low.norm());
        put(at::BASE, base, 0.0);
        put(at::DRIFT, velocity.0 / mass, divided(velocity.1));
        put(at::SPIN, Vec3::zeros(), 0.0);
        out.number(all, Rigid::STRIDE / 4 * body + at::MASS, mass, mass_size);
    }
    out.done()
}

/// Twin of `reduce_spin`.
pub fn reduce_spin(all: &mut Contents, _call: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Rigids);
    for (body, sum) in segments(all, all.count(Buffer::Rigids)).iter().enumerate() {
        let rigid: Rigid = all.small(Buffer::Rigids, body);
        let mass = f64::from(rigid.mass);
        let (momentum, momentum_size) = (sum.vector(9), sum.size(9));
        let (offset, offset_size) = (sum.vector(12) / mass, sum.size(12) / mass);
        let angular = sum.vector(6) - offset.cross(&momentum);
        let angular_size = sum.size(6) + offset_size * momentum_size;
        let (diagonal, products) = (sum.vector(0), sum.vector(3));
        let inertia = Mat3::new(
            diagonal.x, products.z, products.y, products.z, diagonal.y, products.x, products.y, products.x,
            diagonal.z,
        ) - (Mat3::from_diagonal_element(offset.norm_squared()) - offset * offset.transpose())
            * mass;
        let inertia_size = sum.size(0) + sum.size(3) + mass * offset_size * offset_size;
        let spin = pbd::solve_inertia(inertia, angular, LEAST_INERTIA);
        // (I + δI)(ω + δω) = L + δL: δω is I⁻¹(δL − δI ω)
        let eigenvalues = inertia.symmetric_eigenvalues();
        let kept =
            eigenvalues.iter().copied().filter(|moment| *moment > LEAST_INERTIA * eigenvalues.max().max(0.0));
        let least = kept.fold(f64::INFINITY, f64::min);
        let spin_size = (angular_size + inertia_size * spin.norm()) / least;
        let (old_drift, old_spin) = (wide(&rigid.drift), wide(&rigid.spin));
        let drift = old_drift + momentum / mass - spin.cross(&offset);
        let drift_size = old_drift.norm() + momentum_size / mass + (spin_size + spin.norm()) * offset_size;
        for axis in 0..3 {
            let first = Rigid::STRIDE / 4 * body + axis;
            out.number(all, first + at::DRIFT, drift[axis], drift_size);
            out.number(all, first + at::SPIN, (old_spin + spin)[axis], old_spin.norm() + spin_size);
        }
    }
    out.done()
}
