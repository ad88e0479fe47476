//! Pictures of a run without a window: frames, a filmstrip, an animated file, and the plots of the ledger.

use crate::backend::Device;
use crate::cli::backend::BackendArgs;
use crate::disk::atomic::Part;
use crate::error::InputError;
use crate::gpu::Shared;
use crate::ledger::Row;
use crate::observe::Output;
use crate::observe::examples::ExcitationTable;
use crate::observe::folder::layout;
use crate::scene::LoadedScene;
use crate::step::Simulation;
use crate::view::record::{Format, Recorder};
use crate::view::{
    Area, Camera, Canvas, Colour, Look, Marker, Pane, Picture, RenderScene, Renderer, Source, annotate,
    canvas, plot,
};
use crate::{Error, Result};
use std::path::Path;

/// Pictures of a filmstrip are this high (pixels), unless those of the frames are lower, and not much wider.
const STRIP_HEIGHT: u32 = 300;
const STRIP_ASPECT: f64 = 1.1;
/// The frames in a row.
const FILMSTRIP: &str = "plots/filmstrip.png";
/// Size of pictures where only a filmstrip or an animation is asked for.
const DEFAULT_SIZE: [u32; 2] = [1280, 720];

// The options of pictures. (No doc comment: clap would show it as the subcommand's own.)
#[derive(Debug, Clone, Default, clap::Args)]
pub struct PictureArgs {
    /// Draw frames of this size into DIR/frames/ (see --every)
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size, requires = "out", help_heading = "Pictures")]
    render: Option<[u32; 2]>,
    /// What colours tell
    #[arg(long, value_enum, default_value_t, help_heading = "Pictures")]
    colour: Colour,
    /// The ends of the colour map, instead of zero and the largest value so far
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, allow_hyphen_values = true, help_heading = "Pictures")]
    range: Option<[f32; 2]>,
    /// Draw the edges of the simulated meshes
    #[arg(long, help_heading = "Pictures")]
    wireframe: bool,
    /// Draw the simulated meshes, not the finer skins of those that have one
    #[arg(long, help_heading = "Pictures")]
    no_skin: bool,
    /// Draw what touches
    #[arg(long, help_heading = "Pictures")]
    contacts: bool,
    /// Write plots/filmstrip.png: this many frames in a row, from the first to the last
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..=50), requires = "out",
          help_heading = "Pictures")]
    filmstrip: Option<u16>,
    /// Write DIR/animation of the frames drawn
    #[arg(long, value_enum, value_name = "FORMAT", requires = "out", help_heading = "Pictures")]
    animate: Option<Format>,
    /// Samples a pixel, 1 or 4; 4 unless the adapter is in software
    #[arg(long, value_name = "N", value_parser = samples, help_heading = "Pictures")]
    samples: Option<u8>,
}

fn size(text: &str) -> Result<[u32; 2], String> {
    let expected = || format!("expected WIDTHxHEIGHT such as 1280x720, both from 16 to 8192, not `{text}`");
    let (width, height) = text.split_once(['x', 'X']).ok_or_else(expected)?;
    let pixels = |text: &str| text.parse().ok().filter(|n| (16..=8192).contains(n)).ok_or_else(expected);
    Ok([pixels(width)?, pixels(height)?])
}

fn samples(text: &str) -> Result<u8, String> {
    match text {
        "1" => Ok(1),
        "4" => Ok(4),
        _ => Err(format!("expected 1 or 4, not `{text}`")),
    }
}

fn range(text: &str) -> Result<[f32; 2], String> {
    let ends: Result<Vec<f32>, _> = text.split(',').map(|end| end.trim().parse()).collect();
    match ends.as_deref() {
        Ok(&[low, high]) if low < high && low.is_finite() && high.is_finite() => Ok([low, high]),
        _ => Err(format!("expected two ascending numbers such as 0,0.5, not `{text}`")),
    }
}

impl PictureArgs {
    /// Refuses what cannot be written, before a scene is read.
    pub fn check(&self) -> Result<()> {
        match self.animate.map(Format::available) {
            Some(Err(reason)) => Err(InputError::field("--animate", reason).into()),
            _ => Ok(()),
        }
    }

