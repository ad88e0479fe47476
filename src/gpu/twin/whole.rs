//! Sums over bodies, velocity filters, and the ledger's numbers.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::{Output, place, step, wide};
use crate::Vec3;
use crate::damping::ether_drag;

/// The minimum of an empty set, as in `shared/reduce.wgsl`.
pub(super) const NO_MINIMUM: f64 = 3.4e38_f32 as f64;

/// Sums of a workgroup, with the magnitudes of their terms.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slots {
    value: [f64; SLOTS],
    size: [f64; SLOTS],
}

impl Slots {
    pub(super) fn empty() -> Self {
        let mut value = [0.0; SLOTS];
        value[SLOTS - 1] = NO_MINIMUM;
        Slots { value, size: [0.0; SLOTS] }
    }

    pub(super) fn add(&mut self, slot: usize, term: f64, size: f64) {
        self.value[slot] += term;
        self.size[slot] += size;
    }

    pub(super) fn add_vector(&mut self, slot: usize, term: &Vec3, size: f64) {
        (0..3).for_each(|axis| self.add(slot + axis, term[axis], size));
    }

    /// Adds the partial sum `number`.
    fn add_partial(&mut self, all: &Contents, number: usize) {
        for (slot, &term) in all.items::<[f32; SLOTS]>(Buffer::Partials)[number].iter().enumerate() {
            let term = f64::from(term);
            if slot == SLOTS - 1 {
                self.value[slot] = self.value[slot].min(term);
            } else {
                self.add(slot, term, term.abs());
            }
        }
    }

    pub(super) fn vector(&self, slot: usize) -> Vec3 {
        Vec3::from_fn(|axis, _| self.value[slot + axis])
    }

    /// Magnitude of a vector's terms, for any component.
    pub(super) fn size(&self, slot: usize) -> f64 {
        (0..3).map(|axis| self.size[slot + axis]).fold(0.0, f64::max)
    }

    /// A sum, and the magnitude of its terms.
    pub(super) fn sized(&self, slot: usize) -> [f64; 2] {
        [self.value[slot], self.size[slot]]
    }

    pub(super) fn least(&self) -> f64 {
        self.value[SLOTS - 1]
    }

    /// Includes a number in the minimum.
    pub(super) fn lower(&mut self, number: f64) {
        self.value[SLOTS - 1] = self.value[SLOTS - 1].min(number);
    }

    fn set(&mut self, slot: usize, v: &[f32; 3]) {
        (0..3).for_each(|axis| self.value[slot + axis] = f64::from(v[axis]));
        self.size[slot..slot + 3].fill(0.0);
    }

    fn write(&self, out: &mut Output, all: &mut Contents, first: usize) {
        (0..SLOTS).for_each(|slot| out.number(all, first + slot, self.value[slot], self.size[slot]));
    }
}

/// The partial sums of every chunk from its vertices.
pub(super) fn measure(all: &mut Contents, mut finish: impl FnMut(&Contents, &Chunk) -> Slots) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Partials);
    for (number, chunk) in all.items::<Chunk>(Buffer::Chunks).to_vec().iter().enumerate() {
        let slots = finish(all, chunk);
        slots.write(&mut out, all, SLOTS * number);
    }
    out.done()
}

pub(super) fn vertices(all: &Contents, chunk: &Chunk) -> impl Iterator<Item = (Vertex, Motion)> {
    let range = chunk.first as usize..chunk.end as usize;
    let (vertices, motions) = (all.items::<Vertex>(Buffer::Vertices), all.items::<Motion>(Buffer::Motions));
    vertices[range.clone()].iter().copied().zip(motions[range].iter().copied())
}

/// The sums of the partial sums of each of the first `count` segments.
pub(super) fn segments(all: &Contents, count: usize) -> Vec<Slots> {
    let segments = &all.items::<Segment>(Buffer::Segments)[..count];
    let sum = |segment: &Segment| {
        let mut slots = Slots::empty();
        (segment.first..segment.end).for_each(|k| slots.add_partial(all, k as usize));
        slots
    };
    segments.iter().map(sum).collect()
}

/// Twin of `filter_ether_drag`.
pub fn filter_ether_drag(all: &mut Contents, _call: &Call) -> Magnitudes {
    let coefficient = f64::from(step(all).filter_coefficient);
    filter(all, |_, _, _, _, velocity| {
        let mut filtered = [velocity];
        ether_drag::filter(&mut filtered, coefficient);
        (filtered[0], velocity.norm())
    })
}

/// Twin of `filter_pbd`.
pub fn filter_pbd(all: &mut Contents, _call: &Call) -> Magnitudes {
    let coefficient = f64::from(step(all).filter_coefficient);
    filter(all, |all, chunk, _, vertex, velocity| {
        let body: Rigid = all.small(Buffer::Rigids, chunk.body as usize);
        let beyond = RelativeToRigid::of(&body, vertex, velocity);
        (velocity - beyond.velocity * coefficient, coefficient * beyond.velocity_size)
    })
}

