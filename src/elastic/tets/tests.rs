use super::Tets;
use crate::elastic::sample::{Noise, shaken_box};
use crate::elastic::{Gather, Real};
use crate::model::tet::TetElement;
use crate::{Mat3, Vec3};

const MU: f64 = 700.0;
const LAMBDA: f64 = 1900.0;

/// Positions of a shape moved by a linear map and shaken.
fn moved(rest: &[Vec3], map: Mat3, shake: f64) -> Vec<Vec3> {
    let mut noise = Noise(23);
    rest.iter().map(|x| map * x + shake * noise.vector()).collect()
}

/// Shapes that are turned, stretched, crushed and inverted, away from where R jumps (σ2 + σ3 = 0).
fn shapes(rest: &[Vec3]) -> Vec<(&'static str, Vec<Vec3>)> {
    let turn = Noise(4).rotation();
    let stretch = |a, b, c| turn * Mat3::from_diagonal(&Vec3::new(a, b, c));
    vec![
        ("shaken", moved(rest, turn, 0.005)),
        ("shaken hard", moved(rest, turn, 0.03)),
        ("stretched", moved(rest, stretch(1.8, 0.9, 0.7), 0.005)),
        ("crushed", moved(rest, stretch(0.3, 0.5, 0.4), 0.003)),
        ("swollen", moved(rest, stretch(2.6, 2.2, 1.7), 0.003)),
        ("inverted", moved(rest, stretch(1.3, 1.1, -0.5), 0.003)),
    ]
}

fn gather_of(rest: &[Vec3], elements: &[TetElement]) -> Gather {
    Gather::new(rest.len(), Tets::<f64>::new(elements).row_vertices().iter().copied())
}

/// Rows and vertex sums of the gradient.
fn gradient<T: Real>(
    tets: &mut Tets<T>,
    gather: &Gather,
    x: &[Vec3],
    a: f64,
    b: f64,
) -> (Vec<[T; 3]>, Vec<Vec3>) {
    let mut rows = vec![[T::of(f64::NAN); 3]; tets.row_vertices().len()];
    tets.gradient(x, a, b, &mut rows);
    let mut sums = vec![Vec3::zeros(); x.len()];
    gather.sum(&rows, &mut sums, |_, sum, out| *out = Vec3::from(sum.map(Real::wide)));
    (rows, sums)
}

fn largest(rows: &[Vec3]) -> f64 {
    rows.iter().map(|row| row.amax()).fold(0.0, f64::max)
}

fn difference(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).amax()).fold(0.0, f64::max)
}

#[test]
fn gradient_is_the_derivative_of_the_energy() {
    for lambda in [0.0, LAMBDA] {
        let (rest, elements) = shaken_box([3, 1, 1], MU, lambda);
        let gather = gather_of(&rest, &elements);
        for (name, mut x) in shapes(&rest) {
            let mut tets = Tets::<f64>::new(&elements);
            let (_, analytic) = gradient(&mut tets, &gather, &x, 1.0, 1.0);
            let mut measured = vec![Vec3::zeros(); x.len()];
            // Cells are 0.1 wide: a step of 1e-5 of that leaves 1e-10 by curvature and ε/1e-5 ≈ 1e-11 by rounding.
            let h = 1e-6;
            for (i, slope) in measured.iter_mut().enumerate() {
                for axis in 0..3 {
                    let here = x[i][axis];
                    let mut energy = |at: f64| {
                        x[i][axis] = at;
                        tets.observe(&x).energy
                    };
                    slope[axis] = (energy(here + h) - energy(here - h)) / (2.0 * h);
                    x[i][axis] = here;
                }
            }
            let error = difference(&analytic, &measured) / largest(&analytic);
            assert!(error < 1e-7, "{name}, lambda {lambda}: {error:e}");
        }
    }
}

#[test]
fn energy_and_forces_vanish_at_rest_however_the_body_is_turned_and_moved() {
    let (rest, elements) = shaken_box([3, 2, 2], MU, LAMBDA);
    let gather = gather_of(&rest, &elements);
    let mut noise = Noise(9);
    let mut tets = Tets::<f64>::new(&elements);
    for _ in 0..10 {
        let (turn, shift) = (noise.rotation(), 3.0 * noise.vector());
        let x: Vec<Vec3> = rest.iter().map(|x| turn * x + shift).collect();
        // Positions near 3 are rounded to 4e-16, edges of 0.1 hence F to some 1e-14, and |stress| / edge is of order w/0.1 ~ 10.
        assert!(tets.observe(&x).energy < 1e-22, "{:e}", tets.observe(&x).energy);
        let (_, forces) = gradient(&mut tets, &gather, &x, 1.0, 1.0);
        assert!(largest(&forces) < 1e-10, "{:e}", largest(&forces));
    }
}

