//! Plasticity: after a step, elements whose stress is beyond the yield stress get another rest shape.
//!
//! The flow of one element is in `return_mapping`. It is computed on the host, from the positions at the end of the step; a
//! device is sent the new rest shapes. What it dissipates is a loss of its own in the ledger; P and L do not change.
//!
//! The metric A may lag behind: the fixed point of x ← x − A⁻¹ g does not depend on it. It is made anew when a rest shape is
//! [`FAR`] from that which A was made with: until then the curvature of an element's energy is at most FAR² times that in A.
//! Laplacian damping is another matter, its forces are made with L: then A follows every flow.

mod return_mapping;

use super::{Part, Setup, decode, encode};
use crate::model::law::stretches::Stretches;
use crate::model::tet::edge_matrix;
use crate::model::{Element, Law, Model, RestShapes, TetElement, TriangleElement, TriangleLaw};
use crate::scene::Scene;
use crate::step::{Change, MaterialChange, Phase, Residency, StepContext};
use crate::{Mat3, Result, Vec3};
use nalgebra::{Matrix2, SMatrix};
use rayon::prelude::*;
use return_mapping::{Elasticity, PlasticFlow, YieldLimit, return_mapping, stretch_between};

/// By which factor a rest shape may be stretched before the metric is made anew.
const FAR: f64 = 1.15;
/// Elements that a task takes at once.
const CHUNK: usize = 256;

/// The rest shapes, once one has moved.
struct Moved {
    now: RestShapes,
    /// Those that the metric was made with.
    metric: RestShapes,
}

/// What yields, and how far it has.
pub struct Plasticity {
    /// Y (Pa) and e^(−c h) of each body; `None`: it does not yield.
    bodies: Vec<Option<YieldLimit>>,
    /// Elements that may flow, with their bodies.
    tets: Vec<[usize; 2]>,
    triangles: Vec<[usize; 2]>,
    moved: Option<Moved>,
}

/// What flowed in a step.
struct Flowed {
    /// Energy that each body has given off (J).
    losses: Vec<f64>,
    /// Whether a rest shape is far from that in the metric.
    far: bool,
}

impl Plasticity {
    /// With the yield limits of a scene's materials, in time steps of `h` (s).
    pub fn new(scene: &Scene, model: &Model, h: f64) -> Self {
        let of = |body: usize| {
            let material = &scene.bodies.get(body)?.material;
            let kept = material.creep_rate.map_or(0.0, |rate| (-rate * h).exp());
            Some(YieldLimit { stress: material.yield_stress?, kept })
        };
        let bodies: Vec<Option<YieldLimit>> = (0..model.bodies.len()).map(of).collect();
        let yielding = |vertices: &mut dyn Iterator<Item = u32>| -> Vec<[usize; 2]> {
            let owner = |v: u32| model.bodies.partition_point(|body| body.vertices.end <= v as usize);
            let all = vertices.enumerate().map(|(number, v)| [number, owner(v)]);
            all.filter(|[_, body]| bodies[*body].is_some()).collect()
        };
        let tets = yielding(&mut model.tets.iter().map(|e| e.vertices[0]));
        let triangles = yielding(&mut model.triangles.iter().map(|e| e.vertices[0]));
        Plasticity { bodies, tets, triangles, moved: None }
    }

    /// Lets the elements flow at positions `x` (m), bodies being `factors` times as stiff as the model says. `None` if
    /// nothing flows.
    fn flow(&mut self, model: &Model, x: &[Vec3], factors: &[f64]) -> Option<Flowed> {
        let now = self.moved.as_ref().map(|moved| &moved.now);
        let tets = self.flows(&self.tets, |number, body| {
            let (e, limit) = (&model.tets[number], self.limit(body, factors)?);
            let shape = now.map_or(e.inverse_rest, |now| now.tets[number]);
            flow_of_tet(e, x, &shape, limit)
        });
        let triangles = self.flows(&self.triangles, |number, body| {
            let (e, limit) = (&model.triangles[number], self.limit(body, factors)?);
            let shape = now.map_or(e.inverse_rest, |now| now.triangles[number]);
            flow_of_triangle(e, x, &shape, limit)
        });
        if tets.is_empty() && triangles.is_empty() {
            return None;
        }
        let moved = self.moved.get_or_insert_with(|| {
            let given = RestShapes::of(model);
            Moved { now: given.clone(), metric: given }
        });
        let mut flowed = Flowed { losses: vec![0.0; self.bodies.len()], far: false };
        flowed.take(&tets, factors, &mut moved.now.tets, &moved.metric.tets);
        flowed.take(&triangles, factors, &mut moved.now.triangles, &moved.metric.triangles);
        Some(flowed)
    }

    /// Those of some elements that flow: number, body, and what comes of it. In order, with any number of threads.
    fn flows<const N: usize>(
        &self,
        elements: &[[usize; 2]],
        of: impl Fn(usize, usize) -> Option<PlasticFlow<N>> + Sync,
    ) -> Vec<(usize, usize, PlasticFlow<N>)> {
        let elements = elements.par_iter().with_min_len(CHUNK);
        elements.filter_map(|&[number, body]| Some((number, body, of(number, body)?))).collect()
    }

