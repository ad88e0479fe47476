//! Contact of bodies with each other, through the functions that a step uses: balance, rest, repeatability.

use dashpot::contact::Contacts;
use dashpot::linear::{Factor, SparseMatrix, Symbolic};
use dashpot::model::Model;
use dashpot::setup::build;
use dashpot::setup::load_text;
use dashpot::{Result, Vec3};

/// Bodies that are linear springs about their rest shape, without rotation, under backward Euler: a step is one solve,
/// x_free = A⁻¹ (M y/h² + L X), with A = M/h² + L, so that contact is all there is to iterate.
struct Linear {
    model: Model,
    contacts: Contacts,
    laplacian: SparseMatrix,
    factor: Factor<f64>,
    h: f64,
    t: f64,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
}

impl Linear {
    fn new(text: &str, h: f64) -> Linear {
        let loaded = load_text("scene.toml", text, &[]).unwrap();
        let model = build(&loaded).unwrap().model;
        let contacts = Contacts::new(&loaded.scene, &model).unwrap().expect("something can touch");
        let laplacian = model.laplacian().unwrap();
        let none = vec![0.0; model.vertex_count()];
        let metric = laplacian.scaled_sum(1.0 / (h * h), &model.mass, 1.0, 0.0, &none);
        let factor = Factor::new(&Symbolic::new(&metric).unwrap(), &metric).unwrap();
        let (x, v) = (model.initial_positions.clone(), model.initial_velocities.clone());
        Linear { model, contacts, laplacian, factor, h, t: 0.0, x, v }
    }

    fn step(&mut self) {
        let (h, g) = (self.h, self.model.gravity);
        let y: Vec<Vec3> = self.x.iter().zip(&self.v).map(|(x, v)| x + v * h + g * h * h).collect();
        self.contacts.detect(self.t, h, &self.x, &y);
        let mut free = vec![Vec3::zeros(); y.len()];
        self.laplacian.mul(&self.model.initial_positions, &mut free);
        (0..y.len()).for_each(|i| free[i] += y[i] * (self.model.mass[i] / (h * h)));
        let mut inverse = inverse(&self.factor);
        inverse(&mut free).unwrap();
        let mut columns = |batch: &mut [Vec<Vec3>]| batch.iter_mut().try_for_each(|column| inverse(column));
        let forces = self.contacts.solve(&self.x, &free, 1.0, &mut columns).unwrap();
        let mut push = vec![Vec3::zeros(); y.len()];
        forces.iter().for_each(|(v, f)| push[*v as usize] = *f);
        inverse(&mut push).unwrap();
        let next: Vec<Vec3> = free.iter().zip(&push).map(|(x, p)| x + p).collect();
        self.v = next.iter().zip(&self.x).map(|(next, x)| (next - x) / h).collect();
        self.x = next;
        self.t += h;
    }

    fn momentum(&self) -> Vec3 {
        self.v.iter().zip(&self.model.mass).map(|(v, m)| v * *m).sum()
    }

    fn speed(&self) -> f64 {
        self.v.iter().map(|v| v.norm()).fold(0.0, f64::max)
    }

    /// Mean of the positions of a body.
    fn centre(&self, body: usize) -> Vec3 {
        let vertices = self.model.bodies[body].vertices.clone();
        self.x[vertices.clone()].iter().sum::<Vec3>() / vertices.len() as f64
    }
}

fn inverse(factor: &Factor<f64>) -> impl FnMut(&mut [Vec3]) -> Result<()> + '_ {
    let mut scratch = factor.scratch().unwrap();
    move |b: &mut [Vec3]| {
        let mut arrays: Vec<[f64; 3]> = b.iter().map(|b| (*b).into()).collect();
        factor.solve(&mut arrays, &mut scratch);
        b.iter_mut().zip(arrays).for_each(|(b, a)| *b = a.into());
        Ok(())
    }
}

fn cube(cells: usize, position: [f64; 3], more: &str) -> String {
    format!(
        "[[body]]\nmesh = {{ generate = \"box\", cells = [{cells}, {cells}, {cells}], size = [1, 1, 1] }}\n\
         material = {{ model = \"arap\", mu = 2e4, density = 100 }}\nposition = {position:?}\n{more}"
    )
}

