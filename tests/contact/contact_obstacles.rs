//! Contact with obstacles, through the functions that a step uses: closed forms, friction, energy, memory.

use dashpot::contact::Contacts;
use dashpot::model::Model;
use dashpot::scene::Scene;
use dashpot::setup::build;
use dashpot::setup::load_text;
use dashpot::{Result, Vec3};

const BOX: &str = "[[body]]\nmesh = { generate = \"box\", cells = [1, 1, 1], size = [1, 1, 1] }\n\
                   material = { model = \"arap\", mu = 1e4 }\n";

fn parts(text: &str) -> (Scene, Model, Contacts) {
    let loaded = load_text("scene.toml", text, &[]).unwrap();
    let model = build(&loaded).unwrap().model;
    let contacts = Contacts::new(&loaded.scene, &model).unwrap().expect("something can touch");
    (loaded.scene, model, contacts)
}

/// A⁻¹ of a diagonal metric: every vertex has the compliance `c`.
fn diagonal(c: f64) -> impl FnMut(&mut [Vec<Vec3>]) -> Result<()> {
    move |batch| {
        batch.iter_mut().flatten().for_each(|b| *b *= c);
        Ok(())
    }
}

#[test]
fn a_scene_in_which_nothing_can_touch_has_no_contacts() {
    for text in [BOX.to_string(), format!("[contact]\nbodies = false\n{BOX}{BOX}")] {
        let loaded = load_text("scene.toml", &text, &[]).unwrap();
        let model = build(&loaded).unwrap().model;
        assert!(Contacts::new(&loaded.scene, &model).unwrap().is_none());
    }
}

#[test]
fn a_vertex_on_a_plane_has_the_closed_form() {
    for (law, weight) in [("linear", 1.0), ("linear", 0.25), ("cubic", 1.0), ("cubic", 0.5)] {
        let text = format!(
            "[contact]\nlaw = \"{law}\"\nstiffness = 500\nfriction = 0\n[[obstacle]]\nshape = \"plane\"\npoint = [0, 0.1, 0]\n{BOX}"
        );
        let (_, model, mut contacts) = parts(&text);
        let x = model.initial_positions.clone();
        contacts.detect(0.0, 0.01, &x, &x);
        let (depth, compliance) = (0.1, 3e-3);
        let forces = contacts.solve(&x, &x, weight, &mut diagonal(compliance)).unwrap().to_vec();
        let k = weight * 500.0;
        let expected = if law == "linear" {
            k * depth / (1.0 + k * compliance)
        } else {
            let left = (-1.0 + (1.0 + 4.0 * compliance * k * depth).sqrt()) / (2.0 * compliance * k);
            k * left * left
        };
        assert_eq!(forces.len(), 4, "the four vertices at the bottom");
        for (v, force) in forces {
            assert!(x[v as usize].y == 0.0);
            assert!((force - Vec3::y() * expected).norm() < 1e-12 * expected, "{law}: {force:?} {expected}");
        }
        // potential: four vertices at depth 0.1
        let energy = contacts.potential(0.0, &x)[0];
        let each = if law == "linear" { 500.0 / 2.0 * depth * depth } else { 500.0 / 3.0 * depth.powi(3) };
        assert!((energy - 4.0 * each).abs() < 1e-12, "{energy}");
    }
}

