//! Bodies given by signed distances, filled with tetrahedra: angles, volumes, counts, the same bits always.

use dashpot::Vec3;
use dashpot::mesh::distance::figure::smooth_min;
use dashpot::mesh::distance::shapes::Shape;
use dashpot::mesh::distance::{Distance, Figure, Part};
use dashpot::mesh::fill::{Filled, Fineness, fill, fill_refined};
use dashpot::mesh::six_volumes;
use std::f64::consts::PI;

fn figure(shape: Shape, turn: [f64; 3]) -> Figure {
    Figure::new(vec![Part { turn, ..Part::new(shape) }])
}

const TURNED: [f64; 3] = [11.0, 23.0, 5.0];

fn cube(size: f64) -> Shape {
    Shape::Box { size: [size; 3], rounding: 0.0 }
}

/// What every filled body promises.
fn good(name: &str, Filled { mesh, report }: &Filled) {
    assert!(report.angles.min >= 10.0, "{name}: {}", report.angles.min);
    assert!(report.angles.max <= 165.0, "{name}: {}", report.angles.max);
    assert_eq!(mesh.statistics().angles, report.angles, "{name}");
    assert!(mesh.tets.iter().all(|&t| six_volumes(&mesh.tet_corners(t)) > 0.0), "{name}: inverted");
    assert_eq!(mesh.statistics().crowded, 0, "{name}");
    assert_eq!(mesh.statistics().open_edges, 0, "{name}");
}

#[test]
fn smooth_sharp_and_thin_bodies() {
    let bodies = [
        ("ball", figure(Shape::Ellipsoid { radii: [0.5; 3] }, [0.0; 3]), PI / 6.0),
        ("ellipsoid", figure(Shape::Ellipsoid { radii: [0.5, 0.3, 0.1] }, TURNED), 4.0 / 3.0 * PI * 0.015),
        ("cube along the lattice", figure(cube(1.0), [0.0; 3]), 1.0),
        ("turned cube", figure(cube(1.0), TURNED), 1.0),
        ("thin torus", figure(Shape::Torus { radius: 1.0, tube: 0.05 }, TURNED), 2.0 * PI * PI * 0.0025),
        (
            "round cone",
            figure(Shape::RoundCone { from: [0.0; 3], to: [0.0, 1.0, 0.0], radii: [0.2, 0.2] }, TURNED),
            PI * 0.04 * (1.0 + 0.8 / 3.0),
        ),
    ];
    for (name, body, volume) in &bodies {
        for target in [4000, 16000] {
            let filled = fill(body, Fineness::Tets(target)).expect(name);
            good(name, &filled);
            let off = filled.mesh.volume() / volume - 1.0;
            assert!(off.abs() < 0.02, "{name} of {target}: volume off by {off}");
            let count = filled.mesh.tets.len() as f64 / target as f64 - 1.0;
            assert!(count.abs() < 0.05, "{name}: {} of {target}", filled.mesh.tets.len());
            assert!(filled.report.trials <= 10);
            assert_eq!(filled.report.pieces, 1, "{name}");
            // The estimate on a lattice twice as fine, with edges and thin parts, is good to a hundredth.
            let estimate = filled.report.body_volume.expect("estimated") / volume - 1.0;
            assert!(estimate.abs() < 0.01, "{name} of {target}: estimate off by {estimate}");
        }
    }
}

/// Splits at the boundary add vertices and few tetrahedra, and the promises hold.
#[test]
fn a_finer_boundary_keeps_the_angles() {
    let body = figure(Shape::Ellipsoid { radii: [0.5, 0.4, 0.3] }, TURNED);
    let volume = 4.0 / 3.0 * PI * 0.06;
    let coarse = fill(&body, Fineness::Cell(0.1)).expect("filled");
    let fine = fill_refined(&body, Fineness::Cell(0.1), 500).expect("filled");
    good("refined", &fine);
    assert!(fine.report.angles.min >= 14.0, "{:?}", fine.report.angles);
    assert_eq!(fine.mesh.positions.len(), coarse.mesh.positions.len() + 500);
    let added = fine.mesh.tets.len() - coarse.mesh.tets.len();
    assert!((500..=2000).contains(&added), "one to four a split: {added}");
    let off = |filled: &Filled| (filled.mesh.volume() / volume - 1.0).abs();
    assert!(off(&fine) < 0.005, "{} {}", off(&fine), off(&coarse));
    // More than there are edges that can be split: as many as there are, and still good.
    let most = fill_refined(&body, Fineness::Cell(0.2), 100_000).expect("filled");
    good("as fine as it gets", &most);
}

