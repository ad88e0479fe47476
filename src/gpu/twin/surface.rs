//! Triangles, springs, bending stencils and attachments.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::law::{law_of, terms};
use super::{NO_MINIMUM, Output, Sum, is_over, sizes, step, wide};
use crate::Vec3;
use crate::model::law::stretches::Stretches;
use crate::model::{BendingElement, Element, SpringElement, Stencil, TriangleElement, TriangleLaw};
use nalgebra::Matrix2;

/// Relative ulp of single precision.
const EPSILON: f64 = f32::EPSILON as f64;

/// Twin of `project_triangle`.
pub fn project_triangle(all: &mut Contents, _call: &Call) -> Magnitudes {
    if is_over(all) {
        return Vec::new();
    }
    let mut out = Output::to(all, Buffer::Rows);
    let (step, first) = (step(all), sizes(all).triangle_rows as usize);
    let (damped, b) = (f64::from(step.viscous), f64::from(step.projection));
    for (number, triangle) in all.items::<Triangle>(Buffer::Triangles).to_vec().iter().enumerate() {
        let (element, x, size) = strained(all, triangle, Some(f64::from(step.share)));
        let f = element.deformation(&x);
        let p = element.project(f);
        // F has the rounding error of `size`; P up to clamp(σ₂)/σ₂ times as much, since its second direction is
        // arbitrary as σ₂ vanishes, but at most its own size
        let [stretch, closest] = [least_stretch(f), least_stretch(p)];
        let turn = match element.law {
            TriangleLaw::Limits(_) => {
                (size * closest / stretch.max(f64::MIN_POSITIVE)).min(closest / EPSILON)
            }
            TriangleLaw::Plane { .. } => turned(&element, f, size),
        };
        let length = (p[0].norm_squared() + p[1].norm_squared()).sqrt();
        let [_, first_edge, second_edge] =
            triangle.vertices.map(|v| moved(all, v, triangle.vertices[0], &step));
        let u = [Vec3::zeros(), first_edge, second_edge];
        let inverse = element.inverse_rest;
        let change = first_edge.norm() * (inverse.m11.abs() + inverse.m12.abs())
            + second_edge.norm() * (inverse.m21.abs() + inverse.m22.abs());
        let stress = element.weight * (damped * change + b * (size + length + turn));
        let part = shared(strain_energy(&element, &x, size + length, size), 3);
        let operator = element.operator();
        let sizes: [f64; 3] = std::array::from_fn(|k| stress * (operator[0][k].abs() + operator[1][k].abs()));
        let viscous = element.gradient(&u, damped, 0.0);
        for (k, elastic) in element.gradient(&x, b, b).into_iter().enumerate() {
            let value = elastic + viscous[k];
            let size = if k == 0 { sizes[1] + sizes[2] } else { sizes[k] };
            row(&mut out, all, first + 3 * number + k, &Sum { value, size }, part);
        }
    }
    out.done()
}

/// Twin of `project_spring`.
pub fn project_spring(all: &mut Contents, _call: &Call) -> Magnitudes {
    if is_over(all) {
        return Vec::new();
    }
    let mut out = Output::to(all, Buffer::Rows);
    let (step, first) = (step(all), sizes(all).spring_rows as usize);
    let (damped, b) = (f64::from(step.viscous), f64::from(step.projection));
    for (number, spring) in all.items::<Spring>(Buffer::Springs).to_vec().iter().enumerate() {
        let extent = edge(all, spring.vertices[0], spring.vertices[1], Some(f64::from(step.share)));
        let (element, stiffness) = (spring_element(spring), f64::from(spring.stiffness));
        // an error of the extent rotates the direction the more, the shorter it is
        let turn = (extent.size / extent.value.norm().max(f64::MIN_POSITIVE)).min(1.0 / EPSILON);
        let change = moved(all, spring.vertices[0], spring.vertices[1], &step);
        let size = stiffness * (damped * change.norm() + b * (extent.size + element.length * (1.0 + turn)));
        let ends = [extent.value, Vec3::zeros()];
        let part = shared(energy(stiffness, element.energy(&ends), extent.size + element.length), 2);
        for (k, elastic) in element.gradient(&ends, b, b).into_iter().enumerate() {
            let viscous = change * (stiffness * damped);
            let value = if k == 0 { elastic + viscous } else { elastic - viscous };
            row(&mut out, all, first + 2 * number + k, &Sum { value, size }, part);
        }
    }
    out.done()
}

