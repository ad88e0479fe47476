//! Numbers side by side: the arithmetic of one SIMD register, written with operators.
//!
//! The instruction set is found at run time ([`on_lanes`](crate::linear::lanes::on_lanes)); `Lane` is generic over it, so a kernel is written once
//! and compiled for AVX2 with FMA, for NEON and for no SIMD at all.

pub use super::real::Real;
use pulp::Simd;
use std::ops::{Add, Mul, Neg, Sub};

/// A register of numbers with its instruction set: one scalar of a formula, for several elements at once.
#[derive(Clone, Copy)]
pub struct Lane<S: Simd, T: Real> {
    simd: S,
    register: T::Register<S>,
}

/// Which lanes satisfy a condition.
#[derive(Clone, Copy)]
pub struct Which<S: Simd, T: Real> {
    simd: S,
    mask: T::Mask<S>,
}

impl<S: Simd, T: Real> Lane<S, T> {
    /// `value` in every lane, rounded to T.
    #[inline(always)]
    pub fn splat(simd: S, value: f64) -> Self {
        Lane { simd, register: T::splat(simd, T::of(value)) }
    }

    /// The lanes that start at `from[0]`; panics if there are too few for a register.
    #[inline(always)]
    pub fn load(simd: S, from: &[T]) -> Self {
        Lane { simd, register: T::load(simd, from) }
    }

    /// Writes the lanes over the start of `to`; panics if there is too little room.
    #[inline(always)]
    pub fn store(self, to: &mut [T]) {
        T::store(self.simd, self.register, to);
    }

    /// `value` in every lane of a register of the same instruction set.
    #[inline(always)]
    pub fn constant(self, value: f64) -> Self {
        Self::splat(self.simd, value)
    }

    /// self · b + c
    #[inline(always)]
    pub fn times_plus(self, b: Self, c: Self) -> Self {
        Lane { register: T::fma(self.simd, self.register, b.register, c.register), ..self }
    }

    /// c − self · b
    #[inline(always)]
    pub fn times_from(self, b: Self, c: Self) -> Self {
        (-self).times_plus(b, c)
    }

    /// 1 / self
    #[inline(always)]
    pub fn reciprocal(self) -> Self {
        Lane { register: T::div(self.simd, self.constant(1.0).register, self.register), ..self }
    }

    /// √self
    #[inline(always)]
    pub fn sqrt(self) -> Self {
        Lane { register: T::sqrt(self.simd, self.register), ..self }
    }

    /// The smaller of two.
    #[inline(always)]
    pub fn min(self, other: Self) -> Self {
        Lane { register: T::min(self.simd, self.register, other.register), ..self }
    }

    /// Where self < other; NaN is less than nothing.
    #[inline(always)]
    pub fn less(self, other: Self) -> Which<S, T> {
        Which { simd: self.simd, mask: T::less(self.simd, self.register, other.register) }
    }
}

impl<S: Simd, T: Real> Which<S, T> {
    /// Where both are true.
    #[inline(always)]
    pub fn and(self, other: Self) -> Self {
        Which { mask: T::and(self.simd, self.mask, other.mask), ..self }
    }

    /// Where either is true.
    #[inline(always)]
    pub fn or(self, other: Self) -> Self {
        Which { mask: T::or(self.simd, self.mask, other.mask), ..self }
    }

    /// Whether it is true in every lane.
    #[inline(always)]
    pub fn everywhere(self) -> bool {
        T::all(self.simd, self.mask)
    }

    /// `yes` where true, `no` elsewhere.
    #[inline(always)]
    pub fn select(self, yes: Lane<S, T>, no: Lane<S, T>) -> Lane<S, T> {
        Lane { simd: self.simd, register: T::select(self.simd, self.mask, yes.register, no.register) }
    }
}

impl<S: Simd, T: Real> Add for Lane<S, T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Lane { register: <T as Real>::add(self.simd, self.register, other.register), ..self }
    }
}

impl<S: Simd, T: Real> Sub for Lane<S, T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Lane { register: T::sub(self.simd, self.register, other.register), ..self }
    }
}

impl<S: Simd, T: Real> Mul for Lane<S, T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Lane { register: T::mul(self.simd, self.register, other.register), ..self }
    }
}

impl<S: Simd, T: Real> Neg for Lane<S, T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Lane { register: T::neg(self.simd, self.register), ..self }
    }
}
