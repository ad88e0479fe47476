//! Pictures of some scenes against committed ones. `DASHPOT_RENEW_GOLDEN=1` writes them anew: look at them before committing.

use crate::common;
use dashpot::view::{
    Area, Camera, Canvas, Colour, Look, Pane, Picture, RenderScene, Renderer, Source, canvas,
};
use std::path::{Path, PathBuf};

const SIZE: [u32; 2] = [320, 180];

/// Drivers may place edges a pixel off and round colours differently; a light, a normal or a colour map that is wrong
/// changes whole surfaces. So: few pixels may be off by much, and the picture as a whole by very little.
const MUCH: u8 = 24;
const MOST_OFF: f64 = 0.01;
const MEAN: f64 = 1.0;

/// Hair in the steps and with the damping that its picture was made with.
const HAIR: &[&str] = &["time.substeps=1", "damping.stiffness=5e-3", "time.frames=240"];

/// Scene, settings, frames, what colours tell, wireframe.
const PICTURES: [(&str, &[&str], usize, Colour, bool); 5] = [
    ("bar", &[], 10, Colour::Body, true),
    ("cube", &[], 6, Colour::Strain, false),
    ("cloth", &[], 12, Colour::Body, false),
    ("hair", HAIR, 8, Colour::Speed, false),
    ("bouncing-ball", &[], 10, Colour::Energy, false),
];

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.png"))
}

fn read(path: &Path) -> Picture {
    let why = |e: std::io::Error| panic!("{}: {e}; DASHPOT_RENEW_GOLDEN=1 writes it", path.display());
    let file = std::fs::File::open(path).unwrap_or_else(why);
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap();
    let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut rgb).unwrap();
    let rgba = rgb.chunks_exact(3).flat_map(|c| [c[0], c[1], c[2], 255]).collect();
    Picture { width: info.width, height: info.height, rgba }
}

/// The share of pixels that are off by much, and the mean of all differences.
fn difference(a: &Picture, b: &Picture) -> (f64, f64) {
    assert_eq!((a.width, a.height), (b.width, b.height));
    let off = |(a, b): (&[u8], &[u8])| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
    let pixels = a.rgba.chunks_exact(4).zip(b.rgba.chunks_exact(4)).map(off);
    let (count, much, sum) = pixels.fold((0.0, 0.0, 0.0), |(n, much, sum), off| {
        (n + 1.0, much + f64::from(u8::from(off > MUCH)), sum + f64::from(off))
    });
    (much / count, sum / count)
}

#[test]
fn scenes_look_as_they_did() {
    let Some(context) = common::context() else { return };
    // four samples, so that an edge that moves by a fraction of a pixel changes its colour by a fraction
    let renderer = Renderer::new(&context, canvas::FORMAT, 4).unwrap();
    let renew = std::env::var_os("DASHPOT_RENEW_GOLDEN").is_some();
    for (name, settings, frames, colour, wireframe) in PICTURES {
        let settings: Vec<String> = settings.iter().map(|setting| setting.to_string()).collect();
        let loaded = dashpot::setup::load(name, &settings).unwrap();
        let mut simulation = common::start(loaded.clone());
        for _ in 0..frames {
            simulation.frame().unwrap();
        }
        let mut render_scene =
            RenderScene::new(&renderer, &loaded.scene, simulation.model(), Source::Host).unwrap();
        render_scene.set_state(simulation.positions(), simulation.velocities());
        render_scene.set_time(simulation.time());
        render_scene.set_held(&simulation.held_points());
        let area = Area::whole(SIZE[0], SIZE[1]);
        let camera = Camera::framing(&render_scene.bounds(), area.aspect());
        let look = Look { colour, wireframe, ..Look::default() };
        let mut canvas = Canvas::new(&renderer, SIZE[0], SIZE[1]);
        let pane = Pane { render_scene: &mut render_scene, camera: &camera, look: &look, area };
        let picture = canvas.draw(&renderer, &mut [pane]).unwrap();
        if renew {
            std::fs::create_dir_all(golden(name).parent().unwrap()).unwrap();
            picture.write_png(&golden(name)).unwrap();
            continue;
        }
        let (much, mean) = difference(&picture, &read(&golden(name)));
        if much > MOST_OFF || mean > MEAN {
            let seen = std::env::temp_dir().join(format!("dashpot-{name}.png"));
            picture.write_png(&seen).unwrap();
            panic!(
                "{name}: {:.2} % of the pixels are off, {mean:.2} on average; see {}",
                100.0 * much,
                seen.display()
            );
        }
    }
}

/// The comparison sees what it should: another colour, another light, a body that is not there.
#[test]
fn the_comparison_can_fail() {
    let mut a = Picture { width: 10, height: 10, rgba: vec![100; 400] };
    let b = a.clone();
    assert_eq!(difference(&a, &b), (0.0, 0.0));
    a.rgba[..8].fill(180);
    let (much, _) = difference(&a, &b);
    assert!(much > MOST_OFF);
    let lighter = Picture { rgba: vec![102; 400], ..b.clone() };
    assert!(difference(&lighter, &b).1 > MEAN);
}
