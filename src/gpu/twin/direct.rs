//! Spring and direct damping.

use super::super::buffer::{Buffer, Contents};
use super::super::kernel::{Call, Magnitudes};
use super::super::layout::*;
use super::whole::{NO_MINIMUM, RelativeToRigid, Slots, filter, measure, segments, vertices};
use super::{Output, Sum, place, step, wide};
use crate::Vec3;
use crate::damping::direct::torque::LEAST_SHARE;
use crate::damping::direct::{self, EDGES};
use crate::damping::neighbours::NO_VERTEX;
use crate::damping::point_masses::PointMasses;
use crate::scene::Torque;
use nalgebra::Vector3;

fn has(step: &Step, bit: u32) -> bool {
    step.filter_mode & bit != 0
}

/// Relative error of the direction of a vector of this length, a sum of terms of size `terms`: in ulps of single
/// precision, at most 1 in total.
fn direction_size(length: f64, terms: f64) -> f64 {
    (2.0 * terms / length).min(1.0 / f64::from(f32::EPSILON))
}

/// Twin of `damp_body`.
pub fn damp_body(all: &mut Contents, _call: &Call) -> Magnitudes {
    let s = step(all);
    let gamma = f64::from(s.filter_coefficient);
    let mut out = Output::to(all, Buffer::Changes);
    for chunk in all.items::<Chunk>(Buffer::Chunks).to_vec() {
        // spin is excluded
        let body = Rigid { spin: Vector3::zeros(), ..all.small(Buffer::Rigids, chunk.body as usize) };
        let old: Vec<_> = vertices(all, &chunk).collect();
        for (i, (vertex, motion)) in (chunk.first as usize..).zip(old) {
            let beyond = RelativeToRigid::of(&body, &vertex, wide(&motion.velocity));
            let mut change = Sum { value: beyond.velocity * -gamma, size: gamma * beyond.velocity_size };
            if has(&s, mode::RADIAL) {
                let n = beyond.arm.try_normalize(0.0).unwrap_or_default();
                change.value = n * change.value.dot(&n);
                change.size *= 1.0 + direction_size(beyond.arm.norm(), beyond.arm_size);
            }
            out.vector(all, 4 * i, &change);
            out.number(all, 4 * i + 3, 0.0, 0.0);
        }
    }
    out.done()
}

/// x_i − x_j, and the size of its terms (m).
fn difference(all: &Contents, i: u32, j: u32) -> (Vec3, f64) {
    let places = all.items::<Vertex>(Buffer::Vertices);
    let (a, b) = (&places[i as usize], &places[j as usize]);
    let (high, low) = (wide(&a.position) - wide(&b.position), wide(&a.low) - wide(&b.low));
    (high + low, high.norm() + low.norm())
}

/// Twin of `damp_edge`.
pub fn damp_edge(all: &mut Contents, _call: &Call) -> Magnitudes {
    let s = step(all);
    let mut out = Output::to(all, Buffer::EdgeRows);
    for (number, edge) in all.items::<Edge>(Buffer::Edges).to_vec().iter().enumerate() {
        let change = |i: u32| wide(&all.items::<[f32; 4]>(Buffer::Changes)[i as usize]);
        let mass = |i: u32| f64::from(all.items::<Vertex>(Buffer::Vertices)[i as usize].mass);
        let (a, b) = (change(edge.first), change(edge.second));
        let mut p = Sum { value: a - b, size: a.norm() + b.norm() };
        if has(&s, mode::PROJECTED) {
            let (along, terms) = difference(all, edge.first, edge.second);
            let n = along.try_normalize(0.0).unwrap_or_default();
            p.value = n * p.value.dot(&n);
            p.size *= 1.0 + if terms > 0.0 { direction_size(along.norm(), terms) } else { 0.0 };
        }
        let (a, b) = (mass(edge.first), mass(edge.second));
        let weight = if has(&s, mode::SCALED) { a * b / (a + b) } else { f64::from(edge.share) };
        p = Sum { value: p.value * weight, size: p.size * weight };
        out.vector(all, 4 * number, &p);
        out.number(all, 4 * number + 3, p.value.norm(), p.size);
    }
    out.done()
}

/// Twin of `gather_edge`.
pub fn gather_edge(all: &mut Contents, _call: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Changes);
    for i in 0..all.items::<Vertex>(Buffer::Vertices).len() {
        let (mut sum, mut terms) = (Sum::default(), 0.0);
        for &end in gathered(all, Buffer::EdgeStarts, Buffer::EdgeEnds, i) {
            let row = all.items::<[f32; 4]>(Buffer::EdgeRows)[end as usize / 2];
            let sign = if end % 2 == 0 { 1.0 } else { -1.0 };
            sum.add(wide(&row) * sign);
            terms += f64::from(row[3]);
        }
        let mass = f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
        let before = wide(&all.items::<[f32; 4]>(Buffer::Changes)[i]).norm() * mass;
        let after = sum.value.norm();
        let is_some = after > LEAST_SHARE * terms;
        let ratio = if is_some { (before / after).min(NO_MINIMUM) } else { NO_MINIMUM };
        let size = if is_some { ratio * (1.0 + sum.size / after) } else { 0.0 };
        out.vector(all, 4 * i, &Sum { value: sum.value / mass, size: sum.size / mass });
        out.number(all, 4 * i + 3, ratio, size);
    }
    out.done()
}