/// Twin of `project_bending`.
pub fn project_bending(all: &mut Contents, _call: &Call) -> Magnitudes {
    if is_over(all) {
        return Vec::new();
    }
    let mut out = Output::to(all, Buffer::Rows);
    let (step, first) = (step(all), sizes(all).bending_rows as usize);
    let (damped, b) = (f64::from(step.viscous), f64::from(step.projection));
    for bending in all.items::<Bending>(Buffer::Bendings).to_vec() {
        let (element, x, size) = bent(all, &bending, Some(f64::from(step.share)));
        let turn = (size / element.curvature(&x).norm().max(f64::MIN_POSITIVE)).min(1.0 / EPSILON);
        let whole = energy(element.weight, element.energy(&x), size + element.rest_curvature);
        let part = shared(whole, element.coefficients.len());
        let corners =
            &all.items::<Entry>(Buffer::BendingCorners)[bending.first as usize..bending.end as usize];
        let changes =
            corners.iter().map(|c| moved(all, c.index, corners[0].index, &step) * f64::from(c.value));
        let changes: Vec<Vec3> = changes.collect();
        let change_size: f64 = changes.iter().map(|change| change.norm()).sum();
        let size =
            element.weight * (damped * change_size + b * (size + element.rest_curvature * (1.0 + turn)));
        let viscous = changes.iter().sum::<Vec3>() * (element.weight * damped);
        let stress = element.stress(&x, b, b) + viscous;
        // the first coefficient is minus the sum of the others, and equally accurate
        let whole: f64 = element.coefficients.iter().map(|c| c.abs()).sum();
        for (k, c) in element.coefficients.iter().enumerate() {
            let size = size * if k == 0 { whole } else { c.abs() };
            row(&mut out, all, first + bending.first as usize + k, &Sum { value: stress * *c, size }, part);
        }
    }
    out.done()
}

/// Twin of `project_attachment`.
pub fn project_attachment(all: &mut Contents, _call: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Rows);
    let (step, first) = (step(all), sizes(all).attachment_rows as usize);
    let (b, share) = (f64::from(step.projection), f64::from(step.share));
    for (number, attachment) in all.items::<Attachment>(Buffer::Attachments).to_vec().iter().enumerate() {
        let (mut pull, travel) = held(all, number, attachment);
        pull.add(wide(&all.items::<[f32; 4]>(Buffer::Iterate)[attachment.vertex as usize]) * share);
        pull.add(travel * -share);
        let stiffness = b * f64::from(attachment.stiffness);
        let force = Sum { value: pull.value * stiffness, size: pull.size * stiffness };
        row(&mut out, all, first + number, &force, (0.0, 0.0));
    }
    out.done()
}

/// Twin of `observe_triangle`.
pub fn observe_triangle(all: &mut Contents, _call: &Call) -> Magnitudes {
    let energies = all.items::<Triangle>(Buffer::Triangles).iter().map(|triangle| {
        let (element, x, size) = strained(all, triangle, None);
        let p = element.project(element.deformation(&x));
        let length = (p[0].norm_squared() + p[1].norm_squared()).sqrt();
        strain_energy(&element, &x, size + length, size).gaining(triangle.stiffening_gain)
    });
    let energies: Vec<_> = energies.collect();
    observe_blocks(all, sizes(all).triangle_partials, &energies)
}

