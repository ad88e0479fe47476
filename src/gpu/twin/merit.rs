//! Twins of the line-search kernels: partial corrections, Φ and its slope.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::solve::{packed, sum_chunks};
use super::surface::held;
use super::vertex::{laplacian_row, vertices_of};
use super::{Output, Sum, iteration_state, sizes, step, wide};

/// Twin of `move_iterate`.
pub fn move_iterate(all: &mut Contents, _: &Call) -> Magnitudes {
    let part = f64::from(step(all).correction_factor);
    let outputs = [Buffer::Iterate, Buffer::TargetOffset].map(|buffer| {
        let mut out = Output::to(all, buffer);
        for i in 0..sizes(all).vertices as usize {
            let mut way = Sum::default();
            way.add(wide(&all.items::<[f32; 4]>(buffer)[i]));
            way.add(packed(all, Buffer::Correction, i) * part);
            out.vector(all, 4 * i, &way);
            out.number(all, 4 * i + 3, 0.0, 0.0);
        }
        out.done()
    });
    outputs.concat()
}

/// Twin of `measure_merit`.
pub fn measure_merit(all: &mut Contents, _: &Call) -> Magnitudes {
    sum_chunks(all, |all, i| {
        let [d, target] =
            [Buffer::Iterate, Buffer::Target].map(|buffer| wide(&all.items::<[f32; 4]>(buffer)[i]));
        let inertia = f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass) * (d - target).norm_squared();
        let energy = f64::from(all.items::<f32>(Buffer::Energies)[i]);
        let [g, s] = [Buffer::Gradient, Buffer::Correction].map(|buffer| packed(all, buffer, i));
        let (size, squared) = (energy.abs(), g.norm_squared());
        let slope = (g.dot(&s), g.norm() * s.norm());
        [(inertia, inertia), (energy, size), (size, size), slope, (0.0, 0.0), (0.0, 0.0), (squared, squared)]
    })
}

/// Twin of `measure_strain`.
pub fn measure_strain(all: &mut Contents, _: &Call) -> Magnitudes {
    if iteration_state(all).done != 0 {
        return Vec::new();
    }
    let share = f64::from(step(all).share);
    let mut out = Output::to(all, Buffer::Partials);
    for chunk in 0..all.items::<Chunk>(Buffer::Chunks).len() {
        let [mut signed, mut whole, mut size] = [0.0; 3];
        for i in vertices_of(all, chunk) {
            let viscosity = f64::from(all.items::<f32>(Buffer::Viscosity)[i]);
            let ways = all.items::<[f32; 4]>(Buffer::Iterate);
            for (j, l) in laplacian_row(all, i) {
                let change = (wide(&ways[j]) - wide(&ways[i])) * share;
                let weight = -0.5 * viscosity * l;
                let term = weight * change.norm_squared();
                signed += term;
                whole += term.abs();
                size += term.abs();
            }
        }
        out.number(all, SLOTS * chunk + 4, signed, size);
        out.number(all, SLOTS * chunk + 5, whole, size);
    }
    out.done()
}

/// Twin of `measure_attachment_energy`.
pub fn measure_attachment_energy(all: &mut Contents, _: &Call) -> Magnitudes {
    let share = f64::from(step(all).share);
    let attachments = all.items::<Attachment>(Buffer::Attachments).iter().enumerate();
    let energies = attachments.map(|(number, attachment)| {
        let (mut pull, travel) = held(all, number, attachment);
        pull.add(
            (wide(&all.items::<[f32; 4]>(Buffer::Iterate)[attachment.vertex as usize]) - travel) * share,
        );
        let half = 0.5 * f64::from(attachment.stiffness);
        (half * pull.value.norm_squared(), half * pull.size * pull.size)
    });
    let energies: Vec<_> = energies.collect();
    let mut out = Output::to(all, Buffer::Partials);
    for (block, energies) in energies.chunks(BLOCK as usize).enumerate() {
        let (value, size) = energies.iter().fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1));
        out.number(all, SLOTS * (sizes(all).attachment_partials as usize + block), value, size);
    }
    out.done()
}

/// Twin of `reduce_merit`.
pub fn reduce_merit(all: &mut Contents, _: &Call) -> Magnitudes {
    let partials = all.items::<[f32; SLOTS]>(Buffer::Partials);
    let Sizes { chunks, attachment_partials, attachments, .. } = sizes(all);
    let blocks = attachment_partials..attachment_partials + attachments.div_ceil(BLOCK);
    let total = |range: std::ops::Range<u32>, slot: usize| {
        let terms = range.map(|k| f64::from(partials[k as usize][slot]));
        terms.fold((0.0, 0.0), |sum, term| (sum.0 + term, sum.1 + term.abs()))
    };
    let mut totals: Vec<(f64, f64)> = (0..6).map(|slot| total(0..chunks, slot)).collect();
    totals.push(total(blocks, 0));
    let mut out = Output::to(all, Buffer::Report);
    totals.iter().enumerate().for_each(|(k, (value, size))| out.number(all, 8 + k, *value, *size));
    out.done()
}
