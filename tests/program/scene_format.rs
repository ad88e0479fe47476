//! Promises about the scene format as a whole: built-in scenes, round trip, documentation, and no panic on any text.

use std::collections::BTreeSet;

use dashpot::scene::{
    Attach, Body, Contact, ContactLaw, Damping, Generator, MeshSpec, Obstacle, ObstacleShape, Scene, Spin,
    builtin,
};
use dashpot::setup::{load, load_text};
use proptest::prelude::*;

const DOCUMENT: &str = include_str!("../../docs/scene-format.md");

fn read(text: &str) -> Scene {
    load_text("scene.toml", text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}")).scene
}

#[test]
fn every_builtin_scene_loads_and_describes_itself() {
    for builtin in builtin::SCENES {
        let loaded = load(builtin.name, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(loaded.name, builtin.name);
        assert!(!loaded.scene.description.is_empty(), "{} has no description", builtin.name);
        assert!(loaded.scene.time.frames > 0);
    }
}

#[test]
fn every_scene_in_the_assets_is_built_in() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/scenes");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(files, builtin::SCENES.iter().map(|scene| scene.name.to_string()).collect());
}

#[test]
fn builtin_scenes_survive_the_round_trip() {
    for builtin in builtin::SCENES {
        let scene = load(builtin.name, &[]).unwrap().scene;
        let text = scene.to_toml();
        let again = read(&text);
        assert_eq!(again, scene, "{text}");
        assert_eq!(again.to_toml(), text, "writing is stable");
    }
}

#[test]
fn defaults_are_written_out() {
    let text = load("cloth", &[]).unwrap().scene.to_toml();
    for written in
        ["substeps = 1", "tolerance = 0.0", "precision = \"double\"", "degrees = 0.0", "bending_stiffness ="]
    {
        assert!(text.contains(written), "{written} is missing in\n{text}");
    }
    let bar = load("bar", &["body.bar.material={ model = \"arap\", mu = 1 }".into()]).unwrap().scene;
    assert_eq!(bar.bodies[0].material.density, Some(1000.0));
}

/// The number itself if a scene may hold it, otherwise one with the same digits that it may hold.
fn in_range(x: f64) -> f64 {
    if x.abs() <= 1e100 { x } else { f64::from_bits(x.to_bits() & !(1 << 62)) }
}

proptest! {
    #[test]
    fn finite_numbers_survive_the_round_trip_to_the_last_bit(
        step in 1e-9..1e8f64,
        stiffness in any::<f64>().prop_map(|x| in_range(x).abs()),
        position in any::<[f64; 3]>().prop_map(|v| v.map(in_range)),
    ) {
        let mut scene = load("bar", &[]).unwrap().scene;
        scene.time.step = step;
        scene.damping.stiffness = stiffness;
        scene.bodies[0].position = position;
        let again = read(&scene.to_toml());
        prop_assert_eq!(again.time.step.to_bits(), step.to_bits());
        prop_assert_eq!(again.damping.stiffness.to_bits(), stiffness.to_bits());
        prop_assert_eq!(again.bodies[0].position.map(f64::to_bits), position.map(f64::to_bits));
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = load_text("scene.toml", &String::from_utf8_lossy(&bytes), &[]);
    }

    #[test]
    fn random_overrides_never_panic(given in "[a-z.0-9=\\[\\]{}\"' -]{0,40}") {
        let _ = load("bar", std::slice::from_ref(&given));
        let _ = load("bar", &[format!("body.bar.{given}")]);
        let _ = load("hair", &[format!("body.0.attach.0.{given}=1")]);
    }

    #[test]
    fn one_changed_byte_never_panics(scene in 0..builtin::SCENES.len(), at in any::<prop::sample::Index>(), byte in 0..128u8) {
        let mut bytes = builtin::SCENES[scene].text.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Err(error) = load_text("scene.toml", &String::from_utf8_lossy(&bytes), &[]) {
            let message = error.to_string();
            prop_assert!(message.starts_with("scene.toml:"), "no place: {message}");
        }
    }
}

