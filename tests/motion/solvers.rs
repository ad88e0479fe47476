//! Projective iterations and Newton's come to the same minimum, by whatever way; what cannot be solved says so.

use crate::common::{Random, distance, fails, run, simulate, succeeds};
use dashpot::{Simulation, Vec3};

/// Materials of solids and of planar bodies, as a scene gives them.
const SOLIDS: &[(&str, &str)] = &[
    ("arap", "mu = 2e4"),
    ("corotated", "mu = 2e4, lambda = 4e4"),
    ("stvk", "mu = 2e4, lambda = 4e4"),
    ("neo-hookean", "mu = 2e4, lambda = 4e4"),
    ("corotated-linear", "mu = 2e4, lambda = 4e4"),
    (
        "valanis-landel",
        "curves = { f = [[0.4, -3e4], [1.0, 0.0], [1.6, 4e4]], g = [[0.5, -4e3], [1.0, 500.0], [2.0, 3e3]], \
         h = [[0.3, -2e4], [1.0, -1e3], [2.0, 2e4]] }",
    ),
    ("spring", "stiffness = 400.0"),
];
const CLOTHS: &[(&str, &str)] = &[
    ("arap", "mu = 2e4, thickness = 0.05, bending = 0.01"),
    ("stvk", "mu = 2e4, lambda = 4e4, thickness = 0.05"),
    ("neo-hookean", "mu = 2e4, lambda = 4e4, thickness = 0.05"),
    ("corotated-linear", "mu = 2e4, lambda = 4e4, thickness = 0.05"),
    ("valanis-landel", "curves = { f = [[0.5, -3e4], [1.0, 0.0], [1.5, 4e4]] }, thickness = 0.05"),
];

fn scene(mesh: &str, (model, numbers): (&str, &str)) -> String {
    format!(
        "gravity = [0.0, -9.81, 0.0]\n[time]\nstep = 0.02\niterations = 3000\ntolerance = 1e-10\n\
         [damping]\nmodel = \"laplacian\"\nstiffness = 1e-3\n\
         [[body]]\nmesh = {mesh}\nmaterial = {{ model = \"{model}\", {numbers}, density = 1000.0 }}\n\
         attach = [{{ select = {{ nearest = [0.0, 0.0, 0.0] }}, stiffness = 1e3 }}]\n"
    )
}

/// One step of a scene from a state that is shaken: places by up to `places` (m), velocities by up to `velocities` (m/s).
fn shaken_step(text: &str, overrides: &[&str], seed: u64, [places, velocities]: [f64; 2]) -> Simulation {
    let mut simulation = simulate(text, overrides);
    let mut snapshot = simulation.snapshot().unwrap();
    let state = &mut snapshot.state;
    let mut random = Random::new(seed);
    state.positions.iter_mut().for_each(|x| *x += places * random.number());
    state.velocities.iter_mut().for_each(|v| *v += velocities * random.number());
    state.positions_before.clone_from(&state.positions);
    state.velocities_before.clone_from(&state.velocities);
    assert!(simulation.restore(&snapshot).unwrap());
    simulation.frame().unwrap();
    simulation
}

fn moved(simulation: &Simulation) -> f64 {
    let start: &[Vec3] = &simulation.model().initial_positions;
    distance(simulation.positions(), start)
}

#[test]
fn projective_and_newton_find_the_same_minimum() {
    let solid = "{ generate = \"box\", cells = [4, 2, 2], size = [0.4, 0.2, 0.2] }";
    let cloth = "{ generate = \"cloth\", cells = [6, 6], size = [0.6, 0.6] }";
    let cases = SOLIDS.iter().map(|m| (solid, m)).chain(CLOTHS.iter().map(|m| (cloth, m)));
    for (mesh, material) in cases {
        let text = scene(mesh, *material);
        for integrator in ["backward-euler", "implicit-midpoint"] {
            let kind = format!("integrator.kind={integrator}");
            // ten states in all; cells are 0.1 wide: strains of a tenth
            for seed in 0..5 {
                let state = [0.01, 0.5];
                let projective = shaken_step(&text, &[&kind], seed, state);
                let newton = shaken_step(&text, &[&kind, "solver.kind=newton"], seed, state);
                let apart = distance(projective.positions(), newton.positions()) / moved(&newton);
                // the gradient falls to 1e-10 of the first, and A is worth 1e3 times its least curvature
                let name = material.0;
                assert!(apart < 1e-6, "{name} on {mesh}, {integrator}, state {seed}: {apart:e}");
            }
        }
    }
}

