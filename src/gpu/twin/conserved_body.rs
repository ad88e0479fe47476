//! Twins of the kernels of conservation that go through bodies: what a step shall make of them, and the small systems.
//!
//! Their results are made of many numbers by roots, quotients and decisions. The size of the terms behind each is found by shaking the
//! input: what changes by x times the share that it is shaken by has terms of size x.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::{step, wide};
use crate::damping::pbd::solve_inertia;
use crate::step::parts::conservation::kkt::momenta_inverse_above;
use crate::{Mat3, Vec3};
use nalgebra::SMatrix;

/// The share that numbers are shaken by: much more than single precision leaves out, little enough for changes to be linear.
const SHAKEN: f32 = 1e-4;
/// Every row of a matrix is turned 35 times, each time with some roundings in no particular direction.
const ROTATIONS: f32 = 8.0;
/// How often.
const TIMES: u64 = 6;
/// As in `reduce_momenta.wgsl`.
const LEAST_EIGENVALUE: f64 = 1e-5;
/// As in `shared/inertia.wgsl`.
const LEAST_INERTIA: f64 = 1e-5;
/// As in `aim_body.wgsl`.
const ROUNDING: f64 = 1e-5;
const UNREACHABLE_DECAY: f64 = 0.1;

/// Writes what `run` makes of the buffers, and how large its terms are as the `inputs` show when they are shaken.
pub(super) fn shaken<T: bytemuck::Pod>(
    all: &mut Contents,
    to: Buffer,
    inputs: &[Buffer],
    run: impl Fn(&Contents) -> Vec<T>,
) -> Magnitudes {
    let result = run(all);
    let numbers: &[f32] = bytemuck::cast_slice(&result);
    let mut sizes: Vec<f32> = numbers.iter().map(|number| number.abs()).collect();
    for time in 1..=TIMES {
        let (mut other, mut state) = (all.clone(), time);
        for buffer in inputs {
            for number in other.items_mut::<f32>(*buffer) {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                // whole numbers, as the smallest of all floats, stay as they are
                *number *= 1.0 + SHAKEN * ((state >> 40) as f32 / (1u64 << 23) as f32 - 1.0);
            }
        }
        let other = run(&other);
        let changed: &[f32] = bytemuck::cast_slice(&other);
        for ((size, number), changed) in sizes.iter_mut().zip(numbers).zip(changed) {
            let change = (changed - number).abs() / SHAKEN;
            *size = size.max(number.abs() + if change.is_finite() { 2.0 * change } else { 0.0 });
        }
    }
    all.set(to, &result);
    vec![(to, sizes)]
}

/// The same for what is known of bodies, where some numbers are differences of others that a shake does not show.
pub(super) fn shaken_bodies(
    all: &mut Contents,
    inputs: &[Buffer],
    run: impl Fn(&Contents, usize) -> BodyAim,
) -> Magnitudes {
    let before = all.items::<BodyAim>(Buffer::BodyAims).to_vec();
    let mut written =
        shaken(all, Buffer::BodyAims, inputs, |all| (0..before.len()).map(|body| run(all, body)).collect());
    for (_, sizes) in &mut written {
        for (aim, before) in bytemuck::cast_slice_mut::<f32, BodyAim>(sizes).iter_mut().zip(&before) {
            // what rounding left of a number is as large as its last place
            let last_places = |axis: usize| aim.centre_velocity_low[axis] + aim.centre_velocity[axis];
            aim.centre_velocity_low = std::array::from_fn(last_places);
            aim.energy_low += aim.energy;
            // what is given back is first of what was damped
            aim.given += before.damped.abs();
            // the squares of a step cancel where the energy's part of it is large: more than shaking shows
            aim.square *= 4000.0;
            // shares are differences from 1
            (aim.shrink, aim.brake) = (aim.shrink + 1.0, aim.brake + 1.0);
        }
    }
    written
}

pub(super) fn has(flags: u32, what: u32) -> bool {
    flags & what != 0
}

pub(super) fn single(v: Vec3) -> [f32; 3] {
    v.map(|c| c as f32).into()
}

/// high + low + more, in single precision as on the device.
pub(super) fn added(high: f32, low: f32, more: f32) -> (f32, f32) {
    let sum = high + more;
    let taken = sum - high;
    let left = (high - (sum - taken)) + (more - taken);
    let low = low + left;
    let whole = sum + low;
    (whole, low - (whole - sum))
}