#[test]
fn forces_are_minus_the_gradient_of_the_potential() {
    let obstacles = "[[obstacle]]\nshape = \"sphere\"\ncentre = [0.1, -0.9, 0.2]\nradius = 1\n\
                     [[obstacle]]\nshape = \"capsule\"\nends = [[1, -1, 0], [1, 2, 0.3]]\nradius = 0.2\n\
                     [[obstacle]]\nshape = \"box\"\ncentre = [0.5, 1.4, 0.5]\nhalf_size = [0.7, 0.5, 2]\nrotation = { axis = [0, 0, 1], degrees = 20 }\n";
    for law in ["linear", "cubic"] {
        let text = format!("[contact]\nlaw = \"{law}\"\nfriction = 0\nthickness = 0.02\n{obstacles}{BOX}");
        let (_, model, mut contacts) = parts(&text);
        let mut x: Vec<Vec3> =
            model.initial_positions.iter().map(|x| x + Vec3::new(0.01, 0.03, 0.02)).collect();
        contacts.detect(0.0, 0.01, &x, &x);
        // without compliance to speak of the implicit force is the explicit one
        let forces = contacts.solve(&x, &x, 1.0, &mut diagonal(1e-15)).unwrap().to_vec();
        assert!(forces.len() >= 4, "several touch");
        let energy = |x: &[Vec3]| contacts.potential(0.0, x).iter().sum::<f64>();
        let largest = forces.iter().map(|f| f.1.norm()).fold(0.0, f64::max);
        for v in 0..x.len() {
            let force = forces.iter().find(|f| f.0 as usize == v).map_or(Vec3::zeros(), |f| f.1);
            for axis in 0..3 {
                let step = 1e-6;
                let kept = x[v][axis];
                x[v][axis] = kept + step;
                let above = energy(&x);
                x[v][axis] = kept - step;
                let below = energy(&x);
                x[v][axis] = kept;
                let slope = (above - below) / (2.0 * step);
                // differences of sums of order 1e3: rounding 1e-13 over the step, and the law's curvature
                assert!((slope + force[axis]).abs() < 1e-6 * largest, "{law}, vertex {v}: {slope} {force:?}");
            }
        }
    }
}

/// Slides one step on a slope of `degrees` from rest; how far along it and the forces.
fn slope(degrees: f64, friction: f64) -> (f64, Vec3) {
    let angle = degrees.to_radians();
    let normal = Vec3::new(angle.sin(), angle.cos(), 0.0);
    let text = format!(
        "[contact]\nstiffness = 1e13\nfriction = {friction}\n[[obstacle]]\nshape = \"plane\"\nnormal = [{}, {}, 0]\n{BOX}",
        normal.x, normal.y
    );
    let (_, _, mut contacts) = parts(&text);
    // one heavy vertex at the plane, the others far away
    let (mass, h, g) = (50.0, 0.01, Vec3::new(0.0, -9.81, 0.0));
    let mut x = vec![normal * 100.0; 8];
    x[0] = Vec3::zeros();
    let mut free = x.clone();
    free[0] += g * h * h;
    contacts.detect(0.0, h, &x, &free);
    assert_eq!(contacts.len(), 1);
    let compliance = h * h / mass;
    let force = contacts.solve(&x, &free, 1.0, &mut diagonal(compliance)).unwrap()[0].1;
    let end = free[0] + force * compliance;
    (end.dot(&Vec3::new(angle.cos(), -angle.sin(), 0.0)), force)
}

#[test]
fn a_block_slides_when_the_slope_is_steeper_than_its_friction() {
    let friction: f64 = 0.3;
    let threshold = friction.atan().to_degrees();
    for (degrees, slides) in [(2.0, false), (threshold - 0.01, false), (threshold + 0.01, true), (40.0, true)]
    {
        let (way, force) = slope(degrees, friction);
        let angle = degrees.to_radians();
        // h² g (sin θ − μ cos θ) of a block that slides
        let expected = if slides { 1e-4 * 9.81 * (angle.sin() - friction * angle.cos()) } else { 0.0 };
        // the plane is a little soft: m/(h² k) = 5e-8 of the weight is not carried in the first step
        assert!((way - expected).abs() < 1e-4 * 9.81 * 1e-7, "{degrees}°: {way} {expected}");
        let (normal, weight) =
            (force.dot(&Vec3::new(angle.sin(), angle.cos(), 0.0)), 50.0 * 9.81 * angle.cos());
        assert!((normal - weight).abs() < 1e-7 * weight, "{normal} {weight}");
    }
}

#[test]
fn the_memory_goes_through_a_checkpoint() {
    let text = format!("[[obstacle]]\nshape = \"plane\"\npoint = [0, 0.1, 0]\n{BOX}");
    let (_, model, mut contacts) = parts(&text);
    let x = model.initial_positions.clone();
    let y: Vec<Vec3> = x.iter().map(|x| x + Vec3::new(0.02, -0.01, 0.0)).collect();
    contacts.detect(0.0, 0.01, &x, &y);
    contacts.solve(&x, &y, 1.0, &mut diagonal(1e-3)).unwrap();
    let (_, _, mut other) = parts(&text);
    other.set_warm_start(&contacts.warm_start());
    assert_eq!(other.warm_start(), contacts.warm_start());
    assert!(!contacts.warm_start().is_empty());
    for c in [&mut contacts, &mut other] {
        c.detect(0.01, 0.01, &y, &y);
    }
    let first = contacts.solve(&y, &y, 0.5, &mut diagonal(1e-3)).unwrap();
    assert_eq!(first, other.solve(&y, &y, 0.5, &mut diagonal(1e-3)).unwrap());
    // a step in which nothing is near leaves nothing to remember
    let far: Vec<Vec3> = x.iter().map(|x| x + Vec3::y() * 100.0).collect();
    contacts.detect(0.02, 0.01, &far, &far);
    assert!(contacts.is_empty() && contacts.warm_start().is_empty());
}

