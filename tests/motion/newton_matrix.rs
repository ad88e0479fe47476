//! The matrix of Newton's method keeps its promises: it is the sum of its elements, it is solved, it repeats itself to the bit,
//! and one that cannot be factored is refused by name.

use dashpot::error::{Error, RunError};
use dashpot::linear::{BlockFactor, BlockMatrix, BlockPattern, Factor, SparseMatrix, Symbolic};
use dashpot::model::Model;
use dashpot::model::element::Stencil;
use dashpot::setup::{self, build};
use dashpot::{Mat3, Vec3};
use nalgebra::{Cholesky, DMatrix, DVector};
use proptest::prelude::*;

/// A small generator of our own, so that the same matrices come out everywhere.
struct Noise(u64);

impl Noise {
    /// Uniform in −1..1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn vec3s(&mut self, n: usize) -> Vec<Vec3> {
        (0..n).map(|_| Vec3::new(self.next(), self.next(), self.next())).collect()
    }
}

/// Elements by their corners and, block after block, their Hessians.
#[derive(Default)]
struct Elements {
    corners: Vec<Vec<u32>>,
    blocks: Vec<Mat3>,
}

impl Elements {
    /// An element with a random positive semidefinite Hessian of the order of 1: B Bᵀ / 3N.
    fn push_random(&mut self, corners: Vec<u32>, noise: &mut Noise) {
        let size = 3 * corners.len();
        let b = DMatrix::from_fn(size, size, |_, _| noise.next());
        self.push(corners, &(&b * b.transpose() / size as f64));
    }

    fn push(&mut self, corners: Vec<u32>, hessian: &DMatrix<f64>) {
        for k in 0..corners.len() {
            for l in 0..corners.len() {
                self.blocks.push(hessian.fixed_view::<3, 3>(3 * k, 3 * l).into_owned());
            }
        }
        self.corners.push(corners);
    }

    /// w g_k·g_l I₃ for all pairs of corners: the Hessian of w/2 |G x|².
    fn push_stencil(&mut self, corners: &[u32], rows: &[&[f64]], weight: f64) {
        for k in 0..corners.len() {
            for l in 0..corners.len() {
                let dot: f64 = rows.iter().map(|row| row[k] * row[l]).sum();
                self.blocks.push(Mat3::identity() * (weight * dot));
            }
        }
        self.corners.push(corners.to_vec());
    }

    fn push_stencils<const N: usize, const R: usize>(&mut self, elements: &[impl Stencil<N, R>]) {
        for element in elements {
            let g = element.operator();
            self.push_stencil(&element.vertices(), &g.each_ref().map(|row| &row[..]), element.weight());
        }
    }

    /// What the Laplacian of a model is made of.
    fn of(model: &Model) -> Self {
        let mut elements = Elements::default();
        elements.push_stencils(&model.tets);
        elements.push_stencils(&model.triangles);
        elements.push_stencils(&model.springs);
        for bending in &model.bendings {
            elements.push_stencil(&bending.vertices, &[&bending.coefficients], bending.weight);
        }
        elements
    }

    fn pattern(&self, n: usize) -> BlockPattern {
        BlockPattern::new(n, &self.corners).unwrap()
    }

    /// diag(a) + c L + s Σ H_e, entry by entry.
    fn dense(&self, a: &[f64], scalar: Option<(f64, &SparseMatrix)>, s: f64) -> DMatrix<f64> {
        let n = a.len();
        let mut dense = DMatrix::zeros(3 * n, 3 * n);
        (0..3 * n).for_each(|row| dense[(row, row)] = a[row / 3]);
        if let Some((c, l)) = scalar {
            for i in 0..n {
                for (&j, value) in l.row(i).0.iter().zip(l.row(i).1) {
                    (0..3).for_each(|p| dense[(3 * i + p, 3 * j as usize + p)] += c * value);
                }
            }
        }
        let mut blocks = self.blocks.iter();
        for corners in &self.corners {
            for &k in corners {
                for &l in corners {
                    let mut view = dense.fixed_view_mut::<3, 3>(3 * k as usize, 3 * l as usize);
                    view += blocks.next().unwrap() * s;
                }
            }
        }
        dense
    }
}

