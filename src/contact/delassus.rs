//! The Delassus operator W: how far a force at one contact displaces all others.
//!
//! A acts on x, y and z alike, so a force on contact d displaces contact c by W_cd f_d with the scalar W_cd = Σ w_k
//! w_l (A⁻¹)_kl, zero if they share no body. Weights are fixed during a step, so a row of W is computed when its
//! contact first becomes active, and kept until the next step.

use super::{ComplianceColumns, ContactConstraint, NO_BODY};
use crate::Vec3;
use pulp::{Arch, NullaryFnOnce};
use std::ops::Range;

/// The known rows of W. Constraints have *slots*: those of the same pair of bodies are contiguous.
#[derive(Debug, Default)]
pub struct DelassusOperator {
    /// For each constraint: its slot.
    slot: Vec<usize>,
    /// For each slot: its surface-vertex indices and their weights.
    arms: Vec<([usize; 4], [f64; 4])>,
    /// For each slot: the pair of bodies.
    group: Vec<usize>,
    /// For each pair of bodies: the slots of all constraints that share a body with it.
    reach: Vec<Vec<Range<usize>>>,
    /// For each slot: W_cc, and the start of its row in `shares`.
    rows: Vec<Option<(f64, usize)>>,
    /// Rows divided by W_cc, in single precision: forces are accurate to 10⁻⁷.
    shares: Vec<f32>,
    /// Scratch: A⁻¹ Jᵀ of one constraint at all surface vertices; zero between uses.
    spread: Vec<f64>,
}

impl DelassusOperator {
    /// Starts a step with these constraints and no known rows.
    pub fn begin(&mut self, constraints: &[ContactConstraint], columns: &ComplianceColumns) {
        let mut order: Vec<usize> = (0..constraints.len()).collect();
        let parts: Vec<[u32; 2]> = constraints.iter().map(|constraint| parts(constraint, columns)).collect();
        order.sort_by_key(|&number| parts[number]); // stable: within a pair as the constraints are
        self.slot.clear();
        self.slot.resize(constraints.len(), 0);
        order.iter().enumerate().for_each(|(slot, &number)| self.slot[number] = slot);
        self.arms.clear();
        self.arms.extend(order.iter().map(|&number| arms(&constraints[number], columns)));
        let pairs: Vec<&[usize]> = order.chunk_by(|&a, &b| parts[a] == parts[b]).collect();
        self.group.clear();
        pairs.iter().enumerate().for_each(|(group, pair)| self.group.extend(pair.iter().map(|_| group)));
        let bodies: Vec<[u32; 2]> = pairs.iter().map(|pair| parts[pair[0]]).collect();
        let counts: Vec<usize> = pairs.iter().map(|pair| pair.len()).collect();
        self.reach = reach(&bodies, &counts);
        self.rows.clear();
        self.rows.resize(constraints.len(), None);
        self.shares.clear();
        self.spread.resize(columns.len(), 0.0);
    }

    pub fn slot(&self, constraint: usize) -> usize {
        self.slot[constraint]
    }

    /// Whether the row of a constraint is known.
    pub fn has_row(&self, constraint: usize) -> bool {
        self.rows[self.slot[constraint]].is_some()
    }

    /// Computes the row of a constraint; the columns of its vertices must be available.
    pub fn compute_row(
        &mut self,
        constraint: usize,
        constraints: &[ContactConstraint],
        columns: &ComplianceColumns,
    ) {
        let slot = self.slot[constraint];
        let mine: Vec<(usize, f64)> = constraints[constraint].arms().collect();
        mine.iter().for_each(|&(v, weight)| columns.add_to(v as u32, weight, &mut self.spread));
        let (spread, arms) = (&self.spread, &self.arms);
        let entry = |(nodes, weights): &([usize; 4], [f64; 4])| -> f64 {
            (0..4).map(|k| weights[k] * spread[nodes[k]]).sum()
        };
        let own = entry(&arms[slot]);
        // A is positive definite; if rounding or overflow says otherwise, the constraint has no compliance
        let own = if own.is_finite() && own > 0.0 { own } else { 0.0 };
        let share = |arms| {
            let share = (entry(arms) / own) as f32;
            if share.is_finite() { share } else { 0.0 }
        };
        let begin = self.shares.len();
        let coupled = self.reach[self.group[slot]].iter().flat_map(|range| &arms[range.clone()]);
        self.shares.extend(coupled.map(share));
        self.rows[slot] = Some((own, begin));
        mine.iter().for_each(|&(v, _)| columns.clear_part(v as u32, &mut self.spread));
    }

