//! The ledger balances, and puts the blame on the right one.

use crate::common::{self, run, simulate};
use dashpot::Vec3;
use dashpot::ledger::Row;
use dashpot::step::integrator::INTEGRATORS;

const HANGING: &str = r#"
    time = { step = 0.02, frames = 40, iterations = 3000, tolerance = 1e-14 }
    integrator = { kind = "backward-euler" }
    damping = { model = "laplacian", stiffness = 2e-3, mass = 0.3 }
    [[body]]
    name = "bar"
    mesh = { generate = "box", cells = [6, 2, 2], size = [0.6, 0.2, 0.2] }
    material = { model = "arap", mu = 20000.0, density = 1000.0 }
    [[body.attach]]
    select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] }
    stiffness = 1e4
    path = { kind = "circle", axis = [0.0, 0.0, 1.0], radius = 0.1, period = 0.6, drift = [0.0, 0.1, 0.0] }
"#;

/// total(t) = total(0) − damped − numerical + work, to round-off, for every integrator and damping model.
#[test]
fn the_ledger_balances() {
    for integrator in INTEGRATORS.iter().map(|row| row.name) {
        for model in
            ["none", "laplacian", "ether-drag", "pbd", "point", "spring", "spring-iterated", "direct"]
        {
            let overrides = [
                format!("integrator.kind={integrator}"),
                format!("damping.model={model}"),
                "damping.coefficient=0.02".into(),
                "damping.gamma=0.02".into(),
                "time.iterations=10".into(),
            ];
            let rows = run(&mut simulate(HANGING, &overrides.each_ref().map(String::as_str)), 40);
            let largest = rows.iter().map(|r| r.total.abs()).fold(0.0, f64::max);
            for row in &rows {
                let sum = row.kinetic + row.elastic + row.gravity + row.contact + row.attachment;
                assert_eq!(sum, row.total);
                let explained = rows[0].total - row.damped - row.numerical + row.work;
                assert!(
                    (explained - row.total).abs() < 1e-14 * largest.max(1.0) * 10.0,
                    "{integrator} {model}"
                );
            }
        }
    }
}