fn model(name: &str) -> Model {
    build(&setup::load(name, &[]).unwrap()).unwrap().model
}

fn flat(x: &[Vec3]) -> DVector<f64> {
    DVector::from_iterator(3 * x.len(), x.iter().flat_map(|x| [x.x, x.y, x.z]))
}

proptest! {
    /// Against a dense Cholesky of nalgebra, on any elements of one to five corners, also with a corner twice.
    #[test]
    fn random_assemblies_match_a_dense_cholesky(
        n in 1u32..30,
        corners in prop::collection::vec(prop::collection::vec(0u32..30, 1..6), 0..40),
        seed in any::<u64>(),
        s in 0.1f64..3.0,
        c in 0.0f64..2.0,
    ) {
        let mut noise = Noise(seed);
        let mut elements = Elements::default();
        for corners in corners {
            elements.push_random(corners.into_iter().map(|corner| corner % n).collect(), &mut noise);
        }
        // Springs between the first two corners of some elements: L covers a part of the pattern.
        let mut triplets = Vec::new();
        for corners in elements.corners.iter().step_by(2) {
            if let [i, j, ..] = corners[..] && i != j {
                triplets.extend([(i, i, 1.0), (j, j, 1.0), (i, j, -1.0)]);
            }
        }
        let n = n as usize;
        let l = SparseMatrix::from_triplets(n, &triplets).unwrap();
        let a: Vec<f64> = (0..n).map(|_| 1.5 + noise.next()).collect();
        let scalar = (seed % 3 > 0).then_some((c, &l));
        let mut matrix = BlockMatrix::zeros(&elements.pattern(n));
        matrix.assemble(&a, scalar, s, &elements.blocks);
        let dense = elements.dense(&a, scalar, s);

        let b = noise.vec3s(n);
        let mut product = vec![Vec3::zeros(); n];
        matrix.mul(&b, &mut product);
        // Up to forty elements of the order of 1 on a vertex, each up to 3 · 25 times s with a corner five times: some hundred
        // roundings of numbers below a thousand.
        let scale = dense.amax().max(1.0);
        let miss = (&dense * flat(&b) - flat(&product)).amax();
        prop_assert!(miss < 1e2 * scale * f64::EPSILON, "{miss:e}");

        let mut factor = BlockFactor::new(&matrix).unwrap();
        factor.factor(&matrix).unwrap();
        let mut x = b.clone();
        factor.solve(&mut x);
        let wanted = Cholesky::new(dense).unwrap().solve(&flat(&b));
        // λ_min ≥ 0.5, so κ ≤ 2 · 90 · scale, and x is below 2 |b| ≤ 2 · 9.5: twenty such roundings.
        let miss = (wanted - flat(&x)).amax();
        prop_assert!(miss < 20.0 * 180.0 * scale * 19.0 * f64::EPSILON, "{miss:e}");
    }
}

/// Tetrahedra; triangles, bending and a few springs; the elements of joined and of separate bodies.
const SCENES: [&str; 5] = ["bar", "hanging-cloth", "hair", "rope-bridge", "colliding-blocks"];

