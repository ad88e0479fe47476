//! Fronts against the factor of the processor, and against what they were designed to cost.

use super::*;
use crate::linear::elimination::fill;
use crate::linear::ordering::minimum_degree;
use crate::linear::{Factor, FrontPanels, Real, Symbolic};
use std::sync::Arc;

/// A bar of cells in six tetrahedra each, stiffness 1 along every edge, with a mass at each vertex.
fn bar(cells: [usize; 3]) -> SparseMatrix {
    let [x, y, z] = cells.map(|n| n + 1);
    let mut triplets = Vec::new();
    for i in 0..x * y * z {
        let at = [i % x, i / x % y, i / (x * y)];
        triplets.push((i as u32, i as u32, 0.05));
        for edge in 1..8usize {
            let [a, b, c] = [edge & 1, edge >> 1 & 1, edge >> 2];
            if at[0] + a < x && at[1] + b < y && at[2] + c < z {
                let j = i + a + x * (b + y * c);
                triplets.extend([
                    (i as u32, i as u32, 1.0),
                    (j as u32, j as u32, 1.0),
                    (i as u32, j as u32, -1.0),
                ]);
            }
        }
    }
    SparseMatrix::from_triplets(x * y * z, &triplets).unwrap()
}

/// Matrices one after the other on the diagonal.
fn apart(parts: &[SparseMatrix]) -> SparseMatrix {
    let mut triplets = Vec::new();
    let mut first = 0;
    for part in parts {
        for i in 0..part.rows() {
            let (columns, values) = part.row(i);
            let lower = columns.iter().zip(values).filter(|(j, _)| **j as usize <= i);
            triplets.extend(lower.map(|(&j, &value)| (first + i as u32, first + j, value)));
        }
        first += part.rows() as u32;
    }
    SparseMatrix::from_triplets(first as usize, &triplets).unwrap()
}

fn diagonal(n: usize) -> SparseMatrix {
    let triplets: Vec<_> = (0..n as u32).map(|i| (i, i, 1.0 + f64::from(i))).collect();
    SparseMatrix::from_triplets(n, &triplets).unwrap()
}

/// Threads of a workgroup.
const LANES: usize = 256;

/// What the kernels of a device do, tile by tile.
fn solve<T: Real>(panels: &FrontPanels<T>, g: &[[T; 3]]) -> Vec<[T; 3]> {
    let plan = panels.plan();
    let add = |a: &mut [T; 3], b: [T; 3]| (0..3).for_each(|k| a[k] = a[k] + b[k]);
    let mut updates = vec![[T::default(); 3]; plan.rows_below().len()];
    let mut solution = vec![[T::default(); 3]; plan.rows()];
    for call in &plan.calls {
        let panel = panels.panel(call);
        for tile in &plan.tiles[call.tiles.clone()] {
            let handed_on = |row: usize, updates: &[[T; 3]]| {
                let mut sum = [T::default(); 3];
                let list = plan.gather[tile.list + row] as usize..plan.gather[tile.list + row + 1] as usize;
                plan.gather[list].iter().for_each(|&source| add(&mut sum, updates[source as usize]));
                sum
            };
            let mut own = Vec::new();
            for c in 0..tile.columns {
                own.push(match call.direction {
                    Direction::Up => {
                        let mut y = g[plan.order()[tile.solution + c] as usize];
                        add(&mut y, handed_on(c, &updates));
                        y
                    }
                    Direction::Down => solution[plan.rows_below()[tile.list + c] as usize],
                });
            }
            for r in 0..tile.rows {
                // a lane takes every so manyth quad of columns, as in the kernels
                let mut parts = vec![[T::default(); 3]; LANES / tile.height];
                for (q, own) in own.chunks(4).enumerate() {
                    let strip = q % parts.len();
                    for (k, own) in own.iter().enumerate() {
                        let m = panel[tile.panel + (q * tile.height + r) * 4 + k];
                        add(&mut parts[strip], own.map(|o| m * o));
                    }
                }
                let mut sum = [T::default(); 3];
                parts.into_iter().for_each(|part| add(&mut sum, part));
                let row = tile.first_row + r;
                match call.direction {
                    Direction::Down => add(&mut solution[tile.solution + row], sum),
                    Direction::Up if row < tile.columns => solution[tile.solution + row] = sum,
                    Direction::Up => {
                        add(&mut sum, handed_on(row, &updates));
                        updates[tile.update + row - tile.columns] = sum;
                    }
                }
            }
        }
    }
    plan.position.iter().map(|&at| solution[at as usize]).collect()
}

/// The largest deviation from the processor's solution in double precision, over the largest number of that.
fn deviation<T: Real>(matrix: &SparseMatrix, plan: FrontPlan) -> f64 {
    let n = matrix.rows();
    let g: Vec<[f64; 3]> = (0..n).map(|i| [1.0, (i as f64).sin(), (i % 7) as f64 - 3.0]).collect();
    let factor = Factor::<f64>::new(&Symbolic::new(matrix).unwrap(), matrix).unwrap();
    let mut expected = g.clone();
    factor.solve(&mut expected, &mut factor.scratch().unwrap());
    let panels = FrontPanels::<T>::new(&Arc::new(plan), matrix).unwrap();
    let g: Vec<[T; 3]> = g.into_iter().map(|g| g.map(T::from_f64)).collect();
    let found = solve(&panels, &g);
    let size = expected.iter().flatten().fold(0.0, |a: f64, b| a.max(b.abs()));
    let off = found.iter().flatten().zip(expected.iter().flatten());
    off.fold(0.0, |worst: f64, (a, b)| worst.max((a.to_f64() - b).abs())) / size.max(f64::MIN_POSITIVE)
}

