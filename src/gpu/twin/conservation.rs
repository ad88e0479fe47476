//! Twins of the kernels of conservation that go through vertices and attachments.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::{conserved as flags, *};
use super::solve::packed;
use super::surface::held;
use super::vertex::vertices_of;
use super::whole::RelativeToRigid;
use super::{Output, Sum, sizes, step, wide};
use crate::Vec3;

/// Sums of a chunk, with the sizes of their terms.
#[derive(Default)]
struct Sums([[(f64, f64); 15]; 2]);

impl Sums {
    fn add(&mut self, record: usize, slot: usize, term: f64, size: f64) {
        let (value, whole) = &mut self.0[record][slot];
        (*value, *whole) = (*value + term, *whole + size);
    }

    fn add_vector(&mut self, record: usize, slot: usize, term: Vec3, size: f64) {
        (0..3).for_each(|axis| self.add(record, slot + axis, term[axis], size));
    }
}

/// Writes `counts` sums of every chunk to its two partial sums.
fn sum_chunks(
    all: &mut Contents,
    counts: [usize; 2],
    term: impl Fn(&Contents, usize, usize, &mut Sums),
) -> Magnitudes {
    let mut out = Output::to(all, Buffer::ConservationPartials);
    for number in 0..all.items::<Chunk>(Buffer::Chunks).len() {
        let (body, mut sums) = (all.items::<Chunk>(Buffer::Chunks)[number].body as usize, Sums::default());
        vertices_of(all, number).for_each(|i| term(all, body, i, &mut sums));
        for (record, count) in counts.into_iter().enumerate() {
            for slot in 0..count {
                let (value, size) = sums.0[record][slot];
                out.number(all, SLOTS * (2 * number + record) + slot, value, size);
            }
        }
    }
    out.done()
}

fn body_of(all: &Contents, body: usize) -> BodyAim {
    all.items::<BodyAim>(Buffer::BodyAims)[body]
}

fn conserved(all: &Contents, i: usize) -> ConservedVertex {
    all.items::<ConservedVertex>(Buffer::ConservedVertices)[i]
}

/// Twin of `measure_energy`.
pub fn measure_energy(all: &mut Contents, _: &Call) -> Magnitudes {
    sum_chunks(all, [2, 0], |all, body, i, sums| {
        let rigid: Rigid = all.small(Buffer::Rigids, body);
        let v = wide(&all.items::<Motion>(Buffer::Motions)[i].velocity);
        let beyond = v - wide(&rigid.base) - wide(&rigid.drift);
        let size = v.norm() + wide(&rigid.base).norm() + wide(&rigid.drift).norm();
        let half = 0.5 * f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
        sums.add(0, 0, half * beyond.norm_squared(), half * beyond.norm() * (beyond.norm() + 2.0 * size));
        let energy = f64::from(all.items::<f32>(Buffer::Energies)[i]);
        sums.add(0, 1, energy, energy.abs());
    })
}

/// Twin of `aim_attachment`.
pub fn aim_attachment(all: &mut Contents, _: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::AttachmentAims);
    for (number, attachment) in all.items::<Attachment>(Buffer::Attachments).to_vec().iter().enumerate() {
        let body = all.items::<AttachmentAim>(Buffer::AttachmentAims)[number].body;
        let rigid: Rigid = all.small(Buffer::Rigids, body as usize);
        let vertex = all.items::<Vertex>(Buffer::Vertices)[attachment.vertex as usize];
        let (pull, travel) = held(all, number, attachment);
        let from_body = RelativeToRigid::of(&rigid, &vertex, Vec3::zeros());
        let first = size_of::<AttachmentAim>() / 4 * number;
        out.vector(all, first, &pull);
        out.number(all, first + 3, f64::from(attachment.stiffness), 0.0);
        out.vector(all, first + 4, &Sum { value: travel, size: 0.0 });
        out.vector(all, first + 8, &Sum { value: from_body.arm, size: from_body.arm_size });
        let own = &mut all.items_mut::<AttachmentAim>(Buffer::AttachmentAims)[number];
        (own.vertex, own.body) = (attachment.vertex, body);
    }
    out.done()
}