#[test]
fn energy_is_invariant_and_forces_turn_with_the_body() {
    let (rest, elements) = shaken_box([3, 2, 2], MU, LAMBDA);
    let gather = gather_of(&rest, &elements);
    let mut noise = Noise(10);
    for (name, x) in shapes(&rest) {
        let mut tets = Tets::<f64>::new(&elements);
        let energy = tets.observe(&x).energy;
        let (_, forces) = gradient(&mut tets, &gather, &x, 1.0, 1.0);
        let turned_forces = |turn: Mat3| forces.iter().map(|f| turn * f).collect::<Vec<_>>();
        for _ in 0..5 {
            let (turn, shift) = (noise.rotation(), noise.vector());
            let y: Vec<Vec3> = x.iter().map(|x| turn * x + shift).collect();
            // Positions of size 1 over edges of 0.1, some of them crushed to 0.03: 30 ε, and a few such errors.
            assert!((tets.observe(&y).energy / energy - 1.0).abs() < 1e-13, "{name}");
            let (_, there) = gradient(&mut tets, &gather, &y, 1.0, 1.0);
            let error = difference(&there, &turned_forces(turn)) / largest(&forces);
            assert!(error < 3e-13, "{name}: {error:e}");
        }
    }
}

#[test]
fn small_strains_cost_what_linear_elasticity_says() {
    let (rest, elements) = shaken_box([2, 2, 2], MU, LAMBDA);
    let volume: f64 = elements.iter().map(|e| e.shape_weight / (2.0 * MU)).sum();
    let mut noise = Noise(12);
    for _ in 0..10 {
        let matrix = noise.matrix();
        let strain = 1e-6 * (matrix + matrix.transpose());
        let x: Vec<Vec3> = rest.iter().map(|x| x + strain * x).collect();
        let expected = volume * (MU * strain.norm_squared() + LAMBDA / 2.0 * strain.trace().powi(2));
        let energy = Tets::<f64>::new(&elements).observe(&x).energy;
        // Third-order terms are 1e-6 of the energy.
        assert!((energy / expected - 1.0).abs() < 1e-5, "{energy:e} {expected:e}");
    }
}

#[test]
fn forces_and_torques_add_up_to_nothing() {
    let (rest, elements) = shaken_box([3, 2, 2], MU, LAMBDA);
    let gather = gather_of(&rest, &elements);
    for (name, x) in shapes(&rest) {
        let (_, forces) = gradient(&mut Tets::<f64>::new(&elements), &gather, &x, 1.0, 1.0);
        let sum: Vec3 = forces.iter().sum();
        // Corner 0 of each element is minus the sum of the others, rounded thrice; then some 24 corners are summed.
        assert!(sum.amax() <= 1e-14 * largest(&forces), "{name}: {sum}");
        let torque: Vec3 = x.iter().zip(&forces).map(|(x, f)| x.cross(f)).sum();
        let size: f64 = x.iter().zip(&forces).map(|(x, f)| x.norm() * f.norm()).sum();
        // F Rᵀ and F Pᵀ are symmetric to a few ε.
        assert!(torque.norm() < 1e-14 * size, "{name}: {:e}", torque.norm() / size);
    }
}

#[test]
fn coefficients_scale_deformation_and_target() {
    let (rest, elements) = shaken_box([3, 2, 2], MU, LAMBDA);
    let gather = gather_of(&rest, &elements);
    for (_, x) in shapes(&rest) {
        let mut tets = Tets::<f64>::new(&elements);
        let (_, deformation) = gradient(&mut tets, &gather, &x, 1.0, 0.0);
        let (_, target) = gradient(&mut tets, &gather, &x, 0.0, 1.0);
        let (_, mixed) = gradient(&mut tets, &gather, &x, 0.25, 3.0);
        let expected: Vec<Vec3> = deformation.iter().zip(&target).map(|(d, t)| 0.25 * d + 3.0 * t).collect();
        // Sums of some twenty corners, each rounded a few times.
        assert!(difference(&mixed, &expected) < 1e-13 * largest(&mixed));
    }
}

#[test]
fn single_precision_follows_double_also_far_from_the_origin() {
    for lambda in [0.0, LAMBDA] {
        let (rest, elements) = shaken_box([3, 2, 2], MU, lambda);
        let gather = gather_of(&rest, &elements);
        for (name, x) in shapes(&rest) {
            for shift in [0.0, 1e5] {
                let x: Vec<Vec3> = x.iter().map(|x| x.add_scalar(shift)).collect();
                let (_, double) = gradient(&mut Tets::<f64>::new(&elements), &gather, &x, 1.0, 1.0);
                let mut tets = Tets::<f32>::new(&elements);
                let (_, single) = gradient(&mut tets, &gather, &x, 1.0, 1.0);
                // 20 ε of single precision, in terms that are larger than their sum by one over the strain.
                let error = difference(&single, &double) / largest(&double);
                assert!(error < 4e-6 * 10.0, "{name} at {shift}: {error:e}");
                let (seen, expected) = (tets.observe(&x), Tets::<f64>::new(&elements).observe(&x));
                // Observed in double precision, whatever the kernel's; only the starts of R differ.
                assert!((seen.energy / expected.energy - 1.0).abs() < 1e-13, "{name}");
                assert_eq!(seen.least_volume_ratio, expected.least_volume_ratio);
            }
        }
    }
}

