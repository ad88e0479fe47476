//! The global solve keeps its promises: it solves, it repeats itself to the bit, it refuses what it cannot factor.

use dashpot::Vec3;
use dashpot::linear::{Factor, Real, SparseMatrix, Symbolic};
use nalgebra::{Cholesky, DMatrix};
use proptest::prelude::*;

type Triplets = Vec<(u32, u32, f64)>;

/// A small generator of our own, so that the same matrices come out everywhere.
struct Noise(u64);

impl Noise {
    /// Uniform in −1..1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vectors(&mut self, n: usize) -> Vec<[f64; 3]> {
        (0..n).map(|_| [self.next(), self.next(), self.next()]).collect()
    }
}

/// A spring of the given stiffness between two vertices.
fn spring(triplets: &mut Triplets, a: usize, b: usize, stiffness: f64) {
    let (a, b) = (a as u32, b as u32);
    triplets.extend([(a, a, stiffness), (b, b, stiffness), (a, b, -stiffness)]);
}

/// A box of vertices with springs along the edges and the diagonals of Kuhn's six tetrahedra, and a mass at each vertex.
fn box_of_springs(triplets: &mut Triplets, first: usize, size: [usize; 3], mass: f64) -> usize {
    let [nx, ny, nz] = size;
    let index = |x: usize, y: usize, z: usize| first + (x * ny + y) * nz + z;
    for x in 0..nx {
        for y in 0..ny {
            for z in 0..nz {
                triplets.push((index(x, y, z) as u32, index(x, y, z) as u32, mass));
                for corner in 1..8 {
                    let (dx, dy, dz) = (corner & 1, corner >> 1 & 1, corner >> 2);
                    if x + dx < nx && y + dy < ny && z + dz < nz {
                        let stiffness = 1.0 / (dx + dy + dz) as f64;
                        spring(triplets, index(x, y, z), index(x + dx, y + dy, z + dz), stiffness);
                    }
                }
            }
        }
    }
    first + nx * ny * nz
}

fn box_matrix(size: [usize; 3]) -> SparseMatrix {
    let mut triplets = Triplets::new();
    let n = box_of_springs(&mut triplets, 0, size, 0.05);
    SparseMatrix::from_triplets(n, &triplets).unwrap()
}

fn chain(n: usize) -> SparseMatrix {
    let mut triplets: Triplets = (0..n as u32).map(|i| (i, i, 0.1)).collect();
    (1..n).for_each(|i| spring(&mut triplets, i - 1, i, 1.0));
    SparseMatrix::from_triplets(n, &triplets).unwrap()
}

fn solve<T: Real>(matrix: &SparseMatrix, b: &[[f64; 3]]) -> Vec<[T; 3]> {
    let symbolic = Symbolic::new(matrix).unwrap();
    let factor = Factor::<T>::new(&symbolic, matrix).unwrap();
    let mut x: Vec<[T; 3]> = b.iter().map(|b| b.map(T::from_f64)).collect();
    factor.solve(&mut x, &mut factor.scratch().unwrap());
    x
}

/// |A x − b| / |b| in double precision.
fn residual(matrix: &SparseMatrix, x: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let mut ax = vec![Vec3::zeros(); b.len()];
    matrix.mul(bytemuck::cast_slice(x), &mut ax);
    let difference = ax.iter().zip(b).map(|(ax, b)| (ax - Vec3::from(*b)).norm_squared()).sum::<f64>();
    let norm = b.iter().map(|b| Vec3::from(*b).norm_squared()).sum::<f64>();
    (difference / norm.max(f64::MIN_POSITIVE)).sqrt()
}

/// Solves with noise on the right-hand side in both precisions and checks what is left over.
fn check_residuals(matrix: &SparseMatrix) {
    let b = Noise(7).vectors(matrix.rows());
    let x = solve::<f64>(matrix, &b);
    // A backward stable solve leaves a few ε·κ(A) = 2e-16 · some hundreds; 1e-12 is the promise of the module.
    assert!(residual(matrix, &x, &b) < 1e-12, "{:e}", residual(matrix, &x, &b));
    let x: Vec<[f64; 3]> = solve::<f32>(matrix, &b).iter().map(|x| x.map(f64::from)).collect();
    // The same with ε = 6e-8 and some hundreds: 1e-5.
    assert!(residual(matrix, &x, &b) < 1e-5, "{:e}", residual(matrix, &x, &b));
}

#[test]
fn a_matrix_without_rows_and_one_with_a_single_row_are_solved() {
    assert!(solve::<f64>(&SparseMatrix::from_triplets(0, &[]).unwrap(), &[]).is_empty());
    let one = SparseMatrix::from_triplets(1, &[(0, 0, 4.0)]).unwrap();
    assert_eq!(solve::<f64>(&one, &[[4.0, -2.0, 0.0]]), [[1.0, -0.5, 0.0]]);
    assert_eq!(solve::<f32>(&one, &[[4.0, -2.0, 0.0]]), [[1.0, -0.5, 0.0]]);
}

