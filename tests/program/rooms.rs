//! The rooms of `src/` use each other in one direction only: the table says which room may use which, from the ground up.

mod uses;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use uses::{test_modules, uses};

/// Every room and those that it uses. A room may use those above it in this table and no others.
const ROOMS: &str = "\
error:
suggest:
colour:
disk: error
memory: error
linear: error memory
ledger:
mesh: error suggest disk memory
scene: error suggest mesh
model: error linear memory mesh scene
elastic: error linear model
solve: error linear scene model elastic
damping: error linear scene model elastic
contact: error mesh scene model
step: error linear ledger scene model solve damping contact
modes: error linear mesh scene model elastic damping step
setup: error linear mesh scene model damping step modes
cpu: error linear ledger scene model elastic solve damping step
observe: error colour disk ledger mesh scene model step
reduced: error linear ledger scene model damping step modes observe
design: error suggest scene model step setup cpu
gpu: error linear ledger scene model elastic solve damping step
backend: error scene model step cpu gpu
view: error colour ledger mesh scene model elastic damping contact step observe gpu
app: error disk ledger mesh scene model damping contact step setup cpu observe design gpu backend view
reproduce: error suggest linear ledger scene model damping step modes setup cpu observe reduced design gpu view
cli: error disk ledger mesh scene model step modes setup cpu observe reduced design gpu backend view app reproduce
";

/// The rows of a table: a room and those that it may use.
fn rows(table: &str) -> Vec<(&str, Vec<&str>)> {
    let row = |line| str::split_once(line, ':').map(|(room, used)| (room, used.split_whitespace().collect()));
    table.lines().filter_map(row).collect()
}

/// What the root of the crate passes on, and the room that it is from; what is none is no room's.
const ROOT: &[(&str, Option<&str>)] = &[
    ("Error", Some("error")),
    ("Result", Some("error")),
    ("Simulation", Some("step")),
    ("Vec3", None),
    ("Mat3", None),
];

/// A module: where it stands, its path within the crate, its text.
struct Module {
    file: PathBuf,
    path: Vec<String>,
    source: String,
}

/// Rooms that a module uses beside its own, each with a line.
fn uses_of(module: &Module) -> Vec<(String, usize)> {
    let path: Vec<&str> = module.path.iter().map(String::as_str).collect();
    let found = uses(&path, &module.source).into_iter().filter_map(|found| {
        let from_root = ROOT.iter().find(|(name, _)| *name == found.room);
        let room = from_root.map_or(Some(found.room.as_str()), |(_, room)| *room)?;
        (room != path[0]).then(|| (room.to_string(), found.line))
    });
    found.collect()
}

/// What is wrong with a set of modules, one line each.
fn faults(modules: &[Module], table: &str) -> Vec<String> {
    let table = rows(table);
    let mut faults = Vec::new();
    let mut seen = BTreeSet::new();
    for module in modules {
        let room = &module.path[0];
        let allowed = table.iter().find(|(name, _)| name == room).map_or(&[][..], |(_, allowed)| allowed);
        for (used, line) in uses_of(module) {
            if !allowed.contains(&used.as_str()) {
                faults.push(format!("{}:{line}: `{room}` may not use `{used}`", module.file.display()));
            }
            seen.insert((room.clone(), used));
        }
    }
    for (room, allowed) in &table {
        let unused = allowed.iter().filter(|used| !seen.contains(&(room.to_string(), used.to_string())));
        faults.extend(unused.map(|used| format!("`{room}` does not use `{used}` any more")));
    }
    faults
}

/// Entries of a table that are not above their room: without any there is no cycle.
fn upward(table: &str) -> Vec<String> {
    let table = rows(table);
    let above = |at: usize, used: &str| table[..at].iter().any(|(name, _)| *name == used);
    let mut wrong = Vec::new();
    for (at, (room, allowed)) in table.iter().enumerate() {
        let below = allowed.iter().filter(|used| !above(at, used));
        wrong.extend(below.map(|used| format!("`{used}` is not above `{room}`")));
    }
    wrong
}

/// All modules below `folder`, those of tests left out.
fn modules(folder: &Path, path: &[String]) -> Vec<Module> {
    let mut all = Vec::new();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let text = |file: &Path| fs::read_to_string(file).unwrap();
    let declares = [folder.join("mod.rs"), folder.with_extension("rs")];
    let of_tests: Vec<String> =
        declares.iter().filter(|file| file.is_file()).flat_map(|file| test_modules(&text(file))).collect();
    for entry in entries {
        let name = entry.file_stem().unwrap().to_str().unwrap().to_string();
        if of_tests.contains(&name) || path.is_empty() && ["lib", "main"].contains(&name.as_str()) {
            continue;
        }
        let below = [path, std::slice::from_ref(&name)].concat();
        if entry.is_dir() {
            all.extend(modules(&entry, &below));
        } else {
            let path = if name == "mod" { path.to_vec() } else { below };
            all.push(Module { source: text(&entry), file: entry, path });
        }
    }
    all
}

