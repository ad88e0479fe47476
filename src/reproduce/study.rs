//! What the study of a claim works with: runs, measures, tables, pictures.

use super::figure::Figure;
use super::film::{Film, State, Strip};
use super::motion::{Motion, Watched};
use super::record::{Bound, Measure, Picture, Record, TableRecord};
use crate::scene::LoadedScene;
use crate::setup::{self, build};
use crate::{Error, Result, Simulation, cpu};
use std::path::Path;
use std::sync::Arc;

/// A claim being tried. Everything runs on the CPU in double precision, on one thread where several claims are tried at once.
pub struct Study<'a> {
    pub(super) record: Record,
    /// Whether a few seconds are all there is: no filmstrips.
    pub(super) is_quick: bool,
    /// Where pictures go; `None` if nobody wants them.
    pub(super) folder: Option<&'a Path>,
    /// Draws filmstrips, if there is an adapter.
    pub(super) film: Option<&'a Film>,
}

impl Study<'_> {
    /// A built-in scene with settings such as `damping.model=none`.
    pub fn load(&self, scene: &str, settings: &[&str]) -> Result<LoadedScene> {
        setup::load(scene, &owned(settings))
    }

    /// A scene written as TOML, with settings.
    pub fn load_text(&self, name: &str, text: &str, settings: &[&str]) -> Result<LoadedScene> {
        setup::load_text(name, text, &owned(settings))
    }

    /// A scene, ready to run.
    pub fn start(&self, loaded: &LoadedScene) -> Result<Simulation> {
        let model = Arc::new(build(loaded)?.model);
        let backend = cpu::backend(model.clone(), &loaded.scene.solver)?;
        let mut simulation = Simulation::new(&loaded.scene, model, backend)?;
        simulation.prepare()?;
        Ok(simulation)
    }

    /// A built-in scene with settings, ready to run.
    pub fn simulate(&self, scene: &str, settings: &[&str]) -> Result<Simulation> {
        self.start(&self.load(scene, settings)?)
    }

    /// Runs a built-in scene with settings.
    pub fn run(&self, scene: &str, settings: &[&str], frames: usize) -> Result<Motion> {
        Motion::of(&mut self.simulate(scene, settings)?, frames, |_| Ok(()))
    }

    /// Runs a simulation.
    pub fn run_on(&self, simulation: &mut Simulation, frames: usize) -> Result<Motion> {
        Motion::of(simulation, frames, |_| Ok(()))
    }

    /// Runs a simulation and keeps a number of the start and of every frame.
    pub fn watch(
        &self,
        simulation: &mut Simulation,
        frames: usize,
        mut number: impl FnMut(&Simulation) -> f64,
    ) -> Result<Watched> {
        let mut values = Vec::with_capacity(frames + 1);
        let motion = Motion::of(simulation, frames, |simulation| {
            values.push(number(simulation));
            Ok(())
        })?;
        Ok(Watched { motion, values })
    }

    /// Something measured, in this unit, and what the claim asks of it. `theirs` is the paper's number as it writes it, or empty.
    pub fn measure(&mut self, what: &str, theirs: &str, ours: f64, unit: &str, bound: Bound) {
        self.measure_either(what, theirs, ours, unit, bound, None);
    }

    /// The same with a weaker bound that leaves the claim *qualified*.
    pub fn measure_either(
        &mut self,
        what: &str,
        theirs: &str,
        ours: f64,
        unit: &str,
        bound: Bound,
        weaker: Option<Bound>,
    ) {
        self.record.measures.push(Measure {
            what: what.into(),
            theirs: theirs.into(),
            ours: ours.is_finite().then_some(ours),
            unit: unit.into(),
            bound,
            weaker,
        });
    }

    /// A table of theirs and ours.
    pub fn table(&mut self, title: &str, heads: &[&str], rows: Vec<Vec<String>>) {
        let heads = heads.iter().map(|head| head.to_string()).collect();
        self.record.tables.push(TableRecord { title: title.into(), heads, rows });
    }

    /// What a reader should know of this run.
    pub fn note(&mut self, note: impl Into<String>) {
        self.record.notes.push(note.into());
    }

    /// Draws curves into `<paper>-<claim>-<name>.svg`.
    pub fn plot(&mut self, name: &str, shows: &str, figure: &Figure) -> Result<()> {
        let Some(folder) = self.folder else { return Ok(()) };
        let file = format!("{}-{name}.svg", self.record.name.replace('/', "-"));
        figure.write(&folder.join(&file))?;
        self.record.pictures.push(Picture { file, shows: shows.into() });
        Ok(())
    }

    /// Draws frames of runs, a row a strip, into `<paper>-<claim>-<name>.png`. Not in quick runs, nor without an adapter.
    pub fn film(&mut self, name: &str, shows: &str, strips: &[Strip]) -> Result<()> {
        let (Some(folder), false) = (self.folder, self.is_quick) else { return Ok(()) };
        let Some(film) = self.film else {
            self.note("No filmstrip: there is no adapter to draw it with.");
            return Ok(());
        };
        let pictures = strips.iter().map(|strip| self.frames(film, strip)).collect::<Result<Vec<_>>>()?;
        let file = format!("{}-{name}.png", self.record.name.replace('/', "-"));
        Film::write(&folder.join(&file), &pictures)?;
        self.record.pictures.push(Picture { file, shows: shows.into() });
        Ok(())
    }

    /// The frames of a strip; those that a failed run does not reach are its last state.
    fn frames(&self, film: &Film, strip: &Strip) -> Result<Vec<crate::view::Picture>> {
        let loaded = match strip.text {
            Some(text) => self.load_text(strip.scene, text, strip.settings)?,
            None => self.load(strip.scene, strip.settings)?,
        };
        let mut simulation = self.start(&loaded)?;
        let mut states = Vec::new();
        for &frame in strip.frames {
            while simulation.frame_number() < frame {
                match simulation.frame() {
                    Ok(_) => {}
                    Err(error @ Error::Input(_)) => return Err(error),
                    Err(_) => break,
                }
            }
            states.push(State {
                time: simulation.time(),
                positions: simulation.positions().to_vec(),
                held: simulation.held_points(),
            });
        }
        film.draw(&loaded.scene, &simulation, strip, &states)
    }
}

fn owned(settings: &[&str]) -> Vec<String> {
    settings.iter().map(|setting| setting.to_string()).collect()
}