/// Twin of `aim_vertex`.
pub fn aim_vertex(all: &mut Contents, _: &Call) -> Magnitudes {
    let (s, mut out) = (step(all), Output::to(all, Buffer::ConservedVertices));
    for number in 0..all.items::<Chunk>(Buffer::Chunks).len() {
        let body = all.items::<Chunk>(Buffer::Chunks)[number].body as usize;
        let (aim, rigid) = (body_of(all, body), all.small::<Rigid>(Buffer::Rigids, body));
        for i in vertices_of(all, number) {
            let (vertex, motion) =
                (all.items::<Vertex>(Buffer::Vertices)[i], all.items::<Motion>(Buffer::Motions)[i]);
            let relative = RelativeToRigid::of(&rigid, &vertex, Vec3::zeros());
            let mass = f64::from(vertex.mass);
            let r = relative.arm - wide(&aim.offset);
            let r_size = relative.arm_size + wide(&aim.offset).norm();
            let (mut v, mut v_size) = (wide(&motion.velocity), wide(&motion.velocity).norm());
            if aim.flags & flags::WITHOUT_RIGID != 0 {
                let rotation = wide(&aim.rotation);
                v -= wide(&rigid.base) + wide(&rigid.drift) + rotation.cross(&r);
                v_size += wide(&rigid.base).norm() + wide(&rigid.drift).norm() + rotation.norm() * r_size;
            }
            let (offset, slope) = (wide(&aim.turn_offset), f64::from(s.slope));
            let turn =
                Sum { value: (offset - r * slope) * mass, size: mass * (offset.norm() + slope * r_size) };
            let rate = mass / f64::from(s.h);
            let first = size_of::<ConservedVertex>() / 4 * i;
            out.vector(all, first, &Sum { value: r, size: r_size });
            out.number(all, first + 3, mass, 0.0);
            out.vector(all, first + 4, &turn);
            out.number(all, first + 7, packed(all, Buffer::WeightGradient, i).x, 0.0);
            out.vector(all, first + 8, &Sum { value: v * rate, size: v_size * rate });
            let column = all.items::<u32>(Buffer::FrontPosition)[i];
            all.items_mut::<ConservedVertex>(Buffer::ConservedVertices)[i].column = column;
        }
    }
    out.done()
}

/// Twin of `write_columns`.
pub fn write_columns(all: &mut Contents, _: &Call) -> Magnitudes {
    let (s, sizes) = (step(all), sizes(all));
    let first_row = 4 * sizes.tets + sizes.attachment_rows - sizes.triangle_rows;
    let factor = f64::from(s.slope) * f64::from(s.h).powi(2) * f64::from(s.projection);
    let buffers = [Buffer::ConservedVertices, Buffer::TurnGradient, Buffer::DriveGradient];
    let [mut vertices, mut turns, mut drives] = buffers.map(|buffer| Output::to(all, buffer));
    for number in 0..all.items::<Chunk>(Buffer::Chunks).len() {
        let body = all.items::<Chunk>(Buffer::Chunks)[number].body as usize;
        let pivot = wide(&body_of(all, body).pivot);
        for i in vertices_of(all, number) {
            let vertex = conserved(all, i);
            let mut turn = Sum::default();
            turn.add(wide(&vertex.turn));
            let starts = all.items::<u32>(Buffer::GatherStarts);
            let own = &all.items::<u32>(Buffer::GatherRows)[starts[i] as usize..starts[i + 1] as usize];
            for row in own.iter().filter(|row| **row >= first_row) {
                let held = all.items::<AttachmentAim>(Buffer::AttachmentAims)[(row - first_row) as usize];
                let terms = [wide(&vertex.arm), -pivot, wide(&held.travel), -wide(&held.pull)];
                let weight = -factor * f64::from(held.stiffness);
                let size = terms.iter().map(|term| term.norm()).sum::<f64>();
                turn.add_sized(terms.iter().sum::<Vec3>() * weight, size * weight.abs());
            }
            let drive = Sum { value: wide(&vertex.drive), size: 0.0 };
            vertices.vector(all, size_of::<ConservedVertex>() / 4 * i + 4, &turn);
            turns.vector(all, 3 * i, &turn);
            drives.vector(all, 3 * i, &drive);
        }
    }
    [vertices.done(), turns.done(), drives.done()].concat()
}

