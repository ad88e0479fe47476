//! Panels of the exact global step in half precision: half the bytes and the memory, for an error of about 10⁻⁴ a solve.
//!
//! The numbers of D⁻¹ in a tile, and those of U, are multiplied with a power of two that brings the largest to 2¹⁴, which leaves eleven binary digits
//! to all that are larger than 2⁻²⁸ of it. The rest are zeros.

use crate::Vec3;
use crate::linear::{Direction, FrontCall, FrontPanels, FrontPlan, Tile};
use half::f16;
use std::ops::Range;

/// f16 that the two scales of a tile, f32, take in front of all numbers: as many as a quad.
const SCALES: usize = 4;
/// The largest number is scaled to [2¹⁴, 2¹⁵): f16 ends at 65504.
const LARGEST_EXPONENT: i32 = 14;

/// Bytes of a call's panel.
pub fn bytes(call: &FrontCall) -> u64 {
    2 * (SCALES * call.tiles.len() + call.numbers) as u64
}

/// A call's panel as `shared/panel_half.wgsl` reads it: for each tile what undoes its two scales, then
/// the tiles one after the other.
pub fn half_panel(panels: &FrontPanels<f32>, call: &FrontCall) -> Vec<u16> {
    let mut numbers = panels.panel(call);
    let tiles = &panels.plan().tiles[call.tiles.clone()];
    let mut packed = vec![0u16; SCALES * tiles.len() + numbers.len()];
    for (scales, tile) in packed.chunks_mut(SCALES).zip(tiles) {
        let inverse = rows(call.direction, tile).map(|rows| scale(tile, rows, &mut numbers));
        scales.copy_from_slice(&bytemuck::cast::<[f32; 2], [u16; SCALES]>(inverse));
    }
    let halves = packed[SCALES * tiles.len()..].iter_mut();
    halves.zip(&numbers).for_each(|(half, number)| *half = rounded(*number));
    packed
}

/// The places of the quads of some rows of a tile.
fn quads(tile: &Tile, rows: Range<usize>) -> impl Iterator<Item = usize> + use<> {
    let (panel, height) = (tile.panel, tile.height);
    (0..tile.columns.div_ceil(4))
        .flat_map(move |quad| rows.clone().map(move |r| panel + 4 * (quad * height + r)))
}

/// Its rows of D⁻¹ and of U.
fn rows(direction: Direction, tile: &Tile) -> [Range<usize>; 2] {
    let of_inverse = match direction {
        Direction::Up => tile.columns.saturating_sub(tile.first_row).min(tile.rows),
        Direction::Down => 0,
    };
    [0..of_inverse, of_inverse..tile.rows]
}

/// Scales some rows of a tile, and returns what undoes it.
fn scale(tile: &Tile, rows: Range<usize>, numbers: &mut [f32]) -> f32 {
    let all = quads(tile, rows.clone()).flat_map(|at| &numbers[at..at + 4]);
    let largest = all.fold(0.0f32, |most, number| most.max(number.abs()));
    if largest < f32::MIN_POSITIVE || !largest.is_finite() {
        return 1.0;
    }
    // within what has an inverse in single precision
    let exponent = (LARGEST_EXPONENT - largest.log2().floor() as i32).clamp(-126, 126);
    multiply(tile, rows, numbers, power_of_two(exponent));
    power_of_two(-exponent)
}

fn multiply(tile: &Tile, rows: Range<usize>, numbers: &mut [f32], factor: f32) {
    quads(tile, rows).for_each(|at| numbers[at..at + 4].iter_mut().for_each(|number| *number *= factor));
}

fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((127 + exponent) as u32) << 23)
}

/// Rounded, and nothing in the place of a subnormal number.
fn rounded(number: f32) -> u16 {
    let half = f16::from_f32(number);
    if half.is_normal() { half.to_bits() } else { 0 }
}

