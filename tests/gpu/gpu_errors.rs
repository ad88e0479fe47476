//! What goes wrong with devices ends with an error that says what and why, never with a panic.

use crate::common::{context, on_gpu, own_context, run};
use dashpot::error::RunError;
use dashpot::gpu::context::Context;
use dashpot::gpu::layout::TET_NUMBERS;
use dashpot::gpu::{self, Options};
use dashpot::setup::{self, build};
use dashpot::{Error, Simulation};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

const SOLVERS: [&str; 3] = ["solver.global=cholesky", "solver.global=chebyshev", "solver.global=hybrid"];

/// A command that finds no adapter.
fn blind(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    command.env("WGPU_BACKEND", "vulkan");
    command.env("VK_DRIVER_FILES", "/nonexistent").env("VK_ICD_FILENAMES", "/nonexistent");
    command
}

fn dashpot() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_dashpot"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Run in a process of its own by the test below.
#[test]
#[ignore = "another test runs it, without an adapter"]
fn a_test_that_needs_an_adapter() {
    if context().is_some() {
        println!("opened");
    }
}

#[test]
fn without_an_adapter_tests_fail_unless_they_may_be_skipped() {
    let mut command = blind(std::env::current_exe().unwrap());
    command.args(["--exact", "gpu_errors::a_test_that_needs_an_adapter", "--ignored"]);
    for asked in [None, Some("required"), Some("")] {
        match asked {
            Some(asked) => command.env("DASHPOT_ADAPTER", asked),
            None => command.env_remove("DASHPOT_ADAPTER"),
        };
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success(), "{asked:?}: {said}");
        assert!(said.contains("apt install libvulkan1"), "{asked:?}: {said}");
    }
    let output = command.env("DASHPOT_ADAPTER", "none").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = "SKIPPED, no adapter: gpu_errors::a_test_that_needs_an_adapter";
    assert!(stderr(&output).contains(expected), "{}", stderr(&output));
}

#[test]
fn without_an_adapter_the_gpu_backend_says_what_to_install() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", "bar", "--frames", "1", "--backend", "gpu", "--out", "r"];
    let output = blind(dashpot()).args(arguments).current_dir(&folder).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("apt install libvulkan1") && said.contains("--backend cpu"), "{said}");
    assert!(!said.contains("panicked") && !folder.path().join("r").exists(), "{said}");
}

#[test]
fn without_an_adapter_auto_computes_on_the_cpu_and_says_so() {
    let output = blind(dashpot()).args(["run", "bar", "--frames", "1"]).output().unwrap();
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("cpu") && said.contains("no graphics adapter"), "{said}");
}

/// Mass, stiffness and gravity that single precision cannot hold are refused before anything is written.
#[test]
fn numbers_beyond_single_precision_are_refused_by_name() {
    if context().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (setting, named) in [
        ("body.cube.material.density=1e35", "the mass of vertex 0"),
        ("body.cube.material.young_modulus=1e40", "the stiffness of vertex 0"),
        ("body.cube.position=[1e35,0,0]", "the position of vertex 0"),
        ("body.cube.velocity=[0,0,-1e35]", "the velocity of vertex 0"),
        ("gravity=[0,-1e35,0]", "gravity"),
    ] {
        let arguments = ["run", "cube", "--frames", "1", "--backend", "gpu", "--out", "r", "--set", setting];
        let output = Command::new(dashpot()).args(arguments).current_dir(&folder).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{setting}: {said}");
        assert!(said.contains(named) && said.contains("single precision"), "{setting}: {said}");
        assert!(!said.contains("panicked") && !folder.path().join("r").exists(), "{setting}: {said}");
    }
}

#[test]
fn a_mesh_beyond_the_device_is_refused_by_buffer_size_and_limit() {
    if context().is_none() {
        return;
    }
    let limit = 1 << 16;
    let context = Context::open_within(None, limit).unwrap();
    let backend = |cells: &str| {
        let loaded = setup::load("bar", &[format!("body.0.mesh.cells={cells}")]).unwrap();
        let model = Arc::new(build(&loaded).unwrap().model);
        let rows = (TET_NUMBERS as usize * model.tets.len()).div_ceil(4) + model.attachments.len();
        let made = gpu::backend(context.clone(), model.clone(), &loaded.scene.solver, &Options::default());
        (16 * rows as u64, made.map(|backend| Simulation::new(&loaded.scene, model, backend)))
    };
    let (rows, refused) = backend("[20,4,4]");
    let error = refused.err().expect("the rows of the gradient take more");
    let Error::Run(RunError::BeyondDevice { what, bytes, limit: told }) = &error else { panic!("{error}") };
    assert!(what.starts_with("Rows "), "{what}");
    assert_eq!((*bytes, *told, error.exit_code()), (rows, limit, 1), "{error}");
    let (rows, made) = backend("[10,2,2]");
    assert!(rows < limit);
    made.expect("a coarser one fits").unwrap().frame().unwrap();
}

fn is_lost(error: &Error) -> bool {
    matches!(error, Error::Run(RunError::DeviceLost(_)))
}

#[test]
fn a_lost_device_is_an_error_and_stays_one() {
    for solver in SOLVERS {
        for waits in [true, false] {
            let Some(context) = own_context() else { return };
            let mut simulation = on_gpu(&context, "hair", &["body.0.mesh.strands=5", solver]);
            let rows = run(&mut simulation, 2);
            if !waits {
                simulation.start_frame().unwrap();
            }
            context.device.destroy();
            let step = |simulation: &mut Simulation| {
                simulation.start_frame()?;
                simulation.rows(true)
            };
            let error = (0..4).find_map(|_| step(&mut simulation).err()).expect("nothing can be computed");
            assert!(is_lost(&error), "{solver}: {error}");
            assert_eq!(error.exit_code(), 1);
            assert!(is_lost(&step(&mut simulation).unwrap_err()));
            assert!(is_lost(&simulation.fetch().unwrap_err()));
            assert!(is_lost(&simulation.snapshot().unwrap_err()));
            assert_eq!(simulation.last_row(), rows[2], "what was known before is kept");
        }
    }
}

/// At whatever moment it happens.
#[test]
fn a_device_lost_in_the_middle_of_a_step_is_no_panic() {
    for (solver, delay) in
        [(SOLVERS[0], 0), (SOLVERS[0], 7), (SOLVERS[0], 23), (SOLVERS[1], 1), (SOLVERS[1], 40)]
    {
        let Some(context) = own_context() else { return };
        let mut simulation = on_gpu(&context, "hair", &["body.0.mesh.strands=5", solver]);
        simulation.frame().unwrap();
        let lost = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(delay));
            context.device.destroy();
        });
        let error = loop {
            if let Err(error) = simulation.start_frame().and_then(|()| simulation.rows(false)) {
                break error;
            }
        };
        lost.join().unwrap();
        assert!(is_lost(&error), "{solver}, after {delay} ms: {error}");
    }
}