    /// Y and e^(−c h) of a body, Y for a material that is not stiffened.
    fn limit(&self, body: usize, factors: &[f64]) -> Option<YieldLimit> {
        let YieldLimit { stress, kept } = self.bodies[body]?;
        Some(YieldLimit { stress: stress / factors.get(body).copied().unwrap_or(1.0), kept })
    }
}

impl Flowed {
    fn take<const N: usize>(
        &mut self,
        flows: &[(usize, usize, PlasticFlow<N>)],
        factors: &[f64],
        now: &mut [SMatrix<f64, N, N>],
        metric: &[SMatrix<f64, N, N>],
    ) {
        for (number, body, flow) in flows {
            now[*number] = flow.inverse_rest;
            self.losses[*body] += flow.loss * factors.get(*body).copied().unwrap_or(1.0);
            self.far |= stretch_between(&metric[*number], &flow.inverse_rest) > FAR;
        }
    }
}

/// The plastic flow of a tetrahedron with the rest shape Dm⁻¹ = `now`.
fn flow_of_tet(e: &TetElement, x: &[Vec3], now: &Mat3, limit: YieldLimit) -> Option<PlasticFlow<3>> {
    let stretches = Stretches::of(&(edge_matrix(&e.vertices.map(|v| x[v as usize])) * now));
    let [mu, lambda] = e.lame();
    let volume = 1.0 / (6.0 * e.inverse_rest.determinant());
    let limit = YieldLimit { stress: limit.stress * volume, ..limit };
    return_mapping(&Elasticity { law: &e.law, mu, lambda }, &stretches, now, &e.inverse_rest, &limit)
}

fn flow_of_triangle(
    e: &TriangleElement,
    x: &[Vec3],
    now: &Matrix2<f64>,
    limit: YieldLimit,
) -> Option<PlasticFlow<2>> {
    let stretches = Stretches::of_sheet(TriangleElement { inverse_rest: *now, ..e.clone() }.deformation(x));
    let elasticity = match &e.law {
        TriangleLaw::Limits(_) => Elasticity { law: &Law::Projective, mu: 0.5 * e.weight, lambda: 0.0 },
        TriangleLaw::Plane { law, lambda, mu } => {
            Elasticity { law, mu: mu * e.weight, lambda: lambda * e.weight }
        }
    };
    let limit = YieldLimit { stress: limit.stress * e.volume, ..limit };
    return_mapping(&elasticity, &stretches, now, &e.inverse_rest, &limit)
}

/// The part, if anything can yield.
pub fn make(setup: &Setup, _: &mut StepContext) -> Result<Option<Box<dyn Part>>> {
    let plasticity = Plasticity::new(setup.scene, setup.model, setup.h);
    Ok((!plasticity.tets.is_empty() || !plasticity.triangles.is_empty())
        .then(|| Box::new(plasticity) as Box<dyn Part>))
}

impl Plasticity {
    /// The rest shapes now, once a body has yielded.
    pub fn rest_shapes(&self) -> Option<&RestShapes> {
        self.moved.as_ref().map(|moved| &moved.now)
    }
}

impl Part for Plasticity {
    fn name(&self) -> &'static str {
        "plasticity"
    }

    /// Flow is computed on the host, after each step.
    fn host_reason(&self, _: &Residency) -> Option<String> {
        Some(self.name().into())
    }

    fn after_step(&mut self, cx: &mut StepContext) -> Result<()> {
        let flowed = cx.timed(Phase::Advance, |cx| -> Result<Option<Flowed>> {
            cx.backend.fetch()?;
            Ok(self.flow(&cx.model, cx.backend.fetched().positions, &cx.shared.stiffness))
        })?;
        let Some(Flowed { mut losses, far }) = flowed else { return Ok(()) };
        cx.shared.exchange.plastic += losses.iter().sum::<f64>();
        losses.iter_mut().for_each(|loss| *loss = -*loss);
        cx.give_energy(&losses);
        cx.changed(Change::Material);
        let metric = far || cx.damping.stiffness != 0.0;
        let Some(moved) = self.moved.as_mut() else { return Ok(()) };
        if metric {
            moved.metric.clone_from(&moved.now);
        }
        let change = MaterialChange::RestShapes { shapes: &moved.now, metric };
        cx.timed(Phase::Advance, |cx| cx.backend.set_material(change))
    }

    /// The rest shapes now and those of the metric; nothing while they are those of the model.
    fn save(&self, _: &StepContext) -> Option<Vec<u8>> {
        let moved = self.moved.as_ref()?;
        encode(&[moved.now.numbers(), moved.metric.numbers()])
    }

    /// Continues with the rest shapes of a checkpoint; with those of the model, if it has none that fit.
    fn load(&mut self, saved: Option<&[u8]>, cx: &mut StepContext) -> Result<()> {
        let saved = decode::<[Vec<f64>; 2]>(saved);
        let shapes = saved.map(|saved| saved.map(|numbers| RestShapes::from_numbers(&cx.model, &numbers)));
        let before = self.moved.take();
        self.moved =
            shapes.and_then(|[now, metric]| now.zip(metric).map(|(now, metric)| Moved { now, metric }));
        let mut set = |shapes: &RestShapes, metric: bool| {
            cx.backend.set_material(MaterialChange::RestShapes { shapes, metric })
        };
        match &self.moved {
            Some(Moved { now, metric }) => {
                set(metric, true)?;
                set(now, false)
            }
            None if before.is_some() => set(&RestShapes::of(&cx.model), true),
            None => Ok(()),
        }
    }
}