#[test]
fn energy_of_a_step_is_accounted_for() {
    // A plane that rises and pulls sideways under a box that it carries.
    let text = format!(
        "[contact]\nfriction = 0.2\n[[obstacle]]\nshape = \"plane\"\npath = {{ kind = \"translate\", velocity = [3, 1, 0] }}\n{BOX}"
    );
    let (_, model, mut contacts) = parts(&text);
    let x = model.initial_positions.clone();
    let h = 0.01;
    contacts.detect(0.0, h, &x, &x);
    let compliance = 1e-6;
    let forces = contacts.solve(&x, &x, 1.0, &mut diagonal(compliance)).unwrap().to_vec();
    let mut end = x.clone();
    forces.iter().for_each(|(v, f)| end[*v as usize] += f * compliance);
    let exchange = contacts.exchange(&x, &end);
    let sum: Vec3 = forces.iter().map(|f| f.1).sum();
    let body = exchange.bodies[0];
    assert!(sum.x > 0.0 && sum.y > 0.0, "it is carried along: {sum:?}");
    assert!((body.impulse - sum * h).norm() < 1e-12 * sum.norm());
    let turn: Vec3 = forces.iter().map(|(v, f)| end[*v as usize].cross(f) * h).sum();
    assert!((body.angular_impulse - turn).norm() < 1e-12 * sum.norm());
    let about: Vec3 = forces.iter().map(|(v, f)| (end[*v as usize] - Vec3::x()).cross(f) * h).sum();
    assert!((body.angular_impulse - Vec3::x().cross(&body.impulse) - about).norm() < 1e-12 * sum.norm());
    assert!((exchange.obstacles - sum.dot(&Vec3::new(3.0 * h, h, 0.0))).abs() < 1e-12 * exchange.obstacles);
    assert!(exchange.friction > 0.0, "it slips");
    // f·Δx = f·(motion) + f_n·(relative normal way) + f_t·slip: the second part is what the potential takes up
    let squeezed: f64 = forces.iter().map(|(v, f)| f.y * (end[*v as usize].y - x[*v as usize].y - h)).sum();
    let balance = body.work - (exchange.obstacles + squeezed - exchange.friction);
    assert!(balance.abs() < 1e-12 * exchange.obstacles, "{balance}");
    assert_eq!(contacts.forces_by_body()[0].force * h, body.impulse);
}

#[test]
fn stiffness_does_not_depend_on_the_mesh() {
    // The same box pressed equally deep into the ground, coarse and fine: the same force.
    let force = |cells: usize| {
        let text = format!(
            "[[obstacle]]\nshape = \"plane\"\npoint = [0, 0.01, 0]\n[[body]]\n\
             mesh = {{ generate = \"box\", cells = [{cells}, {cells}, {cells}], size = [1, 1, 1] }}\n\
             material = {{ model = \"arap\", mu = 1e4 }}\n"
        );
        let (_, model, mut contacts) = parts(&text);
        let x = model.initial_positions.clone();
        contacts.detect(0.0, 0.01, &x, &x);
        contacts.solve(&x, &x, 1.0, &mut diagonal(1e-15)).unwrap();
        contacts.forces_by_body()[0].force.y
    };
    let pressure = 2e4 / (0.01 * 3f64.sqrt()) * 0.01;
    for cells in [4, 8, 16] {
        // vertices along the edges of the bottom stand for the sides too: at most 2/cells more area
        let ratio = force(cells) / pressure;
        assert!((1.0 - 1e-9..=1.0 + 2.1 / cells as f64).contains(&ratio), "{cells}: {ratio}");
    }
}
