//! Triangles and springs of every shape on the device: needles, collapsed, huge and tiny ones agree with the CPU's elements
//! as far as single precision can know, and no element pushes or turns itself.

use crate::common::{self, Random, masses};
use crate::tolerances::units;
use dashpot::Vec3;
use dashpot::gpu::buffer::{Buffer, Contents};
use dashpot::gpu::contents::contents;
use dashpot::gpu::context::Context;
use dashpot::gpu::kernel::{Call, Id};
use dashpot::gpu::layout::{Sizes, Step, Vertex};
use dashpot::gpu::shader::Library;
use dashpot::gpu::stream::Stream;
use dashpot::model::Model;
use dashpot::model::spring::SpringElement;
use dashpot::model::triangle::TriangleElement;
use nalgebra::Rotation3;
use std::sync::Arc;

const COUNT: usize = 3000;

/// 10^(−1..1 · decades)
fn magnitude(random: &mut Random, decades: f64) -> f64 {
    10f64.powf(random.number() * decades)
}

fn turn(random: &mut Random) -> Rotation3<f64> {
    Rotation3::new(random.vector() * 3.0)
}

/// Loose triangles of all sizes, in the plane of their rest shape stretched by σ₁ and σ₂ of all sizes, and turned.
fn triangles() -> Model {
    let mut random = Random::new(21);
    let (mut places, mut elements) = (Vec::new(), Vec::new());
    while elements.len() < COUNT {
        let size = magnitude(&mut random, 4.0);
        let [u, v, _] = [0; 3].map(|_| Vec3::new(random.number(), random.number(), 0.0) * size);
        let limits = [[1.0, 1.0], [0.9, 1.2], [0.0, 1.0], [1.0, f64::INFINITY]][elements.len() % 4];
        let first = places.len() as u32;
        let stiffness = 1e3 * size.powi(-2); // weights of the order of 1 J, whatever the size
        let rest = [Vec3::zeros(), u, v];
        let Some(element) =
            TriangleElement::new([first, first + 1, first + 2], rest, stiffness, 1e-3, limits)
        else {
            continue;
        };
        let collapse = [1.0, magnitude(&mut random, 9.0).min(1.0), 0.0][elements.len() % 3];
        let greatest = if elements.len() % 50 == 49 { 0.0 } else { magnitude(&mut random, 3.0) };
        let (before, after) =
            (Rotation3::from_axis_angle(&Vec3::z_axis(), random.number() * 3.0), turn(&mut random));
        let stretch = Vec3::new(greatest, greatest * collapse, 1.0);
        let origin = random.vector() * 100.0 * size * f64::from(u8::from(elements.len() % 2 == 0));
        places.extend(rest.map(|x| origin + after * (before * x).component_mul(&stretch)));
        elements.push(element);
    }
    Model {
        triangles: elements,
        ..masses(&vec![1.0; places.len()], &places, &vec![Vec3::zeros(); places.len()])
    }
}

/// Loose springs of all sizes at all extents, none included.
fn springs() -> Model {
    let mut random = Random::new(22);
    let (mut places, mut elements) = (Vec::new(), Vec::new());
    for k in 0..COUNT {
        let size = magnitude(&mut random, 6.0);
        let first = places.len() as u32;
        let rest = [random.vector() * size, Vec3::zeros()];
        elements.push(SpringElement::new([first, first + 1], rest, 100.0).unwrap());
        let extent = [1.0, 1.0 + 1e-6 * random.number(), magnitude(&mut random, 12.0), 0.0][k % 4];
        let origin = random.vector() * 100.0 * size;
        places.extend(rest.map(|x| origin + turn(&mut Random::new(k as u64)) * x * extent));
    }
    Model {
        springs: elements,
        ..masses(&vec![1.0; places.len()], &places, &vec![Vec3::zeros(); places.len()])
    }
}

/// Contents with displacements of a tenth of an element's size for some, and the numbers of a step.
fn prepared(model: &Model, [a, b]: [f32; 2]) -> Contents {
    let mut all = contents(model, &model.laplacian().unwrap()).unwrap();
    let numbers = Step { share: 0.5, viscous: a - b, projection: b, ..Step::default() };
    all.set_small(Buffer::Step, &[numbers]);
    let mut random = Random::new(23);
    let vertices = all.items::<Vertex>(Buffer::Vertices).to_vec();
    for (k, d) in all.items_mut::<[f32; 4]>(Buffer::Iterate).iter_mut().enumerate() {
        let neighbour = vertices[k ^ 1].position;
        let size =
            0.1 * (0..3).map(|i| f64::from(vertices[k].position[i] - neighbour[i]).abs()).fold(0.0, f64::max);
        let v = random.vector() * if k / 6 % 2 == 0 { size } else { 0.0 };
        *d = [v.x as f32, v.y as f32, v.z as f32, 0.0];
    }
    all
}

