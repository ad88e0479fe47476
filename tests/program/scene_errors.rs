//! Every fault of a scene is told with file, line and field.

use dashpot::error::{Error, InputError};
use dashpot::setup::{load, load_text};

/// The input error of a scene that must not load.
fn fault_of(text: &str) -> InputError {
    match load_text("scene.toml", text, &[]) {
        Err(Error::Input(error)) => error,
        Err(other) => panic!("not an input error: {other}\n{text}"),
        Ok(_) => panic!("a broken scene was accepted:\n{text}"),
    }
}

/// A whole scene with `change` applied to its text.
const GOOD: &str = r#"gravity = [0.0, -9.81, 0.0]
[time]
step = 0.02
frames = 10
[damping]
model = "laplacian"
stiffness = 1e-4
[[body]]
name = "bar"
mesh = { generate = "box", cells = [2, 1, 1], size = [2.0, 1.0, 1.0] }
material = { model = "arap", mu = 2000.0 }
[[body.attach]]
select = { nearest = [0.0, 0.0, 0.0] }
stiffness = 1e4
[body.attach.path]
kind = "keyframes"
times = [
    0.0,
    1.0,
]
offsets = [
    [0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
]
[[body]]
name = "cape"
mesh = { generate = "cloth", cells = [3, 3], size = [1.0, 1.0] }
material = { model = "arap", young_modulus = 1e5, poisson_ratio = 0.3 }
"#;

/// Every fault of the times of an attachment and of the steering of momenta, one a line.
#[test]
fn what_could_never_act_is_refused() {
    let held = |control: &str| {
        format!(
            "[conservation]\nmethod = \"cpd\"\n[[conservation.control]]\nbody = \"bar\"\n{control}\n{GOOD}"
        )
        .replace("gravity = [0.0, -9.81, 0.0]\n", "")
    };
    let keys = |times: &str, values: &str| format!("momentum = {{ times = {times}, values = {values} }}");
    let one = "[[1.0, 0.0, 0.0]]";
    let two = "[[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]";
    let again = |times: &str| {
        let first = keys("[0.5, 1.0]", two);
        format!("{first}\n[[conservation.control]]\nbody = \"bar\"\n{}", keys(times, one))
    };
    let at = "conservation.control";
    let controls = [
        (String::new(), 3, format!("{at}.0"), "steers nothing; expected `momentum`"),
        (keys("[0.0]", one), 5, format!("{at}.0.momentum.times.0"), "expected a time after 0, got 0"),
        (keys("[-2.0, -1.0]", two), 5, format!("{at}.0.momentum.times.0"), "could never act"),
        (
            "energy = { times = [1.0], values = [-3.0] }".into(),
            5,
            format!("{at}.0.energy.values.0"),
            "0 or more",
        ),
        (again("[0.75]"), 8, format!("{at}.1.momentum.times"), "control 0 steers it from 0.5 to 1 s"),
        // not between the others' times, but in the step of 0.02 s that ends there
        (again("[1.0]"), 8, format!("{at}.1.momentum.times"), "expected other times, or one table"),
    ];
    for (control, line, field, word) in controls {
        let error = fault_of(&held(&control));
        let found = (error.line, error.field.clone().unwrap_or_default());
        assert_eq!(found, (Some(line), field), "{control}: {error}");
        assert!(error.message.contains(word), "{control}: {error}");
    }
    let spare = held(&keys("[1.0]", one)).replace("method = \"cpd\"", "method = \"cpd\"\nhold = [\"L\"]");
    let error = fault_of(&spare);
    assert_eq!(error.field.as_deref(), Some("conservation.control.0.momentum"), "{error}");
    assert!(error.message.contains("expected its letter in conservation.hold"), "{error}");
    for good in [again("[1.02]"), keys("[0.0, 1.0]", two), keys("[-1.0, 1.0]", two)] {
        load_text("scene.toml", &held(&good), &[]).unwrap();
    }

    let attached = |times: &str| GOOD.replace("stiffness = 1e4\n", &format!("stiffness = 1e4\n{times}\n"));
    let attachments = [
        ("from = -1.0", 15, "body.bar.attach.0.from", "0 or more, got -1"),
        ("from = 2.0\nuntil = 2.0", 16, "body.bar.attach.0.until", "later than `from`, which is 2, got 2"),
        ("until = 0.0", 15, "body.bar.attach.0.until", "later than `from`, which is 0"),
        ("from = 0.041\nuntil = 0.059", 16, "body.bar.attach.0.until", "it would never hold"),
        ("from = \"now\"", 15, "body.bar.attach.0.from", "number"),
        ("till = 1.0", 15, "body.bar.attach.0", "until"),
    ];
    for (times, line, field, word) in attachments {
        let error = fault_of(&attached(times));
        assert_eq!(error.line, Some(line), "{times}: {error}");
        assert!(error.field.as_deref().is_some_and(|found| found.starts_with(field)), "{times}: {error}");
        assert!(error.message.contains(word), "{times}: {error}");
    }
    load_text("scene.toml", &attached("from = 0.039\nuntil = 0.041"), &[]).unwrap();
}

#[test]
fn the_unbroken_scene_loads() {
    let loaded = load_text("scene.toml", GOOD, &[]).expect("the scene that the tests break is good");
    assert_eq!(loaded.scene.bodies.len(), 2);
    assert_eq!(loaded.name, "scene");
}

#[test]
fn each_fault_names_its_line_and_field() {
    // What is replaced by what; then the line and the field of the message, and a word of it.
    let table: &[(&str, &str, usize, &str, &str)] = &[
        // Syntax.
        ("step = 0.02", "step = ", 3, "time.step", "expected a value"),
        ("frames = 10", "frames = 10 20", 4, "time.frames", ""),
        ("[damping]", "[damping", 5, "", ""),
        ("frames = 10", "step = 0.01", 4, "time.step", "duplicate key"),
        ("frames = 10", "frames = 99999999999999999999999", 4, "time.frames", "too large"),
        ("step = 0.02", "step = 1e999", 3, "time.step", "too large"),
        ("name = \"cape\"", "name = \"cape", 26, "body.cape.name", ""),
        // Unknown fields.
        ("step = 0.02", "stp = 0.02", 3, "time.stp", "did you mean `step`"),
        ("[damping]", "[dampng]", 5, "dampng", "did you mean `damping`"),
        ("mu = 2000.0", "nu = 2000.0", 11, "body.bar.material.nu", "no such field"),
        ("cells = [3, 3]", "sells = [3, 3]", 27, "body.cape.mesh.sells", "did you mean `cells`"),
        ("kind = \"keyframes\"", "kind = \"keyframes\"\nspeed = 3", 17, "body.bar.attach.0.path.speed", ""),
        // Missing fields: the line of the table that lacks them.
        ("material = { model = \"arap\", mu = 2000.0 }\n", "", 8, "body.bar.material", "required"),
        ("model = \"arap\", mu", "mu", 11, "body.bar.material.model", "required"),
        (", size = [1.0, 1.0]", "", 27, "body.cape.mesh.size", "required"),
        ("generate = \"cloth\", ", "", 27, "body.cape.mesh", "generate"),
        ("kind = \"keyframes\"\n", "", 15, "body.bar.attach.0.path.kind", "required"),
        // Types.
        ("step = 0.02", "step = \"fast\"", 3, "time.step", "a number"),
        ("frames = 10", "frames = 10.5", 4, "time.frames", "whole number"),
        ("frames = 10", "frames = -10", 4, "time.frames", "whole number"),
        ("[0.0, -9.81, 0.0]", "[0.0, -9.81]", 1, "gravity", "a list of 3"),
        ("[0.0, -9.81, 0.0]", "[0.0, true, 0.0]", 1, "gravity.1", "a number"),
        ("[0.0, -9.81, 0.0]", "9.81", 1, "gravity", "a list of 3"),
        ("cells = [2, 1, 1]", "cells = [2, 1]", 10, "body.bar.mesh.cells", ""),
        ("cells = [2, 1, 1]", "cells = [2, 1.5, 1]", 10, "body.bar.mesh.cells.1", "whole number"),
        (
            "    [0.0, 1.0, 0.0],",
            "    [0.0, \"up\", 0.0],",
            23,
            "body.bar.attach.0.path.offsets.1.1",
            "number",
        ),
        ("\"keyframes\"", "\"keyframe\"", 16, "body.bar.attach.0.path.kind", "did you mean `keyframes`"),
        ("\"cloth\"", "\"clth\"", 27, "body.cape.mesh.generate", "did you mean `cloth`"),
        ("[time]", "solver = 3\n[time]", 2, "solver", "table"),
        ("[time]", "solver.precision = \"quarter\"\n[time]", 2, "solver.precision", "double, single, half"),
        ("[time]", "solver.global = \"lu\"\n[time]", 2, "solver.global", "cholesky, hybrid, chebyshev, auto"),
        ("[time]", "solver.inner = -2\n[time]", 2, "solver.inner", "0 or more"),
        ("[damping]", "[damping]\nscope = \"all\"", 6, "damping.scope", "global, local, both"),
        (
            "[damping]",
            "[damping]\ntorque = \"lp\"",
            6,
            "damping.torque",
            "edges, radial, linear-program, none",
        ),
        ("[damping]", "[damping]\nsweeps = 0", 6, "damping.sweeps", "from 1 to 10000"),
        ("[damping]", "[damping]\ngamma = 1.5", 6, "damping.gamma", "from 0 to 1"),
        ("[damping]", "[damping]\ngamma = \"much\"", 6, "damping.gamma", "a number"),
        // Ranges.
        ("[time]", "solver.inner = 10001\n[time]", 2, "solver.inner", "from 0 to 10000"),
        ("step = 0.02", "step = 0.0", 3, "time.step", "positive"),
        ("step = 0.02", "step = nan", 3, "time.step", "finite"),
        ("frames = 10", "substeps = 0", 4, "time.substeps", "1 or more"),
        ("frames = 10", "iterations = 0", 4, "time.iterations", "1 or more"),
        ("frames = 10", "tolerance = -1e-3", 4, "time.tolerance", "0 or more"),
        ("-9.81", "-inf", 1, "gravity.1", "finite"),
        ("[time]", "integrator.kind = \"bdf3\"\n[time]", 2, "integrator.kind", "did you mean `bdf2`"),
        ("\"laplacian\"", "\"laplace\"", 6, "damping.model", "did you mean `laplacian`"),
        ("stiffness = 1e-4", "stiffness = -1e-4", 7, "damping.stiffness", "0 or more"),
        ("stiffness = 1e-4", "mass = -1", 7, "damping.mass", "0 or more"),
        ("stiffness = 1e-4", "coefficient = 1.5", 7, "damping.coefficient", "from 0 to 1"),
        ("mu = 2000.0", "mu = -3", 11, "body.bar.material.mu", "must be positive, got -3"),
        ("name = \"cape\"", "name = \"bar\"", 26, "body.1.name", "unique"),
        ("name = \"cape\"", "name = \"7\"", 26, "body.1.name", "number"),
        ("name = \"cape\"", "name = \"a.b\"", 26, "body.1.name", "must not contain"),
        ("name = \"cape\"", "stretch = [1.0, 0.0, 1.0]", 26, "body.body1.stretch.1", "must not be 0"),
        ("name = \"cape\"", "rotation.axis = [0, 0, 0]", 26, "body.body1.rotation.axis", "zero"),
        ("size = [2.0, 1.0, 1.0]", "size = [2.0, inf, 1.0]", 10, "body.bar.mesh.size.1", "finite"),
        (
            "generate = \"cloth\", cells = [3, 3], size = [1.0, 1.0]",
            "file = \"a.obj\", scale = 0",
            27,
            "body.cape.mesh.scale",
            "positive",
        ),
        // Materials.
        (
            "\"arap\", mu",
            "\"rubber\", mu",
            11,
            "body.bar.material.model",
            "arap, corotated, stvk, neo-hookean, corotated-linear, valanis-landel, spring",
        ),
        ("\"arap\", young", "\"corotated\", young", 28, "body.cape.material.model", "cloth"),
        ("mu = 2000.0", "mu = 1, lambda = 1", 11, "body.bar.material.lambda", "does not belong"),
        ("mu = 2000.0", "mu = 1, thickness = 1", 11, "body.bar.material.thickness", "solid"),
        ("mu = 2000.0", "mu = 1, bending = 1", 11, "body.bar.material.bending", "solid"),
        ("mu = 2000.0", "stiffness = 1", 11, "body.bar.material.stiffness", "does not belong"),
        ("mu = 2000.0", "density = 1", 11, "body.bar.material.mu", "required"),
        ("mu = 2000.0", "mu = 1, density = 0", 11, "body.bar.material.density", "positive"),
        ("mu = 2000.0", "mu = 1, density = 1, mass = 1", 11, "body.bar.material.mass", "not both"),
        ("\"arap\", mu", "\"corotated\", mu", 11, "body.bar.material.lambda", "required"),
        ("mu = 2000.0", "mu = 1, keyframes = 3", 11, "body.bar.material.keyframes", "table"),
        (
            "mu = 2000.0",
            "mu = 1, keyframes = { times = [0] }",
            11,
            "body.bar.material.keyframes.factors",
            "required",
        ),
        (
            "mu = 2000.0",
            "mu = 1, keyframes = { times = [], factors = [] }",
            11,
            "body.bar.material.keyframes.times",
            "at least one",
        ),
        (
            "mu = 2000.0",
            "mu = 1, keyframes = { times = [0], factors = [1, 2] }",
            11,
            "body.bar.material.keyframes.factors",
            "as many as `times`",
        ),
        (
            "mu = 2000.0",
            "mu = 1, keyframes = { times = [1, 1], factors = [1, 2] }",
            11,
            "body.bar.material.keyframes.times.1",
            "later than",
        ),
        (
            "mu = 2000.0",
            "mu = 1, keyframes = { times = [0, 1], factors = [1, 0] }",
            11,
            "body.bar.material.keyframes.factors.1",
            "from 1e-9 to 1e9",
        ),
        ("\"arap\", mu = 2000.0", "\"spring\"", 11, "body.bar.material.stiffness", "required"),
        (
            "\"arap\", mu = 2000.0",
            "\"spring\", stiffness = 1, shear_stiffness = 1",
            11,
            "body.bar.material.shear_stiffness",
            "solid",
        ),
        (", poisson_ratio = 0.3", "", 28, "body.cape.material.poisson_ratio", "required"),
        ("young_modulus = 1e5, ", "", 28, "body.cape.material.young_modulus", "required"),
        ("ratio = 0.3", "ratio = 0.5", 28, "body.cape.material.poisson_ratio", "below 0.5"),
        ("ratio = 0.3", "ratio = 0.3, mu = 1", 28, "body.cape.material.mu", "one way"),
        (
            "ratio = 0.3",
            "ratio = 0.3, strain_limits = [1.1, 1.2]",
            28,
            "body.cape.material.strain_limits",
            "low",
        ),
        (
            "ratio = 0.3",
            "ratio = 0.3, bending_rest = \"round\"",
            28,
            "body.cape.material.bending_rest",
            "flat, curved",
        ),
        // Attachments.
        ("{ nearest = [0.0, 0.0, 0.0] }", "{ }", 13, "body.bar.attach.0.select", "exactly one"),
        (
            "nearest = [0.0, 0.0, 0.0]",
            "nearest = [0, 0, 0], vertices = [1]",
            13,
            "body.bar.attach.0.select",
            "exactly one",
        ),
        (
            "nearest = [0.0, 0.0, 0.0]",
            "vertices = []",
            13,
            "body.bar.attach.0.select.vertices",
            "at least one",
        ),
        (
            "nearest = [0.0, 0.0, 0.0]",
            "vertices = [-1]",
            13,
            "body.bar.attach.0.select.vertices.0",
            "whole number",
        ),
        ("nearest = [0.0, 0.0, 0.0]", "min = [0, 0, 0]", 13, "body.bar.attach.0.select.max", "required"),
        (
            "nearest = [0.0, 0.0, 0.0]",
            "min = [0, 1, 0], max = [1, 0, 1]",
            13,
            "body.bar.attach.0.select.max.1",
            "below",
        ),
        ("stiffness = 1e4", "stiffness = 0", 14, "body.bar.attach.0.stiffness", "positive"),
        ("    1.0,\n]", "    -1.0,\n]", 19, "body.bar.attach.0.path.times.1", "later"),
        ("    [0.0, 1.0, 0.0],\n", "", 21, "body.bar.attach.0.path.offsets", "as many as"),
    ];
    let mut wrong = Vec::new();
    for (old, new, line, field, word) in table {
        let text = GOOD.replacen(old, new, 1);
        assert_ne!(text, GOOD, "nothing to replace: {old}");
        let error = fault_of(&text);
        let right = error.file.as_deref() == Some("scene.toml".as_ref())
            && error.line == Some(*line)
            && (field.is_empty() || error.field.as_deref() == Some(*field))
            && error.message.contains(word);
        if !right {
            wrong
                .push(format!("{old} -> {new}\n  expected :{line}: {field}: … {word} …\n  got      {error}"));
        }
        assert_eq!(Error::Input(error).exit_code(), 2);
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), table.len(), wrong.join("\n"));
}