fn cases() -> Vec<(&'static str, SparseMatrix)> {
    let forest = apart(&[bar([9, 3, 3]), diagonal(5), bar([2, 1, 1]), bar([30, 6, 6])]);
    vec![
        ("bar", bar([30, 4, 4])),
        ("long bar", bar([62, 8, 8])),
        ("forest", forest),
        ("diagonal", diagonal(100)),
        ("one vertex", diagonal(1)),
        ("two vertices", bar([1, 1, 1])),
        ("no vertex", diagonal(0)),
    ]
}

#[test]
fn fronts_solve_as_the_factor_does() {
    for (name, matrix) in cases() {
        let plan = || FrontPlan::new(&matrix, LARGEST_BINDING).unwrap();
        let off = deviation::<f64>(&matrix, plan());
        assert!(off <= 1e-12, "{name}: off by {off:e} in double precision");
        let off = deviation::<f32>(&matrix, plan());
        println!("{name}: off by {off:.1e}");
        // seen: up to 2.9e-7
        assert!(off <= 5e-7, "{name}: off by {off:e} in single precision");
    }
}

#[test]
fn any_order_will_do() {
    let matrix = bar([20, 5, 5]);
    let n = matrix.rows() as u32;
    for (name, order) in [("natural", (0..n).collect::<Vec<_>>()), ("backwards", (0..n).rev().collect())] {
        let plan = FrontPlan::in_order(&matrix, &order, LARGEST_BINDING).unwrap();
        let off = deviation::<f64>(&matrix, plan);
        assert!(off <= 1e-12, "{name}: off by {off:e}");
    }
    let by_degree = FrontPlan::ordered(&bar([62, 8, 8]), minimum_degree, LARGEST_BINDING).unwrap();
    // counted by the design's prototype: 5 dispatches, 10.4 MB
    assert!(by_degree.calls.len() <= 5 && by_degree.bytes() < 11_500_000, "{} B", by_degree.bytes());
}

#[test]
fn a_stage_that_is_too_large_for_a_binding_becomes_several_calls() {
    let matrix = bar([30, 6, 6]);
    let whole = FrontPlan::new(&matrix, LARGEST_BINDING).unwrap();
    let cut = FrontPlan::new(&matrix, 500_000).unwrap();
    assert!(cut.calls.len() > whole.calls.len());
    assert!(cut.calls.iter().all(|call| 4 * call.numbers <= 500_000));
    assert_eq!(cut.bytes(), whole.bytes());
    let off = deviation::<f64>(&matrix, cut);
    assert!(off <= 1e-12, "off by {off:e}");
}

/// Vertices, dispatches, and megabytes read in a solve as the design's prototype counted them.
const COUNTED: &[([usize; 3], usize, f64)] =
    &[([30, 4, 4], 1, 2.5), ([62, 8, 8], 5, 7.2), ([120, 16, 16], 13, 70.0), ([184, 32, 32], 27, 745.0)];

#[test]
#[cfg(feature = "metis")]
fn bars_take_as_many_dispatches_and_bytes_as_they_were_designed_to() {
    for &(cells, dispatches, megabytes) in COUNTED {
        let matrix = bar(cells);
        let plan = FrontPlan::new(&matrix, LARGEST_BINDING).unwrap();
        let graph = Graph::new(matrix.offsets(), matrix.columns());
        let entries = fill(&graph, plan.order());
        let (read, largest) = (plan.bytes() as f64 / 1e6, plan.calls.iter().map(|call| call.numbers).max());
        let tiles: Vec<usize> = plan.calls.iter().map(|call| call.tiles.len()).collect();
        println!(
            "{cells:?}: {} bands, {} dispatches, {read:.1} MB read, largest binding {:.1} MB, 2 nnz(L) {:.1} MB, tiles {tiles:?}",
            plan.bands,
            plan.calls.len(),
            largest.unwrap_or(0) as f64 * 4e-6,
            entries as f64 * 8e-6,
        );
        assert!(plan.calls.len() <= dispatches, "{cells:?}: {} dispatches", plan.calls.len());
        assert!(read <= 1.1 * megabytes, "{cells:?}: {read} MB");
        assert!(plan.calls.iter().all(|call| 4 * call.numbers as u64 <= LARGEST_BINDING));
    }
}

#[test]
fn bad_matrices_are_errors() {
    let mut triplets = vec![(0, 0, 1.0), (1, 1, 1.0), (0, 1, 2.0)];
    let indefinite = SparseMatrix::from_triplets(2, &triplets).unwrap();
    let plan = Arc::new(FrontPlan::new(&indefinite, LARGEST_BINDING).unwrap());
    let error = FrontPanels::<f32>::new(&plan, &indefinite).unwrap_err();
    assert!(matches!(error, crate::Error::Run(RunError::NotPositiveDefinite { .. })), "{error}");
    triplets[0].2 = f64::NAN;
    let broken = SparseMatrix::from_triplets(2, &triplets).unwrap();
    assert!(FrontPanels::<f32>::new(&plan, &broken).unwrap_err().to_string().contains("NaN"));
    assert!(FrontPanels::<f32>::new(&plan, &diagonal(2)).unwrap_err().to_string().contains("pattern"));
}