fn source_tree() -> Vec<Module> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = modules(&root.join("src"), &[]);
    all.iter_mut().for_each(|module| module.file = module.file.strip_prefix(root).unwrap().to_path_buf());
    all
}

#[test]
fn rooms_use_what_the_table_allows_and_nothing_else() {
    let modules = source_tree();
    let rooms: BTreeSet<&str> = modules.iter().map(|module| module.path[0].as_str()).collect();
    let listed: BTreeSet<&str> = rows(ROOMS).into_iter().map(|(room, _)| room).collect();
    assert_eq!(rooms, listed, "the rooms of src/ and those of the table");
    let faults = faults(&modules, ROOMS);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_table_has_no_cycle() {
    assert_eq!(upward(ROOMS), Vec::<String>::new());
    assert_eq!(upward("a: b\nb:"), ["`b` is not above `a`"]);
}

/// The faults of a module of `model` with this text, which may use `error` alone.
fn faults_of(file: &str, source: &str) -> Vec<String> {
    let path = file.trim_end_matches(".rs").split('/').map(str::to_string).collect();
    let module = Module { file: file.into(), path, source: source.into() };
    faults(&[module], "error:\nmodel: error")
}

#[test]
fn an_import_that_is_turned_round_is_told_with_file_and_line() {
    let report = |line: usize, room: &str| format!("model/build.rs:{line}: `model` may not use `{room}`");
    let good = "use crate::error::InputError;\nuse super::tet::TetElement;\n";
    assert_eq!(faults_of("model/build.rs", good), Vec::<String>::new());
    let cases = [
        ("use crate::step::Simulation;", vec![report(3, "step")]),
        ("use crate::Simulation;", vec![report(3, "step")]),
        (
            "use crate::{\n    Vec3,\n    model::{self, Body as Whole},\n    step::{self, form::StepCoefficients},\n    cpu,\n};",
            vec![report(6, "step"), report(6, "step"), report(7, "cpu")],
        ),
        (
            "fn f(x: &[u8; 3]) -> char {\n    '\"'\n}\nfn g() -> crate::step::StepCoefficients { crate::step::coefficients::<f64>() }",
            vec![report(6, "step"); 2],
        ),
        ("use super::super::step::Simulation;", vec![report(3, "step")]),
        ("use super::{super::step, tet};", vec![report(3, "step")]),
        (
            "mod inner {\n    use super::super::super::step;\n    use super::super::Body;\n}",
            vec![report(4, "step")],
        ),
        (
            "#[cfg(test)]\nfn f(x: &[u8; 3]) {\n    crate::cpu::f();\n}\nuse crate::step;",
            vec![report(7, "step")],
        ),
    ];
    for (turned, expected) in cases {
        assert_eq!(faults_of("model/build.rs", &format!("{good}{turned}\n")), expected, "{turned}");
    }
}

#[test]
fn what_is_no_code_and_what_is_a_test_may_name_any_room() {
    let free = "//! As [`crate::step`] says.\nuse crate::error::InputError;\n/* crate::step */\n\
                fn f<'a>(x: &'a str) -> &'a str { r#\"crate::\"step\"#; \"\\\"crate::step\"; x }\n\
                #[cfg(test)]\nmod tests {\n    use crate::step::Simulation;\n    mod deeper { use crate::cpu; }\n}\n";
    assert_eq!(faults_of("model/build.rs", free), Vec::<String>::new());
    assert_eq!(
        test_modules("#[cfg(test)]\npub(crate) mod sample;\nmod other;\n#[cfg(test)]\nmod tests {}\n"),
        ["sample"]
    );
}

#[test]
fn an_entry_that_nobody_needs_is_told() {
    assert_eq!(faults_of("model/build.rs", "use super::tet;"), ["`model` does not use `error` any more"]);
}

/// Crates that a user of the library need not build: those of `gpu`, `window` and `cli`.
const OPTIONAL: &[&str] = &[
    "clap",
    "egui",
    "egui-wgpu",
    "egui-winit",
    "egui_plot",
    "epaint_default_fonts",
    "gif",
    "indicatif",
    "naga",
    "plotters",
    "png",
    "pollster",
    "wgpu",
    "winit",
];

/// The crates that the library is built with.
fn crates(features: &[&str]) -> BTreeSet<String> {
    let asked = ["tree", "--edges", "normal", "--prefix", "none", "--offline", "--locked"];
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(asked).args(features).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = cargo.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_string).collect()
}

#[test]
fn without_its_features_the_library_has_no_device_no_window_and_no_command_line() {
    let (bare, whole) = (crates(&["--no-default-features"]), crates(&[]));
    for name in OPTIONAL {
        assert!(whole.contains(*name), "the program is not built with `{name}` any more");
        assert!(!bare.contains(*name), "the library is built with `{name}`");
    }
    assert!(bare.contains("nalgebra"), "{bare:?}");
}