#[test]
fn paths_and_circles_are_validated_too() {
    let with_path = |path: &str| {
        let start = GOOD.find("[body.attach.path]").unwrap();
        let end = GOOD.rfind("[[body]]").unwrap();
        fault_of(&format!("{}path = {{ {path} }}\n{}", &GOOD[..start], &GOOD[end..]))
    };
    for (path, field, word) in [
        ("kind = \"circle\", axis = [0, 0, 0], radius = 1, period = 1", "axis", "zero"),
        ("kind = \"circle\", axis = [0, 1, 0], radius = -1, period = 1", "radius", "0 or more"),
        ("kind = \"circle\", axis = [0, 1, 0], radius = 1, period = 0", "period", "positive"),
        ("kind = \"circle\", axis = [0, 1, 0], radius = 1", "period", "required"),
        ("kind = \"translate\", velocity = [0, 1]", "velocity", ""),
        ("kind = \"keyframes\", times = [], offsets = []", "times", "at least one"),
    ] {
        let error = with_path(path);
        assert_eq!(error.line, Some(15), "{error}");
        assert_eq!(error.field, Some(format!("body.bar.attach.0.path.{field}")), "{error}");
        assert!(error.message.contains(word), "{error}");
    }
}

#[test]
fn a_message_reads_as_promised() {
    let error = fault_of(&GOOD.replace("mu = 2000.0", "mu = -3"));
    assert_eq!(error.to_string(), "scene.toml:11: body.bar.material.mu: must be positive, got -3");
}