/// Runs a kernel on the device and returns what it wrote, after comparing it with its twin, within what WGSL allows
/// (tolerances.rs).
fn compared(context: &Arc<Context>, all: &Contents, id: Id, buffer: Buffer) -> Vec<f32> {
    let mut stream = Stream::new(context.clone(), all, Library::BuiltIn).unwrap();
    stream.kernel(id).unwrap();
    stream.submit().unwrap();
    let bytes = stream.read(buffer).unwrap();
    let device: Vec<f32> = bytemuck::cast_slice(&bytes).to_vec();
    let mut twin = all.clone();
    let written = (id.kernel().twin)(&mut twin, &Call::default());
    let mut worst = 0.0f32;
    for (k, (expected, size)) in twin.items::<f32>(buffer).iter().zip(&written[0].1).enumerate() {
        let off = (device[k] - expected).abs();
        let allowed = units(context, id.kernel(), all) * f32::EPSILON * size;
        assert!(off <= allowed, "{id:?}: number {k} is {}, not {expected}; allowed {allowed:e}", device[k]);
        worst = worst.max(if *size > 0.0 { off / (f32::EPSILON * size) } else { 0.0 });
    }
    println!("{id:?}: {worst:.2} units in the last place");
    device
}

fn row(rows: &[f32], number: usize) -> Vec3 {
    Vec3::new(rows[4 * number].into(), rows[4 * number + 1].into(), rows[4 * number + 2].into())
}

#[test]
fn triangles_of_every_shape_agree_with_the_cpu() {
    let Some(context) = common::context() else { return };
    let model = triangles();
    for weights in [[1.0, 1.0], [0.8, 0.5]] {
        let all = prepared(&model, weights);
        let rows = compared(&context, &all, Id::project_triangle, Buffer::Rows);
        for triangle in 0..COUNT {
            let [a, b, c] = [0, 1, 2].map(|corner| row(&rows, 3 * triangle + corner));
            let others = (b + c).map(|sum| f64::from(sum as f32));
            assert_eq!(a, -others, "triangle {triangle} pushes itself");
        }
        compared(&context, &all, Id::observe_triangle, Buffer::Partials);
    }
}

#[test]
fn springs_of_every_extent_agree_with_the_cpu() {
    let Some(context) = common::context() else { return };
    let model = springs();
    for weights in [[1.0, 1.0], [0.8, 0.5]] {
        let all = prepared(&model, weights);
        let rows = compared(&context, &all, Id::project_spring, Buffer::Rows);
        for spring in 0..COUNT {
            assert_eq!(row(&rows, 2 * spring), -row(&rows, 2 * spring + 1), "spring {spring} pushes itself");
        }
        compared(&context, &all, Id::observe_spring, Buffer::Partials);
    }
}

/// Within the limits of strain a cloth is free, to the last bit: rounding must not make it creep.
#[test]
fn triangles_within_their_limits_give_no_force() {
    let Some(context) = common::context() else { return };
    let mut random = Random::new(24);
    let (mut places, mut elements) = (Vec::new(), Vec::new());
    for _ in 0..COUNT {
        let rest = [Vec3::zeros(), Vec3::new(1.0, 0.2, 0.0), Vec3::new(0.3, 0.8, 0.0)];
        let first = places.len() as u32;
        let vertices = [first, first + 1, first + 2];
        elements.push(TriangleElement::new(vertices, rest, 1e4, 1e-3, [0.8, 1.2]).unwrap());
        let (turn, stretch) = (turn(&mut random), Vec3::repeat(1.0) + random.vector() * 0.15);
        places.extend(rest.map(|x| turn * x.component_mul(&stretch)));
    }
    let still = vec![Vec3::zeros(); places.len()];
    let model = Model { triangles: elements, ..masses(&vec![1.0; places.len()], &places, &still) };
    let mut all = contents(&model, &model.laplacian().unwrap()).unwrap();
    let numbers = Step { share: 1.0, viscous: 0.0, projection: 1.0, ..Step::default() };
    all.set_small(Buffer::Step, &[numbers]);
    assert_eq!(all.small::<Sizes>(Buffer::Sizes, 0).triangles as usize, COUNT);
    let rows = compared(&context, &all, Id::project_triangle, Buffer::Rows);
    assert!(rows.iter().all(|number| *number == 0.0));
}
