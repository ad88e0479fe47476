//! Twins of the kernels of L-BFGS.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::iterations::{Summed, write_state};
use super::solve::packed;
use super::vertex::vertices_of;
use super::{NO_MINIMUM, Output, Sum, iteration_state, sizes, wide};
use crate::Vec3;
use crate::step::backend::MOST_PAIRS;

/// Pairs that count at most, and one that may be left out.
const PAIRS: usize = MOST_PAIRS + 1;

/// Vectors of a pair.
const CHANGE: usize = 0;
const RESPONSE: usize = 1;
const SOLVED: usize = 2;

/// Where numbers stand in the curvature.
const SOLVED_PRODUCTS: usize = PAIRS * PAIRS;
const SOLVED_SHARES: usize = 2 * PAIRS * PAIRS;
const CHANGE_SHARES: usize = SOLVED_SHARES + PAIRS;

/// Pairs with the one that may be left out.
fn pair_count(all: &Contents) -> usize {
    let rule: IterationRule = all.small(Buffer::IterationRule, 0);
    (rule.history as usize).min(MOST_PAIRS) + 1
}

/// The first number of a vector at vertex i.
fn pair_at(all: &Contents, pair: usize, vector: usize, i: usize) -> usize {
    3 * ((3 * pair + vector) * sizes(all).vertices as usize + i)
}

fn load(all: &Contents, pair: usize, vector: usize, i: usize) -> Vec3 {
    wide(&all.items::<f32>(Buffer::Pairs)[pair_at(all, pair, vector, i)..][..3])
}

/// The pair before the newest by `age`.
fn pair_of(state: &IterationState, age: usize, count: usize) -> usize {
    (state.next_pair as usize + 2 * count - 1 - age) % count
}

/// Twin of `measure_pairs`.
pub fn measure_pairs(all: &mut Contents, _: &Call) -> Magnitudes {
    let state = iteration_state(all);
    if (state.done | state.rejected) != 0 {
        return Vec::new();
    }
    let count = pair_count(all);
    let next = (state.next_pair as usize).min(count - 1);
    let mut pairs = Output::to(all, Buffer::Pairs);
    for i in 0..sizes(all).vertices as usize {
        let column = all.items::<u32>(Buffer::FrontPosition)[i] as usize;
        let now = [packed(all, Buffer::Gradient, i), packed(all, Buffer::FrontSolution, column)];
        let d = packed(all, Buffer::Correction, i);
        if state.iterations > 1 {
            let mut change = Sum::default();
            change.add(-d * f64::from(state.taken));
            pairs.vector(all, pair_at(all, next, CHANGE, i), &change);
        }
        for (vector, now) in [RESPONSE, SOLVED].into_iter().zip(now) {
            let mut difference = Sum::default();
            difference.add(now);
            difference.add(-load(all, count, vector, i));
            if state.iterations > 1 {
                pairs.vector(all, pair_at(all, next, vector, i), &difference);
            }
            pairs.vector(all, pair_at(all, count, vector, i), &Sum { value: now, size: 0.0 });
        }
    }
    [pairs.done(), products(all, count, next)].concat()
}

/// The products of all pairs with the newest one and with the gradient.
fn products(all: &mut Contents, count: usize, next: usize) -> Magnitudes {
    let mut out = Output::to(all, Buffer::PairPartials);
    for chunk in 0..all.items::<Chunk>(Buffer::Chunks).len() {
        for j in 0..count {
            let mut sums = [(0.0, 0.0); SLOTS];
            sums[SLOTS - 1] = (NO_MINIMUM, 0.0);
            for i in vertices_of(all, chunk) {
                let of = |pair: usize, vector: usize| load(all, pair, vector, i);
                let [s, y] = [CHANGE, RESPONSE].map(|vector| of(j, vector));
                let [g, solved] = [RESPONSE, SOLVED].map(|vector| of(count, vector));
                let [new_s, new_y, new_solved] = [CHANGE, RESPONSE, SOLVED].map(|vector| of(next, vector));
                let terms = [
                    (s, g),
                    (y, solved),
                    (s, new_y),
                    (new_s, y),
                    (y, new_solved),
                    (s, s),
                    (y, y),
                    (g, solved),
                ];
                for (sum, (a, b)) in sums.iter_mut().zip(terms) {
                    // the newest pair was rounded where the other one may not have been: a unit in the last place of each factor
                    *sum = (sum.0 + a.dot(&b), sum.1 + 2.0 * a.norm() * b.norm());
                }
            }
            for (slot, (value, size)) in sums.into_iter().enumerate() {
                out.number(all, SLOTS * (chunk * count + j) + slot, value, size);
            }
        }
    }
    out.done()
}