/// Twin of `measure_momenta`.
pub fn measure_momenta(all: &mut Contents, _: &Call) -> Magnitudes {
    for i in 0..all.count(Buffer::ConservedVertices) {
        let column = conserved(all, i).column;
        let solution = |buffer: Buffer| -> [f32; 3] { all.items::<[f32; 3]>(buffer)[column as usize] };
        let direction = ConservedDirection {
            turned: solution(Buffer::TurnSolution),
            translation: solution(Buffer::WeightSolution)[0],
            push: solution(Buffer::DriveSolution),
            column,
        };
        all.items_mut::<ConservedDirection>(Buffer::ConservedDirections)[i] = direction;
    }
    let copied = vec![0.0; all.items::<f32>(Buffer::ConservedDirections).len()];
    let mut written = sum_chunks(all, [13, 7], |all, _, i, sums| {
        let vertex = conserved(all, i);
        let direction = all.items::<ConservedDirection>(Buffer::ConservedDirections)[i];
        let (weight, p) = (f64::from(vertex.weight), f64::from(direction.translation));
        let (w, push) = (wide(&direction.turned), wide(&direction.push));
        let (q, c) = (wide(&vertex.turn), wide(&vertex.drive));
        sums.add(0, 0, weight * p, (weight * p).abs());
        sums.add_vector(0, 1, w * weight, w.norm() * weight.abs());
        for axis in 0..3 {
            sums.add_vector(0, 4 + 3 * axis, q * w[axis], q.norm() * w[axis].abs());
        }
        sums.add_vector(1, 0, c * p, c.norm() * p.abs());
        sums.add_vector(1, 3, c.cross(&w), c.norm() * w.norm());
        sums.add(1, 6, c.dot(&push), c.norm() * push.norm());
    });
    written.push((Buffer::ConservedDirections, copied));
    written
}

/// Twin of `measure_conservation`.
pub fn measure_conservation(all: &mut Contents, _: &Call) -> Magnitudes {
    sum_chunks(all, [15, 1], |all, body, i, sums| {
        let vertex = conserved(all, i);
        let reference = wide(&body_of(all, body).reference);
        let [u, g] =
            [packed(all, Buffer::FrontSolution, vertex.column as usize), packed(all, Buffer::Gradient, i)];
        let d = wide(&all.items::<[f32; 4]>(Buffer::Iterate)[i]);
        let (e, size, mass) = (d - reference, d.norm() + reference.norm(), f64::from(vertex.mass));
        let (r, q, c) = (wide(&vertex.arm), wide(&vertex.turn), wide(&vertex.drive));
        let weight = f64::from(vertex.weight);
        sums.add_vector(0, 0, e * mass, size * mass);
        sums.add_vector(0, 3, r.cross(&e) * mass, r.norm() * size * mass);
        sums.add(0, 6, mass * e.norm_squared(), mass * size * size);
        let energy = f64::from(all.items::<f32>(Buffer::Energies)[i]);
        sums.add(0, 7, energy, energy.abs());
        sums.add_vector(0, 8, u * weight, u.norm() * weight.abs());
        sums.add_vector(0, 11, u.cross(&q), u.norm() * q.norm());
        sums.add(0, 14, g.dot(&u), g.norm() * u.norm());
        sums.add(1, 0, c.dot(&u), c.norm() * u.norm());
    })
}

/// Twin of `measure_vibration`.
pub fn measure_vibration(all: &mut Contents, _: &Call) -> Magnitudes {
    sum_chunks(all, [1, 0], |all, body, i, sums| {
        let (rigid, vertex) =
            (all.small::<Rigid>(Buffer::Rigids, body), all.items::<Vertex>(Buffer::Vertices)[i]);
        let v = wide(&all.items::<Motion>(Buffer::Motions)[i].velocity);
        let RelativeToRigid { velocity, velocity_size, .. } = RelativeToRigid::of(&rigid, &vertex, v);
        let half = 0.5 * f64::from(vertex.mass);
        sums.add(
            0,
            0,
            half * velocity.norm_squared(),
            half * velocity.norm() * (velocity.norm() + 2.0 * velocity_size),
        );
    })
}