#[test]
fn newton_ends_quadratically_and_history_saves_iterations() {
    let solid = "{ generate = \"box\", cells = [8, 3, 3], size = [0.8, 0.3, 0.3] }";
    for material in &SOLIDS[2..5] {
        let text = scene(solid, *material);
        let count = |overrides: &[&str]| {
            let mut simulation = simulate(&text, overrides);
            let rows = run(&mut simulation, 10);
            assert!(rows.iter().all(|row| row.residual <= 1e-8), "{overrides:?}");
            rows.iter().map(|row| row.iterations).sum::<usize>()
        };
        let tolerance = "time.tolerance=1e-8";
        let [newton, plain, remembering] = [
            count(&[tolerance, "solver.kind=newton"]),
            count(&[tolerance, "solver.history=0"]),
            count(&[tolerance, "solver.history=5"]),
        ];
        let name = material.0;
        assert!(newton <= 60, "{name}: six iterations a step would be many, {newton} in ten steps");
        // half of them at λ = 2μ, fewer the closer to incompressible
        assert!(
            3 * remembering < 2 * plain,
            "{name}: {remembering} iterations with a history, {plain} without"
        );
    }
}

/// A bar so soft that it is crushed, turned inside out by its own weight and speed, must come to an end of some kind.
#[test]
fn laws_that_push_back_survive_being_turned_inside_out() {
    let solid = "{ generate = \"box\", cells = [3, 3, 3], size = [0.3, 0.3, 0.3] }";
    for material in SOLIDS.iter().filter(|m| ["neo-hookean", "corotated-linear", "corotated"].contains(&m.0))
    {
        let text = scene(solid, *material);
        for solver in ["solver.kind=projective", "solver.kind=newton"] {
            let overrides = [solver, "body.0.stretch=[1.0, -0.4, 1.0]", "time.tolerance=1e-6"];
            let mut simulation = simulate(&text, &overrides);
            let rows = run(&mut simulation, 100);
            let last = rows.last().unwrap();
            assert_eq!(last.inverted, 0, "{} with {solver}", material.0);
            assert!(last.total.is_finite());
        }
    }
}

#[test]
fn st_venant_kirchhoff_inside_out_ends_the_run_and_names_the_element() {
    let folder = std::env::temp_dir().join(format!("dashpot-inside-out-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let solid = "{ generate = \"box\", cells = [3, 3, 3], size = [0.3, 0.3, 0.3] }";
    let text =
        scene(solid, SOLIDS[2]).replace("[[body]]", "[[body]]\nname = \"glove\"\nstretch = [1.0, -0.4, 1.0]");
    std::fs::write(folder.join("glove.toml"), text).unwrap();
    fails(
        &folder,
        &["run", "glove.toml", "--frames", "5"],
        1,
        &["frame 1", "tetrahedron", "`glove`", "is inverted"],
    );
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_does_not_go_with_newton_is_refused_with_the_reason() {
    let folder = std::env::temp_dir().join(format!("dashpot-newton-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let newton = ["run", "bar", "--frames", "1", "--set", "solver.kind=newton"];
    let with = |more: &[&'static str]| [&newton[..], more].concat();
    let single = with(&["--set", "solver.precision=single"]);
    fails(&folder, &single, 2, &["solver.precision", "double precision"]);
    let held = with(&["--set", "conservation.method=cpd"]);
    fails(&folder, &held, 2, &["conservation.method", "newton"]);
    let calm = with(&["--set", "integrator.kind=non-oscillatory"]);
    fails(&folder, &calm, 2, &["solver.kind", "non-oscillatory"]);
    succeeds(&folder, &with(&["--backend", "cpu"]));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Contacts couple by the constant metric; the minimum is the same.
#[test]
fn a_block_comes_to_rest_on_the_ground_by_either_solver() {
    let solid = "{ generate = \"box\", cells = [3, 3, 3], size = [0.3, 0.3, 0.3] }";
    let text = scene(solid, SOLIDS[3]).replace(
        "attach = [{ select = { nearest = [0.0, 0.0, 0.0] }, stiffness = 1e3 }]",
        "position = [0.0, 0.02, 0.0]\n[[obstacle]]\nshape = \"plane\"",
    );
    let rest = |solver: &str| {
        let calm = ["integrator.kind=backward-euler", "damping.stiffness=0.02"];
        let overrides = [solver, calm[0], calm[1], "time.iterations=200", "time.tolerance=1e-9"];
        let mut simulation = simulate(&text, &overrides);
        let last = run(&mut simulation, 150).pop().unwrap();
        assert!(last.kinetic < 1e-6, "{solver}: still {} J", last.kinetic);
        (simulation.positions().to_vec(), last.contact)
    };
    let (projective, pressed) = rest("solver.kind=projective");
    let (newton, pressed_too) = rest("solver.kind=newton");
    // what is left of the motion after three seconds
    assert!(distance(&projective, &newton) < 1e-5);
    assert!((pressed / pressed_too - 1.0).abs() < 1e-3, "{pressed} {pressed_too}");
}
