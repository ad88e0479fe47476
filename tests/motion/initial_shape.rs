//! Bodies that start in another shape than their rest shape: from a file, or squeezed into a box.

use crate::common::{self, run, size};
use dashpot::mesh::write;
use dashpot::scene::LoadedScene;
use dashpot::setup::{self, build};
use dashpot::{Simulation, Vec3};
use std::path::Path;

const JELLY: &str = r#"
gravity = [0.0, 0.0, 0.0]
time = { step = 0.0166666667 }
integrator = { kind = "backward-euler" }
conservation = { method = "cpd" }
[[body]]
name = "jelly"
mesh = { generate = "box", cells = [4, 3, 3], size = [0.4, 0.3, 0.3] }
material = { model = "corotated", young_modulus = 2e4, poisson_ratio = 0.3, density = 1000.0 }
"#;

fn load(folder: &Path, more: &str) -> LoadedScene {
    setup::load_text(folder.join("scene.toml"), &format!("{JELLY}{more}\n"), &[]).unwrap()
}

fn simulation(folder: &Path, more: &str) -> Simulation {
    common::start(load(folder, more))
}

/// Writes the jelly with every vertex moved.
fn write_shape(folder: &Path, name: &str, moved: impl Fn(&Vec3) -> Vec3) {
    let model = build(&load(folder, "")).unwrap().model;
    let mesh = &model.bodies[0].mesh;
    let positions: Vec<Vec3> = mesh.positions.iter().map(moved).collect();
    write::write(&folder.join(name), mesh, &positions).unwrap();
}

#[test]
fn a_shape_that_is_the_mesh_turned_and_moved_is_not_under_stress() {
    let folder = tempfile::tempdir().unwrap();
    let turn = nalgebra::Rotation3::from_euler_angles(0.3, -1.1, 2.0);
    let shift = Vec3::new(1.0, 2.0, -3.0);
    for name in ["turned.mesh", "turned.obj"] {
        write_shape(folder.path(), name, |x| turn * x + shift);
        let row = simulation(folder.path(), &format!("shape = \"{name}\"")).last_row();
        // 12 kg jelly of 2e4 Pa: rounding of 1e-15 of 3 m, squared, leaves less than 1e-20 J
        assert!(row.elastic < 1e-18, "{name}: {} J", row.elastic);
        // the file says where it starts
        let centre = turn * Vec3::new(0.2, 0.15, 0.15) + shift;
        assert!((Vec3::from(row.centre) - centre).norm() < 1e-12, "{name}: {:?}", row.centre);
    }
}

#[test]
fn a_shape_from_a_file_is_what_stretching_does() {
    let folder = tempfile::tempdir().unwrap();
    // about the centre of mass of the box
    let centre = Vec3::new(0.2, 0.15, 0.15);
    write_shape(folder.path(), "long.mesh", |x| {
        centre + (x - centre).component_mul(&Vec3::new(1.5, 0.8, 1.0))
    });
    let placed = "position = [0.3, 0.1, 0.0]\nangular_velocity = [0.0, 2.0, 0.0]";
    let mut shaped = simulation(folder.path(), &format!("shape = \"long.mesh\"\n{placed}"));
    let mut stretched = simulation(folder.path(), &format!("stretch = [1.5, 0.8, 1.0]\n{placed}"));
    let [a, b] = [&mut shaped, &mut stretched].map(|simulation| run(simulation, 3));
    assert!(
        common::distance(shaped.positions(), stretched.positions()) < 1e-9,
        "digits of the file and the box"
    );
    assert!((a[0].elastic / b[0].elastic - 1.0).abs() < 1e-12 && a[0].elastic > 1.0, "{} J", a[0].elastic);
}

/// The Constrained paper's hippo: projected into a small box, let go with a spin.
#[test]
fn a_squeezed_body_springs_back_and_keeps_its_energy_and_spin() {
    let folder = tempfile::tempdir().unwrap();
    let squeezed =
        "squeeze = { min = [0.05, 0.05, -1.0], max = [0.35, 0.25, 1.0] }\nangular_velocity = [0.0, 0.0, 3.0]";
    let mut simulation = simulation(folder.path(), squeezed);
    let rest = build(&load(folder.path(), "")).unwrap().model.initial_positions;
    for (x, rest) in simulation.positions().iter().zip(&rest) {
        let inside = Vec3::new(rest.x.clamp(0.05, 0.35), rest.y.clamp(0.05, 0.25), rest.z);
        assert!((x - inside).norm() < 1e-14, "{x} of {rest}");
    }
    let (rows, small) = (run(&mut simulation, 40), size(&rest));
    let start = rows[0];
    assert!(start.elastic > 1.0, "{} J", start.elastic);
    for row in &rows {
        // the tolerance of 1e-4 of the energy, which does not add up
        assert!(
            (row.total / start.total - 1.0).abs() < 2e-4,
            "frame {}: {} of {} J",
            row.frame,
            row.total,
            start.total
        );
        let change = Vec3::from(row.angular_momentum) - Vec3::from(start.angular_momentum);
        assert!(change.norm() < 1e-9 * Vec3::from(start.angular_momentum).norm(), "frame {}", row.frame);
    }
    assert!(rows[20..].iter().any(|row| row.elastic < 0.5 * start.elastic), "it never springs back");
    assert!(size(simulation.positions()) < 2.0 * small);
}

#[test]
fn faults_name_the_file_and_the_field() {
    let folder = tempfile::tempdir().unwrap();
    write_shape(folder.path(), "good.mesh", |x| *x);
    let other = JELLY.replace("cells = [4, 3, 3]", "cells = [4, 3, 2]");
    let refusal = |text: &str| {
        let loaded = setup::load_text(folder.path().join("scene.toml"), text, &[]);
        loaded.and_then(|loaded| build(&loaded).map(|_| ())).unwrap_err().to_string()
    };
    for (text, parts) in [
        (
            format!("{other}shape = \"good.mesh\"\n"),
            ["good.mesh", "shape", "has 80 vertices, the body has 60"],
        ),
        (format!("{JELLY}shape = \"missing.mesh\"\n"), ["missing.mesh", "shape", ""]),
        (format!("{JELLY}shape = \"\"\n"), ["scene.toml:10", "body.jelly.shape", "must name a file"]),
        (
            format!("{JELLY}squeeze = {{ min = [0, 1, 0], max = [1, 0, 1] }}\n"),
            ["scene.toml:10", "body.jelly.squeeze", "`min` must not be above `max`"],
        ),
    ] {
        let message = refusal(&text);
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    // and the scene of a run finds the file from anywhere
    let shape = load(folder.path(), "shape = \"good.mesh\"").standalone().bodies[0].shape.clone().unwrap();
    assert!(shape.is_absolute() && shape.is_file(), "{}", shape.display());
}
