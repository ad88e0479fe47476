//! The passes over the vertices that a product with L takes.

use crate::Vec3;
use crate::linear::SparseMatrix;
use pulp::{Simd, WithSimd};

/// A vector in a register of four: x, y, z and nothing.
pub type Padded = [f64; 4];

/// Sums over the vertices of a body: of the products, of the ways, and, axis by axis, of the products of both.
#[derive(Default)]
pub struct Sums {
    pub force: Padded,
    pub moved: Padded,
    pub work: Padded,
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, force: Padded, moved: Padded) {
        for c in 0..4 {
            self.force[c] += force[c];
            self.moved[c] += moved[c];
            self.work[c] += force[c] * moved[c];
        }
    }

    pub fn plus(mut self, other: &Sums) -> Sums {
        for c in 0..4 {
            self.force[c] += other.force[c];
            self.moved[c] += other.moved[c];
            self.work[c] += other.work[c];
        }
        self
    }
}

/// Vectors less one of them.
pub struct Shift<'a> {
    pub to: &'a mut [Padded],
    pub from: &'a [Vec3],
    pub by: Padded,
}

impl WithSimd for Shift<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (to, from) in self.to.iter_mut().zip(self.from) {
            *to = minus(padded(from), self.by);
        }
    }
}

/// The rows of L from `first` on times u, and their sums with the ways.
pub struct Products<'a> {
    pub laplacian: &'a SparseMatrix,
    pub u: &'a [Padded],
    pub ways: [&'a [Vec3]; 2],
    pub first: usize,
    pub out: &'a mut [Padded],
}

impl WithSimd for Products<'_> {
    type Output = Sums;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Sums {
        let mut sums = Sums::default();
        let [after, before] = self.ways;
        let ends = &self.laplacian.offsets()[self.first..=self.first + self.out.len()];
        let mut columns = &self.laplacian.columns()[ends[0]..];
        let mut values = &self.laplacian.values()[ends[0]..];
        let rows = self.out.iter_mut().zip(ends.windows(2)).zip(after).zip(before);
        for (((out, ends), after), before) in rows {
            let (own_columns, own_values);
            (own_columns, columns) = columns.split_at(ends[1] - ends[0]);
            (own_values, values) = values.split_at(ends[1] - ends[0]);
            *out = row_product(own_columns, own_values, self.u);
            sums.add(*out, minus(padded(after), padded(before)));
        }
        sums
    }
}

/// L v' less what each vertex gives up, and L x' of it.
pub struct GoingOn<'a> {
    pub next: &'a mut [Padded],
    pub before: &'a mut [Padded],
    /// L x_n and L v_n.
    pub state: [&'a [Padded]; 2],
    pub kick: &'a [Vec3],
    pub share: Padded,
    pub of_velocity: f64,
    pub h_p: f64,
    pub b_p: f64,
}

impl WithSimd for GoingOn<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let [position, velocity] = self.state;
        let lines = self.next.iter_mut().zip(self.before).zip(position).zip(velocity);
        for (i, (((next, before), position), velocity)) in lines.enumerate() {
            let mut of_way = minus(*next, self.share);
            *next = of_way;
            if self.of_velocity != 0.0 {
                of_way = minus(of_way, velocity.map(|velocity| velocity * self.of_velocity));
            }
            if let Some(kick) = self.kick.get(i) {
                of_way = minus(of_way, padded(kick));
            }
            let mut after = added(*position, of_way, self.h_p);
            if self.b_p != 0.0 {
                after = added(after, minus(*before, *position), -self.b_p);
            }
            *before = after;
        }
    }
}

/// A row of L times u, in two sums, so that an addition need not wait for the one before it.
#[inline(always)]
fn row_product(columns: &[u32], values: &[f64], u: &[Padded]) -> Padded {
    let (mut even, mut odd) = (Padded::default(), Padded::default());
    let (pairs, last) = columns.as_chunks::<2>();
    let (weights, last_weight) = values.as_chunks::<2>();
    for ([i, j], [a, b]) in pairs.iter().zip(weights) {
        even = added(even, u[*i as usize], *a);
        odd = added(odd, u[*j as usize], *b);
    }
    let mut sum = std::array::from_fn(|c| even[c] + odd[c]);
    for (j, l) in last.iter().zip(last_weight) {
        sum = added(sum, u[*j as usize], *l);
    }
    sum
}

#[inline(always)]
fn added(sum: Padded, u: Padded, weight: f64) -> Padded {
    std::array::from_fn(|c| sum[c] + u[c] * weight)
}

#[inline(always)]
pub fn minus(a: Padded, b: Padded) -> Padded {
    std::array::from_fn(|c| a[c] - b[c])
}

#[inline(always)]
pub fn padded(v: &Vec3) -> Padded {
    [v.x, v.y, v.z, 0.0]
}

#[inline(always)]
pub fn vector([x, y, z, _]: &Padded) -> Vec3 {
    Vec3::new(*x, *y, *z)
}
