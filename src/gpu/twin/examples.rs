//! Twins of the kernels that damp along example shapes.

mod couple;
mod pose;

pub use couple::couple_examples;
pub use pose::{measure_excitation, measure_pose, reduce_pose};

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::solve::packed;
use super::vertex::free_velocity;
use super::{Output, Sum, step, wide};
use crate::{Mat3, Vec3};

/// A sum, and the magnitude of its terms.
type Estimate = (f64, f64);

fn chunks(all: &Contents) -> Vec<ExampleChunk> {
    all.items(Buffer::ExampleChunks).to_vec()
}

fn groups(all: &Contents) -> Vec<ExampleGroup> {
    (0..all.count(Buffer::ExampleGroups)).map(|k| all.small(Buffer::ExampleGroups, k)).collect()
}

/// T of a group, as `rotation_of` has it.
fn turn(all: &Contents, group: u32) -> Mat3 {
    let q = all.small::<ExampleState>(Buffer::ExampleStates, group as usize).turn.map(f64::from);
    let (w, v) = (q.x, Vec3::new(q.y, q.z, q.w));
    let cross = v.cross_matrix();
    Mat3::identity() + cross * (2.0 * w) + cross * cross * 2.0
}

/// The vector of a shape at a vertex in a buffer of columns.
fn column(
    all: &Contents,
    buffer: Buffer,
    chunk: &ExampleChunk,
    shape: usize,
    i: usize,
    first: usize,
) -> Vec3 {
    let at = chunk.columns as usize + 3 * (shape * chunk.vertices as usize + i - chunk.origin as usize);
    wide(&all.items::<f32>(buffer)[first + at..][..3])
}

/// Writes sums along shapes over the vertices of every chunk: `terms(chunk, shape, i)` for each of `ROWS` rows.
fn sum_along<const ROWS: usize>(
    all: &mut Contents,
    terms: impl Fn(&Contents, &ExampleChunk, usize, usize) -> [Estimate; ROWS],
) -> Magnitudes {
    let mut out = Output::to(all, Buffer::ExamplePartials);
    for (number, chunk) in chunks(all).iter().enumerate() {
        let mut sums = [[(0.0, 0.0); SHAPES]; ROWS];
        for shape in 0..chunk.shapes as usize {
            for i in chunk.first as usize..chunk.end as usize {
                for (row, (value, size)) in sums.iter_mut().zip(terms(all, chunk, shape, i)) {
                    row[shape] = (row[shape].0 + value, row[shape].1 + size);
                }
            }
        }
        for (slot, (value, size)) in sums.as_flattened().iter().enumerate() {
            out.number(all, 2 * SHAPES * number + slot, *value, *size);
        }
    }
    out.done()
}

/// The sums of a group, all rows.
fn totals(all: &Contents, group: &ExampleGroup) -> [Estimate; 2 * SHAPES] {
    let partials = all.items::<[f32; 2 * SHAPES]>(Buffer::ExamplePartials);
    let mut sums = [(0.0, 0.0); 2 * SHAPES];
    for partial in &partials[group.first_chunk as usize..group.end_chunk as usize] {
        for (sum, value) in sums.iter_mut().zip(partial) {
            *sum = (sum.0 + f64::from(*value), sum.1 + f64::from(value.abs()));
        }
    }
    sums
}

/// A product of vectors, the second one a sum.
fn dot(a: &Vec3, b: &Sum) -> Estimate {
    (a.dot(&b.value), a.norm() * b.size)
}

/// Σ m_j y_j.
fn weighted(row: impl Iterator<Item = f64>, y: &[Estimate]) -> Estimate {
    row.zip(y).fold((0.0, 0.0), |sum, (m, y)| (sum.0 + m * y.0, sum.1 + m.abs() * y.1))
}

/// v' of a vertex.
fn new_velocity(all: &Contents, i: usize) -> Sum {
    let s = step(all);
    let mut v = free_velocity(&s, &all.items::<Motion>(Buffer::Motions)[i]);
    v.add(wide(&all.items::<[f32; 4]>(Buffer::TargetOffset)[i]) * f64::from(s.slope));
    v
}

/// Twin of `measure_along`.
pub fn measure_along(all: &mut Contents, call: &Call) -> Magnitudes {
    let first = all.small::<ExampleStage>(Buffer::ExampleStages, call.series).solutions as usize;
    sum_along(all, |all, chunk, shape, i| {
        let turn = turn(all, chunk.group);
        let (mut v, base) = (new_velocity(all, i), new_velocity(all, chunk.origin as usize));
        v.add_sized(-base.value, base.size);
        v.value = turn.tr_mul(&v.value);
        let g = turn.tr_mul(&packed(all, Buffer::Gradient, i));
        let u = column(all, Buffer::ExampleForces, chunk, shape, i, 0);
        let b = column(all, Buffer::ExampleSolutions, chunk, shape, i, first);
        [dot(&u, &v), dot(&b, &Sum { value: g, size: g.norm() })]
    })
}

