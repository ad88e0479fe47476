//! A fine surface in a coarse body: it lies where it lay at rest, it moves as the body does, and what cannot be its skin
//! is refused.

use dashpot::Vec3;
use dashpot::mesh::spec::Generator;
use dashpot::mesh::{EmbeddedVertex, Embedding, Mesh};
use dashpot::model::Body;
use dashpot::setup::build;
use dashpot::setup::load_text;
use nalgebra::Matrix3;
use std::path::Path;
use std::sync::Arc;

/// The surface of a generated solid, `factor` times as large.
fn surface(generator: Generator, factor: f64) -> Mesh {
    let solid = generator.build().expect("built");
    let positions = solid.positions.iter().map(|p| p * factor).collect();
    let mut surface = Mesh { triangles: solid.surface(), positions, ..Mesh::default() };
    surface.keep_referenced();
    surface
}

fn ball(cells: usize) -> Generator {
    Generator::Ball { radius: 0.5, cells }
}

/// A coarse ball and finer ones inside of it, across its surface, and outside of it.
fn cases() -> Vec<(Mesh, Mesh)> {
    let coarse = ball(5).build().expect("built");
    [0.4, 1.0, 1.3].map(|factor| (coarse.clone(), surface(ball(24), factor))).into()
}

fn largest(pairs: impl Iterator<Item = (Vec3, Vec3)>) -> f64 {
    pairs.map(|(a, b)| (a - b).amax()).fold(0.0, f64::max)
}

#[test]
fn weights_sum_to_one_and_reproduce_the_rest_shape() {
    for (coarse, fine) in cases() {
        let skin = Embedding::new(&coarse, &fine).expect("embedded");
        assert_eq!(skin.triangles, fine.triangles);
        for EmbeddedVertex { weights, .. } in &skin.embedded_vertices {
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{weights:?}");
        }
        // lengths of 1 m, weights of some units: a few units in the last place each
        let off = largest(skin.positions(&coarse.positions).into_iter().zip(fine.positions));
        assert!(off < 1e-14, "{off:e}");
    }
}

#[test]
fn an_affine_map_of_the_body_is_that_of_its_skin() {
    let maps = [
        (Matrix3::new(0.3, -1.2, 0.7, 2.0, 0.1, -0.4, 0.9, 1.1, 0.8), Vec3::new(10.0, -3.0, 0.2)),
        (Matrix3::from_diagonal(&Vec3::new(1.5, 0.1, 1.0)), Vec3::zeros()),
        (Matrix3::zeros(), Vec3::new(1.0, 2.0, 3.0)),
    ];
    for (coarse, fine) in cases() {
        let skin = Embedding::new(&coarse, &fine).expect("embedded");
        for (linear, shift) in maps {
            let map = |x: &Vec3| linear * x + shift;
            let moved: Vec<Vec3> = coarse.positions.iter().map(map).collect();
            let off = largest(skin.positions(&moved).into_iter().zip(fine.positions.iter().map(map)));
            assert!(off < 1e-12, "{off:e}");
        }
    }
}

/// The same search without a tree: every tetrahedron is looked at, and distances are found by minimisation.
#[test]
fn a_vertex_is_carried_by_the_tetrahedron_it_lies_in_or_the_nearest() {
    let coarse = ball(5).build().expect("built");
    let mut fine = surface(ball(9), 0.92);
    fine.positions.iter_mut().for_each(|p| p.x += 0.1);
    let skin = Embedding::new(&coarse, &fine).expect("embedded");
    let (mut inside, mut outside) = (0, 0);
    for (p, embedded) in fine.positions.iter().zip(&skin.embedded_vertices) {
        let least = |tet: [u32; 4]| weights(p, coarse.tet_corners(tet)).into_iter().fold(1.0, f64::min);
        let containing = coarse.tets.iter().find(|&&tet| least(tet) >= -1e-12);
        match containing {
            Some(tet) => {
                assert_eq!(embedded.vertices, *tet, "the first that contains it");
                inside += 1;
            }
            None => {
                let own = to_tet(p, coarse.tet_corners(embedded.vertices));
                let best = coarse.tets.iter().map(|&tet| to_tet(p, coarse.tet_corners(tet)));
                // projected gradients stop within 1e-6 of the size
                assert!(own <= best.fold(f64::INFINITY, f64::min) + 1e-6, "{own}");
                outside += 1;
            }
        }
    }
    assert!(inside > 50 && outside > 50, "{inside} {outside}");
}

/// Barycentric coordinates by a linear solve.
fn weights(p: &Vec3, [a, b, c, d]: [Vec3; 4]) -> [f64; 4] {
    let w = Matrix3::from_columns(&[b - a, c - a, d - a]).lu().solve(&(p - a)).expect("not flat");
    [1.0 - w.sum(), w.x, w.y, w.z]
}

/// Distance to a tetrahedron by Frank and Wolfe's minimisation over its weights, exchanging weight between pairs of corners.
fn to_tet(p: &Vec3, corners: [Vec3; 4]) -> f64 {
    let mut w = [0.25; 4];
    for _ in 0..2000 {
        let x: Vec3 = corners.iter().zip(w).map(|(c, w)| c * w).sum();
        let slope = corners.map(|c| (x - p).dot(&c));
        let best = (0..4).min_by(|&i, &j| slope[i].total_cmp(&slope[j])).unwrap_or(0);
        let held = (0..4).filter(|&k| w[k] > 0.0);
        let worst = held.max_by(|&i, &j| slope[i].total_cmp(&slope[j])).unwrap_or(0);
        let along = corners[best] - corners[worst];
        let step = ((p - x).dot(&along) / along.norm_squared().max(1e-300)).clamp(0.0, w[worst]);
        if best == worst || step <= 0.0 {
            break;
        }
        w[best] += step;
        w[worst] = if step == w[worst] { 0.0 } else { w[worst] - step };
    }
    let x: Vec3 = corners.iter().zip(w).map(|(c, w)| c * w).sum();
    (x - p).norm()
}

