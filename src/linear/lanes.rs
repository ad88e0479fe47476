//! Loops on the registers of the machine that runs them.

use pulp::{Simd, WithSimd};

/// Runs a kernel on the best instruction set there is, with registers of 256 bits at most.
#[inline(always)]
pub fn on_lanes<Kernel: WithSimd>(kernel: Kernel) -> Kernel::Output {
    #[cfg(target_arch = "x86_64")]
    {
        match pulp::x86::V3::try_new() {
            Some(simd) => Simd::vectorize(simd, kernel),
            None => Simd::vectorize(pulp::Scalar::new(), kernel),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        pulp::Arch::new().dispatch(kernel)
    }
}