    /// Whether anything is to be drawn.
    pub fn asked(&self) -> bool {
        self.render.is_some() || self.filmstrip.is_some() || self.animate.is_some()
    }

    /// Files that are written once all frames are drawn.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let film = self.animate.map(|format| format!("animation.{}", format.ending()));
        self.filmstrip.map(|_| FILMSTRIP.into()).into_iter().chain(film)
    }

    /// Endings of the files of single frames.
    pub fn frame_endings(&self) -> &'static [&'static str] {
        if self.render.is_some() { &["png"] } else { &[] }
    }

    fn look(&self) -> Look {
        let PictureArgs { colour, range, wireframe, no_skin, .. } = *self;
        Look { colour, range, wireframe, skin: !no_skin, ..Look::default() }
    }
}

/// What draws the pictures of a run.
pub struct Pictures {
    args: PictureArgs,
    renderer: Renderer,
    render_scene: RenderScene,
    canvas: Canvas,
    size: [u32; 2],
    camera: Camera,
    look: Look,
    every: usize,
    /// Pictures a second of an animation.
    rate: f64,
    /// The animation: its name, the file until it is complete, and what writes that.
    film: Option<(String, Part, Recorder)>,
    /// Frames of the filmstrip, and what draws them.
    strip: Vec<usize>,
    strip_canvas: Canvas,
    strip_size: [u32; 2],
    strip_pictures: Vec<Picture>,
}

impl Pictures {
    /// Opens a device, unless `shared` has one, and prepares what is asked for; `None` if that is nothing.
    pub fn new(
        args: &PictureArgs,
        backend: &BackendArgs,
        loaded: &LoadedScene,
        simulation: &Simulation,
        shared: Option<Shared>,
        every: usize,
    ) -> Result<Option<Self>> {
        if !args.asked() {
            return Ok(None);
        }
        let context = match &shared {
            Some(shared) => shared.context.clone(),
            None => backend.open()?,
        };
        let suitable = Renderer::suitable_samples(&context);
        let samples = args.samples.map_or(suitable, u32::from);
        if samples < 4 && args.samples.is_none() {
            tell!(
                "pictures: software rendering ({}), one sample per pixel and coarser shadows; --samples 4 smooths edges",
                context.adapter.name
            );
        }
        let renderer = Renderer::with_library(&context, canvas::FORMAT, samples, &backend.library())?;
        let source = shared.map_or(Source::Host, Source::Device);
        let render_scene = RenderScene::new(&renderer, &loaded.scene, simulation.model(), source)?;
        let size = args.render.unwrap_or(DEFAULT_SIZE);
        let camera = Camera::framing(&render_scene.bounds(), Area::whole(size[0], size[1]).aspect());
        let strip_height = size[1].min(STRIP_HEIGHT);
        let strip_aspect = STRIP_ASPECT.min(Area::whole(size[0], size[1]).aspect());
        let strip_size = [(strip_aspect * f64::from(strip_height)).round() as u32, strip_height];
        let (last, from) = (loaded.scene.time.frames, simulation.frame_number());
        let strip = match args.filmstrip.map(usize::from) {
            Some(n) => (0..n).map(|k| from + (last - from) * k / (n - 1)).collect(),
            None => Vec::new(),
        };
        let rate = 1.0 / (loaded.scene.time.step * every as f64);
        Ok(Some(Pictures {
            canvas: Canvas::new(&renderer, size[0], size[1]),
            strip_canvas: Canvas::new(&renderer, strip_size[0], strip_size[1]),
            args: args.clone(),
            look: args.look(),
            render_scene,
            renderer,
            size,
            camera,
            every,
            rate,
            film: None,
            strip,
            strip_size,
            strip_pictures: Vec::new(),
        }))
    }

    /// Opens the animation in a folder, if one is asked for.
    pub fn open(&mut self, directory: &Path) -> Result<()> {
        let Some(format) = self.args.animate else { return Ok(()) };
        let name = format!("animation.{}", format.ending());
        let part = Part::named(&directory.join(&name));
        let recorder = Recorder::start(part.temporary(), format, self.size, self.rate)?;
        self.film = Some((name, part, recorder));
        Ok(())
    }

