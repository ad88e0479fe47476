//! The two passes over a body's vertices that every iteration makes: what its descent does, and its correction.
//!
//! A vertex is one register: x, y, z and a number that nobody looks at. Sums have a fixed order: four sums side by side, in
//! tasks of a fixed size, whose results are added in order. Products are fused with the sums that they go to where the processor
//! does that in one instruction.

use super::measure::Moved;
use crate::Vec3;
use crate::linear::lanes::on_lanes;
use pulp::{Simd, WithSimd};
use rayon::prelude::*;

/// Vertices that a task takes at once.
const CHUNK: usize = 1024;

/// Vertices that the loops take at once, and their coordinates.
const BLOCK: usize = 4;
const FLAT: usize = 3 * BLOCK;

/// x, y, z, and whatever stands next to them.
#[derive(Clone, Copy, Default)]
struct Quad([f64; 4]);

impl Quad {
    #[inline(always)]
    fn of(v: &Vec3) -> Self {
        Quad([v.x, v.y, v.z, 0.0])
    }

    /// Vertex k of a block.
    #[inline(always)]
    fn at(block: &[f64; FLAT], k: usize) -> Self {
        Quad(std::array::from_fn(|c| block[(3 * k + c).min(FLAT - 1)]))
    }

    #[inline(always)]
    fn with(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Quad(std::array::from_fn(|c| f(self.0[c], other.0[c])))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }

    #[inline(always)]
    fn scaled(self, factor: f64) -> Self {
        Quad(self.0.map(|a| a * factor))
    }

    /// self b + c.
    #[inline(always)]
    fn times_plus(self, b: Self, c: Self, fused: bool) -> Self {
        Quad(std::array::from_fn(|k| match fused {
            true => self.0[k].mul_add(b.0[k], c.0[k]),
            false => self.0[k] * b.0[k] + c.0[k],
        }))
    }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Quad([value; 4])
    }

    #[inline(always)]
    fn negative(self) -> Self {
        Quad(self.0.map(|a| -a))
    }

    /// y, z, x.
    #[inline(always)]
    fn next(self) -> Self {
        let [x, y, z, w] = self.0;
        Quad([y, z, x, w])
    }

    /// z, x, y of a × b: one shuffle less than in order. It does not start with a sum that it joins: the next vertex would wait for two
    /// fused products of this one.
    #[inline(always)]
    fn cross(self, b: Self, fused: bool) -> Self {
        self.next().negative().times_plus(b, self.times(b.next()), fused)
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self.with(other, |a, b| a * b)
    }

    #[inline(always)]
    fn vector(self) -> Vec3 {
        Vec3::new(self.0[0], self.0[1], self.0[2])
    }

    #[inline(always)]
    fn sum(self) -> f64 {
        self.0[0] + self.0[1] + self.0[2]
    }
}

/// What a descent u does to momenta and energy.
#[derive(Debug, Clone, Copy)]
pub struct Descended {
    /// Σ π u.
    pub moved: Vec3,
    /// Σ u × Q.
    pub turned: Vec3,
    /// Σ g·u (J).
    pub square: f64,
    /// Σ c·u, c = M v_n/h (J).
    pub driven: f64,
}

/// The sums of u with g, c, Q and π.
pub fn descended(u: &[Vec3], g: &[Vec3], drive: &[Vec3], turn: &[Vec3], weights: &[f64]) -> Descended {
    let tasks = u.par_chunks(CHUNK).zip(g.par_chunks(CHUNK)).zip(drive.par_chunks(CHUNK));
    let tasks = tasks.zip(turn.par_chunks(CHUNK)).zip(weights.par_chunks(CHUNK));
    let task = |((((u, g), drive), turn), weights): ((((_, _), _), _), _)| {
        on_lanes(Descending { u, g, drive, turn, weights })
    };
    let parts: Vec<[Quad; 4]> = tasks.map(task).collect();
    let [moved, turned, square, driven] = added(&parts);
    Descended {
        moved: moved.vector(),
        turned: turned.next().vector(),
        square: square.sum(),
        driven: driven.sum(),
    }
}