/// Twin of `take_excess`.
pub fn take_excess(all: &mut Contents, _: &Call) -> Magnitudes {
    let (h, mut out) = (f64::from(step(all).h), Output::to(all, Buffer::Motions));
    for number in 0..all.items::<Chunk>(Buffer::Chunks).len() {
        let body = all.items::<Chunk>(Buffer::Chunks)[number].body as usize;
        let (aim, rigid) = (body_of(all, body), all.small::<Rigid>(Buffer::Rigids, body));
        let (shrink, brake) = (f64::from(aim.shrink), f64::from(aim.brake));
        for i in vertices_of(all, number).filter(|_| (shrink, brake) != (0.0, 0.0)) {
            let (vertex, motion) =
                (all.items::<Vertex>(Buffer::Vertices)[i], all.items::<Motion>(Buffer::Motions)[i]);
            let v = wide(&motion.velocity);
            let relative = RelativeToRigid::of(&rigid, &vertex, v);
            let less = relative.velocity * shrink;
            let change = -(less + (v - less) * brake);
            let size = relative.velocity_size * shrink.abs() * (1.0 + brake.abs()) + v.norm() * brake.abs();
            let parts = [
                (0, motion.velocity, 1.0),
                (4, motion.velocity_before, 1.0),
                (8, motion.last_displacement, h),
            ];
            for (part, before, factor) in parts {
                let mut sum = Sum::default();
                sum.add(wide(&before));
                sum.add_sized(change * factor, size * factor);
                out.vector(all, (size_of::<Motion>() / 4) * i + part, &sum);
            }
        }
    }
    out.done()
}

/// Whether no error of a body is too large that can be lowered.
fn is_settled(aim: &BodyAim) -> bool {
    aim.settled != 0 || aim.flags & flags::ALONE != 0
}

/// Twin of `apply_conservation`.
pub fn apply_conservation(all: &mut Contents, _: &Call) -> Magnitudes {
    let aims = all.items::<BodyAim>(Buffer::BodyAims).to_vec();
    let holds_energy = aims[0].flags & flags::HOLDS[2] != 0;
    let is_enough = holds_energy && aims[0].made >= 2 && aims.iter().all(is_settled);
    let before: IterationState = all.small(Buffer::IterationState, 0);
    let state = match is_enough {
        true => IterationState { done: 1, ..before },
        false => IterationState { iterations: aims[0].made, ..before },
    };
    all.set_small(Buffer::IterationState, &[state]);
    let mut written = vec![(Buffer::IterationState, vec![0.0; 2])];
    if is_enough {
        return written;
    }
    let buffers = [Buffer::Iterate, Buffer::TargetOffset];
    for buffer in buffers {
        let mut out = Output::to(all, buffer);
        for number in 0..all.items::<Chunk>(Buffer::Chunks).len() {
            let body = all.items::<Chunk>(Buffer::Chunks)[number].body as usize;
            let (aim, factor) = (aims[body], f64::from(aims[body].energy_factor));
            for i in vertices_of(all, number) {
                let direction = all.items::<ConservedDirection>(Buffer::ConservedDirections)[i];
                let u = packed(all, Buffer::FrontSolution, direction.column as usize);
                let (push, turned) = (wide(&direction.push), wide(&direction.turned));
                let mut way = Sum::default();
                way.add(wide(&all.items::<[f32; 4]>(buffer)[i]));
                way.add(-u);
                way.add_sized(-(u + push) * factor, (u.norm() + push.norm()) * factor.abs());
                way.add(-wide(&aim.momentum_factor) * f64::from(direction.translation));
                let turn = wide(&aim.spin_factor);
                way.add_sized(-turned.cross(&turn), turned.norm() * turn.norm());
                out.vector(all, 4 * i, &way);
                out.number(all, 4 * i + 3, 0.0, 0.0);
            }
        }
        written.extend(out.done());
    }
    written
}
