//! A uniform grid over boxes, for proximity queries. Uses sorted arrays, so results have a reproducible order.
//!
//! Bounded cost: on average at most 16 cells per item, and a query inspects at most [`MOST_FOUND`] cell entries, so
//! that many items at one place cost bounded time; entries beyond that are not found.

use crate::Vec3;
use std::ops::Range;

/// Maximum number of cell entries a query inspects.
pub const MOST_FOUND: usize = 4096;
/// Maximum average number of cells per item.
const MOST_CELLS: u64 = 16;
/// Up to this many cells per entry (plus a constant), cells are stored as a dense list.
const LISTED_CELLS: u64 = 4;
/// Maximum cells per axis: three such indices fit in a 64-bit key.
const MAX_CELLS_PER_AXIS: f64 = (1u64 << 20) as f64;

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Lower corner (m).
    pub low: Vec3,
    /// Upper corner (m).
    pub high: Vec3,
}

impl Bounds {
    pub const EMPTY: Bounds = Bounds {
        low: Vec3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
        high: Vec3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
    };

    /// The bounding box of points.
    pub fn of(points: impl IntoIterator<Item = Vec3>) -> Bounds {
        points.into_iter().fold(Bounds::EMPTY, |b, p| Bounds { low: b.low.inf(&p), high: b.high.sup(&p) })
    }

    /// The box enlarged by `reach` on every side.
    pub fn grown(&self, reach: f64) -> Bounds {
        Bounds { low: self.low.add_scalar(-reach), high: self.high.add_scalar(reach) }
    }

    /// Whether two boxes intersect. A box with a non-finite corner intersects nothing.
    pub fn meets(&self, other: &Bounds) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }

    /// The bounding box of both.
    pub fn with(&self, other: &Bounds) -> Bounds {
        Bounds { low: self.low.inf(&other.low), high: self.high.sup(&other.high) }
    }

    fn is_finite(&self) -> bool {
        self.low.iter().chain(&self.high).all(|c| c.is_finite()) && (self.high - self.low).min() >= 0.0
    }

    fn extent(&self) -> f64 {
        (self.high - self.low).max()
    }
}

/// A uniform grid.
#[derive(Debug, Clone)]
pub struct Grid {
    boxes: Vec<Bounds>,
    bounds: Bounds,
    /// Cell size (m).
    cell: f64,
    along: [u64; 3],
    /// Items, cell by cell, ascending within each.
    items: Vec<u32>,
    cells: Cells,
}

/// Where the items of a cell are stored.
#[derive(Debug, Clone)]
enum Cells {
    /// Dense: the start of every cell's items, and the end of the last.
    Listed(Vec<u32>),
    /// Sparse: the cell of every entry, ascending.
    Sorted(Vec<u64>),
}

impl Cells {
    /// The item range of the cells from `first` to `last`.
    fn items(&self, first: u64, last: u64) -> Range<usize> {
        match self {
            Cells::Listed(begin) => begin[first as usize] as usize..begin[last as usize + 1] as usize,
            Cells::Sorted(cells) => {
                let begin = cells.partition_point(|&cell| cell < first);
                begin..begin + cells[begin..].partition_point(|&cell| cell <= last)
            }
        }
    }

    /// Sorts entries given in ascending order of items.
    fn sort(mut entries: Vec<(u64, u32)>, cells: u64) -> (Vec<u32>, Cells) {
        if cells > LISTED_CELLS * entries.len() as u64 + 64 {
            entries.sort_by_key(|entry| entry.0); // stable: items stay ascending
            let (cells, items) = entries.into_iter().unzip();
            return (items, Cells::Sorted(cells));
        }
        let mut begin = vec![0u32; cells as usize + 1];
        entries.iter().for_each(|&(cell, _)| begin[cell as usize + 1] += 1);
        for cell in 0..cells as usize {
            begin[cell + 1] += begin[cell];
        }
        let (mut next, mut items) = (begin.clone(), vec![0; entries.len()]);
        for (cell, item) in entries {
            items[next[cell as usize] as usize] = item;
            next[cell as usize] += 1;
        }
        (items, Cells::Listed(begin))
    }
}

impl Grid {
    /// A grid over these items; items with a non-finite box are never found.
    pub fn new(boxes: Vec<Bounds>) -> Grid {
        let sound = || boxes.iter().filter(|b| b.is_finite());
        let count = sound().count();
        let whole = sound().fold(Bounds::EMPTY, |a, b| a.with(b));
        let none = Cells::Sorted(Vec::new());
        let mut grid = Grid {
            bounds: whole,
            cell: 1.0,
            along: [1; 3],
            items: Vec::new(),
            cells: none,
            boxes: Vec::new(),
        };
        if count > 0 {
            let mean = sound().map(|b| b.extent() / count as f64).sum::<f64>();
            grid.cell = mean.max(whole.extent() / MAX_CELLS_PER_AXIS).max(f64::MIN_POSITIVE);
            let crowded = |grid: &Grid| {
                let cells = sound().map(|b| grid.range(b).iter().map(|r| r[1] - r[0] + 1).product::<u64>());
                cells.fold(0u64, u64::saturating_add) > MOST_CELLS * count as u64
            };
            loop {
                grid.along = Vec3::map(&((whole.high - whole.low) / grid.cell), |n| n.floor()).data.0[0]
                    .map(|n| n as u64 + 1);
                if grid.along == [1; 3] || !crowded(&grid) {
                    break;
                }
                grid.cell *= 2.0;
            }
            let mut entries = Vec::new();
            for (item, b) in boxes.iter().enumerate().filter(|(_, b)| b.is_finite()) {
                let [xs, ys, zs] = grid.range(b);
                for row in (zs[0]..=zs[1]).flat_map(|z| (ys[0]..=ys[1]).map(move |y| (z, y))) {
                    let key = grid.key(xs[0], row.1, row.0);
                    entries.extend((0..=xs[1] - xs[0]).map(|x| (key + x, item as u32)));
                }
            }
            let cells = grid.along.iter().fold(1u64, |product, n| product.saturating_mul(*n));
            (grid.items, grid.cells) = Cells::sort(entries, cells);
        }
        grid.boxes = boxes;
        grid
    }