struct Descending<'a> {
    u: &'a [Vec3],
    g: &'a [Vec3],
    drive: &'a [Vec3],
    turn: &'a [Vec3],
    weights: &'a [f64],
}

impl WithSimd for Descending<'_> {
    type Output = [Quad; 4];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [Quad; 4] {
        let fused = !S::IS_SCALAR;
        let mut sums = [Quad::default(); 4];
        let (u, u_rest) = flat(self.u).as_chunks();
        let (g, g_rest) = flat(self.g).as_chunks();
        let (drive, drive_rest) = flat(self.drive).as_chunks();
        let (turn, turn_rest) = flat(self.turn).as_chunks();
        let (weights, weights_rest) = self.weights.as_chunks();
        for ((((u, g), drive), turn), weights) in u.iter().zip(g).zip(drive).zip(turn).zip(weights) {
            sums = descend(sums, [u, g, drive, turn], weights, fused);
        }
        if !u_rest.is_empty() {
            let rest = [u_rest, g_rest, drive_rest, turn_rest].map(filled);
            sums = descend(sums, rest.each_ref(), &filled(weights_rest), fused);
        }
        sums
    }
}

/// The sums with those of a block added. Closures would not be inlined, and not have the instructions of the caller.
#[inline(always)]
fn descend(
    [mut moved, mut turned, mut square, mut driven]: [Quad; 4],
    [u, g, drive, turn]: [&[f64; FLAT]; 4],
    weights: &[f64; BLOCK],
    fused: bool,
) -> [Quad; 4] {
    for (k, weight) in weights.iter().enumerate() {
        let u = Quad::at(u, k);
        moved = u.times_plus(Quad::splat(*weight), moved, fused);
        turned = turned.plus(u.cross(Quad::at(turn, k), fused));
        square = u.times_plus(Quad::at(g, k), square, fused);
        driven = u.times_plus(Quad::at(drive, k), driven, fused);
    }
    [moved, turned, square, driven]
}

/// u ← own u + energy push + p translation + turned × l, and where r is counted from; x ← x − share u.
#[derive(Debug, Clone, Copy)]
pub struct Correction {
    pub own: f64,
    pub energy: f64,
    pub p: Vec3,
    pub l: Vec3,
    pub pivot: Vec3,
    /// 1 or 0.
    pub share: f64,
}

/// A⁻¹ C of the vertices of a body.
#[derive(Debug, Clone, Copy)]
pub struct Directions<'a> {
    pub push: &'a [Vec3],
    pub turned: &'a [Vec3],
    pub translation: &'a [f64],
}

/// Corrects the descent, and moves the iterate x' by its share. Returns what the new iterate, x' − u, has moved from `x` then, or will have.
pub fn corrected(
    correction: &Correction,
    directions: &Directions,
    descent: &mut [Vec3],
    iterate: &mut [Vec3],
    x: &[Vec3],
    mass: &[f64],
) -> Moved {
    let task = |(c, (descent, iterate)): (usize, (&mut [Vec3], &mut [Vec3]))| {
        let own = c * CHUNK..c * CHUNK + descent.len();
        let Directions { push, turned, translation } = directions;
        let (push, turned) = (&push[own.clone()], &turned[own.clone()]);
        let directions = Directions { push, turned, translation: &translation[own.clone()] };
        let (x, mass) = (&x[own.clone()], &mass[own]);
        on_lanes(Correcting { correction, directions, descent, iterate, x, mass })
    };
    let tasks = descent.par_chunks_mut(CHUNK).zip(iterate.par_chunks_mut(CHUNK));
    let parts: Vec<[Quad; 3]> = tasks.enumerate().map(task).collect();
    let [moved, turned, square] = added(&parts);
    Moved { moved: moved.vector(), turned: turned.next().vector(), square: square.sum() }
}

