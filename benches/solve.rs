//! How long the global step waits for A X = B: our own solve in double and single precision, on one thread and on all,
//! against faer's sequential one with the same ordering. And how long an iteration of Newton's method waits for its matrix.
//!
//! ```text
//! cargo bench --bench solve [-- M L XL pig]
//! ```
//!
//! The variants take turns within one run, since the machine's mood changes from second to second; the first
//! rounds warm up and are not counted. A harness that measures one variant after the other could not do this.

use std::time::Instant;

use dashpot::linear::{BlockFactor, BlockMatrix, BlockPattern, Factor, Real, SparseMatrix, Symbolic};
use dashpot::model::element::Stencil;
use dashpot::model::tet::TetElement;
use dashpot::setup::{self, build};
use dashpot::{Mat3, Vec3};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::perm::PermRef;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

/// A bar of cells, each cut into six tetrahedra along its main diagonal (Kuhn): name and cells.
const BARS: [(&str, [usize; 3]); 3] = [("M", [62, 8, 8]), ("L", [120, 16, 16]), ("XL", [184, 32, 32])];
/// Seconds spent on each bar, unless the variable BENCH_SECONDS says otherwise.
const SECONDS: f64 = 12.0;
const WARM_UP_ROUNDS: usize = 3;

fn main() {
    // `cargo bench` passes `--bench`; what remains are names of bars.
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name);
    for (name, cells) in BARS {
        if is_wanted(name) {
            measure(name, &bar(cells));
        }
    }
    if is_wanted("pig") {
        measure_newton("pig");
    }
}

