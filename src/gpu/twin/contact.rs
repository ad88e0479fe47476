//! Twins of the kernels that show surfaces to the host, and take its forces.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::solve::{packed, sum_chunks};
use super::{Output, Sum, sizes, step, wide};
use crate::Vec3;

/// Writes vectors of all watched vertices, one set after the other.
fn look<const K: usize>(
    all: &mut Contents,
    to: Buffer,
    of: impl Fn(&Contents, usize) -> [Sum; K],
) -> Magnitudes {
    let (mut out, count) = (Output::to(all, to), sizes(all).watched as usize);
    for k in 0..count {
        let vertex = all.items::<u32>(Buffer::Watched)[k] as usize;
        for (set, sum) in of(all, vertex).iter().enumerate() {
            out.vector(all, 3 * (set * count + k), sum);
        }
    }
    out.done()
}

/// A vector that is copied as it is.
fn copied(value: Vec3) -> Sum {
    Sum { value, size: 0.0 }
}

fn solution(all: &Contents, vertex: usize) -> Vec3 {
    packed(all, Buffer::FrontSolution, all.items::<u32>(Buffer::FrontPosition)[vertex] as usize)
}

/// Twin of `look_at_places`.
pub fn look_at_places(all: &mut Contents, _: &Call) -> Magnitudes {
    look(all, Buffer::Places, |all, vertex| {
        let vertex = &all.items::<Vertex>(Buffer::Vertices)[vertex];
        [copied(wide(&vertex.position)), copied(wide(&vertex.low))]
    })
}

/// Twin of `look_at_iterate`.
pub fn look_at_iterate(all: &mut Contents, _: &Call) -> Magnitudes {
    look(all, Buffer::Look, |all, vertex| {
        let d = wide(&all.items::<[f32; 4]>(Buffer::Iterate)[vertex]);
        let mut free = Sum::default();
        free.add(d);
        free.add(-solution(all, vertex));
        [free, copied(d)]
    })
}

/// Twin of `look_at_guess`.
pub fn look_at_guess(all: &mut Contents, _: &Call) -> Magnitudes {
    look(all, Buffer::Look, |all, vertex| [copied(wide(&all.items::<[f32; 4]>(Buffer::Iterate)[vertex])); 2])
}

/// Twin of `look_at_solution`.
pub fn look_at_solution(all: &mut Contents, _: &Call) -> Magnitudes {
    look(all, Buffer::Look, |all, vertex| [copied(solution(all, vertex))])
}

/// Twin of `scatter_loads`.
pub fn scatter_loads(all: &mut Contents, _: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Gradient);
    let loads = all.items::<Load>(Buffer::Loads).to_vec();
    for load in loads.iter().skip(1).take(loads[0].vertex as usize) {
        out.vector(all, 3 * load.vertex as usize, &copied(wide(&load.force)));
    }
    out.done()
}

/// Twin of `push_loads`.
pub fn push_loads(all: &mut Contents, _: &Call) -> Magnitudes {
    let h = f64::from(step(all).h);
    let loads = all.items::<Load>(Buffer::Loads).to_vec();
    let mut written = Vec::new();
    for buffer in [Buffer::Iterate, Buffer::TargetOffset] {
        let mut out = Output::to(all, buffer);
        for load in loads.iter().skip(1).take(loads[0].vertex as usize) {
            let i = load.vertex as usize;
            let mut way = Sum::default();
            way.add(wide(&all.items::<[f32; 4]>(buffer)[i]));
            way.add(wide(&load.force) * (h * h / f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass)));
            out.vector(all, 4 * i, &way);
            out.number(all, 4 * i + 3, 0.0, 0.0);
        }
        written.extend(out.done());
    }
    written
}

/// Twin of `measure_constrained_gradient`.
pub fn measure_constrained_gradient(all: &mut Contents, _: &Call) -> Magnitudes {
    sum_chunks(all, |all, i| {
        let [g, f] = [Buffer::Gradient, Buffer::ContactGradient].map(|buffer| packed(all, buffer, i));
        let size = g.norm() + f.norm();
        [((g + f).norm_squared(), size * size)]
    })
}

/// Twin of `measure_step_energy`.
pub fn measure_step_energy(all: &mut Contents, _: &Call) -> Magnitudes {
    let Step { slope, gravity, .. } = step(all);
    let (slope, gravity) = (f64::from(slope), wide(&gravity));
    sum_chunks(all, |all, i| {
        let mass = f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
        let d = wide(&all.items::<[f32; 4]>(Buffer::Iterate)[i]);
        let before = wide(&all.items::<Motion>(Buffer::Motions)[i].velocity);
        let energy = f64::from(all.items::<f32>(Buffer::Energies)[i]);
        let kinetic = [d * slope, before].map(|v| 0.5 * mass * v.norm_squared());
        let fall = mass * gravity.dot(&d);
        [
            (energy, energy.abs()),
            (kinetic[0], kinetic[0]),
            (kinetic[1], kinetic[1]),
            (fall, mass * gravity.norm() * d.norm()),
        ]
    })
}