/// Gradients and observations along a small movement, as bits.
fn bits_along_a_path<T: Real>(threads: usize, resume: bool, watch: bool) -> Vec<u64> {
    let (rest, elements) = shaken_box([9, 5, 5], MU, LAMBDA);
    let gather = gather_of(&rest, &elements);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| {
        let mut tets = Tets::<T>::new(&elements);
        let mut bits = Vec::new();
        for step in 0..4 {
            let x = moved(&rest, Noise(step).rotation(), 0.01 * step as f64);
            if resume {
                let saved = tets.warm_starts();
                tets = Tets::new(&elements);
                tets.set_warm_starts(&saved);
                assert_eq!(saved, tets.warm_starts());
            }
            if watch {
                tets.observe(&moved(&rest, Noise(99).rotation(), 0.02));
            }
            let (_, sums) = gradient(&mut tets, &gather, &x, 1.0, 1.0);
            bits.extend(sums.iter().flat_map(|sum| [sum.x.to_bits(), sum.y.to_bits(), sum.z.to_bits()]));
            bits.push(tets.observe(&x).energy.to_bits());
        }
        bits
    })
}

#[test]
fn bits_depend_neither_on_threads_nor_on_a_pause_nor_on_being_watched() {
    let alone = bits_along_a_path::<f64>(1, false, false);
    assert_eq!(alone, bits_along_a_path::<f64>(2, false, false));
    assert_eq!(alone, bits_along_a_path::<f64>(3, false, false));
    assert_eq!(alone, bits_along_a_path::<f64>(2, true, false));
    assert_eq!(alone, bits_along_a_path::<f64>(2, false, true));
    let alone = bits_along_a_path::<f32>(1, false, false);
    assert_eq!(alone, bits_along_a_path::<f32>(3, false, false));
    assert_eq!(alone, bits_along_a_path::<f32>(2, true, false));
    assert_eq!(alone, bits_along_a_path::<f32>(2, false, true));
}

#[test]
fn a_warm_start_leads_where_a_cold_one_leads() {
    let (rest, elements) = shaken_box([3, 2, 2], MU, LAMBDA);
    let gather = gather_of(&rest, &elements);
    let mut warm = Tets::<f64>::new(&elements);
    for (name, x) in shapes(&rest) {
        let (_, from_identity) = gradient(&mut Tets::<f64>::new(&elements), &gather, &x, 1.0, 1.0);
        // Started from the rotations of the shape before, and then from its own.
        let (_, from_before) = gradient(&mut warm, &gather, &x, 1.0, 1.0);
        let (_, from_itself) = gradient(&mut warm, &gather, &x, 1.0, 1.0);
        for other in [from_before, from_itself] {
            let error = difference(&other, &from_identity) / largest(&from_identity);
            assert!(error < 1e-13, "{name}: {error:e}");
        }
    }
}

#[test]
fn observation_counts_inverted_elements_and_finds_the_least_volume() {
    let (mut x, elements) = shaken_box([3, 2, 2], MU, 0.0);
    let tets = Tets::<f64>::new(&elements);
    let rest = tets.observe(&x);
    assert_eq!(rest.inverted, 0);
    assert!((rest.least_volume_ratio - 1.0).abs() < 1e-13);
    x.iter_mut().for_each(|x| x.z *= -0.5);
    let mirrored = tets.observe(&x);
    assert_eq!(mirrored.inverted, elements.len());
    assert!((mirrored.least_volume_ratio + 0.5).abs() < 1e-13);
    let none = Tets::<f32>::new(&[]).observe(&x);
    assert_eq!((none.energy, none.inverted, none.least_volume_ratio), (0.0, 0, f64::INFINITY));
}

#[test]
fn flat_and_undefined_shapes_give_forces_and_an_end() {
    let (rest, elements) = shaken_box([3, 2, 2], MU, LAMBDA);
    let gather = gather_of(&rest, &elements);
    for map in [Mat3::zeros(), Mat3::repeat(1.0), Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 0.0))] {
        let x = moved(&rest, map, 0.0);
        let mut tets = Tets::<f64>::new(&elements);
        let (_, forces) = gradient(&mut tets, &gather, &x, 1.0, 1.0);
        assert!(forces.iter().all(|f| f.iter().all(|c| c.is_finite())));
        assert!(tets.observe(&x).energy > 0.0);
    }
    let mut x = rest.clone();
    x[5].y = f64::NAN;
    let mut tets = Tets::<f64>::new(&elements);
    let (_, forces) = gradient(&mut tets, &gather, &x, 1.0, 1.0);
    assert!(forces[5].iter().any(|c| c.is_nan()), "what is undefined must not look like a force");
    // Nothing undefined is remembered: defined positions give the forces they always give.
    assert!(tets.warm_starts().iter().all(|component| component.is_finite()));
}

#[test]
fn a_vertex_without_elements_gets_nothing() {
    let gather = Gather::new(3, [2, 0, 2].into_iter());
    let mut sums = [[9.0; 3]; 3];
    gather.sum(&[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], &mut sums, |_, sum, out| *out = sum);
    assert_eq!(sums, [[4.0, 5.0, 6.0], [0.0; 3], [8.0, 10.0, 12.0]]);
}