#[test]
fn no_beginning_of_a_scene_panics() {
    for builtin in builtin::SCENES {
        for (end, _) in builtin.text.char_indices() {
            if let Err(error) = load_text("scene.toml", &builtin.text[..end], &[]) {
                let message = error.to_string();
                assert!(message.starts_with("scene.toml:"), "no place: {message}");
            }
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    let dotted = |names: usize| vec!["a"; names].join(".");
    for text in [
        format!("x = {}", "[".repeat(100_000)),
        format!("{} = 1", dotted(100_000)),
        format!("[{}]", dotted(100_000)),
        format!("x = {}", "{ a = ".repeat(100_000)),
        // Within the limits that the TOML reader has for each kind of nesting, but not for all of them together.
        format!("{0} = {1}1{2}", dotted(79), format!("{{ {} = ", dotted(79)).repeat(70), "}".repeat(70)),
    ] {
        assert!(load_text("scene.toml", &text, &[]).is_err());
    }
    for deep in [
        format!("{}=1", dotted(100_000)),
        format!("time={}1{}", format!("{{ {} = ", dotted(79)).repeat(70), "}".repeat(70)),
    ] {
        assert!(load("bar", &[deep]).is_err());
    }
}

/// One of each generator. The match has no wildcard, so that a new shape is not forgotten here.
fn generators() -> Vec<Generator> {
    let all = vec![
        Generator::Box { cells: [1; 3], size: [1.0; 3] },
        Generator::Ball { radius: 1.0, cells: 2 },
        Generator::Torus { radius: 1.0, tube: 0.2, cells: [9, 2] },
        Generator::TPipe { lengths: [1.0; 2], width: 0.2, cells: 2 },
        Generator::Sheet { cells: [2; 2], size: [1.0; 2], thickness: 0.1 },
        Generator::Cloth { cells: [2; 2], size: [1.0; 2] },
        Generator::Ribbon { cells: [9, 2], size: [1.0, 0.1] },
        Generator::Trapezoid { base: 4, rows: 2, edge: 1.0 },
        Generator::Annulus { radii: [1.0, 2.0], edge: 0.3 },
        Generator::Hair { strands: 3, segments: 3, length: 0.3, radius: 0.1 },
    ];
    for generator in &all {
        match generator {
            Generator::Box { .. }
            | Generator::Ball { .. }
            | Generator::Torus { .. }
            | Generator::TPipe { .. }
            | Generator::Sheet { .. }
            | Generator::Cloth { .. }
            | Generator::Ribbon { .. }
            | Generator::Trapezoid { .. }
            | Generator::Annulus { .. }
            | Generator::Hair { .. } => {}
        }
    }
    all
}

/// Scenes in which, taken together, every field occurs. Struct literals without `..` make sure that a new field is given.
fn every_field() -> Vec<toml::Value> {
    let material: dashpot::scene::Material = toml::from_str(
        "model = 'arap'\nmu = 1\nlambda = 1\nyoung_modulus = 1\npoisson_ratio = 0.1\ndensity = 1\nmass = 1\nvertex_mass = 1\nthickness = 1\n\
         strain_limits = [1, 1]\nbending = 1\nbending_rest = 'flat'\nstiffness = 1\nshear_stiffness = 1\nbending_stiffness = 1\n\
         yield_stress = 1\ncreep_rate = 1\nkeyframes = { times = [0], factors = [1] }\ncurves = { f = [], g = [], h = [] }",
    )
    .unwrap();
    let dashpot::scene::Material {
        model: _,
        mu: Some(_),
        lambda: Some(_),
        young_modulus: Some(_),
        poisson_ratio: Some(_),
        density: Some(_),
        mass: Some(_),
        vertex_mass: Some(_),
        yield_stress: Some(_),
        creep_rate: Some(_),
        thickness: Some(_),
        strain_limits: Some(_),
        bending: Some(_),
        bending_rest: Some(_),
        stiffness: Some(_),
        shear_stiffness: Some(_),
        bending_stiffness: Some(_),
        curves: Some(dashpot::scene::Curves { f: _, g: _, h: _ }),
        keyframes: Some(dashpot::scene::Keyframes { times: _, factors: _ }),
    } = &material
    else {
        panic!("a field of the material is not given above");
    };
    let attach = |text: &str| -> Attach { toml::from_str(text).unwrap() };
    let body = Body {
        material,
        attach: vec![
            attach(
                "select = { min = [0, 0, 0], max = [1, 1, 1], vertices = [0], nearest = [0, 0, 0] }\n\
                    path = { kind = 'translate', velocity = [0, 0, 0] }",
            ),
            attach(
                "select = { vertices = [0] }\npath = { kind = 'circle', axis = [0, 0, 1], radius = 1, period = 1 }",
            ),
            attach(
                "select = { vertices = [0] }\npath = { kind = 'keyframes', times = [0], offsets = [[0, 0, 0]] }",
            ),
        ],
        ..load("bar", &[]).unwrap().scene.bodies.remove(0)
    };
    let mut meshes: Vec<MeshSpec> = generators().into_iter().map(MeshSpec::Generate).collect();
    meshes.push(
        toml::Value::try_into(toml::from_str("file = 'x.mesh'\nscale = 1.0\nskin = 'x.obj'").unwrap())
            .unwrap(),
    );
    let surface = "surface = 'x.obj'\ntarget_tets = 100\nscale = 1.0\nskin = false";
    meshes.push(toml::Value::try_into(toml::from_str(surface).unwrap()).unwrap());
    meshes.push(toml::Value::try_into(toml::from_str("surface = 'x.obj'\ncell = 0.1").unwrap()).unwrap());
    for fineness in ["target_tets = 100", "cell = 0.1"] {
        let character = format!("character = 'pig'\nscale = 1.0\n{fineness}");
        meshes.push(toml::Value::try_into(toml::from_str(&character).unwrap()).unwrap());
    }
    let bodies = meshes.into_iter().map(|mesh| Body { mesh, ..body.clone() }).collect();
    let (contact, obstacles) = every_contact();
    let scene =
        Scene { bodies, contact, obstacles, damping: Damping::default(), ..load("bar", &[]).unwrap().scene };
    vec![toml::Value::try_from(scene).unwrap()]
}

/// Every field of contact, and of obstacles of every shape and law.
fn every_contact() -> (Contact, Vec<Obstacle>) {
    let contact = Contact {
        law: ContactLaw::Cubic,
        stiffness: Some(1.0),
        friction: 0.1,
        thickness: Some(0.1),
        bodies: true,
        itself: true,
    };
    let shapes = [ObstacleShape::Plane, ObstacleShape::Sphere, ObstacleShape::Box, ObstacleShape::Capsule]
        .map(|shape| match shape {
            ObstacleShape::Plane | ObstacleShape::Sphere | ObstacleShape::Box | ObstacleShape::Capsule => {
                shape
            }
        });
    let obstacle = |shape| Obstacle {
        shape,
        point: Some([0.0; 3]),
        normal: Some([1.0; 3]),
        centre: Some([0.0; 3]),
        radius: Some(1.0),
        half_size: Some([1.0; 3]),
        rotation: Some(Default::default()),
        ends: Some([[0.0; 3], [1.0; 3]]),
        friction: Some(0.2),
        path: None,
        spin: Some(Spin { axis: [1.0; 3], degrees_per_second: 1.0 }),
    };
    (contact, shapes.map(obstacle).into())
}

#[test]
fn contact_survives_the_round_trip_and_its_defaults_are_written_out() {
    let body = "[[body]]\nmesh = { generate = \"ball\", radius = 1, cells = 4 }\nmaterial = { model = \"arap\", mu = 1 }";
    let text = format!(
        "[contact]\nlaw = \"cubic\"\nstiffness = 3.5\nfriction = 0.25\nthickness = 0\nself = true\n\
         [[obstacle]]\nshape = \"plane\"\n[[obstacle]]\nshape = \"box\"\nhalf_size = [1, 2, 3]\nfriction = 0\n\
         path = {{ kind = \"translate\", velocity = [0, 0.1, 0] }}\nspin = {{ degrees_per_second = 3 }}\n{body}"
    );
    let scene = read(&text);
    assert_eq!(scene.obstacles[0].friction, Some(0.25), "that of [contact]");
    assert_eq!(scene.obstacles[0].normal, Some([0.0, 1.0, 0.0]));
    assert_eq!(scene.obstacles[1].friction, Some(0.0));
    let written = scene.to_toml();
    assert_eq!(read(&written), scene, "{written}");
    assert_eq!(read(&written).to_toml(), written, "writing is stable");
    let plain = read(body);
    assert_eq!(plain.contact, Contact::default());
    assert!(plain.obstacles.is_empty() && !plain.to_toml().contains("obstacle"));
}

fn collect(value: &toml::Value, keys: &mut BTreeSet<String>, tags: &mut BTreeSet<String>) {
    match value {
        toml::Value::Table(table) => {
            for (key, below) in table {
                keys.insert(key.clone());
                if let ("kind" | "generate" | "model" | "shape" | "law", Some(tag)) =
                    (key.as_str(), below.as_str())
                {
                    tags.insert(tag.into());
                }
                collect(below, keys, tags);
            }
        }
        toml::Value::Array(list) => list.iter().for_each(|below| collect(below, keys, tags)),
        _ => {}
    }
}

#[test]
fn the_document_explains_every_field() {
    let (mut keys, mut tags) = (BTreeSet::new(), BTreeSet::new());
    every_field().iter().for_each(|value| collect(value, &mut keys, &mut tags));
    // The number of fields there were when this was written; fewer means that the scene above has lost some.
    assert!(keys.len() >= 75, "{} fields: {keys:?}", keys.len());
    for key in &keys {
        let explained = DOCUMENT.lines().any(|line| line.contains(&format!("`{key}`")));
        let in_select =
            DOCUMENT.lines().any(|line| line.starts_with("| `{") && line.contains(&format!("{key} = ")));
        assert!(explained || in_select, "docs/scene-format.md does not explain `{key}`");
    }
    let names = dashpot::step::explicit::names()
        .into_iter()
        .chain(dashpot::damping::MODELS.iter().map(|model| model.name));
    for tag in tags.iter().map(String::as_str).chain(names) {
        assert!(
            DOCUMENT.contains(&format!("`\"{tag}\"`")),
            "docs/scene-format.md does not explain \"{tag}\""
        );
    }
}

#[test]
fn the_examples_of_the_document_load() {
    let examples: Vec<&str> =
        DOCUMENT.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert_eq!(examples.len(), 10);
    for example in examples {
        read(example);
    }
}
