//! Twins of the vertex kernels: inertia, advance, damping.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::{Output, Sum, sizes, step, wide};
use crate::Vec3;
use std::ops::Range;

/// The off-diagonal entries of row `i` of L.
pub(super) fn laplacian_row(all: &Contents, i: usize) -> impl Iterator<Item = (usize, f64)> {
    let starts = all.items::<u32>(Buffer::LaplacianStarts);
    let range = starts[i] as usize..starts[i + 1] as usize;
    all.items::<Entry>(Buffer::LaplacianEntries)[range].iter().map(|e| (e.index as usize, f64::from(e.value)))
}

pub(super) fn vertices_of(all: &Contents, chunk: usize) -> Range<usize> {
    let chunk = all.items::<Chunk>(Buffer::Chunks)[chunk];
    chunk.first as usize..chunk.end as usize
}

/// Twin of `predict`.
pub fn predict(all: &mut Contents, _: &Call) -> Magnitudes {
    let s = step(all);
    let (mut iterate, mut target) = (Output::to(all, Buffer::Iterate), Output::to(all, Buffer::Target));
    let mut target_offset = Output::to(all, Buffer::TargetOffset);
    for i in 0..sizes(all).vertices as usize {
        let m = all.items::<Motion>(Buffer::Motions)[i];
        let mut d = Sum::default();
        d.add(wide(&m.last_displacement) * f64::from(s.target_displacement));
        d.add(wide(&m.velocity) * f64::from(s.target_velocity));
        d.add(wide(&m.velocity_before) * f64::from(s.target_velocity_before));
        d.add(wide(&s.gravity) * f64::from(s.target_acceleration));
        let mut t = d;
        let weight = f64::from(s.dissipation);
        if s.mass_damping != 0.0 {
            let drag = -weight * f64::from(s.mass_damping);
            let drift = free_velocity(&s, &m);
            t.add_sized(drift.value * drag, drift.size * drag.abs());
        }
        if s.stiffness_damping != 0.0 {
            let known = known(all, i);
            let damping = s.stiffness_damping * all.items::<f32>(Buffer::Viscosity)[i];
            let factor = -weight * f64::from(damping / all.items::<Vertex>(Buffer::Vertices)[i].mass);
            t.add_sized(known.value * factor, known.size * factor.abs());
        }
        iterate.vector(all, 4 * i, &d);
        target.vector(all, 4 * i, &t);
        iterate.number(all, 4 * i + 3, 0.0, 0.0);
        target.number(all, 4 * i + 3, 0.0, 0.0);
        (0..4).for_each(|k| target_offset.number(all, 4 * i + k, 0.0, 0.0));
    }
    [iterate.done(), target.done(), target_offset.done()].concat()
}

/// v'(y).
pub(super) fn free_velocity(s: &Step, m: &Motion) -> Sum {
    let (v, before) = (wide(&m.velocity), wide(&m.velocity_before));
    let mut sum = Sum::default();
    sum.add(v);
    sum.add_sized(
        (before - v) * f64::from(s.free_velocity_before),
        (before.norm() + v.norm()) * f64::from(s.free_velocity_before.abs()),
    );
    let last = wide(&m.last_displacement) / f64::from(s.h);
    sum.add_sized(
        (last - v) * f64::from(s.free_velocity_displacement),
        (last.norm() + v.norm()) * f64::from(s.free_velocity_displacement.abs()),
    );
    sum.add(wide(&s.gravity) * f64::from(s.free_velocity_gravity));
    sum
}

/// L(known_displacement last_displacement + known_velocity v) at vertex i.
fn known(all: &Contents, i: usize) -> Sum {
    let s = step(all);
    let motions = all.items::<Motion>(Buffer::Motions);
    let mut sum = Sum::default();
    for (j, l) in laplacian_row(all, i) {
        // single precision takes differences of rounded velocities: error relative to the velocities themselves
        let pairs = [
            (motions[i].last_displacement, motions[j].last_displacement, s.known_displacement),
            (motions[i].velocity, motions[j].velocity, s.known_velocity),
        ];
        for (here, there, factor) in pairs {
            sum.add((wide(&there) - wide(&here)) * (l * f64::from(factor)));
        }
    }
    sum
}

