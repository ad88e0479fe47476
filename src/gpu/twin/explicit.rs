//! Twins of the kernels of explicit steps, and of the force at the start of others.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::vertex::laplacian_row;
use super::{Output, Sum, sizes, step, wide};
use crate::Vec3;

fn packed(all: &Contents, buffer: Buffer, i: usize) -> Vec3 {
    wide(&all.items::<f32>(buffer)[3 * i..3 * i + 3])
}

fn gradient(all: &Contents, i: usize) -> Vec3 {
    packed(all, Buffer::Gradient, i)
}

/// target_acceleration g/m of vertex i.
fn pull(all: &Contents, i: usize) -> Vec3 {
    let mass = f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
    gradient(all, i) * (f64::from(step(all).target_acceleration) / mass)
}

/// Twin of `add_damping_force`.
pub fn add_damping_force(all: &mut Contents, _: &Call) -> Magnitudes {
    let s = step(all);
    let (on_velocity, on_way) = (f64::from(s.known_velocity), f64::from(s.known_displacement));
    let mut out = Output::to(all, Buffer::Gradient);
    for i in 0..sizes(all).vertices as usize {
        let (motions, ways) = (all.items::<Motion>(Buffer::Motions), all.items::<[f32; 4]>(Buffer::Iterate));
        let mut sum = Sum::default();
        sum.add(gradient(all, i));
        let drag = f64::from(s.mass_damping) * f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
        sum.add(wide(&motions[i].velocity) * (on_velocity * drag));
        sum.add(wide(&ways[i]) * (on_way * drag));
        if s.stiffness_damping != 0.0 {
            let damping = f64::from(s.stiffness_damping * all.items::<f32>(Buffer::Viscosity)[i]);
            for (j, l) in laplacian_row(all, i) {
                let faster = wide(&motions[j].velocity) - wide(&motions[i].velocity);
                let farther = wide(&ways[j]) - wide(&ways[i]);
                sum.add(faster * (on_velocity * damping * l));
                sum.add(farther * (on_way * damping * l));
            }
        }
        out.vector(all, 3 * i, &sum);
    }
    out.done()
}

/// Twin of `accelerate`.
pub fn accelerate(all: &mut Contents, _: &Call) -> Magnitudes {
    let s = step(all);
    let time = f64::from(s.filter_coefficient);
    let mut motions = Output::to(all, Buffer::Motions);
    for i in 0..sizes(all).vertices as usize {
        let mass = f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
        let mut sum = Sum::default();
        sum.add(wide(&all.items::<Motion>(Buffer::Motions)[i].velocity));
        sum.add(wide(&s.gravity) * time);
        sum.add(gradient(all, i) * (-time / mass));
        motions.vector(all, i * (size_of::<Motion>() / 4), &sum);
    }
    motions.done()
}

/// Twin of `drift`.
pub fn drift(all: &mut Contents, _: &Call) -> Magnitudes {
    let s = step(all);
    let (mut iterate, mut target_offset) =
        (Output::to(all, Buffer::Iterate), Output::to(all, Buffer::TargetOffset));
    for i in 0..sizes(all).vertices as usize {
        let mut pushed = Sum::default();
        pushed.add(-pull(all, i));
        let mut d = pushed;
        d.add(wide(&all.items::<Motion>(Buffer::Motions)[i].velocity) * f64::from(s.target_velocity));
        d.add(wide(&s.gravity) * f64::from(s.target_acceleration));
        iterate.vector(all, 4 * i, &d);
        target_offset.vector(all, 4 * i, &pushed);
        iterate.number(all, 4 * i + 3, 0.0, 0.0);
        target_offset.number(all, 4 * i + 3, 0.0, 0.0);
    }
    [iterate.done(), target_offset.done()].concat()
}

/// Twin of `kick`.
pub fn kick(all: &mut Contents, _: &Call) -> Magnitudes {
    let mut target_offset = Output::to(all, Buffer::TargetOffset);
    for i in 0..sizes(all).vertices as usize {
        let mut sum = Sum::default();
        sum.add(wide(&all.items::<[f32; 4]>(Buffer::TargetOffset)[i]));
        sum.add(-pull(all, i));
        target_offset.vector(all, 4 * i, &sum);
        target_offset.number(all, 4 * i + 3, 0.0, 0.0);
    }
    target_offset.done()
}

/// Twin of `add_start_force`.
pub fn add_start_force(all: &mut Contents, _: &Call) -> Magnitudes {
    let s = step(all);
    let [way, velocity, slope] = [s.target_force, s.velocity_force, s.slope].map(f64::from);
    let outputs = [Buffer::Iterate, Buffer::Target, Buffer::TargetOffset];
    let [mut iterate, mut target, mut target_offset] = outputs.map(|buffer| Output::to(all, buffer));
    let mass = |all: &Contents, i: usize| f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
    let acceleration =
        |all: &Contents, i: usize| packed(all, Buffer::StartGradient, i) * (-1.0 / mass(all, i));
    for i in 0..sizes(all).vertices as usize {
        let here = acceleration(all, i);
        let at = |buffer: Buffer| wide(&all.items::<[f32; 4]>(buffer)[i]);
        let [mut d, mut t, mut e] = [Sum::default(); 3];
        d.add(at(Buffer::Iterate));
        d.add(here * way);
        t.add(at(Buffer::Target));
        t.add(here * way);
        e.add(here * way);
        e.add(here * (velocity / slope));
        let weight = -f64::from(s.dissipation);
        if s.mass_damping != 0.0 {
            let drag = weight * f64::from(s.mass_damping);
            t.add(here * (drag * slope * way));
            t.add(here * (drag * velocity));
        }
        if s.stiffness_damping != 0.0 && velocity != 0.0 {
            let damping = s.stiffness_damping * all.items::<f32>(Buffer::Viscosity)[i];
            let drag = weight * velocity * f64::from(damping) / mass(all, i);
            for (j, l) in laplacian_row(all, i) {
                let there = acceleration(all, j);
                let size = (here.norm() + there.norm()) * (drag * l).abs();
                t.add_sized((there - here) * (drag * l), size);
            }
        }
        for (out, sum) in [(&mut iterate, &d), (&mut target, &t), (&mut target_offset, &e)] {
            out.vector(all, 4 * i, sum);
            out.number(all, 4 * i + 3, 0.0, 0.0);
        }
    }
    [iterate.done(), target.done(), target_offset.done()].concat()
}

/// Twin of `store_end_force`.
pub fn store_end_force(all: &mut Contents, _: &Call) -> Magnitudes {
    let s = step(all);
    let [way, velocity, slope, h] = [s.target_force, s.velocity_force, s.slope, s.h].map(f64::from);
    let weight = -1.0 / (f64::from(s.projection) * h * h);
    let mut out = Output::to(all, Buffer::StartGradient);
    for i in 0..sizes(all).vertices as usize {
        let mass = f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
        let mut sum = Sum::default();
        sum.add(wide(&all.items::<[f32; 4]>(Buffer::TargetOffset)[i]) * (weight * mass));
        sum.add(packed(all, Buffer::StartGradient, i) * (weight * (way + velocity / slope)));
        out.vector(all, 3 * i, &sum);
    }
    out.done()
}
