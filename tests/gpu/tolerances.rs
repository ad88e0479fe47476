//! How far a kernel on a correct device may be from its twin, by what [WGSL](https://www.w3.org/TR/WGSL/#floating-point-accuracy) promises of its operations.
//!
//! A unit in the last place is at most ε = 2⁻²³ of a number. Sums, differences and products are correctly rounded, up or down as the device likes: 1
//! unit. A quotient may be off by 2.5, `inverseSqrt` by 2, and so `sqrt`, which inherits from 1/inverseSqrt, by 4.5. A product and a sum may become one
//! operation, which rounds less. Sums keep their order but for what `rounded` and `opaque` guard. `exp` and `log` may be coarse (volume.wgsl alone
//! has them): they only choose the next point of a search that ends by a step of Newton's method without them.
//!
//! A twin gives for each number the size of the terms it is made of, and where a problem is ill-conditioned what an error of its input does to it. An operation errs by
//! its units times a part of that, so that errors of operations one after the other add up: the tolerance is the number of units on the longest way from a kernel's
//! input to its output, times ε, times that size, from 14 to some 200 units. A constant of a kernel that is wrong by 10⁻⁴ is beyond any of them.
//! No random walk of rounding is assumed, but for the one driver of which it is known (`IN_SOFTWARE`).

use dashpot::gpu::buffer::{Buffer, Contents};
use dashpot::gpu::context::Context;
use dashpot::gpu::kernel::Kernel;
use dashpot::gpu::layout::{FrontTask, LANES};

const QUOTIENT: f32 = 2.5;
const SQRT: f32 = 4.5;

/// A formula of a vertex: up to twelve sums and products, and a quotient, as in `predict`.
const FORMULA: f32 = 12.0 + QUOTIENT;

/// An edge at x_e, (a − b) + (a.low − b.low) + share d, then F: a product and two sums.
const DEFORMATION: f32 = 5.0 + 3.0;

/// Length and direction of a vector, `polar`: v over its largest entry, the dot product (half of it is left under the root), the root, a quotient.
const DIRECTION: f32 = QUOTIENT + 0.5 * 5.0 + SQRT + QUOTIENT;

/// R: the gradient of tr(RᵀF) as if F were off by twice its own error (twin/tet.rs), a normalised quaternion, which enters R twice, R from it.
const ROTATION: f32 = DEFORMATION + 2.0 * (0.5 * 5.0 + SQRT + QUOTIENT) + 5.0;

/// A turn of Jacobi's method: cosine and sine are those of one angle, whatever it is, up to three operations and `inverseSqrt`; then a product and a sum.
const TURN: f32 = 3.0 + 2.0 + 2.0;

/// Turns until a symmetric 3 × 3 matrix is diagonal: three sweeps of three, in single precision.
const TURNS: f32 = 9.0;

/// Two turns of the columns of F make them orthogonal; then both their lengths and directions.
const STRETCHES: f32 = QUOTIENT + 2.0 * (2.0 * SQRT + 3.0 * QUOTIENT + 4.0) + 2.0 * DIRECTION;

/// What an element makes of F: stress of a strain, weights, a product with Dm⁻¹, the sum of three corners.
const ELEMENT: f32 = 12.0;

/// Terms one after the other in the sum of a workgroup: four of each lane, a quarter of the lanes, the four quarters by twos.
const OF_WORKGROUP: f32 = 4.0 + LANES as f32 / 4.0 + 2.0;

/// What Mesa's driver in software keeps to, which rounds to nearest: errors then go up and down. There a kernel must not become worse.
const IN_SOFTWARE: f32 = 4.0;

/// The units of a kernel on what its buffers hold.
pub fn units(context: &Context, kernel: &Kernel, all: &Contents) -> f32 {
    let units = FORMULA + of_elements(kernel.name) + of_sums(kernel, all);
    if context.adapter.software { units.min(IN_SOFTWARE) } else { units }
}

/// Units of the problem an element or a body poses.
fn of_elements(name: &str) -> f32 {
    match name {
        "project_tet" => ROTATION + DEFORMATION + ELEMENT,
        "project_tet_volume" | "project_tet_law" | "observe_tet" => {
            ROTATION + DEFORMATION + 2.0 * TURNS * TURN + ELEMENT
        }
        "project_triangle" | "observe_triangle" => DEFORMATION + STRETCHES + ELEMENT,
        "project_spring" | "observe_spring" | "damp_body" | "damp_edge" | "gather_edge" | "damp_cluster" => {
            DEFORMATION + DIRECTION
        }
        "project_bending" | "observe_bending" => DEFORMATION + DIRECTION + ELEMENT,
        // ω = I⁻¹ L by the axes of inertia
        "reduce_spin" => 2.0 * TURNS * TURN,
        _ => 0.0,
    }
}

/// Terms one after the other in a kernel's sums: of a row, of a workgroup, of the partial sums that it reduces, of a front.
fn of_sums(kernel: &Kernel, all: &Contents) -> f32 {
    let binds = |buffer| kernel.bindings.contains(&buffer);
    let rows = [Buffer::LaplacianStarts, Buffer::GatherStarts, Buffer::EdgeStarts, Buffer::ClusterStarts];
    let mut terms = rows
        .into_iter()
        .filter(|starts| binds(*starts))
        .map(|starts| longest(all.items(starts)))
        .sum::<f32>();
    if binds(Buffer::BendingCorners) {
        let bendings = all.items::<dashpot::gpu::layout::Bending>(Buffer::Bendings);
        terms += bendings.iter().map(|b| b.end - b.first).max().unwrap_or(0) as f32;
    }
    if binds(Buffer::Partials) || binds(Buffer::ExchangePartials) {
        // a lane that reduces takes every 64th of a whole buffer at the most
        terms += OF_WORKGROUP + (all.count(Buffer::Partials) / LANES as usize) as f32;
    }
    if binds(Buffer::FrontTasks) {
        terms += all.items::<FrontTask>(Buffer::FrontTasks).iter().map(of_front).fold(0.0, f32::max);
    }
    if binds(Buffer::FrontGather) {
        // where the rows' lists begin, then the lists
        let gather = all.items::<u32>(Buffer::FrontGather);
        let starts = &gather[..gather.first().map_or(0, |first| *first as usize)];
        terms += longest(starts);
    }
    terms
}

/// Terms of a lane of a front's tile, then the strips.
fn of_front(task: &FrontTask) -> f32 {
    let strips = 256 / task.height.max(1);
    (4 * task.columns.div_ceil(4).div_ceil(strips) + strips) as f32
}

/// The most entries of a row.
fn longest(starts: &[u32]) -> f32 {
    starts.windows(2).map(|row| row[1] - row[0]).max().unwrap_or(0) as f32
}