/// Twin of `observe_spring`.
pub fn observe_spring(all: &mut Contents, _call: &Call) -> Magnitudes {
    let energies = all.items::<Spring>(Buffer::Springs).iter().map(|spring| {
        let extent = edge(all, spring.vertices[0], spring.vertices[1], None);
        let element = spring_element(spring);
        let value = element.energy(&[extent.value, Vec3::zeros()]);
        energy(f64::from(spring.stiffness), value, extent.size + element.length)
            .gaining(spring.stiffening_gain)
    });
    let energies: Vec<_> = energies.collect();
    observe_blocks(all, sizes(all).spring_partials, &energies)
}

/// Twin of `observe_bending`.
pub fn observe_bending(all: &mut Contents, _call: &Call) -> Magnitudes {
    let energies = all.items::<Bending>(Buffer::Bendings).iter().map(|bending| {
        let (element, x, size) = bent(all, bending, None);
        energy(element.weight, element.energy(&x), size + element.rest_curvature)
            .gaining(bending.stiffening_gain)
    });
    let energies: Vec<_> = energies.collect();
    observe_blocks(all, sizes(all).bending_partials, &energies)
}

/// Twin of `observe_attachment`.
pub fn observe_attachment(all: &mut Contents, _call: &Call) -> Magnitudes {
    let attachments = all.items::<Attachment>(Buffer::Attachments).iter().enumerate();
    let energies = attachments.map(|(number, attachment)| {
        let (mut pull, travel) = held(all, number, attachment);
        pull.add(-travel);
        let stiffness = f64::from(attachment.stiffness);
        energy(stiffness, 0.5 * stiffness * pull.value.norm_squared(), pull.size)
    });
    let energies: Vec<_> = energies.collect();
    observe_blocks(all, sizes(all).attachment_partials, &energies)
}

/// Twin of `measure_work`.
pub fn measure_work(all: &mut Contents, _call: &Call) -> Magnitudes {
    let share = f64::from(step(all).share);
    let attachments = all.items::<Attachment>(Buffer::Attachments).iter().enumerate();
    let work = attachments.map(|(number, attachment)| {
        // x_e − T_e, x_e between x' and the start of the step
        let (mut pull, travel) = held(all, number, attachment);
        pull.add(travel * -share);
        let motion = &all.items::<Motion>(Buffer::Motions)[attachment.vertex as usize];
        pull.add(wide(&motion.last_displacement) * (share - 1.0));
        let stiffness = f64::from(attachment.stiffness);
        (-stiffness * pull.value.dot(&travel), stiffness * pull.size * travel.norm())
    });
    let work: Vec<_> = work.collect();
    let mut out = Output::to(all, Buffer::ExchangePartials);
    for (block, work) in work.chunks(BLOCK as usize).enumerate() {
        let first = 4 * (sizes(all).chunks as usize + block);
        let (value, size) = work.iter().fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1));
        for (slot, (value, size)) in [(0.0, 0.0), (value, size), (0.0, 0.0), (0.0, 0.0)].iter().enumerate() {
            out.number(all, first + slot, *value, *size);
        }
    }
    out.done()
}

/// Writes a row: the gradient, and the corner's share of an energy and of its magnitude (J).
fn row(out: &mut Output, all: &mut Contents, number: usize, sum: &Sum, part: (f64, f64)) {
    out.vector(all, 4 * number, sum);
    out.number(all, 4 * number + 3, part.0, part.1);
}

/// An energy and its magnitude, shared equally by the corners.
fn shared(energy: Energy, corners: usize) -> (f64, f64) {
    (energy.value / corners as f64, energy.size / corners as f64)
}

/// Energy of an element (J), its magnitude, and the fraction gained by the last stiffness change.
struct Energy {
    value: f64,
    size: f64,
    gained: f64,
}

impl Energy {
    fn gaining(self, share: f32) -> Self {
        Energy { gained: f64::from(share), ..self }
    }
}

