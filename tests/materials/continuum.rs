//! Small strains of a bar against scikit-fem: eigenfrequencies and deflection, on the same mesh to rounding and towards the
//! continuum with finer ones (tests/reference/elasticity.py says how the numbers were made).

use crate::common;
use crate::common::bar::{Linear, MATERIALS, REFERENCE, Stiffness, clamped, dense_modes, model_of, tip};
use dashpot::Vec3;
use std::f64::consts::TAU;

fn worst(ours: &[f64], theirs: &[f64]) -> f64 {
    ours.iter().zip(theirs).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn the_mesh_and_its_mass_are_those_of_the_reference() {
    let model = model_of("stvk", REFERENCE.cells);
    let theirs: Vec<Vec3> = REFERENCE.positions.iter().map(|x| Vec3::from(*x)).collect();
    // i/n·size rounds twice
    assert!(common::distance(&model.initial_positions, &theirs) < 1e-15);
    assert!(model.tets.iter().map(|e| e.vertices).eq(REFERENCE.tets.iter().copied()));
    let whole = REFERENCE.density * REFERENCE.size.iter().product::<f64>();
    assert!((model.mass.iter().sum::<f64>() / whole - 1.0).abs() < 1e-13);
}

#[test]
fn eigenfrequencies_of_a_clamped_bar() {
    for material in MATERIALS {
        let model = model_of(material, REFERENCE.cells);
        let held = clamped(&model);
        let free: Vec<usize> = (0..held.len()).filter(|v| !held[*v]).collect();
        let (hertz, _) = dense_modes(&model, &free);
        let theirs = if material == "arap" { &REFERENCE.p1_without_lambda } else { &REFERENCE.p1 };
        assert_eq!(theirs.clamped_hz.len(), 10);
        let off = worst(&hertz, &theirs.clamped_hz);
        println!("{material}: {:?}, {off:e}", &hertz[..10]);
        // The largest ω² is some 1e4 times the least and eigenvalues are right to rounding of the largest: 1e-12.
        // Both programs have their own: measured 1e-11.
        assert!(off < 1e-10, "{material}: {off:e}");
    }
}

#[test]
fn eigenfrequencies_of_a_free_bar() {
    for material in ["corotated", "stvk", "neo-hookean", "corotated-linear", "valanis-landel"] {
        let model = model_of(material, REFERENCE.cells);
        let all: Vec<usize> = (0..model.vertex_count()).collect();
        let (hertz, _) = dense_modes(&model, &all);
        let theirs = &REFERENCE.p1.free_hz[6..];
        let off = worst(&hertz[6..11], theirs);
        println!("{material}: rigid {:?}, elastic {:?}, {off:e}", &hertz[..6], &hertz[6..11]);
        // a zero ω² is rounding of the largest, so its root may be 1e-5 Hz
        assert!(hertz[5] < 1e-5 * hertz[6], "{material}: {:?}", &hertz[..6]);
        assert!(off < 1e-10, "{material}: {off:e}");
    }
}

/// The first frequency (Hz) by inverse iteration, and the tip's displacement under the small load (m).
fn first_mode_and_sag(material: &str, cells: [usize; 3]) -> (f64, Vec3) {
    let model = model_of(material, cells);
    let mut stiffness = Stiffness::new(&model, f64::INFINITY);
    stiffness.at(&model, &model.initial_positions);
    let weight = |u: &[Vec3]| -> Vec<Vec3> { u.iter().zip(&model.mass).map(|(u, m)| u * *m).collect() };
    let down = vec![Vec3::new(0.0, -REFERENCE.small_gravity, 0.0); model.vertex_count()];
    let mut u = weight(&down);
    stiffness.factor.solve(&mut u);
    let sag = tip(&model, &u);
    let dot = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a.dot(b)).sum::<f64>();
    let mut square = 0.0;
    // the second ω² is 1.6 to 2.2 times the first, so the quotient's error falls by 2.5 or more an iteration
    for _ in 0..60 {
        let load = weight(&u);
        let mut next = load.clone();
        stiffness.factor.solve(&mut next);
        // Rayleigh's quotient of u' = K⁻¹ M u: u'ᵀ K u' / u'ᵀ M u'
        square = dot(&next, &load) / dot(&next, &weight(&next));
        let size = dot(&next, &next).sqrt();
        u = next.iter().map(|u| u / size).collect();
    }
    (square.sqrt() / TAU, sag)
}

#[test]
fn finer_meshes_approach_the_continuum() {
    // P2 converges, too: its last two meshes give the limit. Clamped corners are singular, u − u_h goes with h^1.4 at best there.
    let limit = |of: &dyn Fn(&Linear) -> f64| {
        let [coarse, fine] = [of(&REFERENCE.p2[0]), of(&REFERENCE.p2[1])];
        fine + (fine - coarse) / (2_f64.powf(1.4) - 1.0)
    };
    let continuum = [limit(&|r| r.clamped_hz[0]), limit(&|r| r.tip_under_small_load[1])];
    println!("continuum: {continuum:?}");
    let meshes = std::iter::once(&REFERENCE.p1).chain(&REFERENCE.p1_finer);
    let mut errors = vec![];
    for reference in meshes {
        let (hertz, sag) = first_mode_and_sag("neo-hookean", reference.cells);
        let ours = [hertz, sag.y];
        let theirs = [reference.clamped_hz[0], reference.tip_under_small_load[1]];
        let off = worst(&ours, &theirs);
        println!("{:?}: {ours:?}, scikit-fem {theirs:?}, {off:e} apart", reference.cells);
        // the finest K has a condition of 1e7
        assert!(off < 1e-9, "{:?}: {off:e}", reference.cells);
        errors.push([0, 1].map(|i| (ours[i] / continuum[i] - 1.0).abs()));
    }
    for i in 0..2 {
        let orders = [0, 1].map(|mesh: usize| (errors[mesh][i] / errors[mesh + 1][i]).log2());
        println!("errors {:?}, orders {orders:?}", errors.iter().map(|e| e[i]).collect::<Vec<_>>());
        // 2 in the limit; two cells across the bar are far from it, and a clamped corner takes some of it
        assert!(orders[0] > 1.0 && orders[1] > 1.5 && orders[1] < 2.3, "{orders:?}");
    }
}

#[test]
fn beams_are_what_the_continuum_is_like() {
    let finest = REFERENCE.p2.last().unwrap();
    let (theory, thin) = (&REFERENCE.timoshenko, &REFERENCE.euler_bernoulli);
    // A bar six times as long as high is nearly a beam; its clamp, which keeps the section from getting narrower, makes it stiffer.
    for (solid, beam) in [
        (finest.clamped_hz[0], theory.bending_y_hz[0]),
        (finest.clamped_hz[1], theory.bending_z_hz[0]),
        (-finest.tip_under_small_load[1], theory.sag_under_small_load),
    ] {
        assert!((solid / beam - 1.0).abs() < 0.03, "{solid} and {beam}");
    }
    assert!(thin.bending_y_hz[0] > theory.bending_y_hz[0] && thin.bending_z_hz[0] > theory.bending_z_hz[0]);
    assert!(thin.sag_under_small_load < theory.sag_under_small_load);
}
