//! `--set path=value` reaches every field, and says why where it cannot.

use dashpot::scene::{Path, Scene};
use dashpot::setup::load_text;

const SCENE: &str = r#"[damping]
model = "laplacian"
[[body]]
name = "bar"
mesh = { generate = "box", cells = [2, 1, 1], size = [2.0, 1.0, 1.0] }
material = { model = "arap", mu = 2000.0 }
[[body.attach]]
select = { nearest = [0.0, 0.0, 0.0] }
[[body.attach]]
select = { nearest = [2.0, 0.0, 0.0] }
path = { kind = "translate", velocity = [1.0, 0.0, 0.0] }
[[body]]
mesh = { generate = "box", cells = [1, 1, 1], size = [1.0, 1.0, 1.0] }
material = { model = "arap", mu = 1000.0 }
"#;

fn set(overrides: &[&str]) -> Result<Scene, String> {
    let overrides: Vec<String> = overrides.iter().map(|given| given.to_string()).collect();
    load_text("scene.toml", SCENE, &overrides).map(|loaded| loaded.scene).map_err(|error| error.to_string())
}

#[test]
fn values_of_every_kind_arrive() {
    let scene = set(&[
        "damping.stiffness=1e-4",
        "damping.model=none",
        "integrator.kind=\"bdf2\"",
        "time.step = .5",
        "time.frames=7",
        "gravity.1=-1.62",
        "body.bar.material.mu=500",
        "body.0.attach.1.stiffness=3e3",
        "body.bar.attach.1.path.velocity.2=4",
        "body.bar.mesh.cells=[4,1,1]",
        "body.bar.mesh.size.0=4",
        "body.body1.position.1=2",
        "body.1.stretch=[1,2,1]",
        "body.1.rotation.degrees=45",
        "description=two bars, one held",
    ])
    .unwrap();
    assert_eq!(scene.damping.stiffness, 1e-4);
    assert_eq!(scene.damping.model, "none");
    assert_eq!(scene.integrator.kind, "bdf2");
    assert_eq!((scene.time.step, scene.time.frames), (0.5, 7));
    // An entry of a list that the scene leaves to its default.
    assert_eq!(scene.gravity, [0.0, -1.62, 0.0]);
    assert_eq!(scene.bodies[0].material.mu, Some(500.0));
    assert_eq!(scene.bodies[0].attach[1].stiffness, 3e3);
    assert_eq!(scene.bodies[0].attach[1].path, Some(Path::Translate { velocity: [1.0, 0.0, 4.0] }));
    let mesh = toml::Value::try_from(&scene.bodies[0].mesh).unwrap();
    assert_eq!(mesh["cells"], toml::Value::from(vec![4, 1, 1]));
    assert_eq!(mesh["size"], toml::Value::from(vec![4.0, 1.0, 1.0]));
    assert_eq!(scene.bodies[1].position, [0.0, 2.0, 0.0]);
    assert_eq!(scene.bodies[1].stretch, [1.0, 2.0, 1.0]);
    assert_eq!(scene.bodies[1].rotation.degrees, 45.0);
    assert_eq!(scene.description, "two bars, one held");
}

#[test]
fn whole_lists_and_tables_can_be_replaced() {
    let scene = set(&[
        "gravity=[0,0,0]",
        "body.bar.attach=[]",
        "body.bar.material={ model = \"corotated\", young_modulus = 1e5, poisson_ratio = 0.4 }",
    ])
    .unwrap();
    assert_eq!(scene.gravity, [0.0; 3]);
    assert!(scene.bodies[0].attach.is_empty());
    assert_eq!(scene.bodies[0].material.model, "corotated");
}

#[test]
fn later_overrides_win_and_see_the_earlier() {
    let scene = set(&["body.1.name=block", "body.block.material.mu=1", "body.block.material.mu=2"]).unwrap();
    assert_eq!((scene.bodies[1].name.as_str(), scene.bodies[1].material.mu), ("block", Some(2.0)));
}

#[test]
fn what_cannot_be_set_is_refused_with_the_field_and_the_argument() {
    // The override, and the parts that its message must have.
    let table: &[(&str, &[&str])] = &[
        ("damping.stiffness", &["no `=`", "--set damping.stiffness"]),
        ("=3", &["names joined"]),
        ("time..step=3", &["time..step: ", "single dots"]),
        ("time.step=", &["time.step: ", "expected a value"]),
        ("time.step=[1", &["time.step: ", "not valid TOML"]),
        ("time.step.x=3", &["time.step: expected a number, got a table", "given by --set time.step.x=3"]),
        ("damping.model.x=3", &["damping.model.x: ", "`damping.model` is a string"]),
        ("body.0.attach.2.stiffness=1", &["list of 2", "below 2"]),
        ("body.1.attach.0.stiffness=1", &["`body.1.attach` is empty"]),
        ("body.bar.mesh.cells.3=1", &["list of 3"]),
        ("gravity.3=1", &["gravity.3: ", "list of 3"]),
        ("gravity.x=1", &["gravity"]),
        ("body.beam.material.mu=1", &["no body `beam`", "bar, body1"]),
        ("body.2.material.mu=1", &["no body `2`", "bar, body1"]),
        ("body.bar.material.colour.0=1", &["no list `body.0.material.colour`"]),
        (
            "time.stop=1",
            &["time.stop: there is no such field", "did you mean `step`", "given by --set time.stop=1"],
        ),
        ("time.frames=many", &["time.frames: expected a whole number", "\"many\"", "--set time.frames=many"]),
        ("time.frames=1.5", &["time.frames: expected a whole number"]),
        ("time.step=nan", &["time.step: must be a finite number"]),
        ("time.step=1e999", &["time.step"]),
        (
            "damping.stiffness=-1",
            &["damping.stiffness: must be 0 or more, got -1 (given by --set damping.stiffness=-1)"],
        ),
        ("body.bar.material.mu=-1", &["body.bar.material.mu: must be positive", "--set"]),
        ("body.bar.mesh.cells=[1,1]", &["body.bar.mesh.cells: ", "--set"]),
        ("body.1.name=bar", &["body.1.name: must be unique"]),
        ("body.0.attach.0.path.kind=circle", &["body.bar.attach.0.path.axis: is required", "--set"]),
        ("body=3", &["body: expected a list"]),
    ];
    for (given, parts) in table {
        let message = set(&[given]).expect_err(given);
        for part in *parts {
            assert!(message.contains(part), "{given}: {message} (lacks: {part})");
        }
        assert!(!message.contains("scene.toml:"), "the file is not at fault: {message}");
    }
}

#[test]
fn a_fault_of_the_file_keeps_its_line_when_other_fields_are_overridden() {
    let broken = SCENE.replace("mu = 2000.0", "mu = -1");
    let error = load_text("scene.toml", &broken, &["time.step=0.1".into()]).unwrap_err().to_string();
    assert_eq!(error, "scene.toml:6: body.bar.material.mu: must be positive, got -1");
    assert!(
        load_text("scene.toml", &broken, &["body.bar.material.mu=1".into()]).is_ok(),
        "an override repairs it"
    );
}
