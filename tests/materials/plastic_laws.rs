//! Every law of elasticity yields: solids of each are held, let go, left below their limit, and compared on the device.

use crate::common::{builtin, context, distance, run, simulate, simulate_on_gpu, size};
use crate::plasticity::{BENT, FREE, HELD, check_ledger, deformations};
use dashpot::ledger::Row;
use dashpot::model::rest::RestShapes;
use dashpot::model::tet::TetElement;
use dashpot::{Mat3, Vec3};

/// A material of each law with μ and λ (Pa), and more fields.
fn materials(mu: f64, lambda: f64, more: &str) -> Vec<String> {
    let lame = ["corotated", "stvk", "neo-hookean", "corotated-linear"].map(|model| {
        format!("body.0.material={{ model = \"{model}\", mu = {mu:?}, lambda = {lambda:?}, {more} }}")
    });
    // stiffer the more it is stretched; μ = f″(1)/2 and λ = h″(1) are near the others
    let [f, h] = [2.0 * mu, lambda];
    let curves = format!(
        "f = [[0.4, {:?}], [1.0, 0.0], [1.5, {:?}], [2.0, {:?}]], h = [[0.5, {:?}], [1.0, 0.0], [1.5, {:?}]]",
        -0.6 * f,
        0.55 * f,
        1.3 * f,
        -0.5 * h,
        0.5 * h
    );
    let valanis_landel =
        format!("body.0.material={{ model = \"valanis-landel\", curves = {{ {curves} }}, {more} }}");
    lame.into_iter().chain([valanis_landel]).collect()
}

/// |dev τ| of a tetrahedron, τ_i = σ_i ∂W/∂σ_i (Pa).
fn stress(e: &TetElement, f: &Mat3) -> f64 {
    let sigma = f.svd(false, false).singular_values;
    let [mu, lambda] = e.lame().map(|modulus| modulus * 6.0 * e.inverse_rest.determinant());
    let principal = e.law.principal(sigma.into(), mu, lambda);
    let stresses = sigma.component_mul(&Vec3::from(principal.stress));
    stresses.add_scalar(-stresses.mean()).norm()
}

#[test]
fn a_solid_of_any_law_that_is_held_creeps_to_its_limit_and_gives_off_what_it_loses() {
    let kept = (-15.0 * 0.01_f64).exp();
    for material in materials(1e3, 1.5e3, "yield_stress = 100.0, creep_rate = 15.0") {
        let mut simulation = simulate(HELD, &[&material]);
        let elements = simulation.model().tets.clone();
        let given = RestShapes::of(simulation.model());
        let first = stress(&elements[0], &deformations(&simulation)[0]);
        assert!(first > 300.0, "{material}: {first} Pa");
        let rows = run(&mut simulation, 40);
        check_ledger(&rows);
        let expected = 100.0 + (first - 100.0) * kept.powi(40);
        for (e, f) in elements.iter().zip(deformations(&simulation)) {
            // the springs that hold it are 1e9 times as stiff as the body
            let off = (stress(e, &f) / expected - 1.0).abs();
            assert!(off < 1e-6, "{material}: {} instead of {expected} Pa", stress(e, &f));
        }
        for (now, given) in simulation.rest_shapes().unwrap().tets.iter().zip(&given.tets) {
            let volume = now.determinant() / given.determinant();
            // two products a step, each rounded
            assert!((volume - 1.0).abs() < 1e-12, "{material}: a volume of {volume}");
        }
        // nothing moves: what the energy lost is what flowed
        let (lost, plastic) = (rows[0].elastic - rows[40].elastic, rows[40].plastic);
        assert!((lost - plastic).abs() < 1e-7 * rows[0].elastic, "{material}: {lost} J, {plastic} J");
        assert!(plastic > 0.2 * rows[0].elastic, "{material}: {plastic} J of {} J", rows[0].elastic);
    }
}

#[test]
fn momentum_and_spin_of_any_law_do_not_notice_flow() {
    for material in materials(2e4, 1e4, "yield_stress = 2e3, creep_rate = 40.0") {
        let sets = [&material[..], "integrator.kind=implicit-midpoint"];
        let rows = run(&mut simulate(FREE, &sets), 40);
        check_ledger(&rows);
        assert!(rows[40].plastic > 0.1 * rows[0].elastic, "{material}: {} J", rows[40].plastic);
        let off = |of: fn(&Row) -> [f64; 3]| {
            let first = Vec3::from(of(&rows[0]));
            rows.iter().map(|row| (Vec3::from(of(row)) - first).norm()).fold(0.0, f64::max) / first.norm()
        };
        let (p, l) = (off(|row| row.momentum), off(|row| row.angular_momentum));
        println!("{material}: P off by {p:e}, L by {l:e}");
        // rounding of 40 steps
        assert!(p < 1e-12 && l < 1e-12, "{material}: P off by {p:e}, L by {l:e}");
    }
}

#[test]
fn a_solid_of_any_law_below_its_limit_never_flows() {
    let strong = materials(4e5, 6e5, "yield_stress = 1e9");
    for (strong, elastic) in strong.iter().zip(materials(4e5, 6e5, "density = 1000.0")) {
        let mut simulations =
            [strong, &elastic].map(|material| builtin("bar", &["time.frames=20", material]));
        let [rows, expected] = simulations.each_mut().map(|simulation| run(simulation, 20));
        let [strong, elastic] = simulations;
        assert!(rows == expected && strong.positions() == elastic.positions(), "{:?}", rows[20]);
        assert!(strong.rest_shapes().is_none() && rows[20].plastic == 0.0);
    }
}

#[test]
fn the_device_follows_solids_of_other_laws() {
    let Some(context) = context() else { return };
    for material in &materials(2e5, 3e5, "yield_stress = 1.5e4, creep_rate = 30.0")[1..] {
        let set = [material, "body.0.mesh.cells=[8, 2, 2]", "time.iterations=40", "time.tolerance=1e-5"];
        let (mut device, mut host) = (simulate_on_gpu(&context, BENT, &set), simulate(BENT, &set));
        let (rows, expected) = (run(&mut device, 50), run(&mut host, 50));
        let off = distance(device.positions(), host.positions()) / size(host.positions());
        let apart = (rows[50].plastic / expected[50].plastic - 1.0).abs();
        println!("{material}: {off:e} of its size off, {} J flowed", expected[50].plastic);
        assert!(off < 1e-6 && apart < 1e-5, "{material}: {off:e}, {apart:e}");
        assert!(expected[50].plastic > 0.0);
    }
}
