//! The two precisions of the kernels, and what a register of either can do.

use pulp::Simd;
use std::ops::Add;

/// A real number a kernel may compute with: `f64` or `f32`.
///
/// The functions of registers are the vocabulary of [`Lane`](super::lanes::Lane); code outside this file has no need to call them.
pub trait Real:
    Copy + Default + Send + Sync + PartialOrd + std::fmt::Debug + Add<Output = Self> + 'static
{
    /// One or two registers of the instruction set `S`, filled with such numbers.
    type Register<S: Simd>: Copy;
    /// The answer of a comparison of two registers.
    type Mask<S: Simd>: Copy;

    /// Distance from 1 to the next number.
    const EPSILON: f64;
    /// Sizes of F between which its third powers neither overflow nor lose digits.
    const SAFE_SCALE: (f64, f64);

    /// Rounds to this precision.
    fn of(value: f64) -> Self;
    /// The same number in double precision.
    fn wide(self) -> f64;
    /// Numbers in a `Register<S>`.
    fn lanes<S: Simd>() -> usize;
    /// `value` in every lane.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Register<S>;
    /// The first numbers of `from`, which must fill a register.
    fn load<S: Simd>(simd: S, from: &[Self]) -> Self::Register<S>;
    /// Over the first numbers of `to`.
    fn store<S: Simd>(simd: S, register: Self::Register<S>, to: &mut [Self]);
    /// a + b
    fn add<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a − b
    fn sub<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a b
    fn mul<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a / b
    fn div<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a b + c, in one rounding where the machine can.
    fn fma<S: Simd>(
        simd: S,
        a: Self::Register<S>,
        b: Self::Register<S>,
        c: Self::Register<S>,
    ) -> Self::Register<S>;
    /// −a
    fn neg<S: Simd>(simd: S, a: Self::Register<S>) -> Self::Register<S>;
    /// √a
    fn sqrt<S: Simd>(simd: S, a: Self::Register<S>) -> Self::Register<S>;
    /// The smaller of two.
    fn min<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S>;
    /// a < b, false if either is NaN.
    fn less<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Mask<S>;
    /// Both.
    fn and<S: Simd>(simd: S, a: Self::Mask<S>, b: Self::Mask<S>) -> Self::Mask<S>;
    /// Either.
    fn or<S: Simd>(simd: S, a: Self::Mask<S>, b: Self::Mask<S>) -> Self::Mask<S>;
    /// Whether every lane is true.
    fn all<S: Simd>(simd: S, mask: Self::Mask<S>) -> bool;
    /// Lane by lane, `yes` where the mask is true.
    fn select<S: Simd>(
        simd: S,
        mask: Self::Mask<S>,
        yes: Self::Register<S>,
        no: Self::Register<S>,
    ) -> Self::Register<S>;
}