fn seconds() -> f64 {
    std::env::var("BENCH_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(SECONDS)
}

/// Assembly, factorisation, one solve and one product of Newton's matrix for the tetrahedra of a built-in scene.
fn measure_newton(name: &str) {
    let model = build(&setup::load(name, &[]).expect("a built-in scene")).expect("a model").model;
    let n = model.vertex_count();
    let blocks: Vec<Mat3> = model.tets.iter().flat_map(linear_elasticity).collect();
    let inertia: Vec<f64> = model.mass.iter().map(|m| m * 900.0).collect();
    let laplacian = model.laplacian().expect("a Laplacian");
    let pattern =
        BlockPattern::new(n, model.tets.iter().map(|tet| tet.vertices)).expect("corners within the model");
    let mut matrix = BlockMatrix::zeros(&pattern);
    let started = Instant::now();
    let mut factor = BlockFactor::new(&matrix).expect("a pattern that can be analysed");
    println!(
        "\n{name}, Newton: {n} vertices, {} tetrahedra, analysis {:.0} ms, factor of {:.1} MB",
        model.tets.len(),
        started.elapsed().as_secs_f64() * 1e3,
        factor.bytes() as f64 * 1e-6
    );
    let pools =
        [1, 0].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool"));
    let (mut x, mut product) = (vec![Vec3::new(1.0, -0.5, 0.25); n], vec![Vec3::zeros(); n]);
    let mut times = vec![[const { Vec::new() }; 4]; pools.len()];
    let started = Instant::now();
    while times[0][0].len() < 5 || started.elapsed().as_secs_f64() < seconds() {
        for (pool, times) in pools.iter().zip(&mut times) {
            pool.install(|| {
                let mut begin = Instant::now();
                let mut lap = |phase: usize| {
                    times[phase].push(begin.elapsed().as_secs_f64());
                    begin = Instant::now();
                };
                matrix.assemble(&inertia, Some((0.01, &laplacian)), 1.0, std::hint::black_box(&blocks));
                lap(0);
                factor.factor(&matrix).expect("positive definite");
                lap(1);
                factor.solve(std::hint::black_box(&mut x));
                lap(2);
                matrix.mul(&x, std::hint::black_box(&mut product));
                lap(3);
            });
        }
    }
    let rounds = times[0][0].len();
    println!("{:24} {:>10} {:>10}   (ms, {rounds} rounds)", "", "min", "median");
    for (pool, times) in pools.iter().zip(times) {
        for (phase, mut times) in ["assembly", "factor", "solve", "product"].into_iter().zip(times) {
            times.sort_by(f64::total_cmp);
            let label = format!("{phase}, {} threads", pool.current_num_threads());
            println!("{label:24} {:10.3} {:10.3}", times[0] * 1e3, times[times.len() / 2] * 1e3);
        }
    }
}

/// The Hessian of w/2 |sym F|², block by block: w/2 (g_k·g_l I₃ + g_l g_kᵀ).
fn linear_elasticity(tet: &TetElement) -> [Mat3; 16] {
    let rows = tet.operator();
    let g = |k: usize| Vec3::from(rows.map(|row| row[k]));
    std::array::from_fn(|block| {
        let (k, l) = (g(block / 4), g(block % 4));
        (Mat3::identity() * k.dot(&l) + l * k.transpose()) * (0.5 * tet.weight())
    })
}

/// M/h² + L of the bar, up to scale: unit springs along the edges of the tetrahedra, a mass at each vertex.
fn bar(cells: [usize; 3]) -> SparseMatrix {
    let [nx, ny, nz] = cells.map(|count| count + 1);
    let index = |x: usize, y: usize, z: usize| ((x * ny + y) * nz + z) as u32;
    let mut triplets = Vec::new();
    for x in 0..nx {
        for y in 0..ny {
            for z in 0..nz {
                let a = index(x, y, z);
                triplets.push((a, a, 0.05));
                for corner in 1..8 {
                    let (x, y, z) = (x + (corner & 1), y + (corner >> 1 & 1), z + (corner >> 2));
                    if x < nx && y < ny && z < nz {
                        let b = index(x, y, z);
                        triplets.extend([(a, a, 1.0), (b, b, 1.0), (a, b, -1.0)]);
                    }
                }
            }
        }
    }
    SparseMatrix::from_triplets(nx * ny * nz, &triplets).expect("indices within the bar")
}

/// Solves a few times in a row, as in one frame, and notes the time of each (s).
type Solver<'a> = Box<dyn FnMut(&mut Vec<f64>) + 'a>;

fn measure(name: &str, matrix: &SparseMatrix) {
    let started = Instant::now();
    let symbolic = Symbolic::new(matrix).expect("the bar can be analysed");
    let analysis = started.elapsed();
    let started = Instant::now();
    let double = Factor::<f64>::new(&symbolic, matrix).expect("the bar is positive definite");
    let factorisation = started.elapsed();
    let single = Factor::<f32>::new(&symbolic, matrix).expect("the bar is positive definite");
    println!(
        "\n{name}: {} vertices, analysis {:.0} ms, factorisation {:.0} ms, factor of {:.2} M numbers, {:.1} MB (f64), {:.1} MB (f32)",
        matrix.rows(),
        analysis.as_secs_f64() * 1e3,
        factorisation.as_secs_f64() * 1e3,
        double.nonzeros() as f64 * 1e-6,
        double.bytes() as f64 * 1e-6,
        single.bytes() as f64 * 1e-6,
    );
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    let all = rayon::ThreadPoolBuilder::new().build().expect("a pool");
    let threads = all.current_num_threads();
    let faer = FaerFactor::new(&symbolic, matrix);
    let mut variants: Vec<(&str, Solver)> = vec![
        ("own f64, 1 thread", on_pool(&alone, &double)),
        ("own f64, all threads", on_pool(&all, &double)),
        ("own f32, 1 thread", on_pool(&alone, &single)),
        ("own f32, all threads", on_pool(&all, &single)),
        ("faer f64, sequential", faer.solver()),
    ];
    let mut times = vec![Vec::new(); variants.len()];
    let started = Instant::now();
    let mut round = 0;
    while round < WARM_UP_ROUNDS + 5 || started.elapsed().as_secs_f64() < seconds() {
        for ((_, solve), times) in variants.iter_mut().zip(&mut times) {
            if round == WARM_UP_ROUNDS {
                times.clear();
            }
            solve(times);
        }
        round += 1;
    }
    println!(
        "{:24} {:>10} {:>10}   (ms a solve of three columns, {round} rounds, {threads} threads)",
        "", "min", "median"
    );
    for ((label, _), mut times) in variants.into_iter().zip(times) {
        times.sort_by(f64::total_cmp);
        println!("{label:24} {:10.3} {:10.3}", times[0] * 1e3, times[times.len() / 2] * 1e3);
    }
}

/// Solves in a row before the next variant has its turn.
const SOLVES_PER_ROUND: usize = 10;

fn on_pool<'a, T: Real>(pool: &'a rayon::ThreadPool, factor: &'a Factor<T>) -> Solver<'a> {
    let mut scratch = factor.scratch().unwrap();
    let mut b = vec![[T::from_f64(1.0), T::from_f64(-0.5), T::from_f64(0.25)]; factor.rows()];
    Box::new(move |times| {
        // The pool is entered once for all, as a simulation does, so that its threads are awake.
        pool.install(|| {
            for _ in 0..SOLVES_PER_ROUND {
                let started = Instant::now();
                factor.solve(std::hint::black_box(&mut b), &mut scratch);
                times.push(started.elapsed().as_secs_f64());
            }
        });
    })
}

/// faer's supernodal factor of the same matrix in the same order.
struct FaerFactor {
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
}

impl FaerFactor {
    fn new(symbolic: &Symbolic, matrix: &SparseMatrix) -> Self {
        let n = matrix.rows();
        let order: Vec<usize> = symbolic.order().iter().map(|&row| row as usize).collect();
        let mut position = vec![0; n];
        order.iter().enumerate().for_each(|(k, &row)| position[row] = k);
        let columns: Vec<usize> = matrix.columns().iter().map(|&column| column as usize).collect();
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, matrix.offsets(), None, &columns);
        let ordering = SymmetricOrdering::Custom(PermRef::new_checked(&order, &position, n));
        let params = CholeskySymbolicParams::default();
        let symbolic = factorize_symbolic_cholesky(pattern, Side::Upper, ordering, params).expect("memory");
        let mut values = vec![0.0; symbolic.len_val()];
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        symbolic
            .factorize_numeric_llt(
                &mut values,
                SparseColMatRef::new(pattern, matrix.values()),
                Side::Upper,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Default::default(),
            )
            .expect("positive definite");
        FaerFactor { symbolic, values }
    }

    fn solver(&self) -> Solver<'_> {
        let n = self.symbolic.nrows();
        let mut memory = MemBuffer::new(self.symbolic.solve_in_place_scratch::<f64>(3, Par::Seq));
        let mut b = [vec![1.0; n], vec![-0.5; n], vec![0.25; n]].concat();
        Box::new(move |times| {
            for _ in 0..SOLVES_PER_ROUND {
                let started = Instant::now();
                LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
                    Conj::No,
                    MatMut::from_column_major_slice_mut(std::hint::black_box(&mut b), n, 3),
                    Par::Seq,
                    MemStack::new(&mut memory),
                );
                times.push(started.elapsed().as_secs_f64());
            }
        })
    }
}
