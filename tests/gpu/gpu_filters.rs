//! Velocity filters on the device: they do what those of the CPU do, and PBD damping keeps the momenta of a body however
//! often it is applied, however fast and far away the body is.

use crate::common::{self, Random, masses};
use dashpot::Vec3;
use dashpot::damping::pbd;
use dashpot::gpu::buffer::{Buffer, Contents};
use dashpot::gpu::contents::contents;
use dashpot::gpu::context::Context;
use dashpot::gpu::kernel::{Id, PBD_DAMPING};
use dashpot::gpu::layout::{Motion, SLOTS, Step, Vertex};
use dashpot::gpu::shader::Library;
use dashpot::gpu::stream::Stream;
use dashpot::model::Model;
use std::sync::Arc;

/// A body's state in double precision, as the device holds it.
struct Body {
    mass: Vec<f64>,
    x: Vec<Vec3>,
    v: Vec<Vec3>,
}

impl Body {
    fn of(vertices: &[Vertex], motions: &[Motion]) -> Self {
        let wide = |v: [f32; 3]| Vec3::from(v.map(f64::from));
        Body {
            mass: vertices.iter().map(|vertex| f64::from(vertex.mass)).collect(),
            x: vertices.iter().map(|vertex| wide(vertex.position) + wide(vertex.low)).collect(),
            v: motions.iter().map(|motion| wide(motion.velocity)).collect(),
        }
    }

    fn mean(&self, of: &[Vec3]) -> Vec3 {
        of.iter().zip(&self.mass).map(|(x, m)| x * *m).sum::<Vec3>() / self.mass.iter().sum::<f64>()
    }

    /// Momentum divided by the mass (m/s).
    fn drift(&self) -> Vec3 {
        self.mean(&self.v)
    }

    /// Angular momentum about the centre (kg m²/s).
    fn angular_momentum(&self) -> Vec3 {
        let (centre, drift) = (self.mean(&self.x), self.drift());
        let terms = self.x.iter().zip(&self.v).zip(&self.mass);
        terms.map(|((x, v), m)| (x - centre).cross(&(v - drift)) * *m).sum()
    }

    /// Largest speed of a vertex relative to the body's rigid motion (m/s).
    fn beyond_rigid(&self) -> f64 {
        let mut rigid = self.v.clone();
        pbd::filter(&self.mass, &self.x, &mut rigid, 1.0);
        self.v.iter().zip(&rigid).map(|(v, rigid)| (v - rigid).norm()).fold(0.0, f64::max)
    }

    /// Largest speed of a vertex relative to the centre (m/s).
    fn commotion(&self) -> f64 {
        let drift = self.drift();
        self.v.iter().map(|v| (v - drift).norm()).fold(0.0, f64::max)
    }
}

/// A device with a model on it, and the numbers of a filter.
fn device(context: &Arc<Context>, model: &Model, coefficient: f32) -> (Stream, Contents) {
    let mut all = contents(model, &model.laplacian().unwrap()).unwrap();
    all.set_small(Buffer::Step, &[Step { h: 0.01, filter_coefficient: coefficient, ..Step::default() }]);
    (Stream::new(context.clone(), &all, Library::BuiltIn).unwrap(), all)
}

fn apply(stream: &mut Stream, kernels: &[Id], times: usize) {
    for _ in 0..times {
        kernels.iter().for_each(|id| stream.kernel(*id).unwrap());
    }
    stream.submit().unwrap();
}

fn body(stream: &mut Stream, vertices: usize) -> Body {
    let (places, motions) = (stream.read(Buffer::Vertices).unwrap(), stream.read(Buffer::Motions).unwrap());
    Body::of(&bytemuck::cast_slice(&places)[..vertices], &bytemuck::cast_slice(&motions)[..vertices])
}

/// Masses at random in a slab of size 1 that turns with ω = (1, 2, 5)/s and shakes.
fn spinning(count: usize, place: f64, drift: f64, shaking: f64) -> Model {
    let mut random = Random::new(11);
    let spin = Vec3::new(1.0, 2.0, 5.0);
    let x: Vec<Vec3> = (0..count).map(|_| random.vector().component_mul(&Vec3::new(1.0, 0.6, 0.2))).collect();
    let v: Vec<Vec3> = x
        .iter()
        .map(|x| spin.cross(x) + random.vector() * shaking + Vec3::new(drift, 0.3 * drift, -0.1 * drift))
        .collect();
    let x: Vec<Vec3> = x.iter().map(|x| x + Vec3::new(place, -place, 0.5 * place)).collect();
    let mass: Vec<f64> = (0..count).map(|_| 0.2 + 0.1 * random.number()).collect();
    masses(&mass, &x, &v)
}

