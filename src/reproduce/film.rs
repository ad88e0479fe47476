//! Filmstrips: frames of a run in a row, runs below each other.

use crate::gpu::context::Context;
use crate::scene::Scene;
use crate::view::{
    Area, Bounds, Camera, Canvas, Look, Pane, Picture, RenderScene, Renderer, Source, annotate, canvas,
};
use crate::{Result, Simulation, Vec3};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Size of a frame (pixels).
const FRAME: [u32; 2] = [300, 240];

/// Frames of a run, drawn in a row.
#[derive(Debug, Clone, Copy, Default)]
pub struct Strip<'a> {
    /// Stands above its first frame.
    pub caption: &'a str,
    /// A built-in scene, or the name of `text`.
    pub scene: &'a str,
    /// A scene as TOML, instead of a built-in one.
    pub text: Option<&'a str>,
    pub settings: &'a [&'a str],
    /// The frames that are drawn, ascending.
    pub frames: &'a [usize],
}

/// What draws filmstrips: one at a time.
pub struct Film {
    renderer: Mutex<Renderer>,
}

impl Film {
    /// Prepares a device for pictures.
    pub fn new(context: &Arc<Context>) -> Result<Self> {
        // four samples: these pictures are looked at, and are few
        Ok(Film { renderer: Mutex::new(Renderer::new(context, canvas::FORMAT, 4)?) })
    }

    /// The states of a run, all seen by a camera that has all of them in view.
    pub(super) fn draw(
        &self,
        scene: &Scene,
        simulation: &Simulation,
        strip: &Strip<'_>,
        states: &[(f64, Vec<Vec3>)],
    ) -> Result<Vec<Picture>> {
        let renderer = self.renderer.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut render_scene = RenderScene::new(&renderer, scene, simulation.model(), Source::Host)?;
        let mut canvas = Canvas::new(&renderer, FRAME[0], FRAME[1]);
        let area = Area::whole(FRAME[0], FRAME[1]);
        let bounds = states.iter().fold(Bounds::empty(), |all, (_, x)| all.union(&Bounds::of(x)));
        let camera = Camera::framing(&bounds, area.aspect());
        let still = vec![Vec3::zeros(); simulation.positions().len()];
        let mut pictures = Vec::new();
        for (k, (time, positions)) in states.iter().enumerate() {
            render_scene.set_state(positions, &still);
            render_scene.set_time(*time);
            let look = Look::default();
            let pane = Pane { render_scene: &mut render_scene, camera: &camera, look: &look, area };
            let mut picture = canvas.draw(&renderer, &mut [pane])?;
            let time = format!("{time:.2} s");
            let words = if k == 0 { format!("{}  {time}", strip.caption) } else { time };
            annotate::caption(&mut picture, &words);
            pictures.push(picture);
        }
        Ok(pictures)
    }

    /// Writes rows of frames as one picture.
    pub(super) fn write(path: &Path, rows: &[Vec<Picture>]) -> Result<()> {
        let rows: Vec<Picture> = rows.iter().filter_map(|row| annotate::row(row)).collect();
        annotate::column(&rows).map_or(Ok(()), |picture| picture.write_png(path))
    }
}