/// What the ledger calls the integrator's loss is the integrator's loss.
///
/// For a solved step of backward Euler, with the energy E_a = elastic + attachment and its gradient at the end point,
///   loss = ½ |v' − v|²_M  +  [∇E_a · Δx + attachment work − ΔE_a]
/// and for implicit midpoint only the second part is there, taken at the middle. Both parts are computed here from
/// positions and velocities alone: the force is what accelerates the body, f = M a − M g + damping force, with
/// a = (v' − v)/h, or (3v' − 4v + v₋)/(2h) for BDF-2.
///
/// In Newmark's family the damping force is that of (1 − γ) v + γ v', and (v' − v)/h is the same mean of both accelerations.
fn blame(integrator: &str, gamma: f64) -> f64 {
    let kind = format!("integrator.kind={integrator}");
    let mut simulation = simulate(HANGING, &[&kind, &format!("integrator.gamma={gamma}")]);
    let h = 0.02;
    let (alpha1, alpha2) = (0.3, 2e-3);
    let model = simulation.model().clone();
    let laplacian = model.laplacian().unwrap();
    let mut worst = 0.0_f64;
    let mut before = simulation.last_row();
    let mut older = simulation.velocities().to_vec();
    for step in 0..20 {
        let (x, v) = (simulation.positions().to_vec(), simulation.velocities().to_vec());
        let row = simulation.frame().unwrap();
        let (x1, v1) = (simulation.positions(), simulation.velocities());
        let kind = if integrator == "bdf2" && step == 0 { "backward-euler" } else { integrator };
        // damping force (h s/c₁) D v': ∇Ψ = c₂ h s D v' against c₁ c₂ ∇E
        let factor = match kind {
            "backward-euler" => 1.0,
            "implicit-midpoint" => 2.0,
            "bdf2" => 27.0 / 8.0,
            _ => 1.0,
        };
        let share = if ["newmark", "trapezoidal"].contains(&kind) { gamma } else { 1.0 };
        let damped_velocity: Vec<Vec3> =
            v1.iter().zip(&v).map(|(v1, v)| v1 * share + v * (1.0 - share)).collect();
        let mut lv = vec![Vec3::zeros(); x.len()];
        laplacian.mul(&damped_velocity, &mut lv);
        let mut scheme = 0.0;
        let mut force_work = 0.0;
        let mut damped = 0.0;
        for i in 0..x.len() {
            let (m, moved) = (model.mass[i], x1[i] - x[i]);
            let drag = (damped_velocity[i] * (alpha1 * m) + lv[i] * alpha2) * factor;
            let acceleration = match kind {
                "bdf2" => (v1[i] * 3.0 - v[i] * 4.0 + older[i]) / (2.0 * h),
                _ => (v1[i] - v[i]) / h,
            };
            damped += drag.dot(&moved);
            scheme += m * (acceleration.dot(&moved) - 0.5 * (v1[i].norm_squared() - v[i].norm_squared()));
            // minus the gradient of E_a
            force_work += (acceleration * m - model.gravity * m + drag).dot(&moved);
        }
        let stored = (row.elastic + row.attachment) - (before.elastic + before.attachment);
        let loss = scheme - force_work - stored + (row.work - before.work);
        worst = worst.max((row.numerical - before.numerical - loss).abs() / before.total.abs().max(1.0));
        worst = worst.max((row.damped - before.damped - damped).abs() / before.total.abs().max(1.0));
        if kind == "backward-euler" {
            let jump: f64 = (0..x.len()).map(|i| 0.5 * model.mass[i] * (v1[i] - v[i]).norm_squared()).sum();
            assert!((scheme - jump).abs() < 1e-10 * jump.max(1.0), "the scheme loses ½|v' − v|²");
        } else if ["implicit-midpoint", "trapezoidal"].contains(&kind) {
            assert!(scheme.abs() < 1e-10, "{kind}: its kinetic balance is exact: {scheme:e}");
        }
        before = row;
        older = v;
    }
    worst
}

#[test]
fn the_integrator_is_blamed_for_its_own_loss() {
    let kinds = [
        ("backward-euler", 0.5),
        ("implicit-midpoint", 0.5),
        ("bdf2", 0.5),
        ("trapezoidal", 0.5),
        ("newmark", 0.5),
        ("newmark", 0.8),
    ];
    for (integrator, gamma) in kinds {
        let worst = blame(integrator, gamma);
        // steps are solved to 1e-14 of the first gradient; sums over 63 vertices of terms near 10 J
        assert!(worst < 1e-11, "{integrator}: off by {worst:e} of the total");
    }
}

/// A mass on a moving linear spring with implicit midpoint: nothing is lost, all of the change is work.
#[test]
fn work_of_a_moving_attachment() {
    use dashpot::model::attachment::Attachment;
    use dashpot::scene::Path;
    let mut model = common::masses(&[2.0], &[Vec3::zeros()], &[Vec3::zeros()]);
    let path = Path::Circle { axis: [0.0, 0.0, 1.0], radius: 0.4, period: 1.3, drift: [0.1, 0.0, 0.2] };
    model.attachments = vec![Attachment { path: Some(path), ..Attachment::fixed(0, 90.0, Vec3::zeros()) }];
    let mut simulation = common::simulate_model(model, "implicit-midpoint", [0.0, 0.0], 0.02, 10);
    let rows = run(&mut simulation, 200);
    let most = rows.iter().map(|r| r.work.abs()).fold(0.0, f64::max);
    assert!(most > 1.0, "the attachment did work: {most} J");
    assert!(rows.iter().all(|r| r.numerical.abs() < 1e-12 * most), "{:e}", rows[200].numerical);
}