#[test]
fn pbd_damping_is_that_of_the_cpu() {
    let Some(context) = common::context() else { return };
    for (place, drift) in [(0.0, 0.0), (1e4, 0.0), (0.0, 100.0), (1e4, 100.0)] {
        let count = 700; // three chunks
        let (mut stream, all) = device(&context, &spinning(count, place, drift, 0.5), 0.3);
        let before = Body::of(all.items(Buffer::Vertices), all.items(Buffer::Motions));
        apply(&mut stream, PBD_DAMPING, 1);
        let after = body(&mut stream, count);
        let mut expected = before.v.clone();
        pbd::filter(&before.mass, &before.x, &mut expected, 0.3f32.into());
        // velocities are rounded to the last place of the drift, the motion relative to it is computed to that of 7 m/s
        let allowed = f64::from(f32::EPSILON) * (1.1 * drift + 4.0 * before.commotion());
        let off = after.v.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
        assert!(off < allowed, "at {place} m, {drift} m/s: off by {off:e}, allowed {allowed:e}");
    }
}

#[test]
fn pbd_damping_keeps_the_momenta_however_often_it_is_applied() {
    let Some(context) = common::context() else { return };
    let count = 700;
    for (place, drift, shaking) in [(0.0, 0.0, 0.0), (1e4, 0.0, 1.0), (0.0, 100.0, 1.0), (1e4, 100.0, 0.0)] {
        for coefficient in [0.1f32, 1.0] {
            let (mut stream, all) = device(&context, &spinning(count, place, drift, shaking), coefficient);
            let before = Body::of(all.items(Buffer::Vertices), all.items(Buffer::Motions));
            apply(&mut stream, PBD_DAMPING, 400);
            let after = body(&mut stream, count);
            // Once in a velocity's last place, not 400 times: what remains is where the velocities settle.
            let last_place = f64::from(f32::EPSILON) * (drift + before.commotion());
            let gained = (after.drift() - before.drift()).norm();
            let turned = (after.angular_momentum() - before.angular_momentum()).norm();
            // Σ m |r| |v| of the last place: 140 kg, 0.7 m
            let inertia: f64 = before.mass.iter().sum::<f64>() * 0.7;
            let state = format!("at {place} m, {drift} m/s, shaking {shaking}, k = {coefficient}");
            assert!(gained < last_place, "{state}: momentum by {gained:e} m/s, last place {last_place:e}");
            assert!(turned < inertia * last_place, "{state}: angular momentum by {turned:e}");
            // a change below half a last place vanishes, k times what is left
            let rigid = 2.0 * last_place / f64::from(coefficient);
            assert!(after.beyond_rigid() < rigid, "{state}: not damped, {:e}", after.beyond_rigid());
        }
    }
}

#[test]
fn a_body_on_a_line_or_in_a_point_has_no_spin_about_it() {
    let Some(context) = common::context() else { return };
    let mut random = Random::new(5);
    let along = Vec3::new(0.3, -0.2, 0.7);
    for length in [1.0, 0.0] {
        for place in [0.0, 1e4] {
            let count = 300;
            let x: Vec<Vec3> =
                (0..count).map(|i| Vec3::repeat(place) + along * (length * f64::from(i))).collect();
            let v: Vec<Vec3> = x.iter().map(|_| random.vector()).collect();
            let (mut stream, all) = device(&context, &masses(&vec![0.1; x.len()], &x, &v), 0.5);
            let before = Body::of(all.items(Buffer::Vertices), all.items(Buffer::Motions));
            apply(&mut stream, PBD_DAMPING, 1);
            let after = body(&mut stream, x.len());
            let mut expected = before.v.clone();
            // what the places leave beside the line is rounding: put them on it
            pbd::filter(&before.mass, &x, &mut expected, 0.5);
            let off = after.v.iter().zip(&expected).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
            let allowed = 8.0 * f64::from(f32::EPSILON) * before.commotion();
            assert!(off < allowed, "length {length} at {place} m: off by {off:e}, allowed {allowed:e}");
        }
    }
}

#[test]
fn vertices_that_are_not_finite_are_counted() {
    let Some(context) = common::context() else { return };
    let (_, all) = device(&context, &spinning(700, 0.0, 0.0, 0.0), 0.0);
    for (bad, number) in [(f32::NAN, 3usize), (f32::INFINITY, 300), (f32::NEG_INFINITY, 699)] {
        let mut all = all.clone();
        all.items_mut::<Vertex>(Buffer::Vertices)[number].position[1] = bad;
        all.items_mut::<Motion>(Buffer::Motions)[number].velocity[2] = bad;
        all.items_mut::<Motion>(Buffer::Motions)[500].velocity[0] = bad;
        let mut stream = Stream::new(context.clone(), &all, Library::BuiltIn).unwrap();
        apply(&mut stream, &[Id::observe_vertex, Id::reduce_observation], 1);
        let report = stream.read(Buffer::Report).unwrap();
        assert_eq!(bytemuck::cast_slice::<u8, f32>(&report)[SLOTS + 11], 2.0, "{bad}");
    }
}