/// Twin of `solve_along`.
pub fn solve_along(all: &mut Contents, call: &Call) -> Magnitudes {
    let stage: ExampleStage = all.small(Buffer::ExampleStages, call.series);
    let s = step(all);
    let mut out = Output::to(all, Buffer::ExampleShares);
    for (number, group) in groups(all).iter().enumerate() {
        let k = group.shapes as usize;
        let matrices = all.items::<f32>(Buffer::ExampleMatrices)[group.matrices as usize..].to_vec();
        let matrix = |first: usize, i: usize| matrices[first + i * k..][..k].iter().map(|m| f64::from(*m));
        let couplings = all.items::<f32>(Buffer::ExampleCouplings)[2 * SHAPES * SHAPES * number..].to_vec();
        let coupling = |first: usize, i: usize| couplings[first + i * k..][..k].iter().map(|m| f64::from(*m));
        let sums = totals(all, group);
        let mut base = new_velocity(all, group.first as usize);
        base.value = turn(all, number as u32).tr_mul(&base.value);
        let rate = |j: usize| {
            let whole = dot(&wide(&matrices[4 * k * k + 3 * j..][..3]), &base);
            (sums[j].0 + whole.0, sums[j].1 + whole.1)
        };
        let rates: Vec<Estimate> = (0..k).map(rate).collect();
        let d = f64::from(s.dissipation) * f64::from(s.inertia);
        let scaled = |(value, size): Estimate| (d * value, d.abs() * size);
        let forces: Vec<Estimate> = (0..k).map(|i| scaled(weighted(coupling(0, i), &rates))).collect();
        let along = |i: usize| {
            let more = weighted(matrix((2 + stage.stage as usize) * k * k, i), &forces);
            (sums[SHAPES + i].0 + more.0, sums[SHAPES + i].1 + more.1)
        };
        let along: Vec<Estimate> = (0..k).map(along).collect();
        for (i, force) in forces.iter().enumerate() {
            let share = weighted(coupling(SHAPES * SHAPES, i), &along);
            let at = 3 * SHAPES * number + i;
            out.number(all, at + SHAPES, force.0, force.1);
            out.number(all, at + 2 * SHAPES, -share.0, share.1);
        }
    }
    out.done()
}

/// T A c of a vertex, added to what it has.
fn add_columns(
    all: &Contents,
    columns: Buffer,
    chunk: &ExampleChunk,
    i: usize,
    places: [usize; 2],
    sum: &mut Sum,
) {
    let [first, row] = places;
    let shares = &all.items::<[f32; 3 * SHAPES]>(Buffer::ExampleShares)[chunk.group as usize];
    let turn = turn(all, chunk.group);
    for shape in 0..chunk.shapes as usize {
        let column = column(all, columns, chunk, shape, i, first);
        sum.add(turn * column * f64::from(shares[row + shape]));
    }
}

/// Twin of `add_example_force`.
pub fn add_example_force(all: &mut Contents, _: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Gradient);
    for chunk in chunks(all) {
        for i in chunk.first as usize..chunk.end as usize {
            let mut g = Sum::default();
            g.add(packed(all, Buffer::Gradient, i));
            add_columns(all, Buffer::ExampleForces, &chunk, i, [0, SHAPES], &mut g);
            out.vector(all, 3 * i, &g);
        }
    }
    out.done()
}

/// Twin of `add_example_solution`.
pub fn add_example_solution(all: &mut Contents, call: &Call) -> Magnitudes {
    let first = all.small::<ExampleStage>(Buffer::ExampleStages, call.series).solutions as usize;
    let mut out = Output::to(all, Buffer::FrontSolution);
    for chunk in chunks(all) {
        for i in chunk.first as usize..chunk.end as usize {
            let at = all.items::<u32>(Buffer::FrontPosition)[i] as usize;
            let mut s = Sum::default();
            s.add(packed(all, Buffer::FrontSolution, at));
            add_columns(all, Buffer::ExampleSolutions, &chunk, i, [first, 2 * SHAPES], &mut s);
            out.vector(all, 3 * at, &s);
        }
    }
    out.done()
}

/// Twin of `measure_drag`.
pub fn measure_drag(all: &mut Contents, _: &Call) -> Magnitudes {
    let start = f64::from(step(all).start_share);
    sum_along(all, |all, chunk, shape, i| {
        let (turn, m) = (turn(all, chunk.group), all.items::<Motion>(Buffer::Motions)[i]);
        let (v, before) = (wide(&m.velocity), wide(&m.velocity_before));
        let way = wide(&m.last_displacement);
        let u = column(all, Buffer::ExampleForces, chunk, shape, i, 0);
        let mean =
            Sum { value: turn.tr_mul(&(v + (before - v) * start)), size: v.norm() + 2.0 * before.norm() };
        [dot(&u, &Sum { value: turn.tr_mul(&way), size: way.norm() }), dot(&u, &mean)]
    })
}

/// Twin of `reduce_drag`.
pub fn reduce_drag(all: &mut Contents, _: &Call) -> Magnitudes {
    let force = f64::from(step(all).damping_force);
    let mut out = Output::to(all, Buffer::ExchangePartials);
    for (number, group) in groups(all).iter().enumerate() {
        let k = group.shapes as usize;
        let sums = totals(all, group);
        let couplings = all.items::<f32>(Buffer::ExampleCouplings)[2 * SHAPES * SHAPES * number..].to_vec();
        let before = f64::from(all.items::<[f32; 4]>(Buffer::ExchangePartials)[group.exchange as usize][0]);
        let (mut taken, mut size) = (before, before.abs());
        for (i, way) in sums[..k].iter().enumerate() {
            let row = couplings[i * k..][..k].iter().map(|p| f64::from(*p));
            let damped = weighted(row, &sums[SHAPES..]);
            taken += force * way.0 * damped.0;
            size += force.abs() * way.1 * damped.1;
        }
        out.number(all, 4 * group.exchange as usize, taken, size);
    }
    out.done()
}