    /// W_cc of a slot; 0 if its row is not known.
    pub fn compliance(&self, slot: usize) -> f64 {
        self.rows[slot].map_or(0.0, |(compliance, _)| compliance)
    }

    /// Adds W_cd `force` of slot d to the displacements of all slots c, component by component (m).
    pub fn apply_force(&self, slot: usize, force: Vec3, moved: &mut [Vec<f64>; 3]) {
        let Some((compliance, mut begin)) = self.rows[slot] else { return };
        let force = force * compliance;
        let [x, y, z] = moved;
        for range in &self.reach[self.group[slot]] {
            let shares = &self.shares[begin..][..range.len()];
            begin += range.len();
            let moved = [&mut x[range.clone()], &mut y[range.clone()], &mut z[range.clone()]];
            Arch::new().dispatch(Spread { shares, force, moved });
        }
    }
}

/// moved += force · shares, vectorised.
struct Spread<'a> {
    shares: &'a [f32],
    force: Vec3,
    moved: [&'a mut [f64]; 3],
}

impl NullaryFnOnce for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Spread { shares, force, moved: [x, y, z] } = self;
        for (((share, x), y), z) in shares.iter().zip(x).zip(y).zip(z) {
            let share = f64::from(*share);
            *x += force.x * share;
            *y += force.y * share;
            *z += force.z * share;
        }
    }
}

/// A constraint's vertices as surface-vertex indices; vertices on no surface get weight 0.
fn arms(constraint: &ContactConstraint, columns: &ComplianceColumns) -> ([usize; 4], [f64; 4]) {
    let (mut nodes, mut weights) = ([0; 4], [0.0; 4]);
    for (arm, (v, weight)) in constraint.arms().enumerate() {
        if let Some(node) = columns.index(v as u32) {
            (nodes[arm], weights[arm]) = (node, weight);
        }
    }
    (nodes, weights)
}

/// The two bodies of a constraint, joined bodies counting as one; [`NO_BODY`] for an obstacle.
fn parts(constraint: &ContactConstraint, columns: &ComplianceColumns) -> [u32; 2] {
    let other = if constraint.bodies[1] == NO_BODY { NO_BODY } else { columns.part(constraint.vertices[1]) };
    [columns.part(constraint.vertices[0]), other]
}

/// For each pair of bodies, the slot ranges of all pairs that share a body with it, ascending and merged.
fn reach(pairs: &[[u32; 2]], counts: &[usize]) -> Vec<Vec<Range<usize>>> {
    let slots: Vec<Range<usize>> = counts
        .iter()
        .scan(0, |end, count| {
            *end += count;
            Some(*end - count..*end)
        })
        .collect();
    let of_bodies = pairs.iter().enumerate();
    let mut touching: Vec<(u32, usize)> =
        of_bodies.flat_map(|(pair, bodies)| bodies.map(|body| (body, pair))).collect();
    touching.retain(|(body, _)| *body != NO_BODY);
    touching.sort_unstable();
    let one = |bodies: &[u32; 2]| {
        let of = |body: u32| {
            let first = touching.partition_point(|entry| entry.0 < body);
            touching[first..].iter().take_while(move |entry| entry.0 == body).map(|entry| entry.1)
        };
        let mut mates: Vec<usize> =
            bodies.iter().filter(|body| **body != NO_BODY).flat_map(|&body| of(body)).collect();
        mates.sort_unstable();
        mates.dedup();
        let mut joined: Vec<Range<usize>> = Vec::new();
        for range in mates.into_iter().map(|pair| slots[pair].clone()) {
            match joined.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => joined.push(range),
            }
        }
        joined
    };
    pairs.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_reach_those_that_share_a_body() {
        let pairs = [[0, 1], [0, NO_BODY], [1, 2], [3, 3], [3, NO_BODY]];
        let reach = reach(&pairs, &[2, 1, 4, 3, 5]);
        let ends =
            |group: usize| -> Vec<[usize; 2]> { reach[group].iter().map(|r| [r.start, r.end]).collect() };
        assert_eq!(ends(0), [[0, 7]]);
        assert_eq!(ends(1), [[0, 3]]);
        assert_eq!(ends(2), [[0, 2], [3, 7]]);
        assert_eq!(ends(3), [[7, 15]]);
        assert_eq!(ends(4), [[7, 15]]);
    }
}
