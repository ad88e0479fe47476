//! Compliance columns, columns of A⁻¹: the displacement of every surface vertex under a unit force on one of them.
//!
//! Computed on demand, three at a time, and kept until the metric changes. A column keeps only the rows of the same
//! body's surface, or of bodies joined to it (A has no other coupling), divided by its largest entry, the diagonal, in
//! single precision: forces are accurate to 10⁻⁷, and positions are computed from them by an exact solve.

use crate::error::RunError;
use crate::{Result, Vec3};
use std::ops::Range;

/// Memory limit for columns (bytes); the columns of one step must fit.
const MOST_BYTES: usize = 2 << 30;
/// Memory limit for right-hand sides that are solved together (bytes), and how many at most.
const BATCH_BYTES: usize = 16 << 20;
const MOST_TOGETHER: usize = 64;
const NONE: u32 = u32::MAX;

/// Applies A⁻¹ in place to several right-hand sides, each with three columns, the x, y and z components at all vertices. Only
/// the rows of surface vertices are read.
pub type InverseMetric<'a> = dyn FnMut(&mut [Vec<Vec3>]) -> Result<()> + 'a;

/// The cached columns.
#[derive(Debug)]
pub struct ComplianceColumns {
    /// For each vertex: its row among its body's surface vertices.
    row: Vec<u32>,
    /// For each vertex: its body's range in `surface`.
    part: Vec<u32>,
    /// Surface vertices, body by body, ascending.
    surface: Vec<u32>,
    parts: Vec<Range<usize>>,
    slot: Vec<u32>,
    kept: Vec<Column>,
    bytes: usize,
    most_bytes: usize,
    vertex_count: usize,
}

/// One column.
#[derive(Debug)]
struct Column {
    /// (A⁻¹)_vv (m/N, in the caller's force scaling).
    diagonal: f64,
    /// The column divided by the diagonal.
    shares: Box<[f32]>,
}

impl ComplianceColumns {
    /// An empty cache for surfaces with these vertices (body by body, ascending) of `vertex_count` vertices.
    pub fn new(vertex_count: usize, surfaces: &[Vec<u32>]) -> ComplianceColumns {
        let (mut row, mut part) = (vec![NONE; vertex_count], vec![0; vertex_count]);
        let (mut surface, mut parts) = (Vec::new(), Vec::new());
        for (body, vertices) in surfaces.iter().enumerate() {
            let first = surface.len();
            for (number, &v) in vertices.iter().enumerate() {
                row[v as usize] = number as u32;
                part[v as usize] = body as u32;
            }
            surface.extend_from_slice(vertices);
            parts.push(first..surface.len());
        }
        ComplianceColumns {
            row,
            part,
            surface,
            parts,
            slot: vec![NONE; vertex_count],
            kept: Vec::new(),
            bytes: 0,
            most_bytes: MOST_BYTES,
            vertex_count,
        }
    }

    /// Drops all columns: the metric has changed.
    pub fn clear(&mut self) {
        self.slot.fill(NONE);
        self.kept.clear();
        self.bytes = 0;
    }

    /// Computes the missing columns of `vertices` (distinct; vertices that are on no surface are skipped), three in a right-hand
    /// side. Returns whether any column was computed.
    ///
    /// Fails with [`RunError::ContactMemory`] if they do not fit, after dropping the columns that were not requested.
    pub fn ensure(&mut self, vertices: &[u32], inverse: &mut InverseMetric) -> Result<bool> {
        let mut missing: Vec<u32> = self.missing(vertices);
        if missing.is_empty() {
            return Ok(false);
        }
        if self.bytes + self.bytes_of(&missing) > self.most_bytes {
            let bytes = self.bytes_of(vertices);
            if bytes > self.most_bytes {
                let megabytes = bytes / 1_000_000;
                return Err(RunError::ContactMemory { vertices: vertices.len(), megabytes }.into());
            }
            self.clear();
            missing = self.missing(vertices);
        }
        let together = (BATCH_BYTES / (size_of::<Vec3>() * self.vertex_count.max(1))).clamp(1, MOST_TOGETHER);
        for batch in missing.chunks(3 * together) {
            let unit_loads = |three: &[u32]| {
                let mut loads = vec![Vec3::zeros(); self.vertex_count];
                three.iter().enumerate().for_each(|(lane, &v)| loads[v as usize][lane] = 1.0);
                loads
            };
            let mut solved: Vec<Vec<Vec3>> = batch.chunks(3).map(unit_loads).collect();
            inverse(&mut solved)?;
            for (k, &v) in batch.iter().enumerate() {
                self.store(v, &solved[k / 3], k % 3);
            }
        }
        Ok(true)
    }

    fn missing(&self, vertices: &[u32]) -> Vec<u32> {
        let absent = |v: &u32| self.slot[*v as usize] == NONE && self.row[*v as usize] != NONE;
        vertices.iter().copied().filter(absent).collect()
    }