pub(super) fn added_vector(high: [f32; 3], low: [f32; 3], more: [f32; 3]) -> ([f32; 3], [f32; 3]) {
    let pairs = [0, 1, 2].map(|axis| added(high[axis], low[axis], more[axis]));
    (pairs.map(|pair| pair.0), pairs.map(|pair| pair.1))
}

/// Sums of slots of a body's partial sums: every `stride`-th from `offset` on.
pub(super) fn sums<const K: usize>(
    all: &Contents,
    from: Buffer,
    body: usize,
    stride: usize,
    offset: usize,
) -> [f64; K] {
    let Segment { first, end } = all.items::<Segment>(Buffer::Segments)[body];
    let mut total = [0.0; K];
    for k in first as usize..end as usize {
        let partial = all.items::<[f32; SLOTS]>(from)[stride * k + offset];
        total.iter_mut().zip(partial).for_each(|(sum, term)| *sum += f64::from(term));
    }
    total
}

pub(super) fn three(numbers: &[f64], slot: usize) -> Vec3 {
    Vec3::new(numbers[slot], numbers[slot + 1], numbers[slot + 2])
}

/// Twin of `aim_body`.
pub fn aim_body(all: &mut Contents, _: &Call) -> Magnitudes {
    let inputs = [
        Buffer::Step,
        Buffer::Partials,
        Buffer::ConservationPartials,
        Buffer::Rigids,
        Buffer::BodyWishes,
        Buffer::AttachmentAims,
        Buffer::BodyAims,
    ];
    let mut written = shaken_bodies(all, &inputs, aimed);
    let aims = all.items::<BodyAim>(Buffer::BodyAims);
    for (_, sizes) in &mut written {
        for (size, aim) in bytemuck::cast_slice_mut::<f32, BodyAim>(sizes).iter_mut().zip(aims) {
            // four torques of a push and of the momentum that it changes cancel in part
            let (push, way) = (wide(&aim.push).norm(), wide(&aim.reference).norm());
            let torque = 4.0 * way * (push + f64::from(aim.mass) * wide(&aim.velocity).norm());
            size.torque = size.torque.map(|own| own + torque as f32);
        }
    }
    written
}

fn aimed(all: &Contents, number: usize) -> BodyAim {
    let (s, wish) = (step(all), all.items::<BodyWish>(Buffer::BodyWishes)[number]);
    let rigid: Rigid = all.small(Buffer::Rigids, number);
    let mut body = all.items::<BodyAim>(Buffer::BodyAims)[number];
    let moments: [f64; 15] = sums(all, Buffer::Partials, number, 1, 0);
    let [kinetic, elastic]: [f64; 2] = sums(all, Buffer::ConservationPartials, number, 2, 0);
    let held = &all.items::<AttachmentAim>(Buffer::AttachmentAims)[wish.first as usize..wish.end as usize];
    let attached: f64 =
        held.iter().map(|held| 0.5 * f64::from(held.stiffness) * wide(&held.pull).norm_squared()).sum();
    let (d, o) = (three(&moments, 0), three(&moments, 3));
    let inertia = Mat3::new(d.x, o.z, o.y, o.z, d.y, o.x, o.y, o.x, d.z);
    let mass = f64::from(rigid.mass);
    let offset = three(&moments, 12) / mass;
    let frame = wide(&rigid.base) + wide(&rigid.drift);
    let measured_velocity = frame + three(&moments, 9) / mass;
    let measured_spin = three(&moments, 6) - offset.cross(&three(&moments, 9));
    if has(wish.flags, conserved::FORGETS) {
        (body.known, body.unreachable) = (0, 0.0);
    }
    let before = wide(&body.centre_velocity);
    let mut gained = 0.5 * mass * (before - measured_velocity).dot(&(before + measured_velocity));
    let (mut centre, mut low, mut spin) = (single(measured_velocity), [0.0; 3], measured_spin);
    if has(body.known, conserved::KNOWS_MOMENTA) {
        let impulse = wide(&wish.impulse);
        (centre, low) = added_vector(body.centre_velocity, body.centre_velocity_low, single(impulse / mass));
        spin = wide(&body.spin) + wide(&wish.angular_impulse);
        gained = -impulse.dot(&(before + impulse * (0.5 / mass)));
    }
    (body.energy, body.energy_low) = match has(body.known, conserved::KNOWS_ENERGY) {
        true => {
            let more = gained + f64::from(wish.given) + f64::from(wish.stiffened) * elastic;
            added(body.energy, body.energy_low, more as f32)
        }
        false => ((kinetic + elastic + attached) as f32, 0.0),
    };
    (body.centre_velocity, body.centre_velocity_low, body.spin) = (centre, low, single(spin));
    (body.mass, body.inertia, body.offset) = (rigid.mass, (0.5 * inertia.trace()) as f32, single(offset));
    (body.flags, body.tolerance) = (wish.flags, wish.tolerance);
    (body.first, body.end) = (wish.first, wish.end);
    let velocity = wide(&centre) + wide(&low);
    fly(&mut body, &s, velocity, spin, &wish);
    let energy = f64::from(body.energy) + f64::from(body.energy_low);
    set_energy(&mut body, &s, velocity, energy, spin, &wish, inertia);
    (body.frame, body.rotation) = ([0.0; 3], [0.0; 3]);
    let [holds_momentum, holds_spin, _] = conserved::HOLDS;
    if [conserved::FREE, holds_momentum, holds_spin].iter().all(|flag| has(wish.flags, *flag)) {
        body.flags |= conserved::WITHOUT_RIGID;
        body.frame = single(frame);
        body.rotation = single(solve_inertia(inertia, measured_spin, LEAST_INERTIA));
    }
    let (fall, least) = (f64::from(s.h) * wide(&s.gravity).norm(), ROUNDING / f64::from(s.h));
    body.floor = (0.5 * mass * fall * fall + least * least * 0.5 * inertia.trace()) as f32;
    let turning = |spin: Vec3| 0.5 * spin.dot(&solve_inertia(inertia, spin, LEAST_INERTIA));
    body.turning = turning(wide(&body.new_spin)) as f32;
    (body.crossed, body.settled) = (0.0, 0);
    (body.made, body.least, body.square, body.excess, body.error) = (0, 0, 0.0, 0.0, 0.0);
    body
}