#[test]
fn windows_line_ends_and_byte_order_mark_do_not_shift_lines() {
    let text = format!("\u{feff}{}", GOOD.replace('\n', "\r\n"));
    assert!(load_text("scene.toml", &text, &[]).is_ok());
    let error = fault_of(&text.replace("mu = 2000.0", "mu = -3"));
    assert_eq!(error.line, Some(11), "{error}");
}

#[test]
fn integers_are_numbers() {
    let text = GOOD.replace("step = 0.02", "step = 1").replace("2000.0", "2000").replace("-9.81", "-9");
    let scene = load_text("scene.toml", &text, &[]).unwrap().scene;
    assert_eq!((scene.time.step, scene.bodies[0].material.mu, scene.gravity[1]), (1.0, Some(2000.0), -9.0));
}

#[test]
fn an_empty_scene_lacks_a_body() {
    for text in ["", "\n\n", "# nothing\n", "\u{feff}"] {
        let error = fault_of(text);
        assert_eq!((error.line, error.field.as_deref()), (Some(1), Some("body")), "{error}");
    }
    let error = fault_of("[body]\nname = \"x\"\n");
    assert_eq!((error.line, error.field.as_deref()), (Some(1), Some("body")), "{error}");
    assert!(error.message.contains("[[body]]"), "{error}");
}