    fn bytes_of(&self, vertices: &[u32]) -> usize {
        vertices.iter().map(|&v| self.parts[self.part[v as usize] as usize].len() * size_of::<f32>()).sum()
    }

    fn store(&mut self, v: u32, solved: &[Vec3], lane: usize) {
        let diagonal = solved[v as usize][lane];
        let rows = &self.surface[self.parts[self.part[v as usize] as usize].clone()];
        // A is positive definite; if rounding or overflow says otherwise, the vertex has no compliance
        let diagonal = if diagonal.is_finite() && diagonal > 0.0 { diagonal } else { 0.0 };
        let share = |&row: &u32| {
            let share = (solved[row as usize][lane] / diagonal) as f32;
            if share.is_finite() { share } else { 0.0 }
        };
        let shares: Box<[f32]> = rows.iter().map(share).collect();
        self.bytes += size_of_val(&*shares);
        self.slot[v as usize] = self.kept.len() as u32;
        self.kept.push(Column { diagonal, shares });
    }

    /// The body (part of the surfaces) of a vertex.
    pub fn part(&self, v: u32) -> u32 {
        self.part[v as usize]
    }

    /// Number of surface vertices.
    pub fn len(&self) -> usize {
        self.surface.len()
    }

    /// Index of a vertex among the surface vertices.
    pub fn index(&self, v: u32) -> Option<usize> {
        let row = self.row[v as usize];
        (row != NONE).then(|| self.parts[self.part[v as usize] as usize].start + row as usize)
    }

    /// Adds `weight` times the column of a vertex to `sum`, indexed by surface vertex. A column that was not computed
    /// adds nothing.
    pub fn add_to(&self, v: u32, weight: f64, sum: &mut [f64]) {
        let Some(column) = self.kept.get(self.slot[v as usize] as usize) else { return };
        let factor = weight * column.diagonal;
        let part = &mut sum[self.parts[self.part[v as usize] as usize].clone()];
        part.iter_mut().zip(&column.shares).for_each(|(sum, &share)| *sum += factor * f64::from(share));
    }

    /// Zeroes the entries of a vertex's own surface.
    pub fn clear_part(&self, v: u32, sum: &mut [f64]) {
        sum[self.parts[self.part[v as usize] as usize].clone()].fill(0.0);
    }

    /// (A⁻¹)_rv for two surface vertices of the same body, or 0 if the column of `v` was not computed.
    pub fn entry(&self, r: u32, v: u32) -> f64 {
        match self.kept.get(self.slot[v as usize] as usize) {
            Some(column) if self.row[r as usize] != NONE => {
                column.diagonal * f64::from(column.shares[self.row[r as usize] as usize])
            }
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    /// Four vertices in a row, (A⁻¹)_kl = 2^−|k−l|, and three more that are apart from them.
    fn inverse(calls: &mut usize) -> impl FnMut(&mut [Vec<Vec3>]) -> Result<()> + '_ {
        |batch| {
            let apart = |k: usize, l: usize| (k < 4) != (l < 4);
            let entry =
                |k: usize, l: usize| if apart(k, l) { 0.0 } else { 0.5f64.powi(k.abs_diff(l) as i32) };
            for b in batch {
                *calls += 1;
                let row = |k: usize| (0..b.len()).map(|l| b[l] * entry(k, l)).sum();
                *b = (0..b.len()).map(row).collect();
            }
            Ok(())
        }
    }

    #[test]
    fn columns_are_computed_once_three_at_a_time_until_the_metric_changes() {
        let mut columns = ComplianceColumns::new(7, &[vec![0, 1, 3], vec![4, 5, 6]]);
        let mut calls = 0;
        assert!(columns.ensure(&[0, 3, 4, 6], &mut inverse(&mut calls)).unwrap());
        assert_eq!(calls, 2);
        assert!(!columns.ensure(&[3, 4], &mut inverse(&mut calls)).unwrap());
        assert_eq!(calls, 2);
        // powers of two are exact in single precision
        assert_eq!([columns.entry(1, 3), columns.entry(3, 3), columns.entry(4, 6)], [0.25, 1.0, 0.25]);
        columns.clear();
        assert!(columns.ensure(&[3], &mut inverse(&mut calls)).unwrap());
        assert_eq!(calls, 3);
    }

    #[test]
    fn memory_is_bounded() {
        let mut columns = ComplianceColumns::new(7, &[vec![0, 1, 3], vec![4, 5, 6]]);
        columns.most_bytes = 3 * 3 * 4;
        let mut calls = 0;
        columns.ensure(&[0, 1, 3], &mut inverse(&mut calls)).unwrap();
        columns.ensure(&[3, 4], &mut inverse(&mut calls)).unwrap();
        assert_eq!((columns.bytes, columns.entry(4, 4), columns.entry(0, 0)), (2 * 3 * 4, 1.0, 0.0));
        let refused = columns.ensure(&[0, 1, 3, 4], &mut inverse(&mut calls));
        assert!(matches!(refused, Err(Error::Run(RunError::ContactMemory { vertices: 4, .. }))));
    }
}
