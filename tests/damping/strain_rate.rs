//! Strain-rate damping: its power, its invariances, its limit at a Poisson's ratio of 1/3 (Non-oscillatory thesis, Sec. 4.2).

use crate::common::{context, distance, simulate, simulate_on_gpu, size};
use dashpot::damping::strain_rate::{Parts, Viscosity, critical, filter};
use dashpot::model::Model;
use dashpot::model::element::Stencil;
use dashpot::setup::{self, build};
use dashpot::{Mat3, Vec3};

const BLOCK: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.01, iterations = 20 }
    integrator = { kind = "backward-euler" }
    damping = { model = "strain-rate", phi = 40.0, psi = 60.0 }
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [3, 2, 2], size = [0.3, 0.2, 0.2] }
    material = { model = "corotated", young_modulus = 2e4, poisson_ratio = 0.4 }
    stretch = [1.2, 0.9, 1.0]
"#;

fn model(text: &str) -> Model {
    build(&setup::load_text("test", text, &[]).unwrap()).unwrap().model
}

/// Numbers that look random.
fn noise(n: usize, seed: u64) -> Vec<Vec3> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| Vec3::new(next(), next(), next())).collect()
}

fn kinetic(mass: &[f64], v: &[Vec3]) -> f64 {
    v.iter().zip(mass).map(|(v, m)| 0.5 * m * v.norm_squared()).sum()
}

/// Σ V (φ tr²Ġ + 2ψ |Ġ|²) with Ġ = (FᵀḞ + ḞᵀF)/2, written with matrices.
fn power(model: &Model, x: &[Vec3], v: &[Vec3], phi: f64, psi: f64) -> f64 {
    let gradient = |y: &[Vec3], tet: &dashpot::model::tet::TetElement| {
        let [a, b, c, d] = tet.vertices.map(|i| y[i as usize]);
        Mat3::from_columns(&[b - a, c - a, d - a]) * tet.inverse_rest
    };
    model
        .tets
        .iter()
        .map(|tet| {
            let (f, rate) = (gradient(x, tet), gradient(v, tet));
            let strain = (f.transpose() * rate + rate.transpose() * f) * 0.5;
            let volume = 1.0 / (6.0 * tet.inverse_rest.determinant());
            volume * (phi * strain.trace().powi(2) + 2.0 * psi * strain.norm_squared())
        })
        .sum()
}

/// In a very short step the kinetic energy falls by h times the power: v' = v − h M⁻¹ D v + O(h²).
#[test]
fn takes_the_power_of_the_viscous_stress() {
    let model = model(BLOCK);
    let (x, n) = (&model.initial_positions, model.vertex_count());
    let (phi, psi) = (40.0, 60.0);
    let parts = Parts::new(&model, Viscosity::Given { phi, psi });
    let v = noise(n, 1);
    let (expected, h) = (2.0 * power(&model, x, &v, phi, psi) / 2.0, 1e-9);
    let mut damped = v.clone();
    filter(&parts, &model.mass, x, &mut damped, h);
    let taken = (kinetic(&model.mass, &v) - kinetic(&model.mass, &damped)) / h;
    // K is 1e0, h P about 1e-7 of it: nine digits are left
    assert!((taken / expected - 1.0).abs() < 1e-5, "{taken} {expected}");
}

/// (M + h D) v' = M v: tested by the power form, w·D v for random w from the polarisation of the power.
#[test]
fn solves_the_implicit_step() {
    let model = model(BLOCK);
    let (x, n) = (&model.initial_positions, model.vertex_count());
    let (phi, psi, h) = (400.0, 600.0, 0.05);
    let parts = Parts::new(&model, Viscosity::Given { phi, psi });
    let v = noise(n, 2);
    let mut damped = v.clone();
    filter(&parts, &model.mass, x, &mut damped, h);
    let sum = |a: &[Vec3], b: &[Vec3]| -> Vec<Vec3> { a.iter().zip(b).map(|(a, b)| a + b).collect() };
    for seed in 3..8 {
        let w = noise(n, seed);
        let of = |v: &[Vec3]| power(&model, x, v, phi, psi);
        let difference: Vec<Vec3> = w.iter().zip(&damped).map(|(w, v)| w - v).collect();
        let dissipated = 0.25 * (of(&sum(&w, &damped)) - of(&difference));
        let inertia: f64 = (0..n).map(|i| model.mass[i] * w[i].dot(&(damped[i] - v[i]))).sum();
        let scale: f64 = (0..n).map(|i| model.mass[i] * w[i].norm() * v[i].norm()).sum();
        assert!((inertia + h * dissipated).abs() < 1e-7 * scale, "{} of {scale}", inertia + h * dissipated);
    }
}