#[test]
fn files_that_are_no_scenes_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let huge = folder.path().join("huge.toml");
    // A file of 100 MB that takes no room on the disk.
    std::fs::File::create(&huge).unwrap().set_len(100 << 20).unwrap();
    let cases = [
        (write("latin.toml", b"gravity = [0, 0, 0]\n# caf\xe9\n"), Some(2), "UTF-8"),
        (write("zeros.toml", &[0; 64]), Some(1), "not text"),
        (write("picture.toml", b"\x89PNG\r\n\x1a\n\x00\x00"), Some(1), "UTF-8"),
        (huge, None, "longer than"),
        (folder.path().to_path_buf(), None, "folder"),
        (folder.path().join("missing.toml"), None, "cannot be read"),
    ];
    for (path, line, word) in cases {
        let Err(Error::Input(error)) = load(path.to_str().unwrap(), &[]) else {
            panic!("{path:?} was accepted")
        };
        assert_eq!(error.file.as_ref(), Some(&path), "{error}");
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.contains(word), "{error}");
    }
}

#[test]
fn a_file_knows_its_folder_and_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("swing.toml");
    std::fs::write(&path, GOOD).unwrap();
    let loaded = load(path.to_str().unwrap(), &[]).unwrap();
    assert_eq!((loaded.name.as_str(), loaded.base_dir.as_path()), ("swing", folder.path()));
}

