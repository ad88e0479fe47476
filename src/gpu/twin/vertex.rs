//! Twins of the kernels over vertices: inertia, gradient, global step, advance.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::{Output, Sum, place, sizes, step, wide};
use crate::Vec3;
use std::ops::Range;

/// The off-diagonal entries of row `i` of L.
fn laplacian_row(all: &Contents, i: usize) -> impl Iterator<Item = (usize, f64)> {
    let starts = all.items::<u32>(Buffer::LaplacianStarts);
    let range = starts[i] as usize..starts[i + 1] as usize;
    all.items::<Entry>(Buffer::LaplacianEntries)[range].iter().map(|e| (e.index as usize, f64::from(e.value)))
}

fn packed(all: &Contents, buffer: Buffer, i: usize) -> Vec3 {
    wide(&all.items::<f32>(buffer)[3 * i..3 * i + 3])
}

fn vertices_of(all: &Contents, chunk: usize) -> Range<usize> {
    let chunk = all.items::<Chunk>(Buffer::Chunks)[chunk];
    chunk.first as usize..chunk.end as usize
}

/// Writes sums over chunks of vertices to the partial sums: `terms(i)` are vertex i's values and their sizes.
fn sum_chunks<const K: usize>(
    all: &mut Contents,
    terms: impl Fn(&Contents, usize) -> [(f64, f64); K],
) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Partials);
    for chunk in 0..all.items::<Chunk>(Buffer::Chunks).len() {
        let mut sums = [(0.0, 0.0); SLOTS];
        for i in vertices_of(all, chunk) {
            for (sum, (value, size)) in sums.iter_mut().zip(terms(all, i)) {
                *sum = (sum.0 + value, sum.1 + size);
            }
        }
        sums[SLOTS - 1] = (f64::from(LARGEST), 0.0);
        for (slot, (value, size)) in sums.into_iter().enumerate() {
            out.number(all, SLOTS * chunk + slot, value, size);
        }
    }
    out.done()
}

/// What stands in the slot of the minimum where there is none, as in `shaders/shared/reduce.wgsl`.
const LARGEST: f32 = 3.4e38;

/// Twin of `predict`.
pub fn predict(all: &mut Contents, _: &Call) -> Magnitudes {
    let s = step(all);
    let (mut iterate, mut target) = (Output::to(all, Buffer::Iterate), Output::to(all, Buffer::Target));
    let mut excess = Output::to(all, Buffer::Excess);
    for i in 0..sizes(all).vertices as usize {
        let m = all.items::<Motion>(Buffer::Motions)[i];
        let mut d = Sum::default();
        d.add(wide(&m.moved) * f64::from(s.target_moved));
        d.add(wide(&m.velocity) * f64::from(s.target_velocity));
        d.add(wide(&m.velocity_before) * f64::from(s.target_velocity_before));
        d.add(wide(&s.gravity) * f64::from(s.target_acceleration));
        let mut t = d;
        let weight = f64::from(s.dissipation);
        if s.mass_damping != 0.0 {
            let drag = -weight * f64::from(s.mass_damping);
            let drift = drift(&s, &m);
            t.add_sized(drift.value * drag, drift.size * drag.abs());
        }
        if s.stiffness_damping != 0.0 {
            let known = known(all, i);
            let factor =
                -weight * f64::from(s.stiffness_damping / all.items::<Vertex>(Buffer::Vertices)[i].mass);
            t.add_sized(known.value * factor, known.size * factor.abs());
        }
        iterate.vector(all, 4 * i, &d);
        target.vector(all, 4 * i, &t);
        iterate.number(all, 4 * i + 3, 0.0, 0.0);
        target.number(all, 4 * i + 3, 0.0, 0.0);
        (0..4).for_each(|k| excess.number(all, 4 * i + k, 0.0, 0.0));
    }
    [iterate.done(), target.done(), excess.done()].concat()
}

/// v'(y).
fn drift(s: &Step, m: &Motion) -> Sum {
    let (v, before) = (wide(&m.velocity), wide(&m.velocity_before));
    let mut sum = Sum::default();
    sum.add(v);
    sum.add_sized(
        (before - v) * f64::from(s.drift_before),
        (before.norm() + v.norm()) * f64::from(s.drift_before.abs()),
    );
    let last = wide(&m.moved) / f64::from(s.h);
    sum.add_sized(
        (last - v) * f64::from(s.drift_moved),
        (last.norm() + v.norm()) * f64::from(s.drift_moved.abs()),
    );
    sum.add(wide(&s.gravity) * f64::from(s.drift_acceleration));
    sum
}

