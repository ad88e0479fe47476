//! The patch test, with the whole program: a body of an irregular mesh whose surface is deformed affinely has the same strain and stress
//! everywhere inside once it is at rest, whatever its law.

use crate::common::bar::{MATERIALS, material};
use crate::common::{self, Random};
use dashpot::model::attachment::Attachment;
use dashpot::model::element::Element;
use dashpot::setup::{self, build};
use dashpot::{Mat3, Simulation, Vec3, cpu};
use std::fmt::Write;
use std::sync::Arc;

/// Cells of 0.1 m.
const CELLS: [usize; 3] = [5, 3, 3];

/// Whether a point lies on the surface of the box.
fn is_outside(x: &Vec3) -> bool {
    (0..3).any(|axis| x[axis] < 1e-9 || x[axis] > 0.1 * CELLS[axis] as f64 - 1e-9)
}

/// The box with its inner vertices shaken, as a MEDIT file.
fn irregular() -> String {
    let text = format!(
        "[[body]]\nmesh = {{ generate = \"box\", cells = {CELLS:?}, size = {:?} }}\nmaterial = {}",
        CELLS.map(|n| 0.1 * n as f64),
        material("stvk")
    );
    let model = build(&setup::load_text("box", &text, &[]).unwrap()).unwrap().model;
    let mut random = Random::new(11);
    let mut file = format!("MeshVersionFormatted 2\nDimension 3\nVertices {}\n", model.vertex_count());
    for x in &model.initial_positions {
        let x = if is_outside(x) { *x } else { x + 0.02 * random.vector() };
        writeln!(file, "{:?} {:?} {:?} 0", x.x, x.y, x.z).unwrap();
    }
    writeln!(file, "Tetrahedra {}", model.tets.len()).unwrap();
    for [a, b, c, d] in model.tets.iter().map(|e| e.vertices.map(|v| v + 1)) {
        writeln!(file, "{a} {b} {c} {d} 0").unwrap();
    }
    file + "End\n"
}

#[test]
fn a_surface_deformed_affinely_makes_a_homogeneous_state() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = folder.path().join("irregular.mesh");
    std::fs::write(&mesh, irregular()).unwrap();
    // pulled, squeezed and sheared
    let f = Mat3::new(1.15, 0.1, 0.0, 0.0, 0.92, 0.05, 0.03, 0.0, 1.05);
    for name in MATERIALS {
        let text = format!(
            "gravity = [0.0, 0.0, 0.0]\ntime = {{ step = 0.1, iterations = 10 }}\nintegrator = {{ kind = \"backward-euler\" }}\n\
             solver = {{ kind = \"newton\" }}\n[[body]]\nmesh = {{ file = {mesh:?} }}\nmaterial = {}",
            material(name)
        );
        let loaded = setup::load_text("patch", &text, &[]).unwrap();
        let mut model = build(&loaded).unwrap().model;
        let rest = model.initial_positions.clone();
        let outside = (0..rest.len()).filter(|v| is_outside(&rest[*v]));
        // 1e14 N/m: the stress of 2e5 Pa on a cell's face, 1e-2 m², moves its corners by 2e-11 m
        model.attachments = outside.map(|v| Attachment::fixed(v as u32, 1e14, f * rest[v])).collect();
        // the inner vertices start elsewhere: the elements at the surface are far from homogeneous
        let start =
            rest.iter().map(|x| if is_outside(x) { f * x } else { f * x + Vec3::new(0.02, -0.01, 0.015) });
        model.initial_positions = start.collect();
        let model = Arc::new(model);
        let backend = cpu::backend(model.clone(), &loaded.scene.solver).unwrap();
        let mut simulation = Simulation::new(&loaded.scene, model.clone(), backend).unwrap();
        let strain = |x: &[Vec3]| {
            let off = model.tets.iter().map(|e| (Mat3::from_columns(&e.deformation(x)) - f).norm());
            off.fold(0.0, f64::max)
        };
        let before = strain(simulation.positions());
        // backward Euler takes all but 1/(ω h) of a motion in a step, ω > 50 1/s
        common::run(&mut simulation, 12);
        let x = simulation.positions();
        // V P of each over its w, which is V times moduli, so that elements of all sizes compare
        let stress = |f: &Mat3, e: &dashpot::model::tet::TetElement| e.stress(f) / e.shape_weight;
        let uneven = model
            .tets
            .iter()
            .map(|e| (stress(&Mat3::from_columns(&e.deformation(x)), e) - stress(&f, e)).norm());
        let uneven = uneven.fold(0.0, f64::max) / stress(&f, &model.tets[0]).norm();
        let off = strain(x);
        println!("{name}: strain {before:e} before, {off:e} off, stress {uneven:e} of it");
        assert!(before > 0.1);
        // 2e-11 m over the least height of an element, some 0.03 m; a stress of moduli times 0.1 feels ten times that
        assert!(off < 1e-9 && uneven < 1e-8, "{name}: strain {off:e}, stress {uneven:e}");
    }
}
