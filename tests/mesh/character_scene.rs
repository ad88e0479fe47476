//! Characters on the command line and in a scene: made, simulated, or refused with the field.

use crate::common::{refused, succeeds};

/// The number in the line of the statistics that begins so.
fn number(told: &str, line: &str) -> usize {
    let line = told.lines().find(|l| l.starts_with(line)).unwrap();
    line.split_whitespace().find_map(|word| word.parse().ok()).unwrap()
}

#[test]
fn characters_are_listed_made_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let list = succeeds(folder, &["mesh", "make"]);
    for name in ["bear", "bunny", "dummy", "elephant", "hippo", "koala", "penguin", "pig"] {
        assert!(list.lines().any(|line| line.starts_with(name)), "{list}");
    }
    let told = succeeds(folder, &["mesh", "make", "penguin", "--out", "penguin.mesh"]);
    assert!(told.contains("dihedral angles") && told.contains("filled with cells of"), "{told}");
    assert!((6600..=7250).contains(&number(&told, "tetrahedra")), "{told}");
    let again = succeeds(folder, &["mesh", "penguin.mesh"]);
    assert_eq!(number(&again, "tetrahedra"), number(&told, "tetrahedra"));
    let told = succeeds(folder, &["mesh", "make", "bear", "--tets", "2000", "--scale", "0.1"]);
    assert!((1900..=2100).contains(&number(&told, "tetrahedra")), "{told}");
    succeeds(folder, &["mesh", "make", "bear", "--cell", "0.1"]);
    // A surface of its own can be filled again.
    let told = succeeds(folder, &["mesh", "make", "bunny", "--surface", "4000", "--out", "bunny.obj"]);
    assert!((3800..=4200).contains(&number(&told, "triangles")), "{told}");
    succeeds(folder, &["mesh", "bunny.obj", "--fill", "2000"]);
}

const SCENE: &str = r#"
[[body]]
name = "toy"
mesh = { character = "bear", target_tets = 1000, scale = 0.3 }
material = { model = "arap", mu = 1e5 }
"#;

#[test]
fn a_character_is_a_body() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("scene.toml"), SCENE).unwrap();
    succeeds(folder, &["run", "scene.toml", "--frames", "2", "--out", "results", "--backend", "cpu"]);
    succeeds(&folder.join("results"), &["run", "scene.toml", "--frames", "1", "--backend", "cpu"]);
}

#[test]
fn faults_are_named_by_field() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    refused(folder, &["mesh", "make", "pinguin"], &["NAME", "penguin", "dummy"]);
    refused(folder, &["mesh", "make", "pig", "--tets", "3"], &["--tets"]);
    refused(folder, &["mesh", "make", "pig", "--cell", "0"], &["--cell"]);
    refused(folder, &["mesh", "make", "pig", "--scale", "0"], &["--scale"]);
    refused(folder, &["mesh", "make", "pig", "--surface", "3"], &["--surface"]);
    refused(folder, &["mesh", "make", "pig", "--tets", "99", "--surface"], &["--surface"]);
    refused(folder, &["mesh", "make", "pig", "--out", "pig.txt"], &["txt"]);
    refused(folder, &["mesh"], &["<INPUT>"]);
    let scene = |mesh: &str| SCENE.replace(r#"character = "bear", target_tets = 1000, scale = 0.3"#, mesh);
    for (mesh, mentions) in [
        (r#"character = "pigg""#, &["body.toy.mesh.character", "scene.toml:4", "`pig`", "koala"][..]),
        (r#"character = 3"#, &["body.toy.mesh"]),
        (r#"character = "pig", cell = -0.1"#, &["body.toy.mesh.cell"]),
        (r#"character = "pig", cell = 0.1, target_tets = 100"#, &["body.toy.mesh.cell", "not both"]),
        (r#"character = "pig", scale = 0.0"#, &["body.toy.mesh.scale"]),
        (r#"character = "pig", target_tets = 1"#, &["body.toy.mesh", "target_tets"]),
        (r#"character = "pig", tets = 100"#, &["body.toy.mesh.tets"]),
        (r#"character = "pig", file = "a.mesh""#, &["`file` or `character`, not both"]),
    ] {
        std::fs::write(folder.join("scene.toml"), scene(mesh)).unwrap();
        refused(folder, &["run", "scene.toml", "--frames", "1", "--backend", "cpu"], mentions);
    }
}