/// L(known_position x_n + known_moved moved + known_velocity v) at vertex i.
fn known(all: &Contents, i: usize) -> Sum {
    let s = step(all);
    let (vertices, motions) = (all.items::<Vertex>(Buffer::Vertices), all.items::<Motion>(Buffer::Motions));
    let mut sum = Sum::default();
    for (j, l) in laplacian_row(all, i) {
        sum.add((place(&vertices[j]) - place(&vertices[i])) * (l * f64::from(s.known_position)));
        // single precision takes differences of rounded velocities: of the size of the velocities themselves
        let pairs = [
            (motions[i].moved, motions[j].moved, s.known_moved),
            (motions[i].velocity, motions[j].velocity, s.known_velocity),
        ];
        for (here, there, factor) in pairs {
            sum.add((wide(&there) - wide(&here)) * (l * f64::from(factor)));
        }
    }
    sum
}

/// Twin of `gather_gradient`.
pub fn gather_gradient(all: &mut Contents, _: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Gradient);
    for i in 0..sizes(all).vertices as usize {
        let starts = all.items::<u32>(Buffer::GatherStarts);
        let own = &all.items::<u32>(Buffer::GatherRows)[starts[i] as usize..starts[i + 1] as usize];
        let rows = all.items::<[f32; 4]>(Buffer::Rows);
        let mut sum = Sum::default();
        own.iter().for_each(|&row| sum.add(wide(&rows[row as usize])));
        let inertia = f64::from(step(all).inertia) * f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
        sum.add(wide(&all.items::<[f32; 4]>(Buffer::Iterate)[i]) * inertia);
        sum.add(wide(&all.items::<[f32; 4]>(Buffer::Target)[i]) * -inertia);
        out.vector(all, 3 * i, &sum);
    }
    out.done()
}

/// Twin of `measure_gradient`.
pub fn measure_gradient(all: &mut Contents, _: &Call) -> Magnitudes {
    sum_chunks(all, |all, i| {
        let square = packed(all, Buffer::Gradient, i).norm_squared();
        [(square, square)]
    })
}

/// Twin of `reduce_gradient`.
pub fn reduce_gradient(all: &mut Contents, _: &Call) -> Magnitudes {
    let partials = &all.items::<[f32; SLOTS]>(Buffer::Partials)[..sizes(all).chunks as usize];
    let (total, size) = partials.iter().fold((0.0, 0.0), |(sum, size), partial| {
        let value = f64::from(partial[0]);
        (sum + value, size + value.abs())
    });
    let last = f64::from(all.items::<f32>(Buffer::Report)[5]);
    let mut out = Output::to(all, Buffer::Report);
    out.number(all, 4, last, 0.0);
    out.number(all, 5, total, size);
    out.done()
}

/// (A s)_i and A_ii, each with the size of its terms.
fn metric_row(all: &Contents, s: Buffer, i: usize) -> (Sum, f64, f64) {
    let numbers = step(all);
    let vertex = all.items::<Vertex>(Buffer::Vertices)[i];
    let own = f64::from(numbers.inertia) * f64::from(vertex.mass)
        + f64::from(numbers.holding) * f64::from(vertex.held);
    let here = packed(all, s, i);
    let mut product = Sum::default();
    product.add(here * own);
    let (mut diagonal, mut size) = (own, own);
    for (j, l) in laplacian_row(all, i) {
        let l = l * f64::from(numbers.laplacian);
        product.add((packed(all, s, j) - here) * l);
        (diagonal, size) = (diagonal - l, size + l.abs());
    }
    (product, diagonal, size)
}

/// Twin of `chebyshev_update`.
pub fn chebyshev_update(all: &mut Contents, call: &Call) -> Magnitudes {
    let inner = all.items::<Inner>(Buffer::Inner)[call.series];
    let (here, before) = (call.at(Buffer::Correction), call.at(Buffer::CorrectionBefore));
    let mut out = Output::to(all, before);
    let mut next = Vec::new();
    for i in 0..sizes(all).vertices as usize {
        let (product, diagonal, diagonal_size) = metric_row(all, here, i);
        let (s, s_before) = (packed(all, here, i), packed(all, before, i));
        let momentum = f64::from(inner.momentum);
        let mut sum = Sum::default();
        sum.add(s);
        sum.add_sized((s - s_before) * momentum, (s.norm() + s_before.norm()) * momentum.abs());
        let factor = f64::from(inner.step) / diagonal;
        let g = packed(all, Buffer::Gradient, i);
        // the quotient has the relative errors of both residual and diagonal
        let amplified = (diagonal_size / diagonal).abs();
        sum.add_sized((g - product.value) * factor, ((g.norm() + product.size) * factor).abs() * amplified);
        next.push(sum);
    }
    next.iter().enumerate().for_each(|(i, sum)| out.vector(all, 3 * i, sum));
    out.done()
}

/// Twin of `measure_residual`.
pub fn measure_residual(all: &mut Contents, _: &Call) -> Magnitudes {
    sum_chunks(all, |all, i| {
        let (product, ..) = metric_row(all, Buffer::Correction, i);
        let g = packed(all, Buffer::Gradient, i);
        let (r, size) = (g - product.value, g.norm() + product.size);
        let (numbers, vertex) = (step(all), all.items::<Vertex>(Buffer::Vertices)[i]);
        let own = f64::from(numbers.inertia) * f64::from(vertex.mass)
            + f64::from(numbers.holding) * f64::from(vertex.held);
        [(r.x, size), (r.y, size), (r.z, size), (own, own)]
    })
}