macro_rules! real {
    ($T:ident, [$($k:literal),*], $reg:ident, $mask:ident, $LANES:ident, $scale:expr, $as_simd:ident, $as_mut_simd:ident,
     $splat:ident, $add:ident, $sub:ident, $mul:ident, $div:ident, $fma:ident, $neg:ident, $sqrt:ident, $min:ident,
     $less:ident, $and:ident, $or:ident, $reduce_min:ident, $select:ident) => {
        impl Real for $T {
            type Register<S: Simd> = [S::$reg; [$($k),*].len()];
            type Mask<S: Simd> = [S::$mask; [$($k),*].len()];
            const EPSILON: f64 = $T::EPSILON as f64;
            const SAFE_SCALE: (f64, f64) = $scale;
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $T
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn lanes<S: Simd>() -> usize {
                S::$LANES * [$($k),*].len()
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> Self::Register<S> {
                let one = simd.$splat(value);
                [$({ let _ = $k; one }),*]
            }
            #[inline(always)]
            fn load<S: Simd>(_: S, from: &[Self]) -> Self::Register<S> {
                let registers = S::$as_simd(from).0;
                [$(registers[$k]),*]
            }
            #[inline(always)]
            fn store<S: Simd>(_: S, register: Self::Register<S>, to: &mut [Self]) {
                let registers = S::$as_mut_simd(to).0;
                $(registers[$k] = register[$k];)*
            }
            #[inline(always)]
            fn add<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S> {
                [$(simd.$add(a[$k], b[$k])),*]
            }
            #[inline(always)]
            fn sub<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S> {
                [$(simd.$sub(a[$k], b[$k])),*]
            }
            #[inline(always)]
            fn mul<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S> {
                [$(simd.$mul(a[$k], b[$k])),*]
            }
            #[inline(always)]
            fn div<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S> {
                [$(simd.$div(a[$k], b[$k])),*]
            }
            #[inline(always)]
            fn fma<S: Simd>(
                simd: S,
                a: Self::Register<S>,
                b: Self::Register<S>,
                c: Self::Register<S>,
            ) -> Self::Register<S> {
                [$(simd.$fma(a[$k], b[$k], c[$k])),*]
            }
            #[inline(always)]
            fn neg<S: Simd>(simd: S, a: Self::Register<S>) -> Self::Register<S> {
                [$(simd.$neg(a[$k])),*]
            }
            #[inline(always)]
            fn sqrt<S: Simd>(simd: S, a: Self::Register<S>) -> Self::Register<S> {
                [$(simd.$sqrt(a[$k])),*]
            }
            #[inline(always)]
            fn min<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Register<S> {
                [$(simd.$min(a[$k], b[$k])),*]
            }
            #[inline(always)]
            fn less<S: Simd>(simd: S, a: Self::Register<S>, b: Self::Register<S>) -> Self::Mask<S> {
                [$(simd.$less(a[$k], b[$k])),*]
            }
            #[inline(always)]
            fn and<S: Simd>(simd: S, a: Self::Mask<S>, b: Self::Mask<S>) -> Self::Mask<S> {
                [$(simd.$and(a[$k], b[$k])),*]
            }
            #[inline(always)]
            fn or<S: Simd>(simd: S, a: Self::Mask<S>, b: Self::Mask<S>) -> Self::Mask<S> {
                [$(simd.$or(a[$k], b[$k])),*]
            }
            #[inline(always)]
            fn all<S: Simd>(simd: S, mask: Self::Mask<S>) -> bool {
                let (zero, one) = (simd.$splat(0.0), simd.$splat(1.0));
                let mut least = one;
                $(least = simd.$min(least, simd.$select(mask[$k], one, zero));)*
                simd.$reduce_min(least) > 0.0
            }
            #[inline(always)]
            fn select<S: Simd>(
                simd: S,
                mask: Self::Mask<S>,
                yes: Self::Register<S>,
                no: Self::Register<S>,
            ) -> Self::Register<S> {
                [$(simd.$select(mask[$k], yes[$k], no[$k])),*]
            }
        }
    };
}

// Two registers of f64 are handled together: as many lanes as one of f32, and while one waits for a result the other computes.
real! {
    f64, [0, 1], f64s, m64s, F64_LANES, (1e-90, 1e90), as_simd_f64s, as_mut_simd_f64s,
    splat_f64s, add_f64s, sub_f64s, mul_f64s, div_f64s, mul_add_e_f64s, neg_f64s, sqrt_f64s, min_f64s,
    less_than_f64s, and_m64s, or_m64s, reduce_min_f64s, select_f64s
}
real! {
    f32, [0], f32s, m32s, F32_LANES, (1e-10, 1e10), as_simd_f32s, as_mut_simd_f32s,
    splat_f32s, add_f32s, sub_f32s, mul_f32s, div_f32s, mul_add_e_f32s, neg_f32s, sqrt_f32s, min_f32s,
    less_than_f32s, and_m32s, or_m32s, reduce_min_f32s, select_f32s
}
