//! What a changing stiffness costs: frames of a scene with its keyframes and without, the two in turn.
//!
//! ```text
//! cargo run --release --example stiffening [-- SCENE [alone] FIELD=VALUE...]
//! ```
//!
//! With `alone` only the changing one runs: then nobody else's frames give the background time to factor.
//!
//! Prints the median frame and the longest ones after the first two (ms), and the time that they spent on new weights and on
//! waiting for factors: in all, and the longest in a frame.

use dashpot::setup::{self, build};
use dashpot::step::clock::Phase;
use dashpot::{Result, Simulation, cpu};
use std::sync::Arc;
use std::time::Instant;

/// A simulation, and the time of each of its frames (ms).
struct Timed {
    name: &'static str,
    simulation: Simulation,
    frames: Vec<f64>,
    /// What of it was spent on weights and factors.
    factoring: Vec<f64>,
}

impl Timed {
    fn new(name: &'static str, scene: &str, fields: &[String], changing: bool) -> Result<Self> {
        let mut loaded = setup::load(scene, fields)?;
        if !changing {
            loaded.scene.bodies.iter_mut().for_each(|body| body.material.keyframes = None);
        }
        let model = Arc::new(build(&loaded)?.model);
        let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
        let mut simulation = Simulation::new(&loaded.scene, model, backend)?;
        simulation.prepare()?;
        Ok(Timed { name, simulation, frames: Vec::new(), factoring: Vec::new() })
    }

    fn frame(&mut self) -> Result<()> {
        let (start, clock) = (Instant::now(), *self.simulation.clock());
        self.simulation.frame()?;
        self.frames.push(start.elapsed().as_secs_f64() * 1e3);
        self.factoring.push(self.simulation.clock().since(&clock).milliseconds(Phase::Factor));
        Ok(())
    }

    fn print(&self) {
        let ranked = |times: &[f64]| {
            let mut sorted = times[2..].to_vec();
            sorted.sort_by(f64::total_cmp);
            [sorted.len() / 2, sorted.len() - 3, sorted.len() - 2, sorted.len() - 1].map(|k| sorted[k])
        };
        let [median, third, second, longest] = ranked(&self.frames);
        println!("{:10} median {median:8.2}   longest {longest:8.2} {second:8.2} {third:8.2}", self.name);
        let [median, third, second, longest] = ranked(&self.factoring);
        let all: f64 = self.factoring.iter().sum();
        println!(
            "{:10} median {median:8.2}   longest {longest:8.2} {second:8.2} {third:8.2}   in all {all:8.2}",
            "  factors"
        );
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (alone, arguments): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|argument| argument == "alone");
    let (fields, scenes): (Vec<String>, Vec<String>) =
        arguments.into_iter().partition(|argument| argument.contains('='));
    let scene = scenes.first().map_or("torus-stiffening", String::as_str);
    let frames = setup::load(scene, &fields)?.scene.time.frames.max(5);
    let mut runs = vec![Timed::new("changing", scene, &fields, true)?];
    if alone.is_empty() {
        runs.insert(0, Timed::new("constant", scene, &fields, false)?);
    }
    let prepared = runs[0].simulation.clock().milliseconds(Phase::Factor);
    println!("{scene}, {} vertices, {frames} frames (ms)", runs[0].simulation.model().vertex_count());
    println!("{:10} {prepared:8.2} for the first factor; {}", "", runs[0].simulation.describe());
    for _ in 0..frames {
        runs.iter_mut().try_for_each(Timed::frame)?;
    }
    runs.iter().for_each(Timed::print);
    Ok(())
}