#[test]
fn vertices_without_neighbours_are_solved_one_by_one() {
    let n = 1000;
    let triplets: Triplets = (0..n as u32).map(|i| (i, i, 1.0 + i as f64)).collect();
    let matrix = SparseMatrix::from_triplets(n, &triplets).unwrap();
    let b: Vec<[f64; 3]> = (0..n).map(|i| [1.0 + i as f64, 0.0, 2.0 + 2.0 * i as f64]).collect();
    // Six roundings of ε/2: of the root and of its inverse (both squared later), of the square and of the product.
    let near = |a: f64, b: f64| (a - b).abs() <= 3.0 * f64::EPSILON * b;
    assert!(solve::<f64>(&matrix, &b).iter().all(|x| near(x[0], 1.0) && x[1] == 0.0 && near(x[2], 2.0)));
}

#[test]
fn boxes_and_sheets_are_solved() {
    for size in [[2, 1, 1], [3, 3, 3], [31, 31, 1], [40, 9, 9], [17, 17, 17]] {
        check_residuals(&box_matrix(size));
    }
}

#[test]
fn stiff_attachments_do_not_spoil_the_rest() {
    let mut triplets = Triplets::new();
    let n = box_of_springs(&mut triplets, 0, [20, 8, 8], 0.05);
    triplets.extend((0..n as u32).step_by(97).map(|vertex| (vertex, vertex, 1e8)));
    let matrix = SparseMatrix::from_triplets(n, &triplets).unwrap();
    let b = Noise(13).vectors(n);
    // κ(A) is 1e10 by the scale of some rows alone, which costs a Cholesky factor nothing: the bounds stay.
    let x = solve::<f64>(&matrix, &b);
    assert!(residual(&matrix, &x, &b) < 1e-12, "{:e}", residual(&matrix, &x, &b));
    let x: Vec<[f64; 3]> = solve::<f32>(&matrix, &b).iter().map(|x| x.map(f64::from)).collect();
    assert!(residual(&matrix, &x, &b) < 1e-5, "{:e}", residual(&matrix, &x, &b));
}

#[test]
fn many_bodies_of_different_sizes_are_solved_together() {
    let mut triplets = Triplets::new();
    let mut n = 0;
    for body in 0..60 {
        n = box_of_springs(&mut triplets, n, [1 + body % 7, 1 + body % 5, 1 + body % 11], 0.05);
        n = box_of_springs(&mut triplets, n, [1, 1, 1], 1.0);
    }
    n = box_of_springs(&mut triplets, n, [20, 8, 8], 0.05);
    check_residuals(&SparseMatrix::from_triplets(n, &triplets).unwrap());
}

#[test]
fn long_chains_and_wide_stars_are_solved() {
    check_residuals(&chain(100_000));
    let mut star: Triplets = (0..20_000).map(|i| (i, i, 1.0)).collect();
    (1..20_000).for_each(|i| spring(&mut star, 0, i, 0.01));
    check_residuals(&SparseMatrix::from_triplets(20_000, &star).unwrap());
}

#[test]
fn the_number_of_threads_does_not_show_in_the_bits() {
    let matrix = box_matrix([40, 12, 12]);
    let b = Noise(3).vectors(matrix.rows());
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let double = solve::<f64>(&matrix, &b);
            let single = solve::<f32>(&matrix, &b);
            let bits = double.iter().flatten().map(|x| x.to_bits());
            bits.chain(single.iter().flatten().map(|x| u64::from(x.to_bits()))).collect::<Vec<u64>>()
        })
    };
    let alone = on(1);
    assert_eq!(alone, on(2));
    assert_eq!(alone, on(3));
}

#[test]
fn a_scratch_is_as_good_as_new_after_a_solve_that_went_wrong() {
    let matrix = box_matrix([12, 7, 5]);
    let symbolic = Symbolic::new(&matrix).unwrap();
    let factor = Factor::<f64>::new(&symbolic, &matrix).unwrap();
    let b = Noise(5).vectors(matrix.rows());
    let mut scratch = factor.scratch().unwrap();
    let mut x = b.clone();
    factor.solve(&mut x, &mut scratch);
    let mut broken = vec![[f64::NAN, f64::INFINITY, 1.0]; matrix.rows()];
    factor.solve(&mut broken, &mut scratch);
    let mut again = b.clone();
    factor.solve(&mut again, &mut scratch);
    assert_eq!(x, again);
}