fn fly(body: &mut BodyAim, s: &Step, velocity: Vec3, spin: Vec3, wish: &BodyWish) {
    let (h, slope, gravity) = (f64::from(s.h), f64::from(s.slope), wide(&s.gravity));
    let mass = f64::from(body.mass);
    let own = gravity * (f64::from(s.free_velocity_gravity) - slope * f64::from(s.target_acceleration));
    let way = velocity * h + gravity * (0.5 * h * h);
    let end_velocity = velocity + gravity * h;
    let unless_rounding = |value: f64, size: f64| if value.abs() > 1e-6 * size { value } else { 0.0 };
    let own_share = f64::from(s.free_velocity_gravity) - slope * f64::from(s.target_acceleration);
    let by_velocity = unless_rounding(1.0 / slope - h, h);
    let by_gravity = unless_rounding((h - own_share) / slope - 0.5 * h * h, h * h);
    let late = velocity * by_velocity + gravity * by_gravity;
    let pivot = if has(wish.flags, conserved::HOLDS[0]) { Vec3::zeros() } else { way * 0.5 };
    let fallen = end_velocity * mass;
    let new_spin = if has(wish.flags, conserved::WISHES[1]) { wide(&wish.spin) } else { spin };
    let (mut push, mut turned) = (Vec3::zeros(), new_spin - spin);
    if has(wish.flags, conserved::WISHES[0]) {
        let wished = wide(&wish.momentum);
        push = wished - fallen;
        turned += late.cross(&wished) + way.cross(&push) * 0.5 + push.cross(&fallen) / (mass * slope);
    }
    let shift = way * 0.5 - pivot;
    let sideways = velocity.cross(&gravity) * (mass * (0.5 * h * by_velocity - by_gravity));
    let torque = sideways - (spin + turned) - shift.cross(&push);
    (body.reference, body.velocity) = (single(way + late), single(end_velocity));
    body.kinetic = (0.5 * mass * end_velocity.norm_squared()) as f32;
    (body.pivot, body.pivot_shift) = (single(pivot), single(shift));
    body.turn_offset = single(own - gravity * (0.5 * h) + pivot * slope);
    (body.push, body.new_spin, body.torque) = (single(push), single(new_spin), single(torque));
}

