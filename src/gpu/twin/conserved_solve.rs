//! Twins of the kernels that solve the small systems of conservation and keep what they have made.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::conserved_body::{added, added_vector, has, shaken_bodies, single, sums, three};
use super::{Output, is_over, step, wide};
use crate::Vec3;
use crate::step::parts::conservation::kkt::{Curvature, KktSystem, Momenta, Precision, Side};
use nalgebra::SMatrix;

/// As in `solve_conservation.wgsl`.
const RIGID: f64 = 1e-6;
const LEAST_MOTION: f64 = 1e-10;
const ENERGY_DIGITS: f64 = 1e-6;
const LEAST_PROGRESS: f64 = 0.98;
const LEAST_SEEN: f64 = 1e-4;
/// As in `shared/conserved.wgsl`.
const SPIN_SHARE: f64 = 0.1;
const STRESSED: f64 = 0.5;
/// As in `settle_conservation.wgsl`.
const MOST_OFF: f64 = 0.01;

/// c of a body at the iterate.
struct Beyond {
    momentum: Vec3,
    angular_momentum: Vec3,
    energy: f64,
    scale: f64,
    work: f64,
    moved: Vec3,
    /// Kinetic energy (J).
    kinetic: f64,
    /// All but that of the centre (J).
    energies: f64,
    elastic: f64,
}

fn beyond(all: &Contents, number: usize, body: &BodyAim) -> Beyond {
    let s = step(all);
    let (slope, h, gravity) = (f64::from(s.slope), f64::from(s.h), wide(&s.gravity));
    let n: [f64; 8] = sums(all, Buffer::ConservationPartials, number, 2, 0);
    let (mu, turned) = (three(&n, 0), three(&n, 3));
    let (mut force, mut torque, mut held, mut work) = (Vec3::zeros(), Vec3::zeros(), 0.0, 0.0);
    for aim in &all.items::<AttachmentAim>(Buffer::AttachmentAims)[body.first as usize..body.end as usize] {
        let d = wide(&all.items::<[f32; 4]>(Buffer::Iterate)[aim.vertex as usize]);
        let stretch = wide(&aim.travel) - wide(&aim.pull) - d;
        let own = stretch * f64::from(aim.stiffness);
        force += own;
        torque += (wide(&aim.arm) - wide(&body.pivot) + d).cross(&own);
        held += 0.5 * own.dot(&stretch);
        work += own.dot(&wide(&aim.travel));
    }
    let impulse_of_force = slope * h * h * f64::from(s.projection);
    let along = slope * wide(&body.velocity).dot(&mu) + 0.5 * slope * slope * n[6];
    // of a free body what is beyond its rigid motion
    let counted = match has(body.flags, conserved::FREE) {
        true => (along - (1.0 - SPIN_SHARE) * f64::from(body.turning)).max(0.0),
        false => f64::from(body.kinetic) + along,
    };
    Beyond {
        momentum: mu * slope - wide(&body.push) - force * impulse_of_force,
        angular_momentum: turned * slope + mu.cross(&wide(&body.turn_offset)) + wide(&body.torque)
            - torque * impulse_of_force,
        energy: along + n[7] - gravity.dot(&mu) - f64::from(body.target_energy) + held - work,
        scale: counted + n[7] + f64::from(body.floor) + held,
        work,
        moved: mu,
        kinetic: f64::from(body.kinetic) + along,
        energies: along + n[7] + f64::from(body.floor) + held,
        elastic: n[7],
    }
}

/// The largest error of P, L and H as a share, and of which it is.
fn judge(body: &mut BodyAim, off: &Beyond) {
    let about_middle = off.angular_momentum - wide(&body.pivot_shift).cross(&off.momentum);
    let (mass, inertia) = (f64::from(body.mass), f64::from(body.inertia));
    let parts = [
        (off.momentum.norm(), (2.0 * mass * off.scale).sqrt()),
        (about_middle.norm(), (2.0 * inertia * off.scale).sqrt()),
        (off.energy.abs(), off.scale),
    ];
    let share = |k: usize| {
        let (off, scale) = parts[k];
        if has(body.flags, conserved::HOLDS[k]) && off > 0.0 { off / scale } else { 0.0 }
    };
    let errors = [0, 1, 2].map(share);
    let of_momenta = u32::from(errors[1] > errors[0]);
    body.worst = if errors[2] > errors[0].max(errors[1]) { 2 } else { of_momenta };
    body.error = errors[0].max(errors[1]).max(errors[2]) as f32;
}

/// Twin of `solve_conservation`.
pub fn solve_conservation(all: &mut Contents, _: &Call) -> Magnitudes {
    if is_over(all) {
        return Vec::new();
    }
    let inputs = [
        Buffer::Step,
        Buffer::ConservationPartials,
        Buffer::AttachmentAims,
        Buffer::Iterate,
        Buffer::BodySystems,
        Buffer::BodyAims,
    ];
    shaken_bodies(all, &inputs, solved)
}