/// a + b c, with magnitudes.
fn add_product(a: Summed, b: Summed, c: Summed) -> Summed {
    (a.0 + b.0 * c.0, a.1 + b.1 * c.0.abs() + c.1 * b.0.abs() + (b.0 * c.0).abs())
}

fn quotient(a: Summed, b: Summed) -> Summed {
    let value = a.0 / b.0;
    (value, (a.1 + value.abs() * b.1) / b.0.abs() + value.abs())
}

fn minus(a: Summed) -> Summed {
    (-a.0, a.1)
}

/// The two loops: products of the pairs, and the shares that they give.
struct Loops {
    /// By pair, as `measure_pairs` has them.
    products: Vec<[Summed; 8]>,
    /// s_i·y_j and y_i·A⁻¹ y_j.
    changes: [[Summed; PAIRS]; PAIRS],
    solved: [[Summed; PAIRS]; PAIRS],
    solved_shares: [Summed; PAIRS],
    change_shares: [Summed; PAIRS],
}

impl Loops {
    fn new(all: &Contents, count: usize) -> Self {
        let known = all.items::<f32>(Buffer::Curvature);
        let exact = |k: usize| (f64::from(known[k]), 0.0);
        let table =
            |first: usize| std::array::from_fn(|i| std::array::from_fn(|j| exact(first + i * PAIRS + j)));
        let partials = all.items::<[f32; SLOTS]>(Buffer::PairPartials);
        let sum = |j: usize, slot: usize| {
            let terms = (0..sizes(all).chunks as usize).map(|k| f64::from(partials[k * count + j][slot]));
            terms.fold((0.0, 0.0), |sum, term| (sum.0 + term, sum.1 + term.abs()))
        };
        Loops {
            products: (0..count).map(|j| std::array::from_fn(|slot| sum(j, slot))).collect(),
            changes: table(0),
            solved: table(SOLVED_PRODUCTS),
            solved_shares: [(0.0, 0.0); PAIRS],
            change_shares: [(0.0, 0.0); PAIRS],
        }
    }

    fn learn(&mut self, state: &mut IterationState, count: usize) {
        let next = (state.next_pair as usize).min(count - 1);
        let [_, _, along, _, _, change, response, _] = self.products[next].map(|product| product.0);
        if state.iterations < 2 || along.is_nan() || along <= 1e-6 * change.sqrt() * response.sqrt() {
            return;
        }
        for j in 0..count {
            self.changes[j][next] = self.products[j][2];
            self.changes[next][j] = self.products[j][3];
            self.solved[j][next] = self.products[j][4];
            self.solved[next][j] = self.products[j][4];
        }
        state.pairs = (state.pairs + 1).min(count as u32 - 1);
        state.next_pair = (next as u32 + 1) % count as u32;
    }

    /// g·d of the direction that the shares give (J).
    fn choose(&mut self, state: &IterationState, count: usize) -> f64 {
        let order: Vec<usize> = (0..state.pairs as usize).map(|age| pair_of(state, age, count)).collect();
        for (age, &i) in order.iter().enumerate() {
            let mut along = self.products[i][0];
            for &j in &order[..age] {
                along = add_product(along, minus(self.solved_shares[j]), self.changes[i][j]);
            }
            self.solved_shares[i] = quotient(along, self.changes[i][i]);
        }
        for (age, &i) in order.iter().enumerate().rev() {
            let mut along = self.products[i][1];
            for (other, &j) in order.iter().enumerate() {
                along = add_product(along, minus(self.solved_shares[j]), self.solved[i][j]);
                if other > age {
                    along = add_product(along, self.change_shares[j], self.changes[j][i]);
                }
            }
            let back = quotient(along, self.changes[i][i]);
            let share = self.solved_shares[i];
            self.change_shares[i] = (share.0 - back.0, share.1 + back.1 + share.0.abs());
        }
        let term = |&i: &usize| {
            self.change_shares[i].0 * self.products[i][0].0 - self.solved_shares[i].0 * self.products[i][1].0
        };
        self.products[0][7].0 + order.iter().map(term).sum::<f64>()
    }