struct Correcting<'a> {
    correction: &'a Correction,
    directions: Directions<'a>,
    descent: &'a mut [Vec3],
    iterate: &'a mut [Vec3],
    x: &'a [Vec3],
    mass: &'a [f64],
}

/// What [`Correcting`] reads of a block.
struct Read<'a> {
    push: &'a [f64; FLAT],
    turned: &'a [f64; FLAT],
    translation: &'a [f64; BLOCK],
    x: &'a [f64; FLAT],
    mass: &'a [f64; BLOCK],
}

impl WithSimd for Correcting<'_> {
    type Output = [Quad; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [Quad; 3] {
        let fused = !S::IS_SCALAR;
        let mut sums = [Quad::default(); 3];
        let Directions { push, turned, translation } = self.directions;
        let (u, u_rest) = flat_mut(self.descent).as_chunks_mut();
        let (push, push_rest) = flat(push).as_chunks();
        let (turned, turned_rest) = flat(turned).as_chunks();
        let (translation, translation_rest) = translation.as_chunks();
        let (iterate, iterate_rest) = flat_mut(self.iterate).as_chunks_mut();
        let (x, x_rest) = flat(self.x).as_chunks();
        let (mass, mass_rest) = self.mass.as_chunks();
        let blocks = u.iter_mut().zip(push).zip(turned).zip(translation).zip(iterate).zip(x).zip(mass);
        for ((((((u, push), turned), translation), iterate), x), mass) in blocks {
            let read = Read { push, turned, translation, x, mass };
            sums = correct(sums, self.correction, [u, iterate], &read, fused);
        }
        if !u_rest.is_empty() {
            let (mut u, mut iterate) = (filled(u_rest), filled(iterate_rest));
            let (push, turned, translation) =
                (&filled(push_rest), &filled(turned_rest), &filled(translation_rest));
            let read = Read { push, turned, translation, x: &filled(x_rest), mass: &filled(mass_rest) };
            sums = correct(sums, self.correction, [&mut u, &mut iterate], &read, fused);
            u_rest.copy_from_slice(&u[..u_rest.len()]);
            iterate_rest.copy_from_slice(&iterate[..iterate_rest.len()]);
        }
        sums
    }
}

/// Corrects the descent of a block and moves its iterate; the sums with what that moves added.
#[inline(always)]
fn correct(
    [mut moved, mut turned, mut square]: [Quad; 3],
    &Correction { own, energy, p, l, pivot, share }: &Correction,
    [u, iterate]: [&mut [f64; FLAT]; 2],
    read: &Read,
    fused: bool,
) -> [Quad; 3] {
    let (p, l, pivot) = (Quad::of(&p), Quad::of(&l), Quad::of(&pivot));
    let (own, energy, share) = (Quad::splat(own), Quad::splat(energy), Quad::splat(share));
    for k in 0..BLOCK {
        let turning = Quad::at(read.turned, k).cross(l, fused).next();
        let shift = p.times_plus(Quad::splat(read.translation[k]), turning, fused);
        let pushed = energy.times_plus(Quad::at(read.push, k), shift, fused);
        let new = own.times_plus(Quad::at(u, k), pushed, fused);
        u[3 * k..3 * k + 3].copy_from_slice(&new.0[..3]);
        let (x, here) = (Quad::at(read.x, k), Quad::at(iterate, k));
        let d = here.minus(x).minus(new);
        iterate[3 * k..3 * k + 3].copy_from_slice(&here.minus(new.times(share)).0[..3]);
        let carried = d.scaled(read.mass[k]);
        moved = moved.plus(carried);
        turned = turned.plus(x.minus(pivot).cross(carried, fused));
        square = d.times_plus(carried, square, fused);
    }
    [moved, turned, square]
}

#[inline(always)]
fn flat(vectors: &[Vec3]) -> &[f64] {
    bytemuck::cast_slice(vectors)
}

