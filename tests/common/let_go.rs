//! Bodies that are let go from rest, under stress: shapes, scenes, and when they begin to move.

use dashpot::{Simulation, Vec3};

/// A block of 1 m × 0.4 m × 0.4 m, at rest; `{held}` and `{second}` are filled in.
const SCENE: &str = r#"
    gravity = [0.0, 0.0, 0.0]
    time = { step = 0.0333333333333, frames = 10 }
    integrator = { kind = "backward-euler" }
    damping = { model = "none" }
    conservation = { method = "cpd" }
    [[body]]
    name = "block"
    mesh = { generate = "box", cells = [5, 2, 2], size = [1.0, 0.4, 0.4] }
    material = { model = "corotated", young_modulus = 2e4, poisson_ratio = 0.3, density = 1000.0 }
    {held}
    {second}
"#;

const HELD: &str = r#"[[body.attach]]
    select = { min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] }
    stiffness = 1e4
"#;

/// At rest and without stress, far from the other.
const SECOND: &str = r#"[[body]]
    name = "still"
    mesh = { generate = "box", cells = [2, 2, 2], size = [0.4, 0.4, 0.4] }
    material = { model = "corotated", young_modulus = 2e4, poisson_ratio = 0.3, density = 1000.0 }
    position = [3.0, 0.0, 0.0]
"#;

/// One body or two, free or held at one end.
pub fn scene(held: bool, second: bool) -> String {
    let scene = SCENE.replace("{held}", if held { HELD } else { "" });
    scene.replace("{second}", if second { SECOND } else { "" })
}

/// A shape of the block.
pub type Shape = (&'static str, fn(Vec3) -> Vec3);

/// Shapes of the block under stress.
pub const SHAPES: &[Shape] = &[
    ("stretched", |x| Vec3::new(1.3 * x.x, x.y, x.z)),
    ("squeezed", |x| Vec3::new(0.7 * x.x, x.y, x.z)),
    ("bent", |x| Vec3::new(x.x, x.y + 0.3 * x.x * x.x, x.z)),
    ("sheared", |x| Vec3::new(x.x, x.y + 0.3 * x.x, x.z)),
];

/// Gives the first body a shape.
pub fn place(simulation: &mut Simulation, shape: fn(Vec3) -> Vec3) {
    let mut positions = simulation.positions().to_vec();
    let first = simulation.model().bodies[0].vertices.clone();
    positions[first].iter_mut().for_each(|x| *x = shape(*x));
    simulation.place(&positions).unwrap();
}

/// The first frame after which a vertex of the first body has moved by a thousandth of a metre.
pub fn first_motion(simulation: &mut Simulation, most: usize) -> Option<usize> {
    let start = simulation.positions().to_vec();
    (1..=most).find(|_| {
        simulation.frame().unwrap();
        simulation.fetch().unwrap();
        let moved = |(a, b): (&Vec3, &Vec3)| (a - b).norm();
        start.iter().zip(simulation.positions()).map(moved).fold(0.0, f64::max) > 1e-3
    })
}