#[test]
fn an_unknown_scene_gets_a_list_and_a_suggestion() {
    let error = load("trampolin", &[]).unwrap_err().to_string();
    assert!(error.contains("did you mean `trampoline`?") && error.contains("bar, cube"), "{error}");
}

#[test]
fn faults_found_later_get_their_place() {
    let loaded = load_text("scene.toml", GOOD, &["body.cape.material.poisson_ratio=0.2".into()]).unwrap();
    let place = |field: &str| loaded.place(InputError::field(field, "does not work")).to_string();
    assert_eq!(place("body.0.material.mu"), "scene.toml:11: body.bar.material.mu: does not work");
    assert_eq!(place("body.bar.mesh"), "scene.toml:10: body.bar.mesh: does not work");
    assert_eq!(place("body.0.attach.0.select"), "scene.toml:13: body.bar.attach.0.select: does not work");
    assert_eq!(place("body.1.position"), "scene.toml:25: body.cape.position: does not work");
    assert_eq!(place("solver.precision"), "scene.toml:1: solver.precision: does not work");
    assert_eq!(
        place("body.1.material.poisson_ratio"),
        "body.cape.material.poisson_ratio: does not work (given by --set body.cape.material.poisson_ratio=0.2)"
    );
    // A fault inside a mesh file keeps its own place.
    let inside = InputError {
        field: Some("body.0.mesh.file".into()),
        ..InputError::at("hippo.mesh".as_ref(), 7, "not a number")
    };
    assert_eq!(loaded.place(inside).to_string(), "hippo.mesh:7: body.bar.mesh.file: not a number");
}