#[test]
fn new_values_on_an_old_analysis_give_the_bits_of_a_fresh_factor() {
    let old = box_matrix([9, 8, 7]);
    let ones = vec![1.0; old.rows()];
    let new = old.scaled_sum(3.0, &ones, 0.5, 0.0, &ones);
    let b = Noise(11).vectors(old.rows());
    let symbolic = Symbolic::new(&old).unwrap();
    let mut factor = Factor::<f64>::new(&symbolic, &old).unwrap();
    factor.refactor(&new).unwrap();
    let mut x = b.clone();
    factor.solve(&mut x, &mut factor.scratch().unwrap());
    assert_eq!(x, solve::<f64>(&new, &b));
}

fn refusal(matrix: &SparseMatrix) -> String {
    let symbolic = Symbolic::new(matrix).unwrap();
    Factor::<f64>::new(&symbolic, matrix).unwrap_err().to_string()
}

#[test]
fn a_matrix_that_is_not_positive_definite_is_refused_with_its_row() {
    let n = 50;
    let mut triplets: Triplets = (0..n).map(|i| (i, i, if i == 17 { -2.0 } else { 1.0 })).collect();
    let error = refusal(&SparseMatrix::from_triplets(n as usize, &triplets).unwrap());
    assert!(error.contains("(row 17)"), "{error}");

    triplets[17].2 = f64::NAN;
    let error = refusal(&SparseMatrix::from_triplets(n as usize, &triplets).unwrap());
    assert!(error.contains("row 17 holds NaN"), "{error}");

    // Springs without any mass: a free body may be anywhere, the matrix is singular.
    let mut free = Triplets::new();
    let n = box_of_springs(&mut free, 0, [6, 5, 4], 0.0);
    let error = refusal(&SparseMatrix::from_triplets(n, &free).unwrap());
    assert!(error.contains("it is not positive definite (row"), "{error}");
}

#[test]
fn two_hundred_thousand_vertices_fit_into_a_gigabyte() {
    let matrix = box_matrix([185, 33, 33]);
    assert_eq!(matrix.rows(), 201_465);
    let symbolic = Symbolic::new(&matrix).unwrap();
    // 89 million numbers with nested dissection, a third more with minimum degree alone.
    let limit = if cfg!(feature = "metis") { 0.8e9 } else { 1.2e9 };
    let (double, single) = (symbolic.factor_bytes::<f64>() as f64, symbolic.factor_bytes::<f32>() as f64);
    assert!(double < limit, "{double:e}");
    // Half of it, and what padding to eight lanes instead of four adds.
    assert!(single < 0.53 * double, "{single:e}");
}

#[test]
fn the_memory_that_is_foretold_is_the_memory_that_is_taken() {
    let matrix = box_matrix([9, 8, 7]);
    let symbolic = Symbolic::new(&matrix).unwrap();
    let factor = Factor::<f64>::new(&symbolic, &matrix).unwrap();
    assert_eq!(symbolic.factor_bytes::<f64>(), factor.nonzeros() * size_of::<f64>());
    assert!(factor.bytes() > symbolic.factor_bytes::<f64>());
}

#[test]
fn another_pattern_is_refused() {
    let symbolic = Symbolic::new(&chain(10)).unwrap();
    let error = Factor::<f64>::new(&symbolic, &chain(11)).unwrap_err().to_string();
    assert!(error.contains("pattern"), "{error}");
}

proptest! {
    /// Against a dense Cholesky of nalgebra, on any pattern: random edges, diagonally dominant so that κ(A) stays small.
    #[test]
    fn random_sparse_systems_match_a_dense_cholesky(
        n in 1usize..90, edges in prop::collection::vec((0usize..90, 0usize..90), 0..250), seed in any::<u64>(),
    ) {
        let mut noise = Noise(seed);
        let mut triplets: Triplets = (0..n as u32).map(|i| (i, i, 0.3)).collect();
        for (a, b) in edges.into_iter().map(|(a, b)| (a % n, b % n)).filter(|(a, b)| a != b) {
            let value = noise.next();
            let size = value.abs();
            triplets.extend([(a as u32, a as u32, size), (b as u32, b as u32, size), (a as u32, b as u32, value)]);
        }
        let matrix = SparseMatrix::from_triplets(n, &triplets).unwrap();
        let mut dense = DMatrix::zeros(n, n);
        for row in 0..n {
            let (columns, values) = matrix.row(row);
            columns.iter().zip(values).for_each(|(&column, &value)| dense[(row, column as usize)] = value);
        }
        let b = noise.vectors(n);
        let right = DMatrix::from_fn(n, 3, |row, column| b[row][column]);
        let expected = Cholesky::new(dense).expect("positive definite by construction").solve(&right);
        let x = solve::<f64>(&matrix, &b);
        // κ(A) is below 1e3 here (diagonal at most some tens over 0.3): 1e3 · 2e-16 · n, with room.
        let bound = 1e-11 * expected.amax();
        for row in 0..n {
            for c in 0..3 {
                prop_assert!((x[row][c] - expected[(row, c)]).abs() <= bound, "{} {}", x[row][c], expected[(row, c)]);
            }
        }
    }
}