/// The entries of a list that belong to a vertex.
fn gathered(all: &Contents, starts: Buffer, list: Buffer, i: usize) -> &[u32] {
    let starts = all.items::<u32>(starts);
    &all.items::<u32>(list)[starts[i] as usize..starts[i + 1] as usize]
}

/// Twin of `measure_change`.
pub fn measure_change(all: &mut Contents, _call: &Call) -> Magnitudes {
    measure(all, |all, chunk| {
        let body: Rigid = all.small(Buffer::Rigids, chunk.body as usize);
        let (base, drift) = (wide(&body.base), wide(&body.drift));
        let mut slots = Slots::empty();
        for (i, (vertex, motion)) in (chunk.first as usize..).zip(vertices(all, chunk)) {
            let (mass, velocity) = (f64::from(vertex.mass), wide(&motion.velocity) - base);
            let change = all.items::<[f32; 4]>(Buffer::Changes)[i];
            let (w, u) = (wide(&change), velocity - drift);
            slots.add_vector(0, &(w * mass), mass * w.norm());
            slots.add(3, mass * w.dot(&u), mass * w.norm() * (velocity.norm() + drift.norm()));
            slots.add(4, mass * w.norm_squared(), mass * w.norm_squared());
            slots.lower(f64::from(change[3]));
        }
        slots
    })
}

/// Twin of `reduce_change`.
pub fn reduce_change(all: &mut Contents, _call: &Call) -> Magnitudes {
    let s = step(all);
    let mut out = Output::to(all, Buffer::Balances);
    for (body, sum) in segments(all, all.count(Buffer::Rigids)).iter().enumerate() {
        let mass = f64::from(all.small::<Rigid>(Buffer::Rigids, body).mass);
        let mean = Sum { value: sum.vector(0) / mass, size: sum.size(0) / mass };
        let (mut factor, mut size) = (1.0, 0.0);
        if has(&s, mode::SCALED) {
            let ([given, given_size], [square, square_size]) = (sum.sized(3), sum.sized(4));
            let least = sum.least();
            factor = 0.0;
            if square > 0.0 && given < 0.0 && least < NO_MINIMUM {
                factor = least.min(-given / square);
                size = (given_size - given * square_size / square) / square;
            }
        }
        out.vector(all, 4 * body, &mean);
        out.number(all, 4 * body + 3, factor, size + factor.abs());
    }
    out.done()
}

/// Twin of `filter_change`.
pub fn filter_change(all: &mut Contents, _call: &Call) -> Magnitudes {
    let s = step(all);
    filter(all, |all, chunk, i, _, velocity| {
        let change = wide(&all.items::<[f32; 4]>(Buffer::Changes)[i]);
        if !has(&s, mode::BALANCED) {
            return (velocity + change, change.norm());
        }
        let balance = all.items::<[f32; 4]>(Buffer::Balances)[chunk.body as usize];
        let (mean, factor) = (wide(&balance), f64::from(balance[3]));
        (velocity + (change - mean) * factor, (change.norm() + mean.norm()) * factor.abs())
    })
}

/// Twin of `damp_cluster`.
pub fn damp_cluster(all: &mut Contents, _call: &Call) -> Magnitudes {
    let s = step(all);
    let mut out = Output::to(all, Buffer::ClusterRows);
    for (number, cluster) in all.items::<Cluster>(Buffer::Clusters).to_vec().iter().enumerate() {
        let own: Vec<usize> =
            cluster.vertices.iter().filter(|&&v| v != NO_VERTEX).map(|&v| v as usize).collect();
        let (places, motions) = (all.items::<Vertex>(Buffer::Vertices), all.items::<Motion>(Buffer::Motions));
        let parts = own.iter().zip(&cluster.parts);
        let mass: Vec<f64> = parts.map(|(&i, part)| f64::from(places[i].mass) * f64::from(*part)).collect();
        let x: Vec<Vec3> = own.iter().map(|&i| place(&places[i])).collect();
        let v: Vec<Vec3> = own.iter().map(|&i| wide(&motions[i].velocity)).collect();
        let edges: Vec<[u32; 2]> =
            EDGES.iter().filter(|e| e.iter().all(|&k| (k as usize) < own.len())).copied().collect();
        let cloud = PointMasses { mass: &mass, x: &x, v: &v, edges: &edges, first: 0 };
        let torque = match (has(&s, mode::RADIAL), has(&s, mode::SCALED)) {
            (true, _) => Torque::Radial,
            (_, true) => Torque::Edges,
            _ => Torque::None,
        };
        let gamma = f64::from(s.filter_coefficient);
        let mut p = vec![Vec3::zeros(); own.len()];
        direct::impulses(&cloud, gamma, torque, &mut p);
        let sizes = cluster_sizes(&cloud, gamma, torque, &p);
        for k in 0..4 {
            let row = Sum {
                value: p.get(k).copied().unwrap_or_default(),
                size: sizes.get(k).copied().unwrap_or(0.0),
            };
            out.vector(all, 16 * number + 4 * k, &row);
            out.number(all, 16 * number + 4 * k + 3, 0.0, 0.0);
        }
    }
    out.done()
}