fn solved(all: &Contents, number: usize) -> BodyAim {
    let mut body = all.items::<BodyAim>(Buffer::BodyAims)[number];
    body.made += 1;
    (body.momentum_factor, body.spin_factor, body.energy_factor) = ([0.0; 3], [0.0; 3], 0.0);
    if has(body.flags, conserved::ALONE) {
        return body;
    }
    let mut off = beyond(all, number, &body);
    let taken = f64::from(body.damped) + f64::from(-body.given).max(0.0);
    let before = f64::from(body.excess);
    let may_stay = body.least != 0 && before > 0.0;
    let decays = has(body.flags, conserved::DECAYS);
    let is_least = decays && may_stay && off.energy > LEAST_PROGRESS * before;
    if may_stay && off.energy > 0.9 * before && taken > 0.0 || is_least {
        let back = if is_least { off.energy } else { off.energy.min(taken) };
        let of_damping = if decays { back } else { back.min(f64::from(body.damped)) };
        body.target_energy = (f64::from(body.target_energy) + back) as f32;
        body.unreachable = (body.target_energy - body.turning).max(0.0);
        body.damped = (f64::from(body.damped) - of_damping) as f32;
        body.given = (f64::from(body.given) + back - of_damping) as f32;
        off.energy -= back;
    }
    (body.excess, body.scale) = (off.energy as f32, off.scale as f32);
    let expected = 0.5 * f64::from(body.square);
    let is_seen = off.energy.abs() > ENERGY_DIGITS * off.energies && expected > LEAST_SEEN * off.scale;
    let crossed = std::mem::take(&mut body.crossed);
    let counted = if crossed > 0.0 { crossed } else { body.bend };
    if is_seen && has(body.flags, conserved::HOLDS[2]) {
        body.bend = (f64::from(counted) + off.energy / expected).clamp(0.0, 1.0) as f32;
        body.crossed = if crossed > 0.0 && body.bend < 0.5 * crossed { body.bend } else { 0.0 };
    }
    judge(&mut body, &off);
    body.settled = u32::from(is_least || body.error <= body.tolerance);
    correct(all, number, &mut body, &off);
    body
}

fn correct(all: &Contents, number: usize, body: &mut BodyAim, off: &Beyond) {
    let n: [f64; 15] = sums(all, Buffer::ConservationPartials, number, 2, 0);
    let [driven]: [f64; 1] = sums(all, Buffer::ConservationPartials, number, 2, 1);
    let system = all.items::<BodySystem>(Buffer::BodySystems)[number];
    let matrix = |rows: &[[f32; 6]; 6]| SMatrix::<f64, 6, 6>::from_fn(|i, j| f64::from(rows[i][j]));
    let descent = Momenta::from_fn(|k, _| n[8 + k]);
    let square = n[14];
    let (p, l) = (off.momentum, off.angular_momentum);
    let (frame, rotation) = (wide(&body.frame), wide(&body.rotation));
    let along = square + driven;
    let kkt = KktSystem {
        momenta: matrix(&system.momenta),
        mixed: descent + Momenta::from_fn(|k, _| f64::from(system.mixed[k])),
        energy: square + 2.0 * driven + f64::from(system.energy),
        momenta_error: Momenta::new(p.x, p.y, p.z, l.x, l.y, l.z) - descent,
        energy_error: off.energy - frame.dot(&p) - rotation.dot(&l) - along,
        momenta_descent: descent,
        energy_descent: along,
        square,
        held: [0, 0, 0, 1, 1, 1, 2].map(|k: usize| has(body.flags, conserved::HOLDS[k])),
    };
    let precision = Precision { rigid: RIGID, least_motion: LEAST_MOTION * off.scale };
    let curvature = Curvature::new(1.0, f64::from(body.bend));
    let side = match body.made {
        1 if off.elastic > STRESSED * off.scale => Side::NearUnlessStalled(-1.0),
        _ if body.crossed > 0.0 => Side::Far,
        _ => Side::Near,
    };
    let found = kkt.solve_with(&matrix(&system.inverse), curvature, side, precision);
    let counted = if side == Side::Far { body.bend } else { 1.0 };
    body.crossed = if found.crosses { counted } else { 0.0 };
    let [momentum, spin] = found.of_momenta();
    (body.momentum_factor, body.spin_factor) = (single(momentum), single(spin));
    (body.energy_factor, body.square) = (found.energy as f32, found.square as f32);
    let in_frame = frame.dot(&(p - three(&n, 8))) + rotation.dot(&(l - three(&n, 11)));
    let is_rigid = found.energy == 0.0;
    body.least = u32::from(if is_rigid { kkt.energy_error + in_frame > 0.0 } else { found.least });
}

/// Twin of `settle_conservation`.
pub fn settle_conservation(all: &mut Contents, _: &Call) -> Magnitudes {
    let inputs = [
        Buffer::Step,
        Buffer::ConservationPartials,
        Buffer::AttachmentAims,
        Buffer::Iterate,
        Buffer::BodyAims,
    ];
    shaken_bodies(all, &inputs, settled)
}