/// Filters the velocities of all vertices by `change`, which returns v' and the magnitude of the terms of v' − v,
/// shifts the history by the change, and sums the kinetic energy removed.
pub(super) fn filter(
    all: &mut Contents,
    change: impl Fn(&Contents, &Chunk, usize, &Vertex, Vec3) -> (Vec3, f64),
) -> Magnitudes {
    let h = f64::from(step(all).h);
    let mut motions = Output::to(all, Buffer::Motions);
    let mut exchange = Output::to(all, Buffer::ExchangePartials);
    for (number, chunk) in all.items::<Chunk>(Buffer::Chunks).to_vec().iter().enumerate() {
        // energy removed earlier in this step is kept
        let before = f64::from(all.items::<[f32; 4]>(Buffer::ExchangePartials)[number][2]);
        let mut taken = (before, before.abs());
        let old: Vec<_> = vertices(all, chunk).collect();
        for (i, (vertex, motion)) in (chunk.first as usize..).zip(old) {
            let velocity = wide(&motion.velocity);
            let (filtered, size) = change(all, chunk, i, &vertex, velocity);
            let (change, mass) = (filtered - velocity, f64::from(vertex.mass));
            let both = velocity.norm() + filtered.norm();
            taken.0 += 0.5 * mass * (velocity - filtered).dot(&(velocity + filtered));
            // v' is rounded, and the rounding counts as removed energy
            taken.1 += 0.5 * mass * (size + both) * both;
            let mut put = |offset: usize, value: Vec3, size: f64| {
                (0..3).for_each(|axis| {
                    motions.number(all, 12 * i + offset + axis, value[axis], size + value.norm())
                });
            };
            put(0, filtered, size + velocity.norm());
            let before = wide(&motion.velocity_before);
            put(4, before + change, size + before.norm() + change.norm());
            let moved = wide(&motion.last_displacement);
            put(8, moved + change * h, (size + change.norm()) * h + moved.norm());
            let filtered =
                Vec3::new(motion.filtered_x.into(), motion.filtered_y.into(), motion.filtered_z.into());
            let terms = size + filtered.norm() + change.norm();
            (0..3).for_each(|axis| {
                motions.number(all, 12 * i + 3 + 4 * axis, filtered[axis] + change[axis], terms)
            });
        }
        exchange.number(all, 4 * number + 2, taken.0, taken.1);
    }
    [motions.done(), exchange.done()].concat()
}

/// Twin of `measure_centre`.
pub fn measure_centre(all: &mut Contents, _call: &Call) -> Magnitudes {
    measure(all, |all, chunk| {
        let mut slots = Slots::empty();
        let Some((origin, base)) = vertices(all, chunk).next() else { return slots };
        for (vertex, motion) in vertices(all, chunk) {
            let mass = f64::from(vertex.mass);
            let parts =
                [wide(&vertex.position) - wide(&origin.position), wide(&vertex.low) - wide(&origin.low)];
            let velocity = wide(&motion.velocity) - wide(&base.velocity);
            slots.add(0, mass, mass);
            slots.add_vector(1, &((parts[0] + parts[1]) * mass), mass * (parts[0].norm() + parts[1].norm()));
            slots.add_vector(4, &(velocity * mass), mass * velocity.norm());
        }
        slots.set(7, &origin.position);
        slots.set(10, &base.velocity);
        slots.set(13, &origin.low);
        slots
    })
}

/// Position and velocity of a vertex relative to its body's rigid motion.
pub(super) struct RelativeToRigid {
    /// r (m).
    pub arm: Vec3,
    /// Size of its terms (m).
    pub arm_size: f64,
    /// u (m/s).
    pub velocity: Vec3,
    /// Size of its terms (m/s).
    pub velocity_size: f64,
}

impl RelativeToRigid {
    pub fn of(body: &Rigid, vertex: &Vertex, velocity: Vec3) -> Self {
        let (from_origin, low) = (wide(&vertex.position) - wide(&body.origin), wide(&vertex.low));
        let (centre, spin, drift) = (wide(&body.centre), wide(&body.spin), wide(&body.drift));
        let (arm, from_base) = (from_origin + (low - centre), velocity - wide(&body.base));
        let arm_size = from_origin.norm() + low.norm() + centre.norm();
        RelativeToRigid {
            arm,
            arm_size,
            velocity: from_base - drift - spin.cross(&arm),
            velocity_size: from_base.norm() + drift.norm() + spin.norm() * arm_size,
        }
    }
}