#[test]
fn forces_of_a_pair_cancel_to_the_last_bit() {
    let text = format!(
        "gravity = [0, 0, 0]\n{}{}",
        cube(4, [0.0; 3], "velocity = [0.3, 1, 0]\n"),
        cube(3, [0.13, 0.98, 0.21], "velocity = [0, -1, 0]\n")
    );
    let mut pair = Linear::new(&text, 0.01);
    let before = pair.momentum();
    let mut largest: f64 = 0.0;
    for _ in 0..30 {
        pair.step();
        let forces = pair.contacts.forces_by_body();
        assert_eq!(forces[0].force + forces[1].force, Vec3::zeros());
        assert_eq!(forces[0].torque + forces[1].torque, Vec3::zeros());
        largest = largest.max(forces[0].force.norm());
    }
    // the impact turns 100 kg each by 2 m/s within some steps
    assert!(largest > 1000.0, "{largest}");
    // corners carry the force in shares that sum to one but for rounding; so do the solves
    assert!((pair.momentum() - before).norm() < 1e-10 * 200.0, "{:?} {before:?}", pair.momentum());
    assert!(pair.centre(1).y - pair.centre(0).y > 0.9, "they have not passed");
}

#[test]
fn boxes_come_to_rest_on_each_other() {
    let text = format!(
        "[[obstacle]]\nshape = \"plane\"\n{}{}",
        cube(4, [0.0, 0.01, 0.0], ""),
        cube(3, [0.1, 1.03, 0.05], "")
    );
    let mut stack = Linear::new(&text, 0.02);
    let mut sweeps = 0;
    for _ in 0..250 {
        stack.step();
        sweeps = sweeps.max(stack.contacts.sweeps());
    }
    assert!(stack.speed() < 1e-3, "at rest: {}", stack.speed());
    let forces = stack.contacts.forces_by_body();
    let weight = 100.0 * 9.81;
    // at rest to 1e-3 m/s: forces are right to that over the step, 1e-3 · 100 kg / 0.02 s = 5 N at most
    assert!((forces[1].force.y - weight).abs() < 5.0, "{forces:?}");
    assert!((forces[0].force.y - weight).abs() < 5.0, "it carries one and is carried with two: {forces:?}");
    // E = 4e4 Pa: each is squeezed by its own weight and the load, L p/E of some centimetres; contact is a hundredth
    assert!((0.45..0.51).contains(&stack.centre(0).y), "{:?}", stack.centre(0));
    assert!((1.35..1.52).contains(&stack.centre(1).y), "{:?}", stack.centre(1));
    assert!((stack.centre(1).x - 0.6).abs() < 0.02, "friction holds it");
    assert!(sweeps > 2, "forces had to be found");
}

#[test]
fn the_same_bits_with_any_number_of_threads() {
    let text = format!(
        "[contact]\nself = true\n[[obstacle]]\nshape = \"sphere\"\ncentre = [0.5, -0.9, 0.5]\nradius = 1\n{}{}",
        cube(5, [0.0, 0.1, 0.0], "velocity = [0, -2, 0]\n"),
        cube(4, [0.1, 1.12, 0.2], "velocity = [0, -3, 0]\n")
    );
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut bodies = Linear::new(&text, 0.02);
            (0..12).for_each(|_| bodies.step());
            let energy = bodies.contacts.potential(bodies.t, &bodies.x);
            assert!(energy.iter().all(|&e| e > 0.0), "both touch: {energy:?}");
            (bodies.x.clone(), energy, bodies.contacts.warm_start())
        })
    };
    let one = run(1);
    assert!(one == run(2));
    assert!(one == run(3));
}

#[test]
fn a_cloth_lies_on_a_solid() {
    let text = format!(
        "[[obstacle]]\nshape = \"plane\"\n{}[[body]]\nmesh = {{ generate = \"cloth\", cells = [12, 12], size = [0.8, 0.8] }}\n\
         material = {{ model = \"spring\", stiffness = 50, density = 500, thickness = 0.001 }}\nposition = [0.1, 1.02, 0.1]\n",
        cube(4, [0.0; 3], "")
    );
    let mut scene = Linear::new(&text, 0.01);
    for _ in 0..150 {
        scene.step();
        let lowest =
            scene.model.bodies[1].vertices.clone().map(|v| scene.x[v].y).fold(f64::INFINITY, f64::min);
        assert!(lowest > 0.9, "the cloth is not through: {lowest}");
    }
    assert!(scene.speed() < 0.05, "{}", scene.speed());
    let weight: f64 = scene.model.bodies[1].vertices.clone().map(|v| scene.model.mass[v] * 9.81).sum();
    let carried = scene.contacts.forces_by_body()[1].force.y;
    assert!((carried - weight).abs() < 0.05 * weight, "{carried} {weight}");
}