#[test]
fn stencils_of_all_kinds_add_up_to_the_laplacian() {
    for name in SCENES {
        let model = model(name);
        let n = model.vertex_count();
        let laplacian = model.laplacian().unwrap();
        let elements = Elements::of(&model);
        let pattern = elements.pattern(n);
        assert_eq!(pattern.blocks(), laplacian.nonzeros(), "{name}: the pattern is that of the Laplacian");
        let own: Vec<f64> = model.mass.iter().map(|m| m * 900.0).collect();
        let mut matrix = BlockMatrix::zeros(&pattern);
        matrix.assemble(&own, None, 1.0, &elements.blocks);
        let x = Noise(3).vec3s(n);
        let (mut product, mut wanted) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
        matrix.mul(&x, &mut product);
        let scalar = laplacian.scaled_sum(900.0, &model.mass, 1.0, 0.0, &own);
        scalar.mul(&x, &mut wanted);
        let scale = (0..n).fold(0.0, |scale: f64, i| scale.max(scalar.diagonal(i)));
        let miss = (flat(&product) - flat(&wanted)).amax();
        // Some dozens of elements and of columns, each rounded a few times.
        assert!(miss < 1e2 * scale * f64::EPSILON, "{name}: {miss:e} of {scale:e}");

        // The same by the other way in, and solved as the global step does: three scalar systems with one matrix.
        let nothing = vec![Mat3::zeros(); elements.blocks.len()];
        matrix.assemble(&own, Some((1.0, &laplacian)), 1.0, &nothing);
        let mut factor = BlockFactor::new(&matrix).unwrap();
        factor.factor(&matrix).unwrap();
        let mut solution = x.clone();
        factor.solve(&mut solution);
        matrix.mul(&solution, &mut product);
        let left = (flat(&product) - flat(&x)).norm() / flat(&x).norm();
        // A backward stable solve leaves a few ε·κ(A); the stiffest of these scenes has κ = 1e5 or so.
        assert!(left < 1e-10, "{name}: {left:e}");
        let symbolic = Symbolic::new(&scalar).unwrap();
        let global = Factor::<f64>::new(&symbolic, &scalar).unwrap();
        let mut wanted: Vec<[f64; 3]> = x.iter().map(|x| [x.x, x.y, x.z]).collect();
        global.solve(&mut wanted, &mut global.scratch().unwrap());
        let wanted = DVector::from_iterator(3 * n, wanted.into_iter().flatten());
        let miss = (flat(&solution) - &wanted).norm() / wanted.norm();
        assert!(miss < 1e-10, "{name}: {miss:e}");
    }
}

/// Bodies of random elements that share no vertex, and vertices that belong to none.
fn bodies(noise: &mut Noise) -> (usize, Elements, Vec<std::ops::Range<usize>>) {
    let mut elements = Elements::default();
    let mut ranges = Vec::new();
    let mut n = 0;
    for body in 0..12u32 {
        let size = [40, 1, 400, 7][body as usize % 4];
        for k in 0..size {
            let corners = (0..1 + k % 4).map(|corner| n + (k * 7 + corner * 13) % size).collect();
            elements.push_random(corners, noise);
        }
        ranges.push(n as usize..(n + size) as usize);
        n += size + 2;
    }
    (n as usize, elements, ranges)
}

#[test]
fn bodies_that_share_no_element_do_not_feel_each_other() {
    let (n, elements, ranges) = bodies(&mut Noise(5));
    let mut matrix = BlockMatrix::zeros(&elements.pattern(n));
    matrix.assemble(&vec![0.25; n], None, 2.0, &elements.blocks);
    let mut factor = BlockFactor::new(&matrix).unwrap();
    factor.factor(&matrix).unwrap();
    for body in ranges {
        let mut x = vec![Vec3::zeros(); n];
        x[body.start] = Vec3::new(1.0, -2.0, 3.0);
        factor.solve(&mut x);
        assert!(x[body.start].norm() > 0.0);
        assert!((0..n).all(|i| body.contains(&i) || x[i] == Vec3::zeros()));
    }
    // Nothing but its own diagonal holds a vertex without elements.
    let mut x = vec![Vec3::new(1.0, 0.0, -1.0); n];
    factor.solve(&mut x);
    // Three roundings of a root and its inverse.
    assert!((x[n - 1] - Vec3::new(4.0, 0.0, -4.0)).amax() < 12.0 * f64::EPSILON);
}

#[test]
fn the_number_of_threads_does_not_show_in_the_bits() {
    let model = model("pig");
    let n = model.vertex_count();
    let elements = Elements::of(&model);
    let laplacian = model.laplacian().unwrap();
    // Blocks without any symmetry between coordinates, so that all nine numbers of each are seen.
    let mut noise = Noise(9);
    let blocks: Vec<Mat3> = elements
        .blocks
        .iter()
        .map(|block| {
            block * (1.0 + 1e-3 * noise.next()) + Mat3::from_fn(|_, _| 1e-4 * block[(0, 0)] * noise.next())
        })
        .collect();
    let own: Vec<f64> = model.mass.iter().map(|m| m * 900.0 + 0.1 * laplacian.diagonal(0)).collect();
    let b = noise.vec3s(n);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut matrix = BlockMatrix::zeros(&elements.pattern(n));
            matrix.assemble(&own, Some((0.3, &laplacian)), 0.7, &blocks);
            let mut product = vec![Vec3::zeros(); n];
            matrix.mul(&b, &mut product);
            let mut factor = BlockFactor::new(&matrix).unwrap();
            factor.factor(&matrix).unwrap();
            let mut x = b.clone();
            factor.solve(&mut x);
            product.iter().chain(&x).flat_map(|x| [x.x, x.y, x.z]).map(f64::to_bits).collect::<Vec<u64>>()
        })
    };
    let alone = on(1);
    assert_eq!(alone, on(2));
    assert_eq!(alone, on(3));
}