/// Damping never gives energy: each frame's share is positive, whatever the model.
#[test]
fn damping_only_takes() {
    for model in ["laplacian", "ether-drag", "pbd", "point", "spring", "spring-iterated", "direct"] {
        let model = format!("damping.model={model}");
        // backward Euler: Δx = h v', so the damping's work is h v'ᵀ D v' ≥ 0 step by step
        let overrides =
            [model.as_str(), "damping.coefficient=0.05", "damping.gamma=0.05", "time.iterations=10"];
        let rows: Vec<Row> = run(&mut simulate(HANGING, &overrides), 40);
        assert!(rows.windows(2).all(|pair| pair[1].damped >= pair[0].damped), "{model}");
        assert!(rows[40].damped > 0.0);
    }
}

/// Ether drag slows a force-free body by exactly (1 − k) a step, also under BDF-2, which remembers earlier steps.
#[test]
fn ether_drag_slows_by_its_coefficient() {
    for integrator in ["backward-euler", "implicit-midpoint", "bdf2"] {
        let overrides = [
            format!("integrator.kind={integrator}"),
            "gravity=[0,0,0]".into(),
            "body.bar.velocity=[1,2,3]".into(),
            "body.bar.attach=[]".into(),
            "damping.model=ether-drag".into(),
            "damping.coefficient=0.02".into(),
            "time.iterations=5".into(),
        ];
        let mut simulation = simulate(HANGING, &overrides.each_ref().map(String::as_str));
        let rows = run(&mut simulation, 30);
        for pair in rows.windows(2) {
            let ratio = Vec3::from(pair[1].momentum).norm() / Vec3::from(pair[0].momentum).norm();
            assert!((ratio - 0.98).abs() < 1e-12, "{integrator}, frame {}: {ratio}", pair[1].frame);
        }
        let taken = rows[0].kinetic * (1.0 - 0.98_f64.powi(60));
        assert!((rows[30].damped - taken).abs() < 1e-10 * rows[0].kinetic, "{integrator}");
        assert!(rows[30].numerical.abs() < 1e-10 * rows[0].kinetic, "{integrator}");
    }
}

fn warnings_of(scene: &str, frames: usize, overrides: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let frames = frames.to_string();
    let sets = overrides.iter().flat_map(|set| ["--set", set]);
    let arguments =
        ["run", scene, "--frames", &frames, "--backend", "cpu", "--out", "r"].into_iter().chain(sets);
    let output = common::dashpot(folder.path(), &arguments.collect::<Vec<_>>());
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let summary = std::fs::read_to_string(folder.path().join("r/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let warnings: Vec<String> = serde_json::from_value(summary["warnings"].clone()).unwrap();
    for warning in &warnings {
        assert_eq!(told.matches(&format!("warning: {warning}")).count(), 1, "told once: {told}");
    }
    warnings
}

/// A run whose energy grows finishes with exit code 0 and a warning.
#[test]
fn a_run_warns_if_energy_grows() {
    let made_by = |who: &str, warnings: Vec<String>| {
        let text = format!("energy is growing: the {who} added ");
        assert!(warnings.len() == 1 && warnings[0].starts_with(&text), "{who}: {warnings:?}");
    };
    made_by("integrator", warnings_of("cube", 150, &["damping.model=none"]));
    // strong damping along a shape under an integrator that keeps the highest frequencies
    let strong = ["integrator.kind=trapezoidal", "damping.example.0.gamma=5000"];
    made_by("integrator", warnings_of("bar-directions", 10, &strong));
    // six decades within the velocities of a swing: the force at the end of a step is another than on the way
    let steep = r#"curve={over="velocity",points=[[0.0,-2.0],[0.5,4.0],[2.0,-2.0]]}"#;
    let steep = [format!("damping.example.0.{steep}"), format!("damping.example.1.{steep}")];
    made_by("damping", warnings_of("bar-directions", 10, &steep.each_ref().map(String::as_str)));
    for well in ["cube", "bar-directions", "membrane", "thesis-trapezoid", "pushed-block"] {
        assert_eq!(warnings_of(well, 30, &[]), Vec::<String>::new(), "{well}");
    }
}