#[inline(always)]
fn flat_mut(vectors: &mut [Vec3]) -> &mut [f64] {
    bytemuck::cast_slice_mut(vectors)
}

/// A block with nothing at all where there are no vertices any more: no mass, no weight.
#[inline(always)]
fn filled<const N: usize>(rest: &[f64]) -> [f64; N] {
    std::array::from_fn(|k| rest.get(k).copied().unwrap_or(0.0))
}

/// The tasks' sums, added in their order.
fn added<const K: usize>(parts: &[[Quad; K]]) -> [Quad; K] {
    parts.iter().fold([Quad::default(); K], |sums, part| std::array::from_fn(|k| sums[k].plus(part[k])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elastic::sample::Noise;

    fn vectors(noise: &mut Noise, n: usize) -> Vec<Vec3> {
        (0..n).map(|_| noise.vector()).collect()
    }

    /// Sizes within a block, at its ends, and beyond a task.
    const SIZES: [usize; 6] = [1, 3, 4, 7, CHUNK, 2 * CHUNK + 5];

    #[test]
    fn sums_of_the_descent_are_those_of_the_formula() {
        let mut noise = Noise(21);
        for n in SIZES {
            let [u, g, drive, turn] = std::array::from_fn(|_| vectors(&mut noise, n));
            let weights: Vec<f64> = (0..n).map(|_| noise.next()).collect();
            let seen = descended(&u, &g, &drive, &turn, &weights);
            let moved: Vec3 = (0..n).map(|k| u[k] * weights[k]).sum();
            let turned: Vec3 = (0..n).map(|k| u[k].cross(&turn[k])).sum();
            let square: f64 = (0..n).map(|k| u[k].dot(&g[k])).sum();
            let driven: f64 = (0..n).map(|k| u[k].dot(&drive[k])).sum();
            // n terms of order one, added in another order
            let rounding = 1e-15 * n as f64;
            assert!(
                (seen.moved - moved).amax() < rounding && (seen.turned - turned).amax() < rounding,
                "{n}"
            );
            assert!(
                (seen.square - square).abs() < rounding && (seen.driven - driven).abs() < rounding,
                "{n}"
            );
        }
    }

    #[test]
    fn a_correction_changes_every_vertex_and_sees_what_it_moves() {
        let mut noise = Noise(22);
        for n in SIZES {
            let [u, push, turned, iterate, x] = std::array::from_fn(|_| vectors(&mut noise, n));
            let [translation, mass] =
                std::array::from_fn(|_| (0..n).map(|_| noise.next()).collect::<Vec<f64>>());
            let [p, l, pivot] = std::array::from_fn(|_| noise.vector());
            let share = (n % 2) as f64;
            let correction = Correction { own: 0.7, energy: -0.3, p, l, pivot, share };
            let directions = Directions { push: &push, turned: &turned, translation: &translation };
            let (mut descent, mut moves) = (u.clone(), iterate.clone());
            let seen = corrected(&correction, &directions, &mut descent, &mut moves, &x, &mass);
            let (mut moved, mut torque, mut square) = (Vec3::zeros(), Vec3::zeros(), 0.0);
            for k in 0..n {
                let new = u[k] * 0.7 - push[k] * 0.3 + p * translation[k] + turned[k].cross(&l);
                assert!((descent[k] - new).amax() < 1e-15 * 8.0, "{n} {k}"); // a few terms of order one
                assert_eq!(moves[k], iterate[k] - descent[k] * share);
                let d = iterate[k] - x[k] - new;
                moved += d * mass[k];
                torque += (x[k] - pivot).cross(&d) * mass[k];
                square += mass[k] * d.norm_squared();
            }
            // n terms of order ten, added in another order
            let rounding = 1e-14 * n as f64;
            assert!(
                (seen.moved - moved).amax() < rounding && (seen.turned - torque).amax() < rounding,
                "{n}"
            );
            assert!((seen.square - square).abs() < rounding, "{n}");
        }
    }
}