/// A string of `n` vertices, and at the end of the list an element that acts on vertex 17 alone.
fn string_with(n: u32, alone: Mat3) -> (BlockMatrix, Elements) {
    let mut elements = Elements::default();
    (1..n).for_each(|i| elements.push_stencil(&[i - 1, i], &[&[-1.0, 1.0]], 1.0));
    elements.push_stencil(&[17], &[&[1.0]], 1.0);
    *elements.blocks.last_mut().unwrap() = alone;
    let mut matrix = BlockMatrix::zeros(&elements.pattern(n as usize));
    matrix.assemble(&vec![0.1; n as usize], None, 1.0, &elements.blocks);
    (matrix, elements)
}

#[test]
fn an_indefinite_matrix_is_refused_by_name_and_the_next_one_is_factored() {
    // Pivots before that of the row do not know of it, and it only falls on the way: −50 + 2.1 is the most it can be.
    let (mut matrix, mut elements) = string_with(400, Mat3::from_diagonal(&Vec3::new(0.0, -50.0, 0.0)));
    let mut factor = BlockFactor::new(&matrix).unwrap();
    let error = factor.factor(&matrix).unwrap_err();
    assert!(matches!(error, Error::Run(RunError::NotPositiveDefinite { row: 52 })), "{error}");
    assert!(error.to_string().contains("it is not positive definite (row 52)"), "{error}");

    *elements.blocks.last_mut().unwrap() = Mat3::zeros();
    matrix.assemble(&vec![0.1; 400], None, 1.0, &elements.blocks);
    factor.factor(&matrix).unwrap();
    let mut again = Noise(1).vec3s(400);
    let mut fresh = again.clone();
    factor.solve(&mut again);
    let mut other = BlockFactor::new(&matrix).unwrap();
    other.factor(&matrix).unwrap();
    other.solve(&mut fresh);
    assert_eq!(again, fresh);

    // A free string: it may be anywhere, the matrix is singular.
    matrix.assemble(&vec![0.0; 400], None, 1.0, &elements.blocks);
    let error = factor.factor(&matrix).unwrap_err();
    assert!(matches!(error, Error::Run(RunError::NotPositiveDefinite { .. })), "{error}");
}

#[test]
fn numbers_that_are_none_and_other_patterns_are_refused() {
    for bad in [f64::NAN, f64::INFINITY] {
        let mut alone = Mat3::zeros();
        alone[(2, 1)] = bad;
        let (matrix, _) = string_with(30, alone);
        let error = BlockFactor::new(&matrix).unwrap().factor(&matrix).unwrap_err().to_string();
        // Vertex 17, coordinate z.
        assert!(error.contains(&format!("row 53 holds {bad}")), "{error}");
    }
    let mut factor = BlockFactor::new(&string_with(30, Mat3::zeros()).0).unwrap();
    factor.factor(&string_with(30, Mat3::identity()).0).unwrap();
    let error = factor.factor(&string_with(31, Mat3::zeros()).0).unwrap_err().to_string();
    assert!(error.contains("pattern"), "{error}");
}

#[test]
fn a_matrix_without_vertices_is_solved() {
    let mut matrix = BlockMatrix::zeros(&BlockPattern::new(0, [[0u32; 0]; 0]).unwrap());
    matrix.assemble(&[], None, 1.0, &[]);
    let mut factor = BlockFactor::new(&matrix).unwrap();
    factor.factor(&matrix).unwrap();
    factor.solve(&mut []);
}
