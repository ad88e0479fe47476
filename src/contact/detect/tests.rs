use super::*;
use crate::setup::{build, load_text};

fn detector(text: &str) -> (Detector, Vec<Vec3>) {
    let loaded = load_text("scene.toml", text, &[]).unwrap();
    let model = build(&loaded).unwrap().model;
    (Detector::new(&loaded.scene, &model).unwrap().unwrap(), model.initial_positions)
}

fn body(mesh: &str, position: [f64; 3]) -> String {
    format!(
        "[[body]]\nmesh = {{ generate = {mesh} }}\nmaterial = {{ model = \"arap\", mu = 1000 }}\nposition = {position:?}\n"
    )
}

fn detect(detector: &Detector, x: &[Vec3], y: &[Vec3]) -> Vec<ContactConstraint> {
    let step = StepWindow { t: 0.0, h: 0.01, ends: [x, y], margin: 0.1 };
    detector.detect(&step, &WarmStart::default())
}

fn moved(x: &[Vec3], range: std::ops::Range<usize>, by: Vec3) -> Vec<Vec3> {
    x.iter().enumerate().map(|(v, x)| if range.contains(&v) { x + by } else { *x }).collect()
}

const BALL: &str = "\"ball\", radius = 0.5, cells = 8";
const BLOCK: &str = "\"box\", cells = [8, 4, 8], size = [2, 1, 2]";

#[test]
fn the_vertices_inside_are_those_that_all_pairs_find() {
    // neither symmetric nor aligned, so that no vertex lies on a face
    let text = body(BALL, [0.0; 3]) + &body(BALL, [0.43, 0.31, 0.17]);
    let (detector, x) = detector(&text);
    let constraints = detect(&detector, &x, &x);
    let within = |point: &Vec3, tet: &[u32; 4]| {
        let [a, b, c, d] = tet.map(|v| x[v as usize]);
        let matrix = nalgebra::Matrix3::from_columns(&[b - a, c - a, d - a]);
        let w = matrix.lu().solve(&(point - a)).unwrap();
        w.min() > 0.0 && w.sum() < 1.0
    };
    let mut inside = 0;
    for (mine, other) in [(0, 1), (1, 0)] {
        for &v in &detector.contact_surfaces[mine].vertices {
            let held = detector.topologies[other].tets.iter().any(|tet| within(&x[v as usize], tet));
            let constraint = constraints.iter().find(|f| f.vertices[0] == v);
            let closed = constraint.is_some_and(|f| f.gap(&f.relative_position(&x)) < 0.0);
            assert_eq!(held, closed, "vertex {v}");
            inside += usize::from(held);
        }
    }
    assert!(inside > 20, "{inside}");
}

#[test]
fn feet_are_right_below_their_vertices_and_normals_vary_smoothly() {
    // a ball pressed into a block: vertices of the ball against the flat top, vertices of the top against the ball
    let text = body(BLOCK, [0.0; 3]) + &body(BALL, [1.03, 1.35, 0.98]);
    let (detector, x) = detector(&text);
    let constraints = detect(&detector, &x, &x);
    let closed = |body: u32| {
        constraints
            .iter()
            .filter(move |f| f.bodies[0] == body)
            .filter(|f| f.gap(&f.relative_position(&x)) < 0.0)
    };
    assert!(closed(1).count() > 8 && closed(0).count() > 3);
    for constraint in closed(1) {
        // the top is flat to its creases
        assert!((constraint.plane.normal - Vec3::y()).norm() < 1e-12);
    }
    let centre = Vec3::new(1.03, 1.35, 0.98);
    for constraint in closed(0) {
        let away = (x[constraint.vertices[0] as usize] - centre).normalize();
        // normals between those of the corners: as far from the radius as those are
        assert!(constraint.plane.normal.dot(&away) > 0.97, "{:?} {away:?}", constraint.plane.normal);
        let lever = constraint.relative_position(&x).cross(&constraint.plane.normal);
        assert!(lever.norm() < 1e-9, "the vertex is right above its foot");
    }
    // A point that goes around in the ball sees depth and normal without a jump.
    let probe = |angle: f64| {
        let mut x = x.clone();
        let v = closed(0).next().unwrap().vertices[0];
        x[v as usize] = centre + Vec3::new(0.3 * angle.cos(), -0.2, 0.3 * angle.sin());
        let found = detect(&detector, &x, &x);
        let constraint =
            *found.iter().find(|f| f.vertices[0] == v && f.bodies[1] == 1).expect("it is inside");
        (constraint.plane.normal, constraint.gap(&constraint.relative_position(&x)))
    };
    const STEPS: usize = 300;
    let around: Vec<(Vec3, f64)> =
        (0..=STEPS).map(|i| probe(i as f64 / STEPS as f64 * std::f64::consts::TAU)).collect();
    for pair in around.windows(2) {
        // a step is 0.02 rad; the normals of a triangle's corners, 0.25 rad apart at most, turn somewhat faster
        assert!((pair[0].0 - pair[1].0).norm() < 0.1, "{pair:?}");
        assert!((pair[0].1 - pair[1].1).abs() < 0.01, "{pair:?}");
        assert!(pair[0].1 < 0.0);
    }
}