/// The error of a solve with the rounded panels, ‖A⁻¹g − x‖/‖A⁻¹g‖ for random g. Made on the host in double precision, against the panels before they are
/// rounded, which are off by some 10⁻⁷ themselves.
pub fn error_of_solve(panels: &FrontPanels<f32>) -> f64 {
    let plan = panels.plan();
    let g = random(plan.rows());
    let [mut exact, mut rounded] = [(); 2].map(|()| Solve::new(plan));
    for call in &plan.calls {
        exact.call(plan, call, &g, &panels.panel(call));
        rounded.call(plan, call, &g, &unpacked(&half_panel(panels, call), plan, call));
    }
    let size: f64 = exact.solution.iter().map(Vec3::norm_squared).sum();
    let off = exact.solution.iter().zip(&rounded.solution).map(|(x, y)| (x - y).norm_squared());
    (off.sum::<f64>() / size.max(f64::MIN_POSITIVE)).sqrt()
}

/// The numbers that a kernel makes of a panel.
fn unpacked(packed: &[u16], plan: &FrontPlan, call: &FrontCall) -> Vec<f32> {
    let tiles = &plan.tiles[call.tiles.clone()];
    let (scales, halves) = packed.split_at(SCALES * tiles.len());
    let mut numbers: Vec<f32> = halves.iter().map(|bits| f16::from_bits(*bits).to_f32()).collect();
    for (scales, tile) in scales.chunks(SCALES).zip(tiles) {
        let inverse: [f32; 2] = bytemuck::pod_read_unaligned(bytemuck::cast_slice(scales));
        for (rows, inverse) in rows(call.direction, tile).into_iter().zip(inverse) {
            multiply(tile, rows, &mut numbers, inverse);
        }
    }
    numbers
}

/// Numbers from −1 to 1, the same in every run (a linear congruential generator).
fn random(count: usize) -> Vec<Vec3> {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| Vec3::from_fn(|_, _| next())).collect()
}

/// A solve on the host, call by call, as the kernels make it.
struct Solve {
    updates: Vec<Vec3>,
    solution: Vec<Vec3>,
}

impl Solve {
    fn new(plan: &FrontPlan) -> Self {
        Solve {
            updates: vec![Vec3::zeros(); plan.rows_below().len()],
            solution: vec![Vec3::zeros(); plan.rows()],
        }
    }

    fn call(&mut self, plan: &FrontPlan, call: &FrontCall, g: &[Vec3], panel: &[f32]) {
        for tile in &plan.tiles[call.tiles.clone()] {
            let own: Vec<Vec3> = (0..tile.columns)
                .map(|c| match call.direction {
                    Direction::Up => {
                        g[plan.order()[tile.solution + c] as usize] + self.handed_on(plan, tile.list + c)
                    }
                    Direction::Down => self.solution[plan.rows_below()[tile.list + c] as usize],
                })
                .collect();
            for r in 0..tile.rows {
                let quads = own.chunks(4).enumerate();
                let product: Vec3 = quads
                    .flat_map(|(q, own)| own.iter().zip(&panel[tile.panel + 4 * (q * tile.height + r)..]))
                    .map(|(own, m)| own * f64::from(*m))
                    .sum();
                let row = tile.first_row + r;
                match call.direction {
                    Direction::Down => self.solution[tile.solution + row] += product,
                    Direction::Up if row < tile.columns => self.solution[tile.solution + row] = product,
                    Direction::Up => {
                        let at = tile.update + row - tile.columns;
                        self.updates[at] = product + self.handed_on(plan, tile.list + row);
                    }
                }
            }
        }
    }

    /// What children hand on to a row.
    fn handed_on(&self, plan: &FrontPlan, row: usize) -> Vec3 {
        let list = plan.gather[row] as usize..plan.gather[row + 1] as usize;
        plan.gather[list].iter().map(|&source| self.updates[source as usize]).sum()
    }
}