#[test]
fn each_fault_of_contact_names_its_line_and_field() {
    let good = "[contact]\nlaw = \"linear\"\n[[obstacle]]\nshape = \"sphere\"\nradius = 1.0\n[[obstacle]]\nshape = \"box\"\n\
                half_size = [1.0, 1.0, 1.0]\nspin = { degrees_per_second = 1.0 }\npath = { kind = \"translate\", velocity = [0.0, 0.0, 0.0] }\n";
    let body = "[[body]]\nmesh = { generate = \"box\", cells = [1, 1, 1], size = [1, 1, 1] }\nmaterial = { model = \"arap\", mu = 1 }\n";
    assert!(load_text("scene.toml", &format!("{good}{body}"), &[]).is_ok());
    let table: &[(&str, &str, usize, &str, &str)] = &[
        ("law = \"linear\"", "law = \"cubik\"", 2, "contact.law", "did you mean `cubic`"),
        ("law = \"linear\"", "lav = \"linear\"", 2, "contact.lav", "did you mean `law`"),
        ("law = \"linear\"", "stiffness = 0", 2, "contact.stiffness", "positive"),
        ("law = \"linear\"", "friction = -0.1", 2, "contact.friction", "0 or more"),
        ("law = \"linear\"", "thickness = -1", 2, "contact.thickness", "0 or more"),
        ("law = \"linear\"", "self = 3", 2, "contact.self", "boolean"),
        (
            "[[obstacle]]\nshape = \"sphere\"",
            "[[obstacl]]\nshape = \"sphere\"",
            3,
            "obstacl",
            "did you mean `obstacle`",
        ),
        ("shape = \"sphere\"", "shape = \"spere\"", 4, "obstacle.0.shape", "did you mean `sphere`"),
        ("shape = \"sphere\"\n", "", 3, "obstacle.0.shape", "required"),
        ("radius = 1.0", "radios = 1.0", 5, "obstacle.0.radios", "did you mean `radius`"),
        ("radius = 1.0", "radius = 0", 5, "obstacle.0.radius", "positive"),
        ("radius = 1.0\n", "", 3, "obstacle.0.radius", "required for a sphere"),
        (
            "radius = 1.0",
            "radius = 1.0\nhalf_size = [1, 1, 1]",
            6,
            "obstacle.0.half_size",
            "does not belong to a sphere",
        ),
        (
            "half_size = [1.0, 1.0, 1.0]",
            "half_size = [1.0, -1.0, 1.0]",
            8,
            "obstacle.1.half_size.1",
            "positive",
        ),
        ("half_size = [1.0", "friction = -1\nhalf_size = [1.0", 8, "obstacle.1.friction", "0 or more"),
        (
            "half_size = [1.0",
            "rotation = { axis = [0, 0, 0] }\nhalf_size = [1.0",
            8,
            "obstacle.1.rotation.axis",
            "zero",
        ),
        ("{ degrees", "{ axis = [0, 0, 0], degrees", 9, "obstacle.1.spin.axis", "zero"),
        ("degrees_per_second = 1.0", "axis = [1, 0, 0]", 9, "obstacle.1.spin.degrees_per_second", "required"),
        ("\"translate\"", "\"translat\"", 10, "obstacle.1.path.kind", "did you mean `translate`"),
        (
            "velocity = [0.0, 0.0, 0.0]",
            "velocity = [0.0, true, 0.0]",
            10,
            "obstacle.1.path.velocity",
            "a number",
        ),
        (
            "shape = \"sphere\"\nradius = 1.0",
            "shape = \"plane\"\nnormal = [0, 0, 0]",
            5,
            "obstacle.0.normal",
            "zero",
        ),
    ];
    for (from, to, line, field, word) in table {
        assert!(good.contains(from), "nothing to replace: {from}");
        let text = format!("{}{body}", good.replacen(from, to, 1));
        let error = fault_of(&text);
        let found = (error.line, error.field.clone().unwrap_or_default());
        assert!(found.0 == Some(*line) && found.1.starts_with(field), "{to}: {error}");
        assert!(error.message.contains(word), "{to}: {error}");
    }
}