/// P and L stay to rounding and energy never grows, also where h D is a million times M and the iterations do not suffice.
#[test]
fn keeps_momenta_and_only_takes() {
    let model = model(BLOCK);
    let (x, n) = (&model.initial_positions, model.vertex_count());
    for (strength, h) in [(1e-3, 1e-3), (1.0, 0.01), (1e3, 0.1), (1e6, 10.0)] {
        let parts = Parts::new(&model, Viscosity::Given { phi: 30.0 * strength, psi: 50.0 * strength });
        let v = noise(n, 9);
        let mut damped = v.clone();
        filter(&parts, &model.mass, x, &mut damped, h);
        let momenta = |v: &[Vec3]| -> [Vec3; 2] {
            let p = |i: usize| v[i] * model.mass[i];
            [(0..n).map(p).sum(), (0..n).map(|i| x[i].cross(&p(i))).sum()]
        };
        let [[p, l], [p_after, l_after]] = [momenta(&v), momenta(&damped)];
        let scale: f64 = model.mass.iter().sum();
        assert!((p - p_after).norm() < 1e-11 * scale && (l - l_after).norm() < 1e-11 * scale, "{strength}");
        assert!(kinetic(&model.mass, &damped) <= kinetic(&model.mass, &v) * (1.0 + 1e-12));
    }
    // a rigid motion has no rate of strain
    let parts = Parts::new(&model, Viscosity::Given { phi: 30.0, psi: 50.0 });
    let omega = Vec3::new(1.0, -2.0, 0.5);
    let rigid: Vec<Vec3> = x.iter().map(|x| Vec3::new(0.3, 0.1, -0.7) + omega.cross(x)).collect();
    let mut damped = rigid.clone();
    filter(&parts, &model.mass, x, &mut damped, 0.1);
    assert!(distance(&rigid, &damped) < 1e-13);
}

/// Table 4.2 of the thesis, which lists the values of its formulas divided by √2.
#[test]
fn critical_viscosities_are_those_of_the_thesis() {
    let rows = [
        (1.0, 1.0, 1.0, 3.0, [0.053134, 0.22508]),
        (2.0, 1.0, 1.0, 3.0, [0.10627, 0.45016]),
        (4.0, 1.0, 1.0, 3.0, [0.21254, 0.90032]),
        (1.0, 0.1, 0.5, 2.0, [0.022622, 0.050329]),
        (8.0, 0.1, 0.5, 2.0, [0.18098, 0.40263]),
        (16.0, 0.1, 0.5, 2.0, [0.36196, 0.80527]),
    ];
    for (wavelength, density, mu, lambda, printed) in rows {
        let ours = critical(wavelength, density, mu, lambda);
        for (ours, printed) in ours.iter().zip(printed) {
            assert!((ours / 2f64.sqrt() / printed - 1.0).abs() < 1e-4, "{ours} {printed}");
        }
    }
    // nothing is left for φ at ν = 1/3, where λ = 2 μ
    assert!(critical(1.0, 1.0, 1.0, 2.0)[0].abs() < 1e-15);
}

#[test]
fn a_wavelength_needs_a_poisson_ratio_of_a_third() {
    let load = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
        setup::load_text("test", BLOCK, &overrides).map(|_| ())
    };
    load(&["damping.wavelength=0.2"]).unwrap();
    let error =
        load(&["damping.wavelength=0.2", "body.0.material.poisson_ratio=0.3"]).unwrap_err().to_string();
    assert!(
        error.contains("damping.wavelength") && error.contains("0.300") && error.contains("1/3"),
        "{error}"
    );
    let error = load(&["body.0.material={ model = \"spring\", stiffness = 10.0 }"]).unwrap_err().to_string();
    assert!(error.contains("springs"), "{error}");
}

/// One number that the material gives: a block and its viscosity by wavelength are those by φ and ψ.
#[test]
fn a_wavelength_is_its_phi_and_psi() {
    let (young, poisson) = (2e4, 0.4);
    let mu = young / (2.0 * (1.0 + poisson));
    let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    let [phi, psi] = critical(0.3, 1000.0, mu, lambda);
    let mut by_length = simulate(BLOCK, &["damping.wavelength=0.3"]);
    let mut by_number = simulate(BLOCK, &[&format!("damping.phi={phi}"), &format!("damping.psi={psi}")]);
    for _ in 0..20 {
        by_length.frame().unwrap();
        by_number.frame().unwrap();
    }
    assert!(distance(by_length.positions(), by_number.positions()) < 1e-12);
    assert!(by_length.last_row().damped > 0.0);
}

/// On a device the filter is the host's: off by single precision of the steps between, 1e-5 of the size.
#[test]
fn the_device_agrees() {
    let Some(context) = context() else { return };
    let (mut host, mut device) = (simulate(BLOCK, &[]), simulate_on_gpu(&context, BLOCK, &[]));
    for _ in 0..30 {
        let (a, b) = (host.frame().unwrap(), device.frame().unwrap());
        assert!((a.damped - b.damped).abs() < 1e-4 * (a.damped + a.total), "{} {}", a.damped, b.damped);
    }
    let off = distance(host.positions(), device.positions()) / size(host.positions());
    assert!(off < 1e-5, "{off}");
}

/// A stencil's rows sum to zero: what moves as a whole has no rate.
#[test]
fn stencils_know_nothing_of_translations() {
    for tet in &model(BLOCK).tets {
        for row in tet.operator() {
            assert!(row.iter().sum::<f64>().abs() < 1e-12);
        }
    }
}
