//! Modes of vibration of a small body, and how fast they die.

use dashpot::model::Model;
use dashpot::model::hessian::Curved;
use dashpot::setup::{self, build};
use dashpot::{Simulation, Vec3, cpu};
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use std::f64::consts::TAU;
use std::sync::Arc;

/// The damping ratio ξ of the softest mode that is no rigid motion, measured, and its frequency ω (1/s).
///
/// K φ = ω² M φ with the dense K of the tetrahedra at rest; the body starts with a small velocity along φ. At whole damped
/// periods the energy (q̇² + ω²q²)/2 has fallen by e^(−2ξωt). `steps` a period, and `damping` given ω.
pub fn damping_ratio(
    text: &str,
    overrides: &[&str],
    steps: usize,
    damping: impl Fn(f64) -> Vec<String>,
) -> [f64; 2] {
    let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
    let loaded = setup::load_text("test", text, &overrides).unwrap();
    let mut model = build(&loaded).unwrap().model;
    let (n, rest) = (model.vertex_count(), model.initial_positions.clone());
    let mut stiffness = DMatrix::<f64>::zeros(3 * n, 3 * n);
    for tet in &model.tets {
        let blocks = tet.hessian(&rest);
        for (row, blocks) in tet.vertices.iter().zip(&blocks) {
            for (column, block) in tet.vertices.iter().zip(blocks) {
                let mut view = stiffness.view_mut((*row as usize * 3, *column as usize * 3), (3, 3));
                view += block;
            }
        }
    }
    let root = DVector::from_fn(3 * n, |i, _| model.mass[i / 3].sqrt());
    let scaled = DMatrix::from_fn(3 * n, 3 * n, |i, j| stiffness[(i, j)] / (root[i] * root[j]));
    let eigen = SymmetricEigen::new(scaled);
    let mut order: Vec<usize> = (0..3 * n).collect();
    order.sort_by(|a, b| eigen.eigenvalues[*a].total_cmp(&eigen.eigenvalues[*b]));
    let mode = order[6]; // after six rigid motions
    let omega = eigen.eigenvalues[mode].sqrt();
    let phi: Vec<Vec3> = (0..n)
        .map(|i| Vec3::from_fn(|c, _| eigen.eigenvectors[(3 * i + c, mode)] / root[3 * i + c]))
        .collect();
    // |φ|_M = 1: as an amplitude 1e-6 m for a body of about one kilogram, where it is linear
    let start = 1e-6 * omega;
    model.initial_velocities = phi.iter().map(|p| p * start).collect();
    let periods = 2;
    let mut settings = overrides.clone();
    settings.extend(damping(omega));
    // the period with the ξ that is expected to be about 0.05
    let h = std::f64::consts::TAU / (omega * (1.0f64 - 0.05 * 0.05).sqrt() * steps as f64);
    settings.push(format!("time.step={h:?}"));
    let scene = setup::load_text("test", text, &settings).unwrap().scene;
    let model = Arc::new(model);
    let backend = cpu::backend(model.clone(), &scene.solver).unwrap();
    let mut simulation = Simulation::new(&scene, model.clone(), backend).unwrap();
    for _ in 0..periods * steps {
        simulation.frame().unwrap();
    }
    let along =
        |of: &dyn Fn(usize) -> Vec3| -> f64 { (0..n).map(|i| model.mass[i] * phi[i].dot(&of(i))).sum() };
    let q = along(&|i| simulation.positions()[i] - rest[i]);
    let speed = along(&|i| simulation.velocities()[i]);
    let left = (speed * speed + omega * omega * q * q) / (start * start);
    let time = h * (periods * steps) as f64;
    [-left.ln() / (2.0 * omega * time), omega]
}

/// A mode of the rest shape: ω (1/s) and the displacement of its vertices, of mass norm 1.
pub struct Mode {
    pub omega: f64,
    pub shape: Vec<Vec3>,
}

/// The modes of a model that are no rigid motion, the slowest first.
pub fn modes(model: &Model) -> Vec<Mode> {
    let (n, rest) = (model.vertex_count(), &model.initial_positions);
    let mut k = DMatrix::<f64>::from_diagonal(&nalgebra::DVector::from_fn(3 * n, |i, _| {
        model.attachment_stiffness()[i / 3]
    }));
    for tet in &model.tets {
        for (row, blocks) in tet.vertices.iter().zip(&tet.hessian(rest)) {
            for (column, block) in tet.vertices.iter().zip(blocks) {
                let mut view = k.view_mut((*row as usize * 3, *column as usize * 3), (3, 3));
                view += block;
            }
        }
    }
    let root = |i: usize| model.mass[i / 3].sqrt();
    let eigen = SymmetricEigen::new(DMatrix::from_fn(3 * n, 3 * n, |i, j| k[(i, j)] / (root(i) * root(j))));
    let mut order: Vec<usize> = (0..3 * n).filter(|i| eigen.eigenvalues[*i] > 1.0).collect();
    order.sort_by(|a, b| eigen.eigenvalues[*a].total_cmp(&eigen.eigenvalues[*b]));
    let shape = |mode: usize| {
        (0..n).map(|i| Vec3::from_fn(|c, _| eigen.eigenvectors[(3 * i + c, mode)] / root(3 * i))).collect()
    };
    order.iter().map(|&mode| Mode { omega: eigen.eigenvalues[mode].sqrt(), shape: shape(mode) }).collect()
}

/// The rate ξω at which a mode dies (1/s): from the means of q̇² over its first period and one `periods` later.
pub fn rate_of(omega: f64, step: f64, motion: &[f64], periods: usize) -> f64 {
    let one = (TAU / (omega * step)).round() as usize;
    let mean = |from: usize| motion[from..from + one].iter().map(|speed| speed * speed).sum::<f64>();
    let later = one * periods;
    (mean(0) / mean(later)).ln() / (2.0 * step * later as f64)
}