fn settled(all: &Contents, number: usize) -> BodyAim {
    let (s, mut body) = (step(all), all.items::<BodyAim>(Buffer::BodyAims)[number]);
    let off = beyond(all, number, &body);
    let wished = conserved::WISHES.iter().any(|wish| has(body.flags, *wish));
    if wished && !has(body.flags, conserved::ALONE) {
        judge(&mut body, &off);
        let missing = -off.energy;
        if has(body.flags, conserved::HOLDS[2]) && missing > MOST_OFF * off.scale {
            let back = missing.min(f64::from(body.given)).max(0.0);
            body.target_energy = (f64::from(body.target_energy) - back) as f32;
            body.given = (f64::from(body.given) - back) as f32;
        }
    }
    let is_far = f64::from(body.excess) > MOST_OFF * f64::from(body.scale);
    let concerns = !is_over(all) && has(body.flags, conserved::HOLDS[2]) && is_far;
    body.too_much = if concerns { off.energy.max(0.0) as f32 } else { 0.0 };
    body.end_kinetic = off.kinetic as f32;
    let (is_free, mass, gravity) = (has(body.flags, conserved::FREE), f64::from(body.mass), wide(&s.gravity));
    let change = if is_free { wide(&body.push) } else { off.moved * f64::from(s.slope) };
    let gained = wide(&body.velocity).dot(&change) + 0.5 * change.norm_squared() / mass;
    let more = off.work + gravity.dot(&off.moved) - gained;
    let (high, low) = added(body.energy, body.energy_low, body.given - body.damped);
    (body.energy, body.energy_low) = added(high, low, more as f32);
    if is_free {
        let fall = gravity * f64::from(s.h);
        let low = fall - wide(&single(fall)) + wide(&body.push) / mass;
        let (high, rest) = added_vector(body.centre_velocity, body.centre_velocity_low, single(fall));
        (body.centre_velocity, body.centre_velocity_low) = added_vector(high, rest, single(low));
    } else {
        body.centre_velocity = single(wide(&body.velocity) + change / mass);
        body.centre_velocity_low = [0.0; 3];
    }
    body.spin = body.new_spin;
    body.known = conserved::KNOWS_ENERGY + if is_free { conserved::KNOWS_MOMENTA } else { 0 };
    body.work = off.work as f32;
    body
}

/// Twin of `reduce_vibration`.
pub fn reduce_vibration(all: &mut Contents, _: &Call) -> Magnitudes {
    let inputs = [Buffer::ConservationPartials, Buffer::BodyAims];
    shaken_bodies(all, &inputs, reduced)
}

fn reduced(all: &Contents, number: usize) -> BodyAim {
    let mut body = all.items::<BodyAim>(Buffer::BodyAims)[number];
    let [vibration]: [f64; 1] = sums(all, Buffer::ConservationPartials, number, 2, 0);
    let (too_much, kinetic) = (f64::from(body.too_much), f64::from(body.end_kinetic));
    let taken = too_much.min(vibration);
    body.shrink = if taken > 0.0 { (1.0 - ((vibration - taken) / vibration).sqrt()) as f32 } else { 0.0 };
    let (left, most) = (kinetic - taken, (kinetic - too_much).max(0.0));
    let brakes = !has(body.flags, conserved::FREE) && too_much > 0.0 && left > most;
    body.brake = if brakes { (1.0 - (most / left).sqrt()) as f32 } else { 0.0 };
    body
}

/// Twin of `report_conservation`.
pub fn report_conservation(all: &mut Contents, _: &Call) -> Magnitudes {
    let aims = all.items::<BodyAim>(Buffer::BodyAims).to_vec();
    let report = |k: usize| f64::from(all.items::<f32>(Buffer::Report)[k]);
    let state: IterationState = all.small(Buffer::IterationState, 0);
    let total = |of: fn(&BodyAim) -> f32, k: usize| {
        let terms = aims.iter().map(of).map(f64::from);
        terms.fold((report(k), report(k).abs()), |(sum, size), term| (sum + term, size + term.abs()))
    };
    let mut written = vec![(0, total(|aim| aim.damped, 0)), (1, total(|aim| aim.given, 1))];
    let worst = |(error, of): (f32, usize), (number, aim): (usize, &BodyAim)| {
        let is_worse = aim.error > error || aim.error.is_nan();
        if is_worse { (aim.error, 3 * number + aim.worst as usize) } else { (error, of) }
    };
    let (error, of) = aims.iter().enumerate().fold((0.0f32, 0), worst);
    if f64::from(error) > report(3) || error.is_nan() {
        written.extend([(3, (f64::from(error), 0.0)), (15, (of as f64, 0.0))]);
    }
    written
        .push((6, (report(6) + f64::from(state.iterations), report(6).abs() + f64::from(state.iterations))));
    if error > aims[0].tolerance || error.is_nan() {
        written.push((7, (report(7) + 1.0, report(7).abs() + 1.0)));
    }
    let mut out = Output::to(all, Buffer::Report);
    written.into_iter().for_each(|(k, (value, size))| out.number(all, k, value, size));
    out.done()
}