#[test]
fn nothing_fast_passes_a_solid_or_a_cloth() {
    let cloth = "\"cloth\", cells = [8, 8], size = [2, 2]";
    for (target, thickness) in [(BLOCK, "0"), (cloth, "0.01")] {
        let text = format!("[contact]\nthickness = {thickness}\n")
            + &body(target, [0.0; 3])
            + &body("\"box\", cells = [2, 2, 2], size = [0.2, 0.2, 0.2]", [0.91, 1.3, 0.87]);
        let (detector, x) = detector(&text);
        let bullet = x.len() - 27..x.len();
        // through everything within one step, together with the world, which flies the other way
        let wind = Vec3::new(30.0, 0.0, 5.0);
        let y: Vec<Vec3> =
            moved(&x, bullet.clone(), Vec3::new(0.3, -5.0, 0.2)).iter().map(|y| y + wind).collect();
        let constraints = detect(&detector, &x, &y);
        for v in bullet.filter(|&v| detector.contact_surfaces[1].vertices.contains(&(v as u32))) {
            let held = constraints.iter().filter(|f| f.vertices[0] as usize == v);
            let stopped = held
                .clone()
                .any(|f| f.gap(&f.relative_position(&y)) < -1.0 && f.gap(&f.relative_position(&x)) > 0.0);
            assert!(stopped, "vertex {v} against {target}: {:?}", held.collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_cloth_remembers_the_side_that_a_force_pushes_to() {
    let text = "[contact]\nthickness = 0.02\n".to_string()
        + &body("\"cloth\", cells = [8, 8], size = [2, 2]", [0.0; 3])
        + &body("\"cloth\", cells = [1, 1], size = [0.1, 0.1]", [0.92, 0.005, 0.93]);
    let (detector, x) = detector(&text);
    let step = |x: &'static [Vec3]| StepWindow { t: 0.0, h: 0.0, ends: [x, x], margin: 0.0 };
    let x: &'static [Vec3] = x.leak();
    let v = detector.contact_surfaces[1].vertices[0];
    let constraint_of =
        |constraints: &[ContactConstraint]| *constraints.iter().find(|f| f.vertices[0] == v).unwrap();
    let above = constraint_of(&detector.detect(&step(x), &WarmStart::default()));
    assert!(
        (above.gap(&above.relative_position(x)) - (0.005 - 0.02)).abs() < 1e-12
            && above.plane.normal.y > 0.999
    );
    // now it has been pushed through by a hair: without the force it belongs below, with it above
    let through: &'static [Vec3] = moved(x, v as usize..x.len(), Vec3::new(0.001, -0.008, 0.0)).leak();
    let below = constraint_of(&detector.detect(&step(through), &WarmStart::default()));
    assert!(below.plane.normal.y < -0.999);
    let warm_start = WarmStart::of(&[ContactConstraint { force: Vec3::y() * 3.0, ..above }]);
    let kept = constraint_of(&detector.detect(&step(through), &warm_start));
    assert!(
        kept.plane.normal.y > 0.999 && (kept.gap(&kept.relative_position(through)) + 0.023).abs() < 1e-12
    );
    assert_eq!(kept.force, Vec3::y() * 3.0, "and begins with it");
}

#[test]
fn a_body_at_rest_does_not_touch_itself_but_a_folded_one_does() {
    for mesh in [
        BALL,
        BLOCK,
        "\"torus\", radius = 1, tube = 0.3, cells = [24, 4]",
        "\"cloth\", cells = [12, 12], size = [1, 1]",
    ] {
        let (detector, x) = detector(&format!("[contact]\nself = true\n{}", body(mesh, [0.0; 3])));
        for scale in [1.0, 0.5] {
            let x: Vec<Vec3> = x.iter().map(|x| x * scale).collect();
            let closed =
                detect(&detector, &x, &x).iter().filter(|f| f.gap(&f.relative_position(&x)) < 0.0).count();
            assert_eq!(closed, 0, "{mesh} at {scale}");
        }
    }
    // the ends of a bar bent to a ring, one into the other
    let (detector, x) = detector(&format!(
        "[contact]\nself = true\n{}",
        body("\"box\", cells = [40, 2, 2], size = [4, 0.3, 0.3]", [0.0; 3])
    ));
    let ring: Vec<Vec3> = x
        .iter()
        .map(|p| {
            let (sine, cosine) = (p.x / 4.0 * 1.03 * std::f64::consts::TAU).sin_cos();
            Vec3::new((0.6 + p.y) * sine, (0.6 + p.y) * cosine, p.z * (1.0 + 0.05 * p.x))
        })
        .collect();
    let constraints = detect(&detector, &ring, &ring);
    let closed: Vec<&ContactConstraint> =
        constraints.iter().filter(|f| f.gap(&f.relative_position(&ring)) < 0.0).collect();
    assert!(!closed.is_empty());
    for constraint in &closed {
        let (v, t) = (constraint.vertices[0] as usize, constraint.vertices[1] as usize);
        assert!((x[v].x - x[t].x).abs() > 3.0, "one end touches the other");
    }
    // a cloth folded onto itself, half a thickness apart
    let (detector, x) = detector_of_fold();
    let constraints = detect(&detector, &x, &x);
    assert!(constraints.iter().filter(|f| f.gap(&f.relative_position(&x)) < 0.0).count() > 40);
}

fn detector_of_fold() -> (Detector, Vec<Vec3>) {
    let (detector, x) = detector(&format!(
        "[contact]\nself = true\nthickness = 0.02\n{}",
        body("\"cloth\", cells = [20, 6], size = [2, 0.6]", [0.0; 3])
    ));
    let fold = |p: &Vec3| if p.x > 1.0 { Vec3::new(2.0 - p.x, 0.01, p.z + 0.013) } else { *p };
    let folded = x.iter().map(fold).collect();
    (detector, folded)
}

#[test]
fn broken_states_neither_panic_nor_take_long() {
    let text = "[contact]\nself = true\n[[obstacle]]\nshape = \"plane\"\n".to_string()
        + &body(BLOCK, [0.0; 3])
        + &body(BALL, [1.0, 1.3, 1.0])
        + &body("\"cloth\", cells = [10, 10], size = [2, 2]", [0.0, 0.5, 0.0]);
    let (detector, x) = detector(&text);
    let started = std::time::Instant::now();
    let with = |change: &dyn Fn(usize, &Vec3) -> Vec3| -> Vec<Vec3> {
        x.iter().enumerate().map(|(v, x)| change(v, x)).collect()
    };
    let broken = [
        with(&|v, x| if v % 7 == 0 { Vec3::repeat(f64::NAN) } else { *x }),
        with(&|v, x| if v == 5 { Vec3::repeat(f64::INFINITY) } else { *x }),
        with(&|v, x| if v % 3 == 0 { *x } else { Vec3::repeat(1e-300) }),
        with(&|_, _| Vec3::repeat(0.3)),
        with(&|_, x| Vec3::new(x.x, 0.0, x.z)),
        with(&|_, x| -x),
        with(&|v, x| x * if v == 9 { 1e12 } else { 1.0 }),
        with(&|_, x| x * 1e200),
    ];
    for bad in &broken {
        for (x, y) in [(&x, bad), (bad, bad)] {
            for constraint in detect(&detector, x, y) {
                assert!(constraint.plane.normal.iter().all(|n| n.is_finite()));
                assert!(constraint.weights.iter().all(|w| w.is_finite()));
            }
        }
    }
    // 16 searches, each of some hundred vertices against at most 4096 candidates; seconds even on a slow machine
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