/// Twin of `advance`.
pub fn advance(all: &mut Contents, _: &Call) -> Magnitudes {
    let s = step(all);
    let (mut places, mut motions) = (Output::to(all, Buffer::Vertices), Output::to(all, Buffer::Motions));
    for i in 0..sizes(all).vertices as usize {
        let d = wide(&all.items::<[f32; 4]>(Buffer::Iterate)[i]);
        let m = all.items::<Motion>(Buffer::Motions)[i];
        let mut v = free_velocity(&s, &m);
        v.add(wide(&all.items::<[f32; 4]>(Buffer::TargetOffset)[i]) * f64::from(s.slope));
        let exact = |value: Vec3| Sum { value, size: 0.0 };
        let at = (size_of::<Motion>() / 4) * i;
        motions.vector(all, at, &v);
        motions.vector(all, at + 4, &exact(wide(&m.velocity)));
        motions.vector(all, at + 8, &exact(d));
        [3, 7, 11].into_iter().for_each(|pad| motions.number(all, at + pad, 0.0, 0.0));
        move_by(all, &mut places, i, d);
    }
    [places.done(), motions.done()].concat()
}

/// `moved_by` of shared/place.wgsl, in single precision as there.
fn move_by(all: &mut Contents, places: &mut Output, i: usize, d: Vec3) {
    let vertex = all.items::<Vertex>(Buffer::Vertices)[i];
    let (low, at) = (wide(&vertex.low), (size_of::<Vertex>() / 4) * i);
    // low + d is rounded once, the sum with the position not at all
    let added = (low + d).map(|c| f64::from(c as f32));
    for axis in 0..3 {
        let before = f64::from(vertex.position[axis]);
        let high = f64::from((before + added[axis]) as f32);
        places.number(all, at + axis, high, 0.0);
        // both differences are exact, the sum of position and way need not be
        places.number(all, at + 4 + axis, added[axis] - (high - before), 0.0);
    }
}

/// Twin of `offset_positions`.
pub fn offset_positions(all: &mut Contents, _: &Call) -> Magnitudes {
    let mut places = Output::to(all, Buffer::Vertices);
    for i in 0..sizes(all).vertices as usize {
        let d = wide(&all.items::<[f32; 4]>(Buffer::Iterate)[i]);
        move_by(all, &mut places, i, d);
    }
    places.done()
}

/// Twin of `offset_velocities`.
pub fn offset_velocities(all: &mut Contents, _: &Call) -> Magnitudes {
    let h = f64::from(step(all).h);
    let mut motions = Output::to(all, Buffer::Motions);
    for i in 0..sizes(all).vertices as usize {
        let (m, change) =
            (all.items::<Motion>(Buffer::Motions)[i], all.items::<[f32; 4]>(Buffer::Changes)[i]);
        for (part, before, factor) in
            [(0, m.velocity, 1.0), (4, m.velocity_before, 1.0), (8, m.last_displacement, h)]
        {
            let mut sum = Sum::default();
            sum.add(wide(&before));
            sum.add(wide(&change) * factor);
            motions.vector(all, (size_of::<Motion>() / 4) * i + part, &sum);
        }
    }
    motions.done()
}

/// Twin of `measure_damping`.
pub fn measure_damping(all: &mut Contents, _: &Call) -> Magnitudes {
    let s = step(all);
    let mut out = Output::to(all, Buffer::ExchangePartials);
    for chunk in 0..all.items::<Chunk>(Buffer::Chunks).len() {
        let (mut taken, mut size) = (0.0, 0.0);
        for i in vertices_of(all, chunk) {
            let motions = all.items::<Motion>(Buffer::Motions);
            let damped = |i: usize| match s.inertia {
                0.0 => wide(&motions[i].last_displacement) / f64::from(s.h),
                _ => {
                    let (v, before) = (wide(&motions[i].velocity), wide(&motions[i].velocity_before));
                    v + (before - v) * f64::from(s.start_share)
                }
            };
            let (d, v) = (wide(&motions[i].last_displacement), damped(i));
            // a mean may be smaller than its terms
            let of_before = |i: usize| f64::from(s.start_share) * wide(&motions[i].velocity_before).norm();
            let mut add = |work: f64, terms: f64| (taken, size) = (taken + work, size + terms);
            if s.mass_damping != 0.0 {
                let drag =
                    f64::from(s.mass_damping) * f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
                add(drag * d.dot(&v), drag * d.norm() * (v.norm() + 2.0 * of_before(i)));
            }
            if s.stiffness_damping != 0.0 {
                let damping = f64::from(s.stiffness_damping * all.items::<f32>(Buffer::Viscosity)[i]);
                for (j, l) in laplacian_row(all, i) {
                    let (dv, dd) = (damped(j) - v, d - wide(&motions[j].last_displacement));
                    let weight = 0.5 * damping * l;
                    let size = dv.norm() + 2.0 * (of_before(i) + of_before(j));
                    add(weight * dv.dot(&dd), weight.abs() * size * dd.norm());
                }
            }
        }
        let force = f64::from(s.damping_force);
        out.number(all, 4 * chunk, force * taken, force.abs() * size);
        (1..4).for_each(|slot| out.number(all, 4 * chunk + slot, 0.0, 0.0));
    }
    out.done()
}