/// Sums energies by blocks into the partial sums starting at `first`.
fn observe_blocks(all: &mut Contents, first: u32, energies: &[Energy]) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Partials);
    for (block, energies) in energies.chunks(BLOCK as usize).enumerate() {
        let at = SLOTS * (first as usize + block);
        (0..SLOTS - 1).for_each(|slot| out.number(all, at + slot, 0.0, 0.0));
        let (mut stored, mut gained) = ((0.0, 0.0), (0.0, 0.0));
        for e in energies {
            stored = (stored.0 + e.value, stored.1 + e.size);
            gained = (gained.0 + e.gained * e.value, gained.1 + e.gained.abs() * e.size);
        }
        out.number(all, at, stored.0, stored.1);
        out.number(all, at + 2, gained.0, gained.1);
        out.number(all, at + SLOTS - 1, NO_MINIMUM, 0.0);
    }
    out.done()
}

/// Energy w/2 δ² (J) and its magnitude, δ a difference of terms of size `of`: an error ε · `of` of δ changes it by w δ
/// ε · `of`, and by the square of that where δ vanishes.
fn energy(weight: f64, value: f64, of: f64) -> Energy {
    let excess = (2.0 * value / weight.max(f64::MIN_POSITIVE)).sqrt();
    Energy { value, size: weight * of * (excess + 8.0 * EPSILON * of), gained: 0.0 }
}

/// x_a − x_b (m) at x_n + `share` d, or at x_n; as differences of the parts, so that tiny elements far from the origin
/// keep their digits.
fn edge(all: &Contents, a: u32, b: u32, share: Option<f64>) -> Sum {
    let vertices = all.items::<Vertex>(Buffer::Vertices);
    let (from, to) = (&vertices[b as usize], &vertices[a as usize]);
    let mut sum = Sum::default();
    sum.add(wide(&to.position) - wide(&from.position));
    sum.add(wide(&to.low) - wide(&from.low));
    if let Some(share) = share {
        let iterate = all.items::<[f32; 4]>(Buffer::Iterate);
        sum.add((wide(&iterate[a as usize]) - wide(&iterate[b as usize])) * share);
    }
    sum
}

/// By how much x_a − x_b changes from x_n to x_e (m).
fn moved(all: &Contents, a: u32, b: u32, step: &Step) -> Vec3 {
    let iterate = all.items::<[f32; 4]>(Buffer::Iterate);
    (wide(&iterate[a as usize]) - wide(&iterate[b as usize])) * f64::from(step.share)
}

/// A triangle with corners 0, 1, 2, their positions relative to the first (m), and the magnitude of F.
fn strained(all: &Contents, triangle: &Triangle, share: Option<f64>) -> (TriangleElement, [Vec3; 3], f64) {
    let [b00, b01, b10, b11] = triangle.inverse_rest.map(f64::from);
    let element = TriangleElement {
        vertices: [0, 1, 2],
        inverse_rest: Matrix2::new(b00, b01, b10, b11),
        weight: f64::from(triangle.weight),
        law: match (triangle.limits.map(f64::from), triangle.law) {
            (limits, law::PROJECTIVE) => TriangleLaw::Limits(limits),
            ([lambda, mu], number) => TriangleLaw::Plane { law: law_of(all, number), lambda, mu },
        },
        volume: 0.0, // not used by kernels
    };
    let [first, second] = [1, 2].map(|k| edge(all, triangle.vertices[k], triangle.vertices[0], share));
    let size = first.size * (b00.abs() + b01.abs()) + second.size * (b10.abs() + b11.abs());
    (element, [Vec3::zeros(), first.value, second.value], size)
}

/// Effect of the rounding of F on its stress over w: through the law and the stretches, and through rotation where a
/// stretch vanishes, as with limits.
fn turned(element: &TriangleElement, f: [Vec3; 2], size: f64) -> f64 {
    let TriangleLaw::Plane { law, lambda, mu } = &element.law else { return 0.0 };
    let sigma = Stretches::<2>::of_sheet(f).sigma;
    let made = terms(law, sigma.map(|s| s - 1.0), *mu, *lambda).1;
    let stress = law.principal(sigma, *mu, *lambda).stress;
    let turn = |k: usize| {
        let length = stress[k].abs();
        (size * length / sigma[k].max(f64::MIN_POSITIVE)).min(length / EPSILON)
    };
    let here = law.energy_and_stress_of_sheet(f, *mu, *lambda).1;
    let moved = shaken(f, size, |f| {
        let there = law.energy_and_stress_of_sheet(f, *mu, *lambda).1;
        (there[0] - here[0]).norm() + (there[1] - here[1]).norm()
    });
    made[0] + made[1] + turn(0) + turn(1) + moved
}