/// Twin of `filter_start`.
pub fn filter_start(all: &mut Contents, _call: &Call) -> Magnitudes {
    let (s, mut out) = (step(all), Output::to(all, Buffer::Motions));
    let (h, gravity) = (f64::from(s.h), wide(&s.gravity));
    for chunk in all.items::<Chunk>(Buffer::Chunks).to_vec() {
        let body: Rigid = all.small(Buffer::Rigids, chunk.body as usize);
        let StartFilter { share, loss, weight, .. } =
            all.items::<StartFilter>(Buffer::StartFilters)[chunk.body as usize];
        let [share, loss, weight] = [share, loss, weight].map(f64::from);
        for (i, (vertex, motion)) in (chunk.first as usize..).zip(vertices(all, &chunk).collect::<Vec<_>>()) {
            let v = wide(&motion.velocity);
            let beyond = RelativeToRigid::of(&body, &vertex, v);
            let taken = beyond.velocity * share;
            let change = gravity * weight - (taken + (v - taken) * loss);
            let size = gravity.norm() * weight.abs()
                + beyond.velocity_size * share.abs() * (1.0 + loss.abs())
                + v.norm() * loss.abs();
            let parts = [
                (0, motion.velocity, 1.0),
                (4, motion.velocity_before, 1.0),
                (8, motion.last_displacement, h),
            ];
            for (part, before, factor) in parts {
                let mut sum = super::Sum::default();
                sum.add(wide(&before));
                sum.add_sized(change * factor, size * factor);
                out.vector(all, size_of::<Motion>() / 4 * i + part, &sum);
            }
        }
    }
    out.done()
}

/// Twin of `measure_spin`.
pub fn measure_spin(all: &mut Contents, _call: &Call) -> Magnitudes {
    measure(all, |all, chunk| {
        let body: Rigid = all.small(Buffer::Rigids, chunk.body as usize);
        let mut slots = Slots::empty();
        for (vertex, motion) in vertices(all, chunk) {
            let mass = f64::from(vertex.mass);
            let RelativeToRigid { arm: r, arm_size, velocity, velocity_size } =
                RelativeToRigid::of(&body, &vertex, wide(&motion.velocity));
            let square = r.component_mul(&r) * mass;
            let diagonal = Vec3::new(square.y + square.z, square.x + square.z, square.x + square.y);
            let products = Vec3::new(r.y * r.z, r.x * r.z, r.x * r.y) * -mass;
            slots.add_vector(0, &diagonal, mass * arm_size * arm_size);
            slots.add_vector(3, &products, mass * arm_size * arm_size);
            slots.add_vector(6, &(r.cross(&velocity) * mass), mass * arm_size * velocity_size);
            slots.add_vector(9, &(velocity * mass), mass * velocity_size);
            slots.add_vector(12, &(r * mass), mass * arm_size);
        }
        slots
    })
}

/// Twin of `observe_vertex`.
pub fn observe_vertex(all: &mut Contents, _call: &Call) -> Magnitudes {
    let gravity = wide(&step(all).gravity);
    measure(all, |all, chunk| {
        let mut slots = Slots::empty();
        for (vertex, motion) in vertices(all, chunk) {
            let (m, x, v) = (f64::from(vertex.mass), place(&vertex), wide(&motion.velocity));
            slots.add(0, 0.5 * m * v.norm_squared(), m * v.norm_squared());
            slots.add(1, -m * gravity.dot(&x), m * gravity.norm() * x.norm());
            slots.add_vector(2, &(v * m), m * v.norm());
            slots.add_vector(5, &(x.cross(&v) * m), m * x.norm() * v.norm());
            slots.add_vector(8, &(x * m), m * x.norm());
            let mut numbers = vertex.position.iter().chain(&vertex.low).chain(&motion.velocity);
            slots.add(11, f64::from(u8::from(numbers.any(|c| !c.is_finite()))), 0.0);
        }
        slots
    })
}

/// Twin of `reduce_observation`.
pub fn reduce_observation(all: &mut Contents, _call: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Report);
    for (number, slots) in segments(all, all.items::<Segment>(Buffer::Segments).len()).iter().enumerate() {
        slots.write(&mut out, all, SLOTS * (1 + number));
    }
    out.done()
}

/// Twin of `reduce_exchange`.
pub fn reduce_exchange(all: &mut Contents, _call: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Report);
    for slot in 0..3 {
        let before = f64::from(all.items::<f32>(Buffer::Report)[slot]);
        let partials = all.items::<[f32; 4]>(Buffer::ExchangePartials).iter().map(|p| f64::from(p[slot]));
        let (value, size) = partials.fold((before, before.abs()), |sum, p| (sum.0 + p, sum.1 + p.abs()));
        out.number(all, slot, value, size);
    }
    out.done()
}
