//! Twins of the kernels of the global step: gradient, inner iterations, correction.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::vertex::{laplacian_row, vertices_of};
use super::{NO_MINIMUM, Output, Sum, sizes, step, wide};
use crate::Vec3;

/// Three packed numbers of vertex i.
pub(super) fn packed(all: &Contents, buffer: Buffer, i: usize) -> Vec3 {
    wide(&all.items::<f32>(buffer)[3 * i..3 * i + 3])
}

/// Writes sums over vertex chunks to the partial sums: `terms(i)` are vertex i's values and magnitudes.
pub(super) fn sum_chunks<const K: usize>(
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
        sums[SLOTS - 1] = (NO_MINIMUM, 0.0);
        for (slot, (value, size)) in sums.into_iter().enumerate() {
            out.number(all, SLOTS * chunk + slot, value, size);
        }
    }
    out.done()
}

/// Row `number` (N) and the corner's part of the energy (J): four rows a tetrahedron, then the others'.
fn row(all: &Contents, number: usize) -> (Sum, f64) {
    let rows = all.items::<f32>(Buffer::Rows);
    let of_tets = 4 * sizes(all).tets as usize;
    let mut sum = Sum::default();
    if number >= of_tets {
        let first = 4 * (sizes(all).triangle_rows as usize + number - of_tets);
        sum.add(wide(&rows[first..]));
        return (sum, f64::from(rows[first + 3]));
    }
    let numbers = &rows[TET_NUMBERS as usize * (number / 4)..];
    match number % 4 {
        0 => (0..3).for_each(|corner| sum.add(-wide(&numbers[3 * corner..]))),
        corner => sum.add(wide(&numbers[3 * (corner - 1)..])),
    }
    (sum, 0.25 * f64::from(numbers[9]))
}

/// Twin of `gather_gradient`.
pub fn gather_gradient(all: &mut Contents, _: &Call) -> Magnitudes {
    let (mut out, mut energies) = (Output::to(all, Buffer::Gradient), Output::to(all, Buffer::Energies));
    for i in 0..sizes(all).vertices as usize {
        let starts = all.items::<u32>(Buffer::GatherStarts);
        let own = &all.items::<u32>(Buffer::GatherRows)[starts[i] as usize..starts[i + 1] as usize];
        let (mut sum, mut energy, mut energy_size) = (Sum::default(), 0.0, 0.0);
        for &number in own {
            let (row, part) = row(all, number as usize);
            sum.add_sized(row.value, row.size);
            energy += part;
            energy_size += part.abs();
        }
        let inertia = f64::from(step(all).inertia) * f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
        sum.add(wide(&all.items::<[f32; 4]>(Buffer::Iterate)[i]) * inertia);
        sum.add(wide(&all.items::<[f32; 4]>(Buffer::Target)[i]) * -inertia);
        out.vector(all, 3 * i, &sum);
        energies.number(all, i, energy, energy_size);
    }
    [out.done(), energies.done()].concat()
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

/// Twin of `reduce_stiffening`.
pub fn reduce_stiffening(all: &mut Contents, _: &Call) -> Magnitudes {
    let elements = sizes(all).tet_partials as usize..sizes(all).attachment_partials as usize;
    let before = f64::from(all.items::<f32>(Buffer::Report)[1]);
    let partials = &all.items::<[f32; SLOTS]>(Buffer::Partials)[elements];
    let (total, size) = partials.iter().fold((before, before.abs()), |(sum, size), partial| {
        let value = f64::from(partial[2]);
        (sum + value, size + value.abs())
    });
    let mut out = Output::to(all, Buffer::Report);
    out.number(all, 1, total, size);
    out.done()
}

/// (A s)_i and A_ii, each with the magnitude of its terms.
fn metric_row(all: &Contents, s: Buffer, i: usize) -> (Sum, f64, f64) {
    let numbers = step(all);
    let vertex = all.items::<Vertex>(Buffer::Vertices)[i];
    let own = f64::from(numbers.inertia) * f64::from(vertex.mass)
        + f64::from(numbers.attachment_weight) * f64::from(vertex.attachment_stiffness);
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
    let inner: Inner = all.small(Buffer::Inner, call.series);
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
        // the quotient inherits the relative errors of residual and diagonal
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
            + f64::from(numbers.attachment_weight) * f64::from(vertex.attachment_stiffness);
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
    let buffers = [Buffer::Iterate, Buffer::TargetOffset, Buffer::Correction, Buffer::CorrectionBefore];
    let [mut iterate, mut target_offset, mut correction, mut before] =
        buffers.map(|buffer| Output::to(all, buffer));
    for chunk in 0..all.items::<Chunk>(Buffer::Chunks).len() {
        let body = all.items::<Chunk>(Buffer::Chunks)[chunk].body as usize;
        for i in vertices_of(all, chunk) {
            let s = packed(all, Buffer::Correction, i);
            let shift = wide(&all.items::<[f32; 4]>(Buffer::Shifts)[body]);
            for (out, buffer) in [(&mut iterate, Buffer::Iterate), (&mut target_offset, Buffer::TargetOffset)]
            {
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
    [iterate.done(), target_offset.done(), correction.done(), before.done()].concat()
}