    /// Whether something is drawn of a frame.
    pub fn draws(&self, frame: usize) -> bool {
        self.strip.contains(&frame) || self.draws_frame(frame)
    }

    fn draws_frame(&self, frame: usize) -> bool {
        (self.args.render.is_some() || self.film.is_some()) && frame.is_multiple_of(self.every)
    }

    /// Draws the frame that the simulation has reached. Reads its state and changes nothing of it.
    pub fn frame(&mut self, simulation: &Simulation, output: &mut Output) -> Result<()> {
        let frame = simulation.frame_number();
        if !self.draws(frame) {
            return Ok(());
        }
        self.renderer.reload()?;
        let (x, v) = (simulation.positions(), simulation.velocities());
        self.render_scene.set_filtered_state(x, v, simulation.filtered());
        self.render_scene.set_time(simulation.time());
        self.render_scene.set_held(&simulation.held_points());
        if self.args.contacts {
            let markers: Vec<Marker> = simulation.touched().iter().map(Marker::contact).collect();
            self.render_scene.set_markers(&self.renderer, &markers)?;
        }
        if self.draws_frame(frame) {
            let picture = self.picture(false, true)?;
            if self.args.render.is_some() {
                let name = layout::frame_name(frame, "png");
                let png = picture.png().map_err(Error::write(&name))?;
                output.folder().write_frame(&name, &png)?;
            }
            if let Some((_, _, recorder)) = &mut self.film {
                recorder.push(picture.rgba)?;
            }
        }
        for _ in self.strip.clone().into_iter().filter(|&chosen| chosen == frame) {
            let last = self.strip_pictures.len() + 1 == self.strip.len();
            let mut picture = self.picture(true, last)?;
            annotate::caption(&mut picture, &format!("{:.2} s", simulation.time()));
            self.strip_pictures.push(picture);
        }
        Ok(())
    }

    fn picture(&mut self, strip: bool, legend: bool) -> Result<Picture> {
        let (canvas, [width, height]) = match strip {
            true => (&mut self.strip_canvas, self.strip_size),
            false => (&mut self.canvas, self.size),
        };
        let area = Area::whole(width, height);
        let camera = self.camera.reframed(&self.render_scene.bounds(), area.aspect());
        let pane = Pane { render_scene: &mut self.render_scene, camera: &camera, look: &self.look, area };
        let mut picture = canvas.draw(&self.renderer, &mut [pane])?;
        if let Some(range) = self.render_scene.range(true)?.filter(|_| legend) {
            annotate::legend(&mut picture, self.look.colour, range);
        }
        Ok(picture)
    }

    /// Writes outputs that need all frames.
    pub fn finish(self, output: &mut Output) -> Result<()> {
        if let Some(strip) = annotate::row(&self.strip_pictures) {
            output.folder().stage(FILMSTRIP, &strip.png().map_err(Error::write(FILMSTRIP))?)?;
        }
        if let Some((name, part, recorder)) = self.film {
            recorder.finish()?;
            output.folder().stage_part(&name, part);
        }
        output.folder().commit()
    }
}

/// The curves of the ledger, and of motion along examples.
pub fn plots(scene: &str, rows: &[Row], excited: Option<&ExcitationTable>) -> Result<Vec<plot::NamedFile>> {
    let mut plots = plot::files(scene, rows)?;
    if let Some(excited) = excited {
        plots.extend(plot::of_examples(scene, &excited.names, &excited.rows)?);
    }
    Ok(plots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ranges_are_read_or_refused() {
        assert_eq!(size("320x180"), Ok([320, 180]));
        for bad in ["320", "x", "0x9", "20x99999", "axb", "-3x40"] {
            assert!(size(bad).unwrap_err().contains("WIDTHxHEIGHT"), "{bad}");
        }
        assert_eq!(range("-1,2.5"), Ok([-1.0, 2.5]));
        for bad in ["1", "2,1", "a,b", "0,inf", "1,2,3"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }
}
