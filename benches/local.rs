//! What a user waits for in the local step: gradient of all tetrahedra and the sums at the vertices, for one iteration.
//!
//! The shape moves between two states from call to call, so a warm start is as good as in a simulation and no better.
//! "items" are elements, so Mitem/s are millions of rotations per second.

use dashpot::Vec3;
use dashpot::elastic::gather::Gather;
use dashpot::elastic::lanes::Real;
use dashpot::elastic::tets::Tets;
use dashpot::model::tet::TetElement;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// M: 23,808 tetrahedra, as long as the bar of the comparison with other simulators.
const M: [usize; 3] = [62, 8, 8];
/// L: 184,320 tetrahedra.
const L: [usize; 3] = [120, 16, 16];

/// A case: cells of the box, threads.
type Case = (&'static str, [usize; 3], usize);
const CASES: [&str; 4] = ["M, 1 thread", "M, 2 threads", "L, 1 thread", "L, 2 threads"];

fn case(name: &str) -> Case {
    match name {
        "M, 1 thread" => ("M", M, 1),
        "M, 2 threads" => ("M", M, 2),
        "L, 1 thread" => ("L", L, 1),
        _ => ("L", L, 2),
    }
}

/// Box of unit cells, each cut into six tetrahedra around its diagonal.
fn bar(cells: [usize; 3], lambda: f64) -> (Vec<Vec3>, Vec<TetElement>) {
    let [nx, ny, nz] = cells;
    let vertex = |at: [usize; 3]| (((at[0] * (ny + 1)) + at[1]) * (nz + 1) + at[2]) as u32;
    let mut rest = Vec::new();
    for i in 0..=nx {
        for j in 0..=ny {
            rest.extend((0..=nz).map(|k| Vec3::new(i as f64, j as f64, k as f64)));
        }
    }
    let mut elements = Vec::new();
    for cell in 0..nx * ny * nz {
        let start = [cell / (ny * nz), cell / nz % ny, cell % nz];
        for path in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]] {
            let mut at = start;
            let mut vertices = [vertex(at); 4];
            for (step, axis) in path.into_iter().enumerate() {
                at[axis] += 1;
                vertices[step + 1] = vertex(at);
            }
            let element = |vertices: [u32; 4]| {
                TetElement::new(vertices, &vertices.map(|v| rest[v as usize]), 1e3, lambda)
            };
            let [a, b, c, d] = vertices;
            elements.extend(element([a, b, c, d]).or_else(|| element([a, c, b, d])));
        }
    }
    (rest, elements)
}

/// A bent and twisted bar, and the same with every vertex moved by up to a thousandth of a cell.
fn two_states(rest: &[Vec3]) -> [Vec<Vec3>; 2] {
    let bent: Vec<Vec3> = rest
        .iter()
        .map(|x| {
            let (sine, cosine) = (0.02 * x.x).sin_cos();
            Vec3::new(1.05 * x.x, cosine * x.y - sine * x.z, sine * x.y + cosine * x.z + 0.002 * x.x * x.x)
        })
        .collect();
    let wobble = |k: usize| ((k as f64 * 12.9898).sin() * 43758.5453).fract();
    let moved = (bent.iter().enumerate())
        .map(|(i, x)| x + 1e-3 * Vec3::new(wobble(3 * i), wobble(3 * i + 1), wobble(3 * i + 2)))
        .collect();
    [bent, moved]
}

/// One iteration's local step on the threads of the case.
fn measure<T: Real>(bencher: divan::Bencher, name: &str, lambda: f64) {
    let (_, cells, threads) = case(name);
    let (rest, elements) = bar(cells, lambda);
    let states = two_states(&rest);
    let mut tets = Tets::<T>::new(&elements);
    let gather = Gather::new(rest.len(), tets.row_vertices().iter().copied());
    let mut rows = vec![[T::default(); 3]; tets.row_vertices().len()];
    let mut sums = vec![[T::default(); 3]; rest.len()];
    let mut call = 0;
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => bencher.counter(ItemsCount::new(elements.len())).bench_local(|| {
            call += 1;
            pool.install(|| {
                tets.gradient(&states[call % 2], 1.0, 1.0, &mut rows);
                gather.sum(&rows, &mut sums, |_, sum, out| *out = sum);
            });
            divan::black_box(&sums);
        }),
        Err(error) => eprintln!("no threads: {error}"),
    }
}

#[divan::bench(args = CASES, types = [f64, f32], sample_count = 60, sample_size = 2)]
fn arap<T: Real>(bencher: divan::Bencher, name: &str) {
    measure::<T>(bencher, name, 0.0);
}

#[divan::bench(args = CASES, types = [f64, f32], sample_count = 40, sample_size = 2)]
fn corotated<T: Real>(bencher: divan::Bencher, name: &str) {
    measure::<T>(bencher, name, 4e3);
}

/// The gradient without the sums.
#[divan::bench(args = CASES, types = [f64, f32], sample_count = 60, sample_size = 2)]
fn arap_gradient_only<T: Real>(bencher: divan::Bencher, name: &str) {
    let (_, cells, threads) = case(name);
    let (rest, elements) = bar(cells, 0.0);
    let states = two_states(&rest);
    let mut tets = Tets::<T>::new(&elements);
    let mut rows = vec![[T::default(); 3]; tets.row_vertices().len()];
    let mut call = 0;
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => bencher.counter(ItemsCount::new(elements.len())).bench_local(|| {
            call += 1;
            pool.install(|| tets.gradient(&states[call % 2], 1.0, 1.0, &mut rows));
            divan::black_box(&rows);
        }),
        Err(error) => eprintln!("no threads: {error}"),
    }
}
