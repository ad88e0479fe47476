//! Vectors of numbers as the machine has them: AVX2 with FMA where it is there, plain arrays elsewhere.

use bytemuck::Pod;
#[cfg(target_arch = "x86_64")]
use pulp::{Simd, f32x8, f64x4, x86::V3};

/// How to calculate with vectors of `LANES` numbers.
pub trait Vectors<T>: Copy {
    /// `LANES` numbers, aligned as one.
    type Vector: Pod;
    /// The same number in all lanes.
    fn splat(self, value: T) -> Self::Vector;
    /// a·b + c, lane by lane.
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// The sum of all lanes, always in the same order.
    fn sum(self, vector: Self::Vector) -> T;
}

#[cfg(target_arch = "x86_64")]
macro_rules! avx2 {
    ($real:ty, $vector:ty, $splat:ident, $mul_add:ident, $sum:ident) => {
        impl Vectors<$real> for V3 {
            type Vector = $vector;

            #[inline(always)]
            fn splat(self, value: $real) -> $vector {
                self.$splat(value)
            }

            #[inline(always)]
            fn mul_add(self, a: $vector, b: $vector, c: $vector) -> $vector {
                self.$mul_add(a, b, c)
            }

            #[inline(always)]
            fn sum(self, vector: $vector) -> $real {
                self.$sum(vector)
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
avx2!(f64, f64x4, splat_f64s, mul_add_f64s, reduce_sum_f64s);
#[cfg(target_arch = "x86_64")]
avx2!(f32, f32x8, splat_f32s, mul_add_f32s, reduce_sum_f32s);

/// Plain arrays, which the compiler turns into whatever vectors every machine of the target has.
#[derive(Debug, Clone, Copy)]
pub struct Baseline;

/// Whether the target's baseline multiplies and adds in one instruction, as aarch64 does. Where it does not, a
/// fused multiply-add would be a call into the mathematical library.
const FUSED: bool = cfg!(any(target_arch = "aarch64", target_feature = "fma"));

macro_rules! baseline {
    ($real:ty, $lanes:literal) => {
        impl Vectors<$real> for Baseline {
            type Vector = [$real; $lanes];

            #[inline(always)]
            fn splat(self, value: $real) -> Self::Vector {
                [value; $lanes]
            }

            #[inline(always)]
            fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
                std::array::from_fn(|i| if FUSED { a[i].mul_add(b[i], c[i]) } else { a[i] * b[i] + c[i] })
            }

            #[inline(always)]
            fn sum(self, vector: Self::Vector) -> $real {
                vector.into_iter().fold(0.0, |sum, lane| sum + lane)
            }
        }
    };
}
baseline!(f64, 4);
baseline!(f32, 8);

/// The instructions the kernels may use, found out once when a factor is made.
#[derive(Debug, Clone, Copy)]
pub struct Instructions {
    #[cfg(target_arch = "x86_64")]
    pub(super) avx2: Option<V3>,
}

impl Instructions {
    /// The best this machine has.
    pub(super) fn detect() -> Self {
        Instructions {
            #[cfg(target_arch = "x86_64")]
            avx2: V3::try_new(),
        }
    }
    /// Only what every machine of the target has.
    #[cfg(test)]
    pub(super) fn baseline() -> Self {
        Instructions {
            #[cfg(target_arch = "x86_64")]
            avx2: None,
        }
    }
}
