//! For those who work on shaders: errors name file and line, files that change are loaded anew, and kernels can be replaced
//! by their twins one after the other.

use crate::common::{context, distance, of_each, run, size, start_on};
use dashpot::error::RunError;
use dashpot::gpu::Options;
use dashpot::gpu::kernel::{self, KERNELS};
use dashpot::gpu::shader::{FOLDERS, Library, Source};
use dashpot::{scene, setup};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// A copy of the shaders that may be changed.
struct Copied {
    folder: tempfile::TempDir,
    edits: u64,
}

impl Copied {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
        for part in FOLDERS {
            std::fs::create_dir(folder.path().join(part)).unwrap();
            for entry in std::fs::read_dir(original.join(part)).unwrap() {
                let path = entry.unwrap().path();
                if path.is_file() {
                    std::fs::copy(&path, folder.path().join(part).join(path.file_name().unwrap())).unwrap();
                }
            }
        }
        Copied { folder, edits: 0 }
    }

    fn library(&self) -> Library {
        Library::Folder(self.folder.path().into())
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn text(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    fn write(&mut self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).unwrap();
        // clocks of file systems are coarse: each edit is a second later than the one before
        self.edits += 1;
        let time = SystemTime::now() + Duration::from_secs(self.edits);
        std::fs::File::options().write(true).open(self.path(file)).unwrap().set_modified(time).unwrap();
    }

    /// Adds a line at the end of a file and returns its number.
    fn append(&mut self, file: &str, line: &str) -> usize {
        let text = self.text(file);
        self.write(file, &format!("{text}{line}\n"));
        text.lines().count() + 1
    }
}

fn fault(library: &Library, kernel: &str) -> (String, usize, String) {
    let module = Source::of(library, kernel).and_then(|source| source.module().map(|_| ()));
    match module.unwrap_err() {
        RunError::Shader { file, line, message } => (file, line, message),
        other => panic!("{other}"),
    }
}

#[test]
fn errors_in_shaders_name_file_and_line() {
    let broken =
        ["fn broken( {", "fn broken() -> u32 { return 1.5; }", "fn broken() -> f32 { return nowhere; }"];
    for file in
        ["filters/reduce_spin.wgsl", "shared/reduce.wgsl", "shared/inertia.wgsl", "shared/direction.wgsl"]
    {
        for line in broken {
            let mut copied = Copied::new();
            let number = copied.append(file, line);
            let (named, at, message) = fault(&copied.library(), "filters/reduce_spin");
            assert_eq!((named.as_str(), at), (file, number), "{line}: {message}");
        }
    }
}

#[test]
fn a_shared_file_that_is_missing_is_an_error_of_the_line_that_names_it() {
    for file in ["filters/reduce_spin.wgsl", "shared/inertia.wgsl"] {
        let mut copied = Copied::new();
        let number = copied.append(file, "//use shared/nowhere.wgsl");
        let (named, at, message) = fault(&copied.library(), "filters/reduce_spin");
        assert_eq!((named.as_str(), at), (file, number), "{message}");
        assert!(message.contains("shared/nowhere.wgsl"), "{message}");
    }
    let (named, _, message) = fault(&Library::BuiltIn, "nowhere");
    assert!(named == "nowhere.wgsl" && message.contains("no such file"), "{message}");
}

/// Bodies of each kind of element, as small as they come.
const TINY: &str = r#"
    time = { step = 0.02, iterations = 2 }
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [2, 1, 1], size = [0.4, 0.2, 0.2] }
    material = { model = "corotated", young_modulus = 2e4, poisson_ratio = 0.3, density = 1000.0 }
    stretch = [1.2, 1.0, 0.9]
    angular_velocity = [0.0, 2.0, 1.0]
    [[body]]
    name = "sheet"
    mesh = { generate = "cloth", cells = [2, 2], size = [0.4, 0.4] }
    material = { model = "arap", mu = 1e5, thickness = 1e-3, density = 800.0, bending = 1e-4 }
    attach = [{ select = { min = [-0.001, -1.0, -1.0], max = [0.001, 1.0, 1.0] }, stiffness = 1e3, path = { kind = "circle", axis = [0.0, 0.0, 1.0], radius = 0.05, period = 0.5 } }]
    [[body]]
    name = "hair"
    mesh = { generate = "hair", strands = 1, segments = 4, length = 0.3, radius = 0.1 }
    material = { model = "spring", stiffness = 100.0, bending_stiffness = 1.0, mass = 0.01 }
"#;

fn tiny(overrides: &[&str]) -> scene::LoadedScene {
    setup::load_text("tiny", TINY, &overrides.iter().map(|o| o.to_string()).collect::<Vec<_>>()).unwrap()
}

