//! The same frames as an independent program: numpy, dense, written after the papers
//! (tests/reference/projective.py says how the numbers were made).

use crate::common;
use dashpot::Vec3;
use serde::Deserialize;
use std::fmt::Write;

#[derive(Deserialize)]
struct Case {
    integrator: String,
    damping: [f64; 2],
    positions: Vec<[f64; 3]>,
    tets: Vec<[u32; 4]>,
    h: f64,
    mu: f64,
    density: f64,
    held: Vec<u32>,
    hold: f64,
    velocity: [f64; 3],
    frames: usize,
    iterations: usize,
    /// Positions after frames 5, 10, 15, 20.
    trajectory: Vec<Vec<[f64; 3]>>,
}

/// The case's mesh as a MEDIT file: the reader takes part in the test.
fn medit(case: &Case) -> String {
    let mut text = format!("MeshVersionFormatted 2\nDimension 3\nVertices {}\n", case.positions.len());
    for [x, y, z] in &case.positions {
        writeln!(text, "{x:?} {y:?} {z:?} 0").unwrap();
    }
    writeln!(text, "Tetrahedra {}", case.tets.len()).unwrap();
    for [a, b, c, d] in case.tets.iter().map(|tet| tet.map(|v| v + 1)) {
        writeln!(text, "{a} {b} {c} {d} 0").unwrap();
    }
    text + "End\n"
}

#[test]
fn frames_of_an_independent_program() {
    let folder = tempfile::tempdir().unwrap();
    let mesh = folder.path().join("body.mesh");
    let cases: Vec<Case> = serde_json::from_str(include_str!("../reference/projective.json")).unwrap();
    assert_eq!(cases.len(), 6);
    for case in &cases {
        std::fs::write(&mesh, medit(case)).unwrap();
        let scene = format!(
            r#"
            time = {{ step = {:?}, iterations = {} }}
            integrator = {{ kind = "{}" }}
            damping = {{ model = "laplacian", mass = {:?}, stiffness = {:?} }}
            [[body]]
            mesh = {{ file = {:?} }}
            material = {{ model = "arap", mu = {:?}, density = {:?} }}
            velocity = {:?}
            [[body.attach]]
            select = {{ vertices = {:?} }}
            stiffness = {:?}
            "#,
            case.h,
            case.iterations,
            case.integrator,
            case.damping[0],
            case.damping[1],
            mesh,
            case.mu,
            case.density,
            case.velocity,
            case.held,
            case.hold
        );
        let mut simulation = common::simulate(&scene, &[]);
        let mut worst = 0.0_f64;
        for frame in 1..=case.frames {
            simulation.frame().unwrap();
            if frame % 5 == 0 {
                let theirs = &case.trajectory[frame / 5 - 1];
                let apart =
                    simulation.positions().iter().zip(theirs).map(|(x, r)| (x - Vec3::from(*r)).norm());
                worst = apart.fold(worst, f64::max);
            }
        }
        println!("{} {:?}: {worst:e} m apart", case.integrator, case.damping);
        // both are double precision with the same iterations; 20 frames amplify round-off of 1e-16 by the
        // condition of A, about 1e3
        assert!(worst < 1e-10, "{} {:?}: {worst:e} m apart", case.integrator, case.damping);
    }
}