/// Twin of `reduce_residual`.
pub fn reduce_residual(all: &mut Contents, _: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Shifts);
    for body in 0..all.items::<[f32; 4]>(Buffer::Shifts).len() {
        let segment = all.items::<Segment>(Buffer::Segments)[body];
        let mut sum = Sum::default();
        let mut own = 0.0;
        for partial in
            &all.items::<[f32; SLOTS]>(Buffer::Partials)[segment.first as usize..segment.end as usize]
        {
            sum.add(wide(&partial[..3]));
            own += f64::from(partial[3]);
        }
        out.vector(all, 4 * body, &Sum { value: sum.value / own, size: sum.size / own.abs() });
        out.number(all, 4 * body + 3, 0.0, 0.0);
    }
    out.done()
}

/// Twin of `apply_correction`.
pub fn apply_correction(all: &mut Contents, _: &Call) -> Magnitudes {
    let buffers = [Buffer::Iterate, Buffer::Excess, Buffer::Correction, Buffer::CorrectionBefore];
    let [mut iterate, mut excess, mut correction, mut before] = buffers.map(|buffer| Output::to(all, buffer));
    for chunk in 0..all.items::<Chunk>(Buffer::Chunks).len() {
        let body = all.items::<Chunk>(Buffer::Chunks)[chunk].body as usize;
        for i in vertices_of(all, chunk) {
            let s = packed(all, Buffer::Correction, i);
            let shift = wide(&all.items::<[f32; 4]>(Buffer::Shifts)[body]);
            for (out, buffer) in [(&mut iterate, Buffer::Iterate), (&mut excess, Buffer::Excess)] {
                let mut way = Sum::default();
                way.add(wide(&all.items::<[f32; 4]>(buffer)[i]));
                way.add(-s);
                way.add(-shift);
                out.vector(all, 4 * i, &way);
                out.number(all, 4 * i + 3, 0.0, 0.0);
            }
            correction.vector(all, 3 * i, &Sum::default());
            before.vector(all, 3 * i, &Sum::default());
        }
    }
    [iterate.done(), excess.done(), correction.done(), before.done()].concat()
}

/// Twin of `advance`.
pub fn advance(all: &mut Contents, _: &Call) -> Magnitudes {
    let s = step(all);
    let (mut places, mut motions) = (Output::to(all, Buffer::Vertices), Output::to(all, Buffer::Motions));
    for i in 0..sizes(all).vertices as usize {
        let d = wide(&all.items::<[f32; 4]>(Buffer::Iterate)[i]);
        let m = all.items::<Motion>(Buffer::Motions)[i];
        let mut v = drift(&s, &m);
        v.add(wide(&all.items::<[f32; 4]>(Buffer::Excess)[i]) * f64::from(s.slope));
        let exact = |value: Vec3| Sum { value, size: 0.0 };
        let at = (size_of::<Motion>() / 4) * i;
        motions.vector(all, at, &v);
        motions.vector(all, at + 4, &exact(wide(&m.velocity)));
        motions.vector(all, at + 8, &exact(d));
        [3, 7, 11].into_iter().for_each(|pad| motions.number(all, at + pad, 0.0, 0.0));
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
    [places.done(), motions.done()].concat()
}

/// Twin of `measure_damping`.
pub fn measure_damping(all: &mut Contents, _: &Call) -> Magnitudes {
    let s = step(all);
    let mut out = Output::to(all, Buffer::ExchangePartials);
    for chunk in 0..all.items::<Chunk>(Buffer::Chunks).len() {
        let (mut taken, mut size) = (0.0, 0.0);
        for i in vertices_of(all, chunk) {
            let motions = all.items::<Motion>(Buffer::Motions);
            let (d, v) = (wide(&motions[i].moved), wide(&motions[i].velocity));
            let mut add = |work: f64, terms: f64| (taken, size) = (taken + work, size + terms);
            if s.mass_damping != 0.0 {
                let drag =
                    f64::from(s.mass_damping) * f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
                add(drag * d.dot(&v), drag * d.norm() * v.norm());
            }
            if s.stiffness_damping != 0.0 {
                for (j, l) in laplacian_row(all, i) {
                    let (dv, dd) = (wide(&motions[j].velocity) - v, d - wide(&motions[j].moved));
                    let weight = 0.5 * f64::from(s.stiffness_damping) * l;
                    add(weight * dv.dot(&dd), weight.abs() * dv.norm() * dd.norm());
                }
            }
        }
        let force = f64::from(s.damping_force);
        out.number(all, 4 * chunk, force * taken, force.abs() * size);
        (1..4).for_each(|slot| out.number(all, 4 * chunk + slot, 0.0, 0.0));
    }
    out.done()
}