/// The switch may stand at any kernel: what runs on the host instead is the same computation.
#[test]
fn twins_may_take_over_up_to_any_kernel() {
    let Some(context) = context() else { return };
    // where the host solves, what matters is whether the gradient comes from a twin or from a kernel
    let hybrid = ["project_bending", "gather_gradient", "measure_gradient", "reduce_exchange"];
    let exact = ["solve_up", "solve_down", "apply_solution", "move_iterate"];
    let direct =
        ["damp_edge", "gather_edge", "reduce_change", "gather_cluster", "filter_change", "reduce_exchange"];
    let all: Vec<&str> = KERNELS.iter().map(|kernel| kernel.name).collect();
    for (settings, kernels) in [
        (["solver.global=hybrid", "damping.model=ether-drag", "damping.coefficient=0.1"], &hybrid[..]),
        (["solver.global=cholesky", "damping.model=ether-drag", "damping.coefficient=0.1"], &exact[..]),
        (["solver.global=chebyshev", "damping.model=pbd", "damping.coefficient=0.1"], &all[..]),
        (["solver.global=chebyshev", "damping.model=direct", "damping.gamma=0.1"], &direct[..]),
    ] {
        let settings = [&settings[..], &["solver.inner=4"]].concat();
        let mut device = start_on(&context, tiny(&settings), &Options::default());
        let rows = run(&mut device, 2);
        let body = size(&device.model().initial_positions);
        let pure = device.positions().to_vec();
        of_each(kernels, |name| {
            let options = Options { gpu_from: Some(kernel::id(name).unwrap()), ..Options::default() };
            let mut mixed = start_on(&context, tiny(&settings), &options);
            let mixed_rows = run(&mut mixed, 2);
            let off = distance(mixed.positions(), &pure) / body;
            // two frames of two iterations, each rounded to 6e-8 of ways that are shorter than the size
            assert!(off < 1e-5, "from {name} on, {settings:?}: {off:e}");
            let energy = (mixed_rows[2].total - rows[2].total).abs() / rows[2].total.abs();
            assert!(energy < 1e-5, "from {name} on, {settings:?}: energy off by {energy:e}");
        });
    }
}

/// One attachment and one spring: buffers of single items are padded on the device, and twins must not see the padding.
#[test]
fn twins_see_no_padding() {
    let Some(context) = context() else { return };
    let text = r#"
        [[body]]
        mesh = { generate = "hair", strands = 1, segments = 2, length = 0.3, radius = 0.1 }
        material = { model = "spring", stiffness = 100.0, mass = 0.01 }
        attach = [{ select = { nearest = [0.0, 0.0, 0.0] }, stiffness = 100.0 }]
    "#;
    let one = setup::load_text("one", text, &["solver.global=chebyshev".into()]).unwrap();
    let options = Options { gpu_from: kernel::id("reduce_observation"), ..Options::default() };
    let mut mixed = start_on(&context, one, &options);
    let rows = run(&mut mixed, 2);
    assert!(rows.iter().all(|row| row.total.is_finite()));
}

/// Run in a process of its own by the test below, for what it says goes to the standard error.
#[test]
#[ignore = "another test runs it and reads what it says"]
fn shaders_that_change_while_a_run_goes_on() {
    let Some(context) = context() else { return };
    let mut copied = Copied::new();
    let options = Options { library: copied.library(), ..Options::default() };
    let [mut edited, mut untouched] =
        [options, Options::default()].map(|options| start_on(&context, tiny(&[]), &options));
    let mut same = |frames: usize| {
        for _ in 0..frames {
            edited.frame().unwrap();
            untouched.frame().unwrap();
        }
        edited.positions() == untouched.positions()
    };
    assert!(same(2), "the copy is the original");
    let good = ["step/advance.wgsl", "shared/vertex.wgsl"].map(|file| (file, copied.text(file)));
    for (file, text) in &good {
        let line = copied.append(file, "fn broken() -> u32 { return 1.5; }");
        eprintln!("broke {file}:{line}");
        assert!(same(2), "the last good one goes on after {file} broke");
        copied.write(file, text);
        assert!(same(2), "{file} is whole again");
    }
    let text = copied.text("step/predict.wgsl");
    let changed = text
        .replace("step.target_acceleration * step.gravity", "2.0 * step.target_acceleration * step.gravity");
    assert_ne!(changed, text);
    copied.write("step/predict.wgsl", &changed);
    assert!(!same(3), "twice the weight is seen");
}

#[test]
fn a_shader_that_breaks_is_told_of_and_the_last_good_one_goes_on() {
    if context().is_none() {
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "gpu_shaders::shaders_that_change_while_a_run_goes_on",
        "--ignored",
        "--nocapture",
    ]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let broken: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("broke ")).collect();
    assert_eq!(broken.len(), 2, "{said}");
    for place in broken {
        // named where it is, not where the built-in ones come from
        let told = said.lines().find(|line| line.contains(&format!("/{place}: ")));
        assert!(told.is_some_and(|line| !line.starts_with("shaders/")), "{place}: {said}");
        assert!(told.is_some_and(|line| line.ends_with("keeping the last good shader")), "{place}: {said}");
    }
    assert!(said.matches("shaders reloaded").count() == 3, "{said}");
}