    /// Bounding box of all items.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// First and last cell along each axis covered by a box.
    fn range(&self, b: &Bounds) -> [[u64; 2]; 3] {
        std::array::from_fn(|axis| {
            let cell = |c: f64| {
                let number = (c - self.bounds.low[axis]) / self.cell;
                // the conversion truncates and saturates
                (number as u64).min(self.along[axis] - 1)
            };
            [cell(b.low[axis]), cell(b.high[axis])]
        })
    }

    fn key(&self, x: u64, y: u64, z: u64) -> u64 {
        (z * self.along[1] + y) * self.along[0] + x
    }

    /// Collects into `found` the items whose boxes intersect `around`, ascending, without duplicates.
    pub fn near(&self, around: &Bounds, found: &mut Vec<u32>) {
        found.clear();
        if !around.is_finite() || !around.meets(&self.bounds) {
            return;
        }
        let [xs, ys, zs] = self.range(around);
        let rows = (ys[1] - ys[0] + 1).saturating_mul(zs[1] - zs[0] + 1);
        let mut looked = 0;
        if rows > self.items.len() as u64 {
            // more cells than items
            let sound = |item: u32| self.boxes[item as usize].is_finite();
            let met = (0..self.boxes.len() as u32).filter(|&item| sound(item) && self.meets(item, around));
            found.extend(met.take(MOST_FOUND));
            return;
        }
        for (z, y) in (zs[0]..=zs[1]).flat_map(|z| (ys[0]..=ys[1]).map(move |y| (z, y))) {
            let (first, last) = (self.key(xs[0], y, z), self.key(xs[1], y, z));
            let items = &self.items[self.cells.items(first, last)];
            let items = &items[..items.len().min(MOST_FOUND - looked)];
            looked += items.len();
            found.extend(items.iter().filter(|&&item| self.meets(item, around)));
        }
        found.sort_unstable();
        found.dedup();
    }

    fn meets(&self, item: u32, around: &Bounds) -> bool {
        self.boxes[item as usize].meets(around)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(i: usize, a: f64) -> f64 {
        (a * i as f64 + a).sin()
    }

    /// Boxes all over the place, some large, some thin, some far away.
    fn boxes(count: usize) -> Vec<Bounds> {
        let one = |i: usize| {
            let low =
                Vec3::new(wave(i, 1.0), wave(i, 1.7), wave(i, 2.3)) * if i % 50 == 7 { 90.0 } else { 3.0 };
            let size = Vec3::new(
                wave(i, 0.3).abs(),
                wave(i, 0.7).abs(),
                if i.is_multiple_of(4) { 0.0 } else { 0.2 },
            );
            Bounds { low, high: low + size * if i % 31 == 3 { 5.0 } else { 0.3 } }
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn the_grid_finds_what_all_pairs_find() {
        let boxes = boxes(800);
        let grid = Grid::new(boxes.clone());
        assert!(grid.items.len() <= MOST_CELLS as usize * boxes.len());
        let mut found = Vec::new();
        let mut hits = 0;
        for query in
            boxes.iter().map(|b| b.grown(0.05)).chain([Bounds::of([Vec3::repeat(-500.0); 2]).grown(1.0)])
        {
            grid.near(&query, &mut found);
            let all: Vec<u32> =
                (0..boxes.len() as u32).filter(|&i| boxes[i as usize].meets(&query)).collect();
            assert_eq!(found, all);
            hits += all.len();
        }
        assert!(hits > 2 * boxes.len(), "there is something to find");
    }

    #[test]
    fn what_is_not_finite_or_all_at_one_place_is_bounded() {
        let mut boxes = vec![Bounds::of([Vec3::repeat(0.5); 2]); 20_000];
        boxes.push(Bounds { low: Vec3::repeat(f64::NAN), high: Vec3::repeat(1.0) });
        boxes.push(Bounds { low: Vec3::zeros(), high: Vec3::repeat(f64::INFINITY) });
        boxes.push(Bounds::EMPTY);
        boxes.push(Bounds { low: Vec3::repeat(-1e300), high: Vec3::repeat(-1e300) });
        let grid = Grid::new(boxes);
        let mut found = Vec::new();
        grid.near(&Bounds::of([Vec3::repeat(0.5)]).grown(0.1), &mut found);
        assert_eq!(found.len(), MOST_FOUND);
        grid.near(&Bounds { low: Vec3::repeat(f64::NAN), high: Vec3::repeat(1.0) }, &mut found);
        assert!(found.is_empty());
        Grid::new(Vec::new()).near(&Bounds::of([Vec3::zeros()]), &mut found);
        assert!(found.is_empty());
    }
}
