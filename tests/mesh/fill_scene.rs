//! A surface on the command line and in a scene: filled, simulated, or refused with file and field.

use crate::common::{refused, succeeds};

const SCENE: &str = r#"
[[body]]
name = "ball"
mesh = { surface = "ball.obj", target_tets = 600 }
material = { model = "arap", mu = 1e5 }
"#;

#[test]
fn a_surface_becomes_a_body() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ball = r#"generate = "ball", radius = 0.5, cells = 8"#;
    succeeds(folder, &["mesh", "--generate", ball, "--out", "ball.obj"]);
    let told = succeeds(folder, &["mesh", "ball.obj", "--fill", "2000", "--out", "ball.mesh"]);
    assert!(told.contains("dihedral angles") && told.contains("filled with cells of"), "{told}");
    let again = succeeds(folder, &["mesh", "ball.mesh"]);
    let tets =
        again.lines().find(|l| l.starts_with("tetrahedra")).unwrap().split_whitespace().nth(1).unwrap();
    assert!((1900..=2100).contains(&tets.parse::<usize>().unwrap()), "{tets}");
    succeeds(folder, &["mesh", "ball.obj", "--cell", "0.1"]);

    std::fs::write(folder.join("scene.toml"), SCENE).unwrap();
    succeeds(folder, &["run", "scene.toml", "--frames", "3", "--out", "results", "--backend", "cpu"]);
    // The scene of the results names the surface so that it can be run from any folder.
    succeeds(&folder.join("results"), &["run", "scene.toml", "--frames", "1", "--backend", "cpu"]);
}

#[test]
fn faults_are_named_by_file_and_field() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("sheet.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    refused(folder, &["mesh", "sheet.obj", "--fill", "1000"], &["sheet.obj", "open"]);
    refused(folder, &["mesh", "sheet.obj", "--fill", "1000", "--cell", "1"], &["--cell"]);
    refused(folder, &["mesh", "nowhere.obj", "--fill", "1000"], &["nowhere.obj"]);
    let scene = |mesh: &str| SCENE.replace(r#"surface = "ball.obj", target_tets = 600"#, mesh);
    for (mesh, mentions) in [
        (r#"surface = "sheet.obj", target_tets = 600"#, &["sheet.obj", "open"][..]),
        (r#"surface = "sheet.obj""#, &["body.ball.mesh.target_tets", "scene.toml:4"]),
        (r#"surface = "sheet.obj", cell = 0.1, target_tets = 1"#, &["body.ball.mesh.cell", "not both"]),
        (r#"surface = "sheet.obj", cell = -0.1"#, &["body.ball.mesh.cell"]),
        (r#"surface = "sheet.obj", file = "a.mesh""#, &["`file` or `surface`, not both"]),
        (r#"surface = "sheet.obj", cels = 0.1"#, &["cels"]),
    ] {
        std::fs::write(folder.join("scene.toml"), scene(mesh)).unwrap();
        refused(folder, &["run", "scene.toml", "--frames", "1", "--backend", "cpu"], mentions);
    }
}
