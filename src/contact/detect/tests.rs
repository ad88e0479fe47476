use super::*;
use crate::setup::build;
use crate::setup::load_text;

fn scenery(text: &str) -> (Scenery, Vec<Vec3>) {
    let loaded = load_text("scene.toml", text, &[]).unwrap();
    let model = build(&loaded).unwrap().model;
    (Scenery::new(&loaded.scene, &model).unwrap().unwrap(), model.initial_positions)
}

fn body(mesh: &str, position: [f64; 3]) -> String {
    format!(
        "[[body]]\nmesh = {{ generate = {mesh} }}\nmaterial = {{ model = \"arap\", mu = 1000 }}\nposition = {position:?}\n"
    )
}

fn detect(scenery: &Scenery, x: &[Vec3], y: &[Vec3]) -> Vec<Frame> {
    let step = Step { t: 0.0, h: 0.01, ends: [x, y], margin: 0.1 };
    scenery.detect(&step, &Memory::default())
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
    let (scenery, x) = scenery(&text);
    let frames = detect(&scenery, &x, &x);
    let within = |point: &Vec3, tet: &[u32; 4]| {
        let [a, b, c, d] = tet.map(|v| x[v as usize]);
        let matrix = nalgebra::Matrix3::from_columns(&[b - a, c - a, d - a]);
        let w = matrix.lu().solve(&(point - a)).unwrap();
        w.min() > 0.0 && w.sum() < 1.0
    };
    let mut inside = 0;
    for (mine, other) in [(0, 1), (1, 0)] {
        for &v in &scenery.skins[mine].vertices {
            let held = scenery.shells[other].tets.iter().any(|tet| within(&x[v as usize], tet));
            let frame = frames.iter().find(|f| f.vertices[0] == v);
            let closed = frame.is_some_and(|f| f.gap(&f.place(&x)) < 0.0);
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
    let (scenery, x) = scenery(&text);
    let frames = detect(&scenery, &x, &x);
    let closed =
        |body: u32| frames.iter().filter(move |f| f.bodies[0] == body).filter(|f| f.gap(&f.place(&x)) < 0.0);
    assert!(closed(1).count() > 8 && closed(0).count() > 3);
    for frame in closed(1) {
        // the top is flat to its creases
        assert!((frame.plane.normal - Vec3::y()).norm() < 1e-12);
    }
    let centre = Vec3::new(1.03, 1.35, 0.98);
    for frame in closed(0) {
        let away = (x[frame.vertices[0] as usize] - centre).normalize();
        // normals between those of the corners: as far from the radius as those are
        assert!(frame.plane.normal.dot(&away) > 0.97, "{:?} {away:?}", frame.plane.normal);
        let lever = frame.place(&x).cross(&frame.plane.normal);
        assert!(lever.norm() < 1e-9, "the vertex is right above its foot");
    }
    // A point that goes around in the ball sees depth and normal without a jump.
    let probe = |angle: f64| {
        let mut x = x.clone();
        let v = closed(0).next().unwrap().vertices[0];
        x[v as usize] = centre + Vec3::new(0.3 * angle.cos(), -0.2, 0.3 * angle.sin());
        let found = detect(&scenery, &x, &x);
        let frame = *found.iter().find(|f| f.vertices[0] == v && f.bodies[1] == 1).expect("it is inside");
        (frame.plane.normal, frame.gap(&frame.place(&x)))
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
        let (scenery, x) = scenery(&text);
        let bullet = x.len() - 27..x.len();
        // through everything within one step, together with the world, which flies the other way
        let wind = Vec3::new(30.0, 0.0, 5.0);
        let y: Vec<Vec3> =
            moved(&x, bullet.clone(), Vec3::new(0.3, -5.0, 0.2)).iter().map(|y| y + wind).collect();
        let frames = detect(&scenery, &x, &y);
        for v in bullet.filter(|&v| scenery.skins[1].vertices.contains(&(v as u32))) {
            let held = frames.iter().filter(|f| f.vertices[0] as usize == v);
            let stopped = held.clone().any(|f| f.gap(&f.place(&y)) < -1.0 && f.gap(&f.place(&x)) > 0.0);
            assert!(stopped, "vertex {v} against {target}: {:?}", held.collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_cloth_remembers_the_side_that_a_force_pushes_to() {
    let text = "[contact]\nthickness = 0.02\n".to_string()
        + &body("\"cloth\", cells = [8, 8], size = [2, 2]", [0.0; 3])
        + &body("\"cloth\", cells = [1, 1], size = [0.1, 0.1]", [0.92, 0.005, 0.93]);
    let (scenery, x) = scenery(&text);
    let step = |x: &'static [Vec3]| Step { t: 0.0, h: 0.0, ends: [x, x], margin: 0.0 };
    let x: &'static [Vec3] = x.leak();
    let v = scenery.skins[1].vertices[0];
    let frame_of = |frames: &[Frame]| *frames.iter().find(|f| f.vertices[0] == v).unwrap();
    let above = frame_of(&scenery.detect(&step(x), &Memory::default()));
    assert!((above.gap(&above.place(x)) - (0.005 - 0.02)).abs() < 1e-12 && above.plane.normal.y > 0.999);
    // now it has been pushed through by a hair: without the force it belongs below, with it above
    let through: &'static [Vec3] = moved(x, v as usize..x.len(), Vec3::new(0.001, -0.008, 0.0)).leak();
    let below = frame_of(&scenery.detect(&step(through), &Memory::default()));
    assert!(below.plane.normal.y < -0.999);
    let memory = Memory::of(&[Frame { force: Vec3::y() * 3.0, ..above }]);
    let kept = frame_of(&scenery.detect(&step(through), &memory));
    assert!(kept.plane.normal.y > 0.999 && (kept.gap(&kept.place(through)) + 0.023).abs() < 1e-12);
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
        let (scenery, x) = scenery(&format!("[contact]\nself = true\n{}", body(mesh, [0.0; 3])));
        for scale in [1.0, 0.5] {
            let x: Vec<Vec3> = x.iter().map(|x| x * scale).collect();
            let closed = detect(&scenery, &x, &x).iter().filter(|f| f.gap(&f.place(&x)) < 0.0).count();
            assert_eq!(closed, 0, "{mesh} at {scale}");
        }
    }
    // the ends of a bar bent to a ring, one into the other
    let (scenery, x) = scenery(&format!(
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
    let frames = detect(&scenery, &ring, &ring);
    let closed: Vec<&Frame> = frames.iter().filter(|f| f.gap(&f.place(&ring)) < 0.0).collect();
    assert!(!closed.is_empty());
    for frame in &closed {
        let (v, t) = (frame.vertices[0] as usize, frame.vertices[1] as usize);
        assert!((x[v].x - x[t].x).abs() > 3.0, "one end touches the other");
    }
    // a cloth folded onto itself, half a thickness apart
    let (scenery, x) = scenery_of_fold();
    let frames = detect(&scenery, &x, &x);
    assert!(frames.iter().filter(|f| f.gap(&f.place(&x)) < 0.0).count() > 40);
}

fn scenery_of_fold() -> (Scenery, Vec<Vec3>) {
    let (scenery, x) = scenery(&format!(
        "[contact]\nself = true\nthickness = 0.02\n{}",
        body("\"cloth\", cells = [20, 6], size = [2, 0.6]", [0.0; 3])
    ));
    let fold = |p: &Vec3| if p.x > 1.0 { Vec3::new(2.0 - p.x, 0.01, p.z + 0.013) } else { *p };
    let folded = x.iter().map(fold).collect();
    (scenery, folded)
}

#[test]
fn broken_states_neither_panic_nor_take_long() {
    let text = "[contact]\nself = true\n[[obstacle]]\nshape = \"plane\"\n".to_string()
        + &body(BLOCK, [0.0; 3])
        + &body(BALL, [1.0, 1.3, 1.0])
        + &body("\"cloth\", cells = [10, 10], size = [2, 2]", [0.0, 0.5, 0.0]);
    let (scenery, x) = scenery(&text);
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
            for frame in detect(&scenery, x, y) {
                assert!(frame.plane.normal.iter().all(|n| n.is_finite()));
                assert!(frame.weights.iter().all(|w| w.is_finite()));
            }
        }
    }
    // 16 searches, each of some hundred vertices against at most 4096 candidates; seconds even on a slow machine
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