#[test]
fn what_is_not_the_skin_of_a_body_is_refused() {
    let coarse = ball(5).build().expect("built");
    let fine = surface(ball(8), 1.0);
    let refused = |mesh: &Mesh, skin: &Mesh| Embedding::new(mesh, skin).expect_err("refused").to_string();
    // the ball's box is √3 m across, half of that is 0.87 m, and its own radius 0.5 m
    let shifted = |by: f64| {
        let positions = fine.positions.iter().map(|p| p + Vec3::x() * by).collect();
        Mesh { positions, ..fine.clone() }
    };
    Embedding::new(&coarse, &shifted(0.5)).expect("near enough");
    let message = refused(&coarse, &shifted(3.0));
    assert!(message.contains("vertex 0") && message.contains("this body"), "{message}");
    let mut broken = fine.clone();
    broken.positions[7].y = f64::NAN;
    assert!(refused(&coarse, &broken).contains("vertex 7"), "{}", refused(&coarse, &broken));
    let mut dangling = fine.clone();
    dangling.triangles[0][1] = 1 << 30;
    assert!(refused(&coarse, &dangling).contains("vertex 1073741824"));
    assert!(refused(&fine, &fine).contains("tetrahedra"));
    assert!(refused(&coarse, &Mesh::default()).contains("triangles"));
    let flat = Mesh { positions: vec![Vec3::zeros(); 4], tets: vec![[0, 1, 2, 3]], ..Mesh::default() };
    assert!(refused(&flat, &fine).contains("flat"));
}

/// Writes the surface of a ball and the tetrahedra of a coarser one.
fn write_files(folder: &Path) {
    let fine = surface(ball(16), 1.0);
    dashpot::mesh::write::write(&folder.join("ball.obj"), &fine, &fine.positions).expect("written");
    let coarse = ball(6).build().expect("built");
    dashpot::mesh::write::write(&folder.join("ball.mesh"), &coarse, &coarse.positions).expect("written");
    let far = surface(ball(4), 100.0);
    dashpot::mesh::write::write(&folder.join("far.obj"), &far, &far.positions).expect("written");
}

fn body(folder: &Path, mesh: &str) -> dashpot::Result<(Body, Vec<Vec3>)> {
    let text = format!(
        "[[body]]\nname = 'ball'\nmesh = {{ {mesh} }}\nmaterial = {{ model = 'arap', mu = 1000 }}\n\
         position = [3, 0, 1]\nrotation = {{ axis = [1, 1, 0], degrees = 70 }}\nstretch = [1.5, 1, 0.5]\n"
    );
    let mut model = build(&load_text(folder.join("scene.toml"), &text, &[])?)?.model;
    Ok((model.bodies.remove(0), model.initial_positions))
}

#[test]
fn a_scene_keeps_the_surface_that_it_fills_or_takes_one_from_a_file() {
    let folder = tempfile::tempdir().expect("folder");
    write_files(folder.path());
    let body = |mesh: &str| body(folder.path(), mesh);
    let fine = surface(ball(16), 2.0);
    for mesh in [
        "surface = 'ball.obj', target_tets = 800, scale = 2",
        "file = 'ball.mesh', skin = 'ball.obj', scale = 2",
    ] {
        let (body, placed) = body(mesh).expect("built");
        let skin: Arc<Embedding> = body.skin.expect("a skin");
        assert_eq!(
            (skin.triangles.len(), skin.embedded_vertices.len()),
            (fine.triangles.len(), fine.positions.len())
        );
        // stretched, turned and moved like the body, whose centre of mass is the origin to 1e-3 of its size
        let turn = nalgebra::Rotation3::from_axis_angle(
            &nalgebra::Unit::new_normalize(Vec3::new(1.0, 1.0, 0.0)),
            70f64.to_radians(),
        );
        let map = |x: &Vec3| turn * x.component_mul(&Vec3::new(1.5, 1.0, 0.5)) + Vec3::new(3.0, 0.0, 1.0);
        let off = largest(skin.positions(&placed).into_iter().zip(fine.positions.iter().map(map)));
        assert!(off < 1e-3, "{mesh}: {off}");
    }
    let (bare, _) = body("surface = 'ball.obj', target_tets = 800, skin = false").expect("built");
    assert!(bare.skin.is_none());
    let (bare, _) = body("file = 'ball.mesh'").expect("built");
    assert!(bare.skin.is_none());
    for (mesh, mentions) in [
        ("file = 'ball.mesh', skin = 'far.obj'", ["scene.toml:3", "body.ball.mesh.skin"]),
        ("file = 'ball.mesh', skin = 'nowhere.obj'", ["nowhere.obj", ""]),
        ("file = 'ball.mesh', skin = ''", ["scene.toml:3", "body.ball.mesh.skin"]),
        ("file = 'ball.mesh', skin = true", ["scene.toml:3", "skin"]),
        ("file = 'ball.obj', skin = 'ball.obj'", ["scene.toml", "body.ball.m"]),
    ] {
        let error = body(mesh).expect_err("refused");
        assert_eq!(error.exit_code(), 2);
        assert!(mentions.iter().all(|word| error.to_string().contains(word)), "{mesh}: {error}");
    }
}