fn set_energy(
    body: &mut BodyAim,
    s: &Step,
    velocity: Vec3,
    had: f64,
    spin: Vec3,
    wish: &BodyWish,
    inertia: Mat3,
) {
    let (h, mass, gravity) = (f64::from(s.h), f64::from(body.mass), wide(&s.gravity));
    let turning = |spin: Vec3| 0.5 * spin.dot(&solve_inertia(inertia, spin, LEAST_INERTIA));
    let (push, new_spin) = (wide(&body.push), wide(&body.new_spin));
    let (decay, unreachable) = (f64::from(wish.decay), f64::from(body.unreachable));
    body.unreachable = (unreachable - UNREACHABLE_DECAY * decay * unreachable) as f32;
    let damped = ((had - turning(spin) - f64::from(body.unreachable)) * decay).max(0.0);
    let natural = had - damped;
    let is_free = has(wish.flags, conserved::FREE);
    let climb = if is_free { -gravity.dot(&push) / f64::from(s.slope) } else { 0.0 };
    let pushed = wide(&body.velocity).dot(&push) + 0.5 * push.norm_squared() / mass + climb;
    let way = velocity * h + gravity * (0.5 * h * h);
    let [momentum, angular, energy] = conserved::WISHES;
    let mut target = natural;
    if has(wish.flags, energy) {
        target =
            f64::from(wish.energy) - mass * gravity.dot(&way) - 0.5 * mass * velocity.norm_squared() + climb;
    } else if has(wish.flags, momentum | angular) {
        target += pushed + turning(new_spin) - turning(spin);
    }
    if is_free && has(wish.flags, conserved::HOLDS[2]) && has(wish.flags, momentum | angular | energy) {
        target = target.max(pushed + turning(new_spin));
    }
    (body.damped, body.given, body.target_energy) = (damped as f32, (target - natural) as f32, target as f32);
}

/// Twin of `reduce_momenta`.
pub fn reduce_momenta(all: &mut Contents, _: &Call) -> Magnitudes {
    let bodies = all.count(Buffer::BodySystems);
    let mut written = shaken(all, Buffer::BodySystems, &[Buffer::ConservationPartials], |all| {
        (0..bodies).map(|body| system(all, body)).collect()
    });
    for (_, sizes) in &mut written {
        for system in bytemuck::cast_slice_mut::<f32, BodySystem>(sizes) {
            let diagonal: [f32; 6] = std::array::from_fn(|k| system.inverse[k][k]);
            for (i, row) in system.inverse.iter_mut().enumerate() {
                row.iter_mut()
                    .zip(diagonal)
                    .for_each(|(size, own)| *size += ROTATIONS * (diagonal[i] * own).sqrt());
            }
        }
    }
    written
}

fn system(all: &Contents, body: usize) -> BodySystem {
    let n: [f64; 13] = sums(all, Buffer::ConservationPartials, body, 2, 0);
    let drives: [f64; 7] = sums(all, Buffer::ConservationPartials, body, 2, 1);
    let product = Mat3::from_fn(|i, j| 0.5 * (n[4 + 3 * i + j] + n[4 + 3 * j + i]));
    let w = three(&n, 1);
    let mixed = Mat3::from_fn(|j, k| w.cross(&Vec3::ith(k, 1.0))[j]);
    let mut momenta = SMatrix::<f64, 6, 6>::zeros();
    momenta.fixed_view_mut::<3, 3>(0, 0).copy_from(&Mat3::from_diagonal_element(n[0]));
    momenta.fixed_view_mut::<3, 3>(0, 3).copy_from(&mixed);
    momenta.fixed_view_mut::<3, 3>(3, 0).copy_from(&mixed.transpose());
    let turning = Mat3::from_diagonal_element(product.trace()) - product;
    momenta.fixed_view_mut::<3, 3>(3, 3).copy_from(&turning);
    let flags = all.items::<BodyAim>(Buffer::BodyAims)[body].flags;
    let held = [0, 0, 0, 1, 1, 1, 2].map(|k: usize| has(flags, conserved::HOLDS[k]));
    let inverse = momenta_inverse_above(&momenta, &held, LEAST_EIGENVALUE);
    let rows =
        |matrix: &SMatrix<f64, 6, 6>| std::array::from_fn(|i| std::array::from_fn(|j| matrix[(i, j)] as f32));
    BodySystem {
        momenta: rows(&momenta),
        inverse: rows(&inverse),
        mixed: std::array::from_fn(|k| drives[k] as f32),
        energy: drives[6] as f32,
        ..all.items::<BodySystem>(Buffer::BodySystems)[body]
    }
}