/// Magnitudes of the terms of a cluster's impulses.
fn cluster_sizes(cloud: &PointMasses, gamma: f64, torque: Torque, p: &[Vec3]) -> Vec<f64> {
    let largest = |of: &[Vec3]| of.iter().map(|x| (x - of[0]).norm()).fold(0.0, f64::max);
    let (speed, reach) = (2.0 * largest(cloud.v), 2.0 * largest(cloud.x));
    let whole: f64 = cloud.mass.iter().sum();
    let centre = cloud.centre();
    let plain: Vec<f64> = cloud.mass.iter().map(|m| gamma * m * speed).collect();
    let arms = cloud.relative(cloud.x, centre.place);
    match torque {
        Torque::Radial => {
            let projected = plain.iter().zip(arms);
            let own: Vec<f64> =
                projected.map(|(size, r)| size * (1.0 + direction_size(r.norm(), reach))).collect();
            let mean = own.iter().sum::<f64>() / whole;
            own.iter().zip(cloud.mass).map(|(own, m)| own + m * mean).collect()
        }
        Torque::Edges => edge_sizes(cloud, gamma, [speed, reach], p),
        _ => plain.iter().zip(cloud.mass).map(|(own, m)| own + m * gamma * speed).collect(),
    }
}

/// The same for impulses projected on edges: their common factor is a quotient of sums that may cancel.
fn edge_sizes(cloud: &PointMasses, gamma: f64, [speed, reach]: [f64; 2], p: &[Vec3]) -> Vec<f64> {
    let mut wanted = vec![Vec3::zeros(); p.len()];
    direct::impulses(cloud, gamma, Torque::None, &mut wanted);
    let mut sums = wanted.clone();
    direct::torque::project_on_edges(cloud, &mut sums);
    let mut sizes = vec![0.0; p.len()];
    for [i, j] in cloud.pairs() {
        let (a, b) = (cloud.mass[i], cloud.mass[j]);
        let length = (cloud.x[i] - cloud.x[j]).norm();
        let size = 2.0 * gamma * speed * (a * b / (a + b)) * (1.0 + direction_size(length, reach));
        (sizes[i], sizes[j]) = (sizes[i] + size, sizes[j] + size);
    }
    let drift = cloud.centre().velocity;
    let velocities: Vec<Vec3> = cloud.relative(cloud.v, drift).collect();
    let [mut given, mut given_size, mut square, mut square_size] = [0.0; 4];
    let (mut ratio, mut ratio_size) = (f64::INFINITY, 0.0);
    for k in 0..p.len() {
        let (sum, m) = (sums[k].norm(), cloud.mass[k]);
        given += sums[k].dot(&velocities[k]);
        given_size += sizes[k] * speed;
        square += sum * sum / m;
        square_size += 2.0 * sizes[k] * sum / m;
        if sum > 0.0 && wanted[k].norm() / sum < ratio {
            ratio = wanted[k].norm() / sum;
        }
        if sum > 0.0 {
            ratio_size = f64::max(ratio_size, (gamma * m * speed + wanted[k].norm() * sizes[k] / sum) / sum);
        }
    }
    let best_size = (given_size + given.abs() * square_size / square) / square;
    let factor = ratio.min(-given / square).max(0.0);
    let factor_size = ratio_size.max(best_size) + factor;
    let of = |k: usize| factor * sizes[k] + factor_size * sums[k].norm();
    (0..p.len()).map(|k| if square > 0.0 { of(k) } else { 0.0 }).collect()
}

/// Twin of `gather_cluster`.
pub fn gather_cluster(all: &mut Contents, _call: &Call) -> Magnitudes {
    let mut out = Output::to(all, Buffer::Changes);
    for i in 0..all.items::<Vertex>(Buffer::Vertices).len() {
        let mut sum = Sum::default();
        for &corner in gathered(all, Buffer::ClusterStarts, Buffer::ClusterCorners, i) {
            sum.add(wide(&all.items::<[f32; 4]>(Buffer::ClusterRows)[corner as usize]));
        }
        let mass = f64::from(all.items::<Vertex>(Buffer::Vertices)[i].mass);
        out.vector(all, 4 * i, &Sum { value: sum.value / mass, size: sum.size / mass });
        out.number(all, 4 * i + 3, 0.0, 0.0);
    }
    out.done()
}
