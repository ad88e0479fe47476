//! Supernodes grouped for a device: few dependent stages, each of many independent dense fronts.
//!
//! The *size* of a supernode is the number of columns in its subtree. Sizes are cut into bands 0 < t₁ < … < t_m = n, and
//! a connected piece of the tree whose supernodes lie in one band becomes one *front*, a dense matrix with zeros where
//! the factor has none. Fronts of a band depend on those of other bands only, so that a band is one dispatch on the way up the
//! tree and one on the way down.
//!
//! Few bands store many zeros, many bands wait often. Dynamic programming finds the cut with the least
//!
//! ```text
//! Σ_bands  4 Σ_fronts (w² + 2 w b), padded  +  48 Σ_fronts (w + b)  +  2 000 000 a dispatch      (bytes)
//! ```
//!
//! over thresholds t ∈ {8 · 2^(k/2)} ∪ {n}, w being the columns of a front and b the rows below them.

use super::elimination::NONE;
use super::supernodes::{Groups, compact, fundamental};

/// The bytes a device reads in the time between two dependent dispatches. A constant and no measurement, so that the same
/// matrix gets the same bits everywhere; with half or twice as much the time changes by a tenth.
const DISPATCH_BYTES: u64 = 2_000_000;
/// What gathering and handing on a row of a front moves (bytes): twice three coordinates, their indices and lists.
const ROW_BYTES: u64 = 48;
/// The least threshold: subtrees up to this many columns are never cut.
const SMALLEST: f64 = 8.0;

/// Rows of a tile come in multiples of this, columns in quads.
pub(super) const ROW_STEP: usize = 8;
pub(super) const COLUMN_STEP: usize = 4;

/// Groups the columns into fronts.
pub(super) fn band_fronts(parent: &[u32], counts: &[u32]) -> Groups {
    let (groups, below) = fundamental(parent, counts);
    let tree = Tree::new(&groups, &below);
    let bands = tree.best_bands();
    tree.merged(groups, &bands)
}

/// The supernodes as the dynamic programme sees them, children before parents.
struct Tree<'a> {
    parent: Vec<u32>,
    below: &'a [usize],
    widths: Vec<usize>,
    /// Columns in each subtree.
    sizes: Vec<usize>,
}

impl<'a> Tree<'a> {
    fn new(groups: &Groups, below: &'a [usize]) -> Self {
        let widths: Vec<usize> = groups.columns.iter().map(Vec::len).collect();
        let mut sizes = widths.clone();
        for (g, &parent) in groups.parent.iter().enumerate().filter(|(_, parent)| **parent != NONE) {
            sizes[parent as usize] += sizes[g];
        }
        Tree { parent: groups.parent.clone(), below, widths, sizes }
    }

    /// The upper ends of the best bands, ascending.
    fn best_bands(&self) -> Vec<usize> {
        let ends = candidates(self.sizes.iter().copied().max().unwrap_or(0));
        // least[j]: the least cost of all sizes up to ends[j], and the band before that it is reached from
        let mut least: Vec<(u64, Option<usize>)> = Vec::with_capacity(ends.len());
        let mut widths = vec![0; self.widths.len()];
        for j in 0..ends.len() {
            let mut best = (self.cost(0, ends[j], &mut widths), None);
            for (i, (before, _)) in least.iter().enumerate() {
                let cost = before + self.cost(ends[i], ends[j], &mut widths);
                if cost < best.0 {
                    best = (cost, Some(i));
                }
            }
            least.push(best);
        }
        let mut bands = Vec::new();
        let mut at = ends.len().checked_sub(1);
        while let Some(j) = at {
            bands.push(ends[j]);
            at = least[j].1;
        }
        bands.reverse();
        bands
    }

    /// The cost of the band of sizes above `low` up to `high`; `widths` is all zeros, and is so again afterwards.
    fn cost(&self, low: usize, high: usize, widths: &mut [usize]) -> u64 {
        let in_band = |g: usize| self.sizes[g] > low && self.sizes[g] <= high;
        let (mut bytes, mut up, mut down) = (0, 0, 0);
        for g in (0..self.widths.len()).filter(|&g| in_band(g)) {
            let width = std::mem::take(&mut widths[g]) + self.widths[g];
            match self.parent[g] {
                parent if parent != NONE && in_band(parent as usize) => widths[parent as usize] += width,
                _ => {
                    bytes += front_bytes(width, self.below[g]) + ROW_BYTES * (width + self.below[g]) as u64;
                    (up, down) = (1, down.max(u64::from(self.below[g] > 0)));
                }
            }
        }
        bytes + DISPATCH_BYTES * (up + down)
    }

    /// The groups with every child merged into its parent that lies in the same band.
    fn merged(&self, groups: Groups, bands: &[usize]) -> Groups {
        let band = |g: usize| bands.partition_point(|&end| end < self.sizes[g]);
        let Groups { mut columns, mut parent } = groups;
        let mut is_merged = vec![false; columns.len()];
        // parents first: where a parent is merged away, its front is known already
        let mut front: Vec<usize> = (0..columns.len()).collect();
        for g in (0..columns.len()).rev().filter(|&g| self.parent[g] != NONE) {
            let above = self.parent[g] as usize;
            if band(g) == band(above) {
                front[g] = front[above];
                is_merged[g] = true;
                let own = std::mem::take(&mut columns[g]);
                columns[front[g]].extend(own);
            } else {
                parent[g] = front[above] as u32;
            }
        }
        columns.iter_mut().for_each(|columns| columns.sort_unstable());
        compact(columns, parent, &is_merged)
    }
}

/// Thresholds that bands may end at, the last of them the largest size.
fn candidates(largest: usize) -> Vec<usize> {
    let powers = (0..).map(|k| (SMALLEST * 2f64.powf(f64::from(k) / 2.0)) as usize);
    powers.take_while(|&end| end < largest).chain((largest > 0).then_some(largest)).collect()
}

/// Bytes in single precision of a front's [D⁻¹; U] and of its Uᵀ, padded.
pub(super) fn front_bytes(width: usize, below: usize) -> u64 {
    let rows = |n: usize| n.next_multiple_of(ROW_STEP);
    let columns = |n: usize| n.next_multiple_of(COLUMN_STEP);
    4 * (rows(width + below) * columns(width) + rows(width) * columns(below)) as u64
}
