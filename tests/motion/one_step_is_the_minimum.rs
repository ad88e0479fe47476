//! A step finds the minimum of Φ: compared with a dense Newton method on Φ written down here anew.

use crate::common::simulate;
use dashpot::{Mat3, Simulation, Vec3};
use nalgebra::{DMatrix, DVector};

const SCENE: &str = r#"
    gravity = [0.5, -9.81, 0.3]
    time = { step = 0.02, iterations = 20000, tolerance = 1e-15 }
    damping = { model = "laplacian" }
    [[body]]
    mesh = { generate = "box", cells = [1, 1, 1], size = [0.5, 0.4, 0.3] }
    material = { model = "arap", mu = 3000.0, density = 500.0 }
    stretch = [1.3, 0.8, 1.1]
    rotation = { axis = [1.0, 2.0, 3.0], degrees = 40.0 }
    angular_velocity = [1.0, 3.0, -2.0]
    velocity = [0.2, 0.0, -0.4]
    [[body.attach]]
    select = { nearest = [0.0, 0.0, 0.0] }
    stiffness = 700.0
    path = { kind = "translate", velocity = [0.3, 0.1, 0.0] }
"#;
const MU: f64 = 3000.0;
const H: f64 = 0.02;

/// The integrators as the papers write them, independent of the program's table.
struct Written {
    c1: f64,
    c2: f64,
    y: Vec<Vec3>,
    z: Vec<Vec3>,
    /// v' = s x + q
    s: f64,
    q: Vec<Vec3>,
}

fn written(name: &str, x: [&[Vec3]; 2], v: [&[Vec3]; 2], gravity: Vec3) -> Written {
    let n = x[1].len();
    let make = |f: &dyn Fn(usize) -> Vec3| (0..n).map(f).collect::<Vec<_>>();
    let (xn, xp, vn, vp, a) = (x[1], x[0], v[1], v[0], gravity);
    match name {
        "backward-euler" => Written {
            c1: 1.0,
            c2: 1.0,
            y: make(&|i| xn[i] + vn[i] * H + a * H * H),
            z: make(&|_| Vec3::zeros()),
            s: 1.0 / H,
            q: make(&|i| -xn[i] / H),
        },
        "implicit-midpoint" => Written {
            c1: 1.0,
            c2: 0.5,
            y: make(&|i| xn[i] + vn[i] * H + a * (H * H / 2.0)),
            z: make(&|i| xn[i] / 2.0),
            s: 2.0 / H,
            q: make(&|i| -xn[i] * 2.0 / H - vn[i]),
        },
        _ => Written {
            c1: 4.0 / 9.0,
            c2: 1.0,
            y: make(&|i| {
                (xn[i] * 4.0 - xp[i]) / 3.0
                    + (vn[i] * 8.0 - vp[i] * 2.0) * (H / 9.0)
                    + a * (4.0 * H * H / 9.0)
            }),
            z: make(&|_| Vec3::zeros()),
            s: 1.5 / H,
            q: make(&|i| (xp[i] - xn[i] * 4.0) / (2.0 * H)),
        },
    }
}

/// Elastic gradient (tetrahedra by a singular value decomposition, and the attachment).
fn elastic_gradient(simulation: &Simulation, x: &[Vec3], point: Vec3) -> Vec<Vec3> {
    let model = simulation.model();
    let mesh = &model.bodies[0].mesh;
    let mut g = vec![Vec3::zeros(); x.len()];
    for tet in &mesh.tets {
        let [a, b, c, d] = tet.map(|v| v as usize);
        let edges = |p: &[Vec3]| Mat3::from_columns(&[p[b] - p[a], p[c] - p[a], p[d] - p[a]]);
        let dm = edges(&mesh.positions);
        let inverse = dm.try_inverse().unwrap();
        let f = edges(x) * inverse;
        let svd = f.svd(true, true);
        let (u, vt) = (svd.u.unwrap(), svd.v_t.unwrap());
        let mut sign = Mat3::identity();
        sign[(2, 2)] = (u * vt).determinant().signum();
        let stress = (f - u * sign * vt) * (2.0 * MU * dm.determinant() / 6.0) * inverse.transpose();
        for (k, v) in [b, c, d].into_iter().enumerate() {
            g[v] += stress.column(k);
            g[a] -= stress.column(k);
        }
    }
    let held = &model.attachments[0];
    g[held.vertex as usize] += (x[held.vertex as usize] - point) * held.stiffness;
    g
}