/// Boundary faces of a cube end up on its faces, its corners and edges are there: the volume, not only an average.
#[test]
fn edges_of_a_cube_are_sharp() {
    let body = figure(cube(1.0), TURNED);
    let filled = fill(&body, Fineness::Tets(16000)).expect("filled");
    let surface = filled.mesh.surface();
    let middles = surface.iter().map(|&t| filled.mesh.triangle_corners(t).iter().sum::<Vec3>() / 3.0);
    let worst = middles.map(|p| body.distance(p).abs()).fold(0.0, f64::max);
    // Cells are 0.093: a chamfer of the lattice alone is up to half a cell deep.
    assert!(worst < 0.25 * filled.report.cell, "{worst} of {}", filled.report.cell);
}

#[test]
fn the_volume_converges() {
    let body = figure(Shape::Ellipsoid { radii: [0.5; 3] }, [0.0; 3]);
    let off = |cell: f64| {
        let filled = fill(&body, Fineness::Cell(cell)).expect("filled");
        (filled.mesh.volume() / (PI / 6.0) - 1.0).abs()
    };
    // The boundary is fitted, so even a coarse ball is nearly as large as it should be.
    assert!(off(0.25) < 0.01 && off(0.125) < 0.003 && off(0.0625) < 0.001, "{} {}", off(0.25), off(0.0625));
}

/// A surface that no lattice resolves: the gyroid, and waves shorter than the cells.
struct Wild {
    wave: f64,
}

impl Distance for Wild {
    fn distance(&self, p: Vec3) -> f64 {
        let q = p * self.wave;
        let gyroid = q.x.sin() * q.y.cos() + q.y.sin() * q.z.cos() + q.z.sin() * q.x.cos();
        // |∇gyroid| ≤ √3 · wave.
        (p.norm() - 0.9).max(gyroid / (1.8 * self.wave))
    }

    fn bounds(&self) -> [Vec3; 2] {
        [Vec3::repeat(-0.9), Vec3::repeat(0.9)]
    }
}

#[test]
fn angles_hold_whatever_the_surface() {
    for wave in [5.0, 11.0, 37.0] {
        let filled = fill(&Wild { wave }, Fineness::Cell(0.1)).expect("filled");
        good("gyroid", &filled);
    }
}

#[test]
fn the_same_bits_with_any_number_of_threads() {
    let body = Wild { wave: 7.0 };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        pool.install(|| fill(&body, Fineness::Tets(8000)).expect("filled"))
    };
    let one = run(1);
    for threads in [2, 5] {
        assert_eq!(one, run(threads));
    }
}

#[test]
fn a_thin_part_is_resolved_or_told() {
    let fin = |thickness: f64| {
        let slab = Shape::Box { size: [0.4, 0.7, thickness], rounding: 0.0 };
        // Off the planes of the lattice, so that a thin one falls between its nodes.
        Figure::new(vec![Part::new(cube(0.5)), Part { at: [0.0, 0.55, 0.02], ..Part::new(slab) }])
    };
    let thick = fill(&fin(0.2), Fineness::Cell(0.08)).expect("filled");
    assert_eq!(thick.report.missing, None);
    let thin = fill(&fin(0.02), Fineness::Cell(0.08)).expect("filled");
    let told = thin.report.warnings().join("\n");
    assert!(thin.report.missing.is_some_and(|p| p.y > 0.25) && told.contains("missing"), "{told}");
}

#[test]
fn pieces_are_kept_and_counted() {
    let pair = Figure::new(vec![Part::new(cube(0.5)), Part { at: [2.0, 0.0, 0.0], ..Part::new(cube(0.3)) }]);
    let filled = fill(&pair, Fineness::Tets(5000)).expect("filled");
    good("pair", &filled);
    assert_eq!(filled.report.pieces, 2);
    assert!((filled.mesh.volume() / (0.125 + 0.027) - 1.0).abs() < 0.02);
}

#[test]
fn what_cannot_be_filled_is_refused() {
    let body = figure(cube(1.0), [0.0; 3]);
    let refused = |body: &dyn Distance, fineness| fill(body, fineness).expect_err("refused").to_string();
    for cell in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(&body, Fineness::Cell(cell)).contains("cell"));
    }
    // Neither memory nor time for them: refused before anything is sampled.
    for cell in [1e-4, 1e-300] {
        assert!(refused(&body, Fineness::Cell(cell)).contains("too small"));
    }
    for target in [0, 1, usize::MAX] {
        assert!(refused(&body, Fineness::Tets(target)).contains("target_tets"));
    }
    assert!(!refused(&body, Fineness::Cell(10.0)).is_empty());
    assert!(!refused(&Figure::default(), Fineness::Tets(1000)).is_empty());
    for size in [1e30, 1e-30] {
        assert!(refused(&figure(cube(size), [0.0; 3]), Fineness::Tets(1000)).contains("large"));
    }
    let nowhere = figure(Shape::Ellipsoid { radii: [f64::NAN; 3] }, [0.0; 3]);
    assert!(!refused(&nowhere, Fineness::Tets(1000)).is_empty());
}