    fn write(&self, all: &mut Contents, count: usize) -> Magnitudes {
        let mut out = Output::to(all, Buffer::Curvature);
        for (first, table) in [(0, &self.changes), (SOLVED_PRODUCTS, &self.solved)] {
            for (k, (value, size)) in table.iter().flatten().enumerate() {
                out.number(all, first + k, *value, *size);
            }
        }
        for (first, shares) in [(SOLVED_SHARES, &self.solved_shares), (CHANGE_SHARES, &self.change_shares)] {
            for (k, (value, size)) in shares[..count].iter().enumerate() {
                out.number(all, first + k, *value, *size);
            }
        }
        out.done()
    }
}

/// Twin of `choose_direction`.
pub fn choose_direction(all: &mut Contents, _: &Call) -> Magnitudes {
    let mut state = iteration_state(all);
    if (state.done | state.rejected) != 0 {
        return Vec::new();
    }
    let count = pair_count(all);
    let mut loops = Loops::new(all, count);
    loops.learn(&mut state, count);
    let slope = loops.choose(&state, count);
    if !(slope > 0.0 && slope.is_finite()) {
        state.pairs = 0;
        (loops.solved_shares, loops.change_shares) = ([(0.0, 0.0); PAIRS], [(0.0, 0.0); PAIRS]);
    }
    [loops.write(all, count), write_state(all, state, &[])].concat()
}

/// Twin of `take_step`.
pub fn take_step(all: &mut Contents, _: &Call) -> Magnitudes {
    let state = iteration_state(all);
    if state.done != 0 && state.rejected == 0 {
        return Vec::new();
    }
    let count = pair_count(all);
    let share = |first: usize, pair: usize| f64::from(all.items::<f32>(Buffer::Curvature)[first + pair]);
    let order: Vec<(usize, [f64; 2])> = (0..state.pairs as usize)
        .map(|age| pair_of(&state, age, count))
        .map(|j| (j, [share(CHANGE_SHARES, j), share(SOLVED_SHARES, j)]))
        .collect();
    let n = sizes(all).vertices as usize;
    let mut ways = Vec::with_capacity(n);
    for i in 0..n {
        let mut way = Sum::default();
        if state.rejected != 0 {
            way.add(packed(all, Buffer::Correction, i) * -f64::from(state.way));
        } else {
            way.add(load(all, count, SOLVED, i));
            for (j, [change, solved]) in &order {
                way.add(load(all, *j, CHANGE, i) * *change);
                way.add(load(all, *j, SOLVED, i) * -*solved);
            }
        }
        ways.push(way);
    }
    let mut written = Vec::new();
    for buffer in [Buffer::Iterate, Buffer::TargetOffset] {
        let mut out = Output::to(all, buffer);
        for (i, way) in ways.iter().enumerate() {
            let mut at = Sum::default();
            at.add(wide(&all.items::<[f32; 4]>(buffer)[i]));
            at.add_sized(-way.value, way.size);
            out.vector(all, 4 * i, &at);
            out.number(all, 4 * i + 3, 0.0, 0.0);
        }
        written.extend(out.done());
    }
    if state.rejected == 0 {
        written.extend(along(all, &ways));
    }
    written
}

/// The direction, and g·d by block of vertices.
fn along(all: &mut Contents, ways: &[Sum]) -> Magnitudes {
    let (mut correction, mut slopes) = (Output::to(all, Buffer::Correction), Output::to(all, Buffer::Slopes));
    for (block, ways) in ways.chunks(BLOCK as usize).enumerate() {
        let (mut slope, mut size) = (0.0, 0.0);
        for (i, way) in (block * BLOCK as usize..).zip(ways) {
            let g = packed(all, Buffer::Gradient, i);
            slope += g.dot(&way.value);
            size += g.norm() * way.size;
            correction.vector(all, 3 * i, way);
        }
        slopes.number(all, block, slope, size);
    }
    [correction.done(), slopes.done()].concat()
}