/// ∇Φ, with L assembled densely from the tetrahedra.
fn gradient(
    simulation: &Simulation,
    coefficients: &Written,
    laplacian: &DMatrix<f64>,
    damping: [f64; 2],
    point: Vec3,
    x: &DVector<f64>,
) -> DVector<f64> {
    let model = simulation.model();
    let n = model.vertex_count();
    let at = |i: usize| Vec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
    let evaluated: Vec<Vec3> = (0..n).map(|i| at(i) * coefficients.c2 + coefficients.z[i]).collect();
    let elastic = elastic_gradient(simulation, &evaluated, point);
    let v: Vec<Vec3> = (0..n).map(|i| at(i) * coefficients.s + coefficients.q[i]).collect();
    let mut g = DVector::zeros(3 * n);
    for i in 0..n {
        let m = model.mass[i];
        let lv: Vec3 = (0..n).map(|j| v[j] * laplacian[(i, j)]).sum();
        let dissipation =
            (v[i] * (damping[0] * m) + lv * damping[1]) * (coefficients.c2 * H * coefficients.s);
        let row = (at(i) - coefficients.y[i]) * (m / (H * H))
            + elastic[i] * (coefficients.c1 * coefficients.c2)
            + dissipation;
        g.fixed_rows_mut::<3>(3 * i).copy_from(&row);
    }
    g
}

fn dense_laplacian(simulation: &Simulation) -> DMatrix<f64> {
    let mesh = &simulation.model().bodies[0].mesh;
    let n = mesh.positions.len();
    let mut l = DMatrix::zeros(n, n);
    for tet in &mesh.tets {
        let p = tet.map(|v| mesh.positions[v as usize]);
        let dm = Mat3::from_columns(&[p[1] - p[0], p[2] - p[0], p[3] - p[0]]);
        let weight = 2.0 * MU * dm.determinant() / 6.0;
        // gradients of the barycentric coordinates
        let inverse = dm.try_inverse().unwrap();
        let rows: Vec<Vec3> = (0..3).map(|k| inverse.row(k).transpose()).collect();
        let b = [-(rows[0] + rows[1] + rows[2]), rows[0], rows[1], rows[2]];
        for i in 0..4 {
            for j in 0..4 {
                l[(tet[i] as usize, tet[j] as usize)] += weight * b[i].dot(&b[j]);
            }
        }
    }
    l
}

/// Newton's method with a Hessian from differences of the gradient, damped when the gradient grows.
fn minimise(gradient: impl Fn(&DVector<f64>) -> DVector<f64>, start: DVector<f64>) -> DVector<f64> {
    let mut x = start;
    for _ in 0..60 {
        let g = gradient(&x);
        let h = 1e-6;
        let mut hessian = DMatrix::zeros(x.len(), x.len());
        for k in 0..x.len() {
            let (mut up, mut down) = (x.clone(), x.clone());
            up[k] += h;
            down[k] -= h;
            hessian.set_column(k, &((gradient(&up) - gradient(&down)) / (2.0 * h)));
        }
        let step = hessian.lu().solve(&g).unwrap();
        let mut share = 1.0;
        while gradient(&(&x - &step * share)).norm() > g.norm() && share > 1e-3 {
            share *= 0.5;
        }
        x -= &step * share;
        if step.norm() < 1e-13 {
            break;
        }
    }
    x
}

fn flat(x: &[Vec3]) -> DVector<f64> {
    DVector::from_iterator(3 * x.len(), x.iter().flat_map(|x| [x.x, x.y, x.z]))
}

fn step_is_minimum(integrator: &str, damping: [f64; 2]) {
    let overrides = [
        format!("integrator.kind={integrator}"),
        format!("damping.mass={:?}", damping[0]),
        format!("damping.stiffness={:?}", damping[1]),
    ];
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    let mut simulation = simulate(SCENE, &overrides);
    let (x0, v0) = (simulation.positions().to_vec(), simulation.velocities().to_vec());
    simulation.frame().unwrap();
    let (x1, v1) = (simulation.positions().to_vec(), simulation.velocities().to_vec());
    simulation.frame().unwrap();

    let coefficients = written(integrator, [&x0, &x1], [&v0, &v1], simulation.model().gravity);
    let laplacian = dense_laplacian(&simulation);
    let held = &simulation.model().attachments[0];
    let (before, after) = (held.target(H), held.target(2.0 * H));
    let point = before + (after - before) * coefficients.c2;
    let g = |x: &DVector<f64>| gradient(&simulation, &coefficients, &laplacian, damping, point, x);
    let minimum = minimise(g, flat(&coefficients.y));
    let found = flat(simulation.positions());
    // both stop at a relative gradient near 1e-13, the condition number of A is about 1e3
    let difference = (&found - &minimum).amax();
    assert!(difference < 1e-9, "{integrator} {damping:?}: {difference:e} m apart");
    // the velocity is the one that the integrator promises
    for (i, v) in simulation.velocities().iter().enumerate() {
        let expected = simulation.positions()[i] * coefficients.s + coefficients.q[i];
        assert!((v - expected).norm() < 1e-10);
    }
}

#[test]
fn undamped() {
    for integrator in ["backward-euler", "implicit-midpoint", "bdf2"] {
        step_is_minimum(integrator, [0.0, 0.0]);
    }
}

#[test]
fn with_laplacian_damping() {
    for integrator in ["backward-euler", "implicit-midpoint", "bdf2"] {
        step_is_minimum(integrator, [0.0, 2e-3]);
        step_is_minimum(integrator, [1.5, 0.0]);
        step_is_minimum(integrator, [0.7, 5e-3]);
    }
}