/// A number between −1 and 1, the same in every run.
fn next(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn shapes() -> [Shape; 10] {
    [
        Shape::Ellipsoid { radii: [0.5, 0.3, 0.1] },
        Shape::Ellipsoid { radii: [0.3, 0.3, 0.6] },
        Shape::Capsule { from: [0.1, 0.0, 0.2], to: [0.4, 0.5, -0.3], radius: 0.15 },
        Shape::RoundCone { from: [-0.3, 0.1, 0.0], to: [0.4, 0.2, 0.1], radii: [0.3, 0.1] },
        Shape::RoundCone { from: [0.0; 3], to: [0.1, 0.0, 0.0], radii: [0.1, 0.4] },
        Shape::Torus { radius: 0.5, tube: 0.2 },
        Shape::Arc { radius: 0.5, tube: 0.15, angle: 60.0 },
        Shape::Arc { radius: 0.4, tube: 0.2, angle: 130.0 },
        Shape::Disc { radius: 0.5, rounding: 0.1 },
        Shape::Box { size: [0.6, 0.4, 0.9], rounding: 0.1 },
    ]
}

/// |d| is the radius of the largest ball on one side: the nearest point is on the surface, and nothing nearer is.
#[test]
fn distances_of_shapes_are_exact() {
    let mut seed = 7;
    for shape in shapes() {
        let body = figure(shape.clone(), [0.0; 3]);
        let [low, high] = body.bounds();
        for _ in 0..400 {
            let p = Vec3::new(next(&mut seed), next(&mut seed), next(&mut seed));
            let (d, n) = body.sample(p, 0.0);
            if d < 0.0 {
                assert!(
                    (low - p).max() <= 0.0 && (p - high).max() <= 0.0,
                    "{shape:?}: inside but out of bounds"
                );
            }
            // On a medial axis there is no direction.
            let foot = body.distance(p - n * d);
            let smooth = (body.distance(p + n * 1e-4) - body.distance(p - n * 1e-4) - 2e-4).abs() < 1e-8;
            assert!(!smooth || foot.abs() < 1e-6, "{shape:?} at {p:?}: {d}, foot {foot}");
            let q = p + Vec3::new(next(&mut seed), next(&mut seed), next(&mut seed)) * 0.1;
            let slope = (body.distance(q) - d).abs() / (q - p).norm();
            assert!(slope <= 1.0 + 1e-9, "{shape:?}: slope {slope}");
        }
    }
}

/// Of four parts, one of each kind: joined, mirrored, carved.
fn statue() -> Figure {
    let ball = |radius: f64| Part::new(Shape::Ellipsoid { radii: [radius; 3] });
    let leg = Shape::RoundCone { from: [0.2, -0.3, 0.0], to: [0.4, -0.8, 0.1], radii: [0.2, 0.1] };
    Figure::new(vec![
        Part { at: [0.0, 0.1, 0.0], ..ball(0.5) },
        Part { blend: 0.1, mirror: true, turn: [0.0, 20.0, 5.0], ..Part::new(leg) },
        Part { at: [0.3, 0.3, 0.4], blend: 0.05, carve: true, mirror: true, ..ball(0.2) },
        Part { at: [0.0, 0.8, 0.0], blend: 0.2, ..Part::new(Shape::Disc { radius: 0.2, rounding: 0.1 }) },
    ])
}

/// Parts that are far away are passed over, and the gradient is put together from theirs: the value is that of the formula,
/// and the direction that of differences.
#[test]
fn a_figure_is_the_smooth_union_of_its_parts_and_their_images() {
    let figure = statue();
    let alone: Vec<(Part, Figure)> =
        figure.parts().map(|part| (part.clone(), Figure::new(vec![plain(part)]))).collect();
    let formula = |p: Vec3| {
        alone.iter().fold(f64::INFINITY, |whole, (part, one)| {
            let image = Vec3::new(-p.x, p.y, p.z);
            let own = match part.mirror {
                true => smooth_min(one.distance(p), one.distance(image), part.blend),
                false => one.distance(p),
            };
            match part.carve {
                true => -smooth_min(-whole, own, part.blend),
                false if whole == f64::INFINITY => own,
                false => smooth_min(whole, own, part.blend),
            }
        })
    };
    let mut seed = 11;
    let mut smooth = 0;
    for _ in 0..2000 {
        let p = Vec3::new(next(&mut seed), next(&mut seed), next(&mut seed)) * 1.2;
        let (d, n) = figure.sample(p, 0.0);
        assert!((d - formula(p)).abs() < 1e-12, "{p:?}: {d}");
        assert!((d - figure.distance(Vec3::new(-p.x, p.y, p.z))).abs() < 1e-12, "no mirror image at {p:?}");
        let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
        let gradient = Vec3::from(
            axes.map(|axis| (figure.distance(p + axis * 1e-5) - figure.distance(p - axis * 1e-5)) / 2e-5),
        );
        assert!(gradient.norm() < 1.0 + 1e-6, "steeper than a distance at {p:?}");
        // Second derivatives are 20 or so, times 1e-5; on a crease or in a carved fold differences mean nothing.
        let curved = (figure.distance(p + n * 1e-3) + figure.distance(p - n * 1e-3) - 2.0 * d).abs() > 1e-4;
        if !curved && gradient.norm() > 0.1 {
            smooth += 1;
            assert!((gradient.normalize() - n).norm() < 1e-3, "{p:?}: {n:?} {gradient:?}");
        }
    }
    assert!(smooth > 1500, "{smooth} points off creases");
}

/// The part by itself, neither mirrored nor carved.
fn plain(part: &Part) -> Part {
    Part { carve: false, mirror: false, ..part.clone() }
}

#[test]
fn bounds_hold_mirrored_parts_and_blends() {
    let figure = statue();
    let [low, high] = figure.bounds();
    let mut seed = 5;
    let mut inside = 0;
    for _ in 0..20000 {
        let p = Vec3::new(next(&mut seed), next(&mut seed), next(&mut seed)) * 1.2;
        if figure.distance(p) < 0.0 {
            inside += 1;
            assert!((low - p).max() <= 0.0 && (p - high).max() <= 0.0, "{p:?}");
        }
    }
    assert!(inside > 500);
}

#[test]
fn points_on_the_axes_of_an_ellipsoid() {
    let at = |radii: [f64; 3], p: [f64; 3]| Shape::Ellipsoid { radii }.distance(p.into());
    assert!((at([3.0, 2.0, 1.0], [0.0; 3]) + 1.0).abs() < 1e-12);
    assert!((at([3.0, 2.0, 1.0], [4.0, 0.0, 0.0]) - 1.0).abs() < 1e-12);
    assert!((at([3.0, 2.0, 1.0], [0.0, 5.0, 0.0]) - 3.0).abs() < 1e-12);
    assert!((at([3.0, 2.0, 1.0], [2.9, 0.0, 0.0]) + 0.1).abs() < 1e-12);
    assert!((at([2.0, 2.0, 2.0], [0.0, 0.5, 0.0]) + 1.5).abs() < 1e-12);
    assert!((at([1.0, 1.0, 3.0], [0.5, 0.0, 0.0]) + 0.5).abs() < 1e-12);
}

#[test]
fn a_smooth_union_is_smooth_and_no_smaller() {
    let mut seed = 3;
    for _ in 0..1000 {
        let (a, b) = (next(&mut seed), next(&mut seed));
        let joined = smooth_min(a, b, 0.3);
        assert!(joined <= a.min(b) && joined >= a.min(b) - 0.3 / 4.0);
        assert_eq!(smooth_min(a, b, 0.0), a.min(b));
        assert_eq!(joined, smooth_min(b, a, 0.3));
        // The slope over a is between 0 and 1: no kink, and never more than a distance may have.
        let slope = (smooth_min(a + 1e-6, b, 0.3) - joined) / 1e-6;
        assert!((-1e-6..=1.0 + 1e-6).contains(&slope), "{slope}");
    }
}

/// A figure is data: it can be written in a file and carved.
#[test]
fn a_figure_from_text() {
    let text = r#"
        [[parts]]
        shape = "ellipsoid"
        radii = [0.5, 0.4, 0.4]
        [[parts]]
        shape = "round-cone"
        from = [0.3, 0.0, 0.0]
        to = [0.8, 0.0, 0.0]
        radii = [0.2, 0.1]
        blend = 0.1
        [[parts]]
        shape = "capsule"
        from = [0.0, -1.0, 0.0]
        to = [0.0, 1.0, 0.0]
        radius = 0.1
        carve = true
    "#;
    let figure: Figure = toml::from_str(text).expect("a figure");
    assert_eq!(figure.parts().len(), 3);
    assert!(figure.distance(Vec3::zeros()) > 0.0, "carved");
    assert!(figure.distance(Vec3::new(0.85, 0.0, 0.0)) < 0.0, "joined");
    let filled = fill(&figure, Fineness::Tets(8000)).expect("filled");
    good("figure", &filled);
    assert!(filled.report.volume_error().is_some_and(|off| off.abs() < 0.02));
    let again: Figure = toml::from_str(&toml::to_string(&figure).expect("text")).expect("read again");
    assert_eq!(again, figure);
}