/// Sensitivity of a number to rounding of the entries of F, in ulps.
fn shaken(f: [Vec3; 2], size: f64, change: impl Fn([Vec3; 2]) -> f64) -> f64 {
    let step = 8.0 * EPSILON * size;
    let changed = |entry: usize| {
        let mut f = f;
        f[entry / 3][entry % 3] += step;
        change(f).abs()
    };
    (0..6).map(changed).sum::<f64>() / (8.0 * EPSILON)
}

/// Energy of a triangle (J) and its magnitude: F has terms of size `size`, F − P of size `of`.
fn strain_energy(element: &TriangleElement, x: &[Vec3; 3], of: f64, size: f64) -> Energy {
    let value = element.energy(x);
    let TriangleLaw::Plane { law, lambda, mu } = &element.law else {
        return energy(element.weight, value, of);
    };
    let f = element.deformation(x);
    let made = terms(law, Stretches::<2>::of_sheet(f).sigma.map(|s| s - 1.0), *mu, *lambda).0;
    let at = |f| law.energy_and_stress_of_sheet(f, *mu, *lambda).0;
    let here = at(f);
    let size = element.weight * (made + shaken(f, size, |f| at(f) - here));
    Energy { value, size, gained: 0.0 }
}

/// The smaller singular value of F.
fn least_stretch(f: [Vec3; 2]) -> f64 {
    // |f₀ × f₁| = σ₁ σ₂ keeps the digits that σ₁² − (σ₁² − σ₂²) would lose
    let (c00, c01, c11) = (f[0].norm_squared(), f[0].dot(&f[1]), f[1].norm_squared());
    let greater = (0.5 * (c00 + c11) + (0.5 * (c00 - c11)).hypot(c01)).sqrt();
    if greater > 0.0 { f[0].cross(&f[1]).norm() / greater } else { 0.0 }
}

fn spring_element(spring: &Spring) -> SpringElement {
    let length = f64::from(spring.length);
    SpringElement {
        vertices: [0, 1],
        length,
        weight: f64::from(spring.stiffness),
        rest_direction: wide(&spring.rest_direction),
    }
}

/// A stencil with corners numbered from 0, their positions relative to the first (m), and the magnitude of its
/// curvature (1/m).
fn bent(all: &Contents, bending: &Bending, share: Option<f64>) -> (BendingElement, Vec<Vec3>, f64) {
    let corners = &all.items::<Entry>(Buffer::BendingCorners)[bending.first as usize..bending.end as usize];
    let edges: Vec<Sum> = corners.iter().map(|c| edge(all, c.index, corners[0].index, share)).collect();
    let element = BendingElement {
        vertices: (0..corners.len() as u32).collect(),
        coefficients: corners.iter().map(|c| f64::from(c.value)).collect(),
        weight: f64::from(bending.weight),
        rest_curvature: f64::from(bending.rest_curvature),
        rest_direction: wide(&bending.rest_direction),
    };
    let size = edges.iter().zip(&element.coefficients).map(|(edge, c)| edge.size * c.abs()).sum();
    (element, edges.iter().map(|edge| edge.value).collect(), size)
}

/// From an attachment's target to its vertex, and the target's displacement in the step (m).
pub(super) fn held(all: &Contents, number: usize, attachment: &Attachment) -> (Sum, Vec3) {
    let vertex = &all.items::<Vertex>(Buffer::Vertices)[attachment.vertex as usize];
    let point: Point = all.small(Buffer::Points, number);
    let mut sum = Sum::default();
    sum.add(wide(&vertex.position) - wide(&point.position));
    sum.add(wide(&vertex.low) - wide(&point.low));
    (sum, wide(&point.travel))
}
