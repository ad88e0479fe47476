//! What pictures promise: they change nothing, they cost no traffic, and their numbers are those of the ledger.

use crate::common;
use dashpot::damping::{Damping, Filter, pbd};
use dashpot::gpu::context::Context;
use dashpot::mesh::{Embedding, Mesh};
use dashpot::model::Model;
use dashpot::scene::LoadedScene;
use dashpot::setup::{self, build};
use dashpot::view::{
    Area, Camera, Canvas, Colour, Look, Marker, Pane, Picture, RenderScene, Renderer, Source, canvas,
};
use dashpot::{Simulation, Vec3, gpu};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

const SIZE: [u32; 2] = [160, 90];

fn loaded(name: &str, overrides: &[&str]) -> (LoadedScene, Model) {
    let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
    let loaded = setup::load(name, &overrides).unwrap();
    let model = build(&loaded).unwrap().model;
    (loaded, model)
}

fn draw(renderer: &Renderer, render_scene: &mut RenderScene, look: &Look) -> Picture {
    let area = Area::whole(SIZE[0], SIZE[1]);
    let camera = Camera::framing(&render_scene.bounds(), area.aspect());
    let mut canvas = Canvas::new(renderer, SIZE[0], SIZE[1]);
    canvas.draw(renderer, &mut [Pane { render_scene, camera: &camera, look, area }]).unwrap()
}

fn renderer(context: &Arc<Context>) -> Renderer {
    Renderer::new(context, canvas::FORMAT, 1).unwrap()
}

fn look(colour: Colour) -> Look {
    Look { colour, ..Look::default() }
}

/// Values of all vertices, a stage of the host's state.
fn values(
    context: &Arc<Context>,
    scene: &LoadedScene,
    model: &Model,
    damping: Option<(Damping, f64)>,
) -> Vec<[f32; 4]> {
    let renderer = renderer(context);
    let mut render_scene = RenderScene::new(&renderer, &scene.scene, model, Source::Host).unwrap();
    if let Some((damping, step)) = damping {
        render_scene.set_damping(&damping, step);
    }
    render_scene.set_state(&model.initial_positions, &model.initial_velocities);
    draw(&renderer, &mut render_scene, &look(Colour::Damping));
    render_scene.values().unwrap()
}

/// A model in a state with random velocities and a few percent of strain.
fn shaken(name: &str, overrides: &[&str]) -> (LoadedScene, Model) {
    let (scene, mut model) = loaded(name, overrides);
    let mut random = common::Random::new(7);
    let size = common::size(&model.initial_positions);
    model.initial_positions.iter_mut().for_each(|x| *x += random.vector() * (2e-3 * size));
    model.initial_velocities.iter_mut().for_each(|v| *v += random.vector());
    (scene, model)
}

#[test]
fn energies_of_colours_sum_up_to_the_ledger() {
    let Some(context) = common::context() else { return };
    let laws = ["stvk", "neo-hookean", "corotated-linear"].map(|law| format!("body.0.material.model={law}"));
    let plain = ["cube", "bar", "cloth", "ribbon", "hair"].map(|name| (name, Vec::new()));
    let solids = laws.iter().map(|law| ("bar", vec![law.as_str(), "body.0.material.lambda=2e6"]));
    let planes = laws.iter().map(|law| ("thesis-trapezoid", vec![law.as_str()]));
    for (name, overrides) in plain.into_iter().chain(solids).chain(planes) {
        let (scene, model) = shaken(name, &overrides);
        let measured = values(&context, &scene, &model, None);
        let model = Arc::new(model);
        let backend = dashpot::cpu::backend(model.clone(), &scene.scene.solver).unwrap();
        let simulation = Simulation::new(&scene.scene, model.clone(), backend).unwrap();
        let elastic = simulation.last_row().elastic;
        // a vertex has the share of its body's volume that it has of its mass
        let volume: f64 = body_volume(&scene, &model);
        let mass: f64 = model.mass.iter().sum();
        let sum: f64 =
            measured.iter().zip(&model.mass).map(|(v, m)| f64::from(v[1]) * m / mass * volume).sum();
        // energies of single elements are off by some 1e-5 where they are squares of small strains in single precision
        assert!((sum / elastic - 1.0).abs() < 1e-3, "{name}: {sum} J against {elastic} J");
        let fastest = measured.iter().map(|v| v[2]).fold(0.0, f32::max);
        let speed = model.initial_velocities.iter().map(Vec3::norm).fold(0.0, f64::max);
        assert!((f64::from(fastest) / speed - 1.0).abs() < 1e-5, "{name}: {fastest} m/s against {speed}");
    }
}

fn body_volume(scene: &LoadedScene, model: &Model) -> f64 {
    let material = &scene.scene.bodies[0].material;
    let mesh = &model.bodies[0].mesh;
    let thickness = material.thickness.unwrap_or(1e-3);
    if !mesh.tets.is_empty() {
        mesh.tets.iter().map(|&t| dashpot::mesh::six_volumes(&mesh.tet_corners(t)) / 6.0).sum()
    } else if !mesh.triangles.is_empty() {
        let area = |&t: &[u32; 3]| dashpot::mesh::double_area_normal(&mesh.triangle_corners(t)).norm() / 2.0;
        mesh.triangles.iter().map(area).sum::<f64>() * thickness
    } else {
        let length = |&[a, b]: &[u32; 2]| (mesh.positions[a as usize] - mesh.positions[b as usize]).norm();
        mesh.strand_pieces().iter().map(length).sum::<f64>() * std::f64::consts::FRAC_PI_4 * thickness.powi(2)
    }
}

#[test]
fn damping_power_is_that_of_each_model() {
    let Some(context) = common::context() else { return };
    let (scene, model) = shaken("cube", &[]);
    let (mass, v): (f64, _) = (model.mass.iter().sum(), &model.initial_velocities);
    let volume = body_volume(&scene, &model);
    let total = |damping: Damping, step: f64| -> f64 {
        let measured = values(&context, &scene, &model, Some((damping, step)));
        measured.iter().zip(&model.mass).map(|(n, m)| f64::from(n[3]) * m / mass * volume).sum()
    };
    // vᵀ (α₁ M + α₂ L) v
    let laplacian = model.laplacian().unwrap();
    let stretching: f64 = (0..v.len())
        .map(|i| {
            let (columns, entries) = laplacian.row(i);
            let row: Vec3 = columns.iter().zip(entries).map(|(&j, l)| v[j as usize] * *l).sum();
            v[i].dot(&row)
        })
        .sum();
    let kinetic: f64 = v.iter().zip(&model.mass).map(|(v, m)| 0.5 * m * v.norm_squared()).sum();
    let damping = Damping { mass: 0.3, stiffness: 1e-3, ..Damping::default() };
    let expected = 0.6 * kinetic + 1e-3 * stretching;
    // sums of some thousand terms in single precision
    assert!((total(damping, 0.03) / expected - 1.0).abs() < 1e-4);
    // v <- (1 - k) v once in h, told of the velocity that is left
    let (k, h) = (0.2, 0.03);
    let drag = Damping { filter: Some(Filter::EtherDrag { coefficient: k }), ..Damping::default() };
    let taken = kinetic * (1.0 / (1.0 - k) / (1.0 - k) - 1.0) / h;
    assert!((total(drag, h) / taken - 1.0).abs() < 1e-4);
    // the same of what is beyond the rigid motion, which the filter with k = 1 leaves
    let mut rigid = v.clone();
    pbd::filter(&model.mass, &model.initial_positions, &mut rigid, 1.0);
    let beyond = v.iter().zip(&rigid).zip(&model.mass).map(|((v, r), m)| 0.5 * m * (v - r).norm_squared());
    let taken = beyond.sum::<f64>() * (1.0 / (1.0 - k) / (1.0 - k) - 1.0) / h;
    let filter = Damping { filter: Some(Filter::Pbd { coefficient: k }), ..Damping::default() };
    assert!((total(filter, h) / taken - 1.0).abs() < 1e-3);
}

/// Filters that tell by how much they changed the velocities: the power of all vertices is what the ledger got in the last step,
/// from the host's state and from the device's.
#[test]
fn damping_power_is_what_a_filter_took() {
    let Some(context) = common::context() else { return };
    let renderer = renderer(&context);
    let settings: &[&[&str]] = &[
        &["damping.model=point"],
        &["damping.model=spring-iterated", "damping.sweeps=3"],
        &["damping.model=direct"],
        &["damping.model=direct", "damping.torque=linear-program"],
        &["damping.model=direct", "damping.scope=local", "damping.torque=none"],
    ];
    for settings in settings {
        // the whole flies and turns: none of that is power
        let set = [settings, &["damping.gamma=0.2", "body.0.velocity=[9,0,0]"][..]].concat();
        for on_device in [false, true] {
            let (scene, model) = loaded("cube", &set);
            let model = Arc::new(model);
            let (volume, mass): (f64, f64) = (body_volume(&scene, &model), model.mass.iter().sum());
            let solver = &scene.scene.solver;
            let (backend, source) = if on_device {
                let options = gpu::Options::default();
                let (backend, shared) =
                    gpu::shared_backend(context.clone(), model.clone(), solver, &options).unwrap();
                (backend, Source::Device(shared))
            } else {
                (dashpot::cpu::backend(model.clone(), solver).unwrap(), Source::Host)
            };
            let mut render_scene = RenderScene::new(&renderer, &scene.scene, &model, source).unwrap();
            let mut simulation = Simulation::new(&scene.scene, model.clone(), backend).unwrap();
            let rows = common::run(&mut simulation, 3);
            let (x, v) = (simulation.positions().to_vec(), simulation.velocities().to_vec());
            render_scene.set_filtered_state(&x, &v, simulation.filtered());
            draw(&renderer, &mut render_scene, &look(Colour::Damping));
            let values = render_scene.values().unwrap();
            let shown: f64 =
                values.iter().zip(&model.mass).map(|(n, m)| f64::from(n[3]) * m / mass * volume).sum();
            let taken = (rows[3].damped - rows[2].damped) / scene.scene.time.step;
            // sums of some thousand terms in single precision, the ledger's among them
            assert!((shown / taken - 1.0).abs() < 1e-3, "{set:?}, device: {on_device}: {shown} W, {taken} W");
        }
    }
}

#[test]
fn strain_is_the_stretch_that_a_body_has() {
    let Some(context) = common::context() else { return };
    let (scene, model) = loaded("cube", &["body.0.stretch=[1.0,1.4,1.0]"]);
    for [strain, ..] in values(&context, &scene, &model, None) {
        // single precision of a few operations
        assert!((strain - 0.4).abs() < 1e-5, "{strain}");
    }
}

/// The frames of a run on the device are drawn from where they are: what crosses is a few hundred bytes, however large
/// the model is, and the simulation does not know of it.
#[test]
fn drawing_from_the_device_moves_no_positions() {
    let Some(context) = common::context() else { return };
    let renderer = renderer(&context);
    let mut crossed = Vec::new();
    for cells in ["[4,4,4]", "[8,8,8]"] {
        let (scene, model) =
            loaded("cube", &[&format!("body.0.mesh.cells={cells}"), "solver.global=\"chebyshev\""]);
        let model = Arc::new(model);
        let solver = &scene.scene.solver;
        let (backend, shared) =
            gpu::shared_backend(context.clone(), model.clone(), solver, &gpu::Options::default()).unwrap();
        let mut render_scene =
            RenderScene::new(&renderer, &scene.scene, &model, Source::Device(shared)).unwrap();
        let mut simulation = Simulation::new(&scene.scene, model, backend).unwrap();
        let first = draw(&renderer, &mut render_scene, &look(Colour::Strain));
        simulation.start_frame().unwrap();
        let (solver_before, before) = (simulation.device_use().unwrap(), render_scene.usage());
        let second = draw(&renderer, &mut render_scene, &look(Colour::Strain));
        assert_eq!(simulation.device_use().unwrap(), solver_before);
        let use_of_frame = render_scene.usage().since(&before);
        assert!(use_of_frame.uploaded < 1024 && use_of_frame.downloaded <= 16, "{use_of_frame:?}");
        assert_ne!(first, second, "the frame was seen");
        crossed.push([use_of_frame.uploaded, use_of_frame.downloaded]);
    }
    assert_eq!(crossed[0], crossed[1]);
}

/// The same state looks the same from the host and from the device.
#[test]
fn host_and_device_give_the_same_picture() {
    let Some(context) = common::context() else { return };
    let renderer = renderer(&context);
    let (scene, model) = loaded("bar", &[]);
    let model = Arc::new(model);
    let options = gpu::Options::default();
    let (_backend, shared) =
        gpu::shared_backend(context.clone(), model.clone(), &scene.scene.solver, &options).unwrap();
    let pictures = [Source::Host, Source::Device(shared)].map(|source| {
        let mut render_scene = RenderScene::new(&renderer, &scene.scene, &model, source).unwrap();
        draw(&renderer, &mut render_scene, &look(Colour::Energy))
    });
    assert!(pictures[0] == pictures[1]);
}

const SKINNED: &str = "gravity = [0, 0, 0]\nsolver = { global = 'chebyshev' }\n\
        [[body]]\nname = 'cube'\nmesh = { generate = 'box', cells = [3, 3, 3], size = [0.3, 0.3, 0.3] }\n\
        material = { model = 'arap', mu = 1e4 }\nposition = [0.8, 0, 0]\n\
        [[body]]\nname = 'ball'\nmesh = { surface = 'ball.obj', target_tets = 800 }\n\
        material = { model = 'arap', mu = 1e4 }\nposition = [0, 1, 0]\nstretch = [1.3, 0.7, 1.1]\n\
        rotation = { axis = [1, 2, 3], degrees = 40 }\nangular_velocity = [0, 3, 0]\n";

/// A picture seen by this camera, whatever room the stage asks for.
fn draw_from(renderer: &Renderer, camera: &Camera, render_scene: &mut RenderScene, look: &Look) -> Picture {
    let mut canvas = Canvas::new(renderer, SIZE[0], SIZE[1]);
    let area = Area::whole(SIZE[0], SIZE[1]);
    canvas.draw(renderer, &mut [Pane { render_scene, camera, look, area }]).unwrap()
}

/// Pixels of which a colour differs by a sixteenth of its range.
fn differing(a: &Picture, b: &Picture) -> usize {
    let far = |(a, b): (&[u8], &[u8])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 16);
    a.rgba.chunks_exact(4).zip(b.rgba.chunks_exact(4)).filter(|pair| far(*pair)).count()
}

/// A ball of some 800 tetrahedra with a skin of `cells` across, spun and squeezed, beside a cube that has none.
fn skinned(folder: &Path, cells: usize) -> (LoadedScene, Model) {
    let fine = dashpot::mesh::spec::Generator::Ball { radius: 0.5, cells }.build().unwrap();
    let obj = folder.join("ball.obj");
    dashpot::mesh::write::write(&obj, &fine, &fine.positions).unwrap();
    let loaded = setup::load_text(folder.join("scene.toml"), SKINNED, &[]).unwrap();
    let model = build(&loaded).unwrap().model;
    (loaded, model)
}

/// The skin is where the simulated mesh carries it, on both kinds of source, and nothing crosses for it.
#[test]
fn skins_are_carried_on_the_device() {
    let Some(context) = common::context() else { return };
    let renderer = renderer(&context);
    let folder = tempfile::tempdir().unwrap();
    let mut crossed = Vec::new();
    for cells in [8, 16] {
        let (scene, model) = skinned(folder.path(), cells);
        let model = Arc::new(model);
        let solver = &scene.scene.solver;
        let (backend, shared) =
            gpu::shared_backend(context.clone(), model.clone(), solver, &gpu::Options::default()).unwrap();
        let mut render_scene =
            RenderScene::new(&renderer, &scene.scene, &model, Source::Device(shared)).unwrap();
        let mut simulation = Simulation::new(&scene.scene, model.clone(), backend).unwrap();
        let first = draw(&renderer, &mut render_scene, &look(Colour::Strain));
        for _ in 0..4 {
            simulation.start_frame().unwrap();
        }
        let (solver_before, before) = (simulation.device_use().unwrap(), render_scene.usage());
        let second = draw(&renderer, &mut render_scene, &look(Colour::Strain));
        assert_eq!(simulation.device_use().unwrap(), solver_before);
        let used = render_scene.usage().since(&before);
        assert!(used.uploaded < 1024 && used.downloaded <= 16, "{used:?}");
        assert_ne!(first, second, "the frame was seen");
        crossed.push([used.uploaded, used.downloaded]);

        let on_device = render_scene.skin_positions().unwrap();
        simulation.fetch().unwrap();
        let body = &model.bodies[1];
        let skin = body.skin.as_ref().unwrap();
        let expected = skin.positions(&simulation.positions()[body.vertices.clone()]);
        assert_eq!(on_device.len(), expected.len());
        let off = on_device.iter().zip(&expected).map(|(a, b)| (a - b).amax()).fold(0.0, f64::max);
        // weights of some units, rounded to single precision, times differences of some tenths of a metre
        assert!(off < 1e-6, "{off:e} m");

        let mut hosted = RenderScene::new(&renderer, &scene.scene, &model, Source::Host).unwrap();
        hosted.set_state(simulation.positions(), simulation.velocities());
        draw(&renderer, &mut hosted, &look(Colour::Body));
        let hosted = hosted.skin_positions().unwrap();
        let off = hosted.iter().zip(&expected).map(|(a, b)| (a - b).amax()).fold(0.0, f64::max);
        assert!(off < 1e-6, "{off:e} m");
    }
    assert_eq!(crossed[0], crossed[1], "however fine the skin is");
}

/// A look shows the skin or the mesh that is simulated, and the wireframe is that of the mesh.
#[test]
fn a_skin_is_seen_unless_the_look_says_otherwise() {
    let Some(context) = common::context() else { return };
    let renderer = renderer(&context);
    let folder = tempfile::tempdir().unwrap();
    let (scene, mut model) = skinned(folder.path(), 16);
    let mut bare = model.clone();
    bare.bodies[1].skin = None;
    // a skin that sticks out cannot be taken for the mesh
    let mesh = &model.bodies[1].mesh;
    let positions = mesh.positions.iter().map(|p| p * 1.2).collect();
    let wide = Mesh { positions, triangles: mesh.surface(), ..Mesh::default() };
    model.bodies[1].skin = Some(Arc::new(Embedding::new(mesh, &wide).unwrap()));
    let mut render_scene = RenderScene::new(&renderer, &scene.scene, &model, Source::Host).unwrap();
    let mut stage_without = RenderScene::new(&renderer, &scene.scene, &bare, Source::Host).unwrap();
    let [on, off, wire] = [(true, false), (false, false), (true, true)].map(|(skin, wireframe)| Look {
        skin,
        wireframe,
        ground: false,
        ..Look::default()
    });
    let camera = Camera::framing(&render_scene.bounds(), f64::from(SIZE[0]) / f64::from(SIZE[1]));
    let see = |render_scene: &mut RenderScene, look: &Look| draw_from(&renderer, &camera, render_scene, look);
    let (skin, coarse) = (see(&mut render_scene, &on), see(&mut render_scene, &off));
    let plain = see(&mut stage_without, &on);
    assert!(differing(&skin, &coarse) > 300, "{}", differing(&skin, &coarse));
    // the room is made for the skin, too, so shadows have other borders
    assert!(differing(&coarse, &plain) < 40, "{}", differing(&coarse, &plain));
    assert!(differing(&see(&mut render_scene, &wire), &see(&mut stage_without, &wire)) < 40);
}

/// In an affine motion the normals that a skin is lit by are those of its triangles: it looks like a cloth of the same
/// triangles at the same place, whose normals are made of them.
#[test]
fn a_stretched_skin_is_lit_like_its_own_triangles() {
    let Some(context) = common::context() else { return };
    let renderer = renderer(&context);
    let folder = tempfile::tempdir().unwrap();
    skinned(folder.path(), 16);
    // two obstacles say how large the room is, and with it where the light comes from
    let text = format!(
        "{SKINNED}[[obstacle]]\nshape = 'sphere'\ncentre = [-1.2, -0.5, -1.1]\nradius = 0.05\n\
         [[obstacle]]\nshape = 'sphere'\ncentre = [1.7, 2, 1.1]\nradius = 0.05\n"
    );
    let load = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(|s| s.to_string()).collect();
        let loaded = setup::load_text(folder.path().join("scene.toml"), &text, &overrides).unwrap();
        let model = build(&loaded).unwrap().model;
        (loaded, model)
    };
    let (scene, model) = load(&[]);
    let spring = "body.ball.material={ model = 'spring', stiffness = 1 }";
    let (sheet, sheet_model) = load(&["body.ball.mesh={ file = 'ball.obj' }", spring]);
    let mut skin = RenderScene::new(&renderer, &scene.scene, &model, Source::Host).unwrap();
    let mut triangles = RenderScene::new(&renderer, &sheet.scene, &sheet_model, Source::Host).unwrap();
    let camera = Camera::framing(&skin.bounds(), f64::from(SIZE[0]) / f64::from(SIZE[1]));
    let look = Look { ground: false, ..Look::default() };
    let [a, b] =
        [&mut skin, &mut triangles].map(|render_scene| draw_from(&renderer, &camera, render_scene, &look));
    // outlines: the centre of the tetrahedra's mass is not quite that of the triangles'
    assert!(differing(&a, &b) < 10, "{}", differing(&a, &b));
}

/// One convention of colour: a picture that turns linear light into sRGB by itself and one that does not look alike.
#[test]
fn pictures_of_both_conventions_look_alike() {
    let Some(context) = common::context() else { return };
    let (scene, model) = loaded("bouncing-ball", &[]);
    let [a, b] = [canvas::FORMAT, wgpu::TextureFormat::Rgba8Unorm].map(|format| {
        let renderer = Renderer::new(&context, format, 1).unwrap();
        let mut render_scene = RenderScene::new(&renderer, &scene.scene, &model, Source::Host).unwrap();
        draw(&renderer, &mut render_scene, &Look::default())
    });
    let off = a.rgba.iter().zip(&b.rgba).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
    // the two round sRGB by different hardware; blending over the horizon is done before or after
    assert!(off <= 12, "{off}");
    let mean = a.rgba.iter().zip(&b.rgba).map(|(a, b)| u64::from(a.abs_diff(*b))).sum::<u64>() as f64
        / a.rgba.len() as f64;
    assert!(mean < 1.0, "{mean}");
}

/// Several stages in one picture: each is where it belongs, as if it were drawn alone.
#[test]
fn panes_do_not_disturb_each_other() {
    let Some(context) = common::context() else { return };
    let renderer = renderer(&context);
    let render_scene = |name: &str| {
        let (scene, model) = loaded(name, &[]);
        RenderScene::new(&renderer, &scene.scene, &model, Source::Host).unwrap()
    };
    let (mut left, mut right) = (render_scene("cube"), render_scene("bouncing-ball"));
    let areas = Area::whole(2 * SIZE[0], SIZE[1]).split(2);
    let cameras =
        [&left, &right].map(|render_scene| Camera::framing(&render_scene.bounds(), areas[0].aspect()));
    let looks = [look(Colour::Strain), look(Colour::Body)];
    let mut canvas = Canvas::new(&renderer, 2 * SIZE[0], SIZE[1]);
    let mut panes = [
        Pane { render_scene: &mut left, camera: &cameras[0], look: &looks[0], area: areas[0] },
        Pane { render_scene: &mut right, camera: &cameras[1], look: &looks[1], area: areas[1] },
    ];
    let both = canvas.draw(&renderer, &mut panes).unwrap();
    for (k, render_scene) in [&mut left, &mut right].into_iter().enumerate() {
        let alone = draw(&renderer, render_scene, &looks[k]);
        let bytes = 4 * SIZE[0] as usize;
        for (y, row) in alone.rgba.chunks_exact(bytes).enumerate() {
            let at = y * 2 * bytes + k * bytes;
            // derivatives at the seam of two panes may differ
            let same =
                row.iter().zip(&both.rgba[at..at + bytes]).filter(|(a, b)| a.abs_diff(**b) > 2).count();
            assert!(same < 40, "pane {k}, row {y}: {same}");
        }
    }
}

#[test]
fn markers_wires_and_the_ground_are_seen() {
    let Some(context) = common::context() else { return };
    let renderer = renderer(&context);
    let (scene, model) = loaded("cube", &[]);
    let mut render_scene = RenderScene::new(&renderer, &scene.scene, &model, Source::Host).unwrap();
    let plain = draw(&renderer, &mut render_scene, &Look::default());
    let changed = |picture: &Picture| {
        picture.rgba.chunks_exact(4).zip(plain.rgba.chunks_exact(4)).filter(|(a, b)| a != b).count()
    };
    let wire = draw(&renderer, &mut render_scene, &Look { wireframe: true, ..Look::default() });
    assert!(changed(&wire) > 300);
    let bare = draw(&renderer, &mut render_scene, &Look { ground: false, ..Look::default() });
    assert!(changed(&bare) > 2000);
    let marker = Marker { vertex: 0, line: [0.0, 3.0, 0.0], absolute: false, colour: [255, 0, 0] };
    let markers = vec![marker; 30];
    render_scene.set_markers(&renderer, &markers).unwrap();
    let marked = draw(&renderer, &mut render_scene, &Look::default());
    let red = marked.rgba.chunks_exact(4).filter(|p| p[0] > 150 && p[1] < 60 && p[2] < 60).count();
    assert!(red > 20, "{red}");
}

fn dashpot(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dashpot")).args(arguments).output().unwrap()
}

fn read(folder: &Path, file: &str) -> Vec<u8> {
    std::fs::read(folder.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// A run that draws everything writes the same trajectory as one that draws nothing, on either backend.
#[test]
fn drawing_does_not_change_the_trajectory() {
    if common::context().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for backend in ["cpu", "gpu"] {
        let [plain, drawn] = ["plain", "drawn"].map(|name| folder.path().join(format!("{name}-{backend}")));
        let common = ["run", "bar", "--backend", backend, "--frames", "8", "--export", "npy", "--out"];
        let done = dashpot(&[&common[..], &[plain.to_str().unwrap()]].concat());
        assert!(done.status.success(), "{done:?}");
        let pictures =
            ["--render", "96x64", "--colour", "strain", "--wireframe", "--contacts", "--every", "4"];
        let more = ["--filmstrip", "3", "--animate", "gif"];
        let done = dashpot(&[&common[..], &[drawn.to_str().unwrap()], &pictures, &more].concat());
        assert!(done.status.success(), "{done:?}");
        for file in ["trajectory.npy", "ledger.csv"] {
            assert!(read(&plain, file) == read(&drawn, file), "{backend}: {file}");
        }
        for file in
            ["frames/frame_00000.png", "frames/frame_00008.png", "plots/filmstrip.png", "animation.gif"]
        {
            assert!(read(&drawn, file).len() > 500, "{file}");
        }
        assert!(!drawn.join("frames/frame_00001.png").exists());
        assert!(read(&plain, "plots/energies.svg").starts_with(b"<svg"));
    }
}

#[test]
fn without_an_adapter_the_run_is_made_and_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let done = Command::new(env!("CARGO_BIN_EXE_dashpot"))
        .args(["run", "bar", "--backend", "cpu", "--frames", "3", "--render", "64x64", "--out"])
        .arg(&out)
        // no driver is found in an empty list of them
        .env("VK_DRIVER_FILES", "/nonexistent.json")
        .env("VK_ICD_FILENAMES", "/nonexistent.json")
        .env("WGPU_BACKEND", "vulkan")
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("no adapter") && said.contains("mesa-vulkan-drivers"), "{said}");
    assert_eq!(String::from_utf8(read(&out, "ledger.csv")).unwrap().lines().count(), 1 + 4);
    assert!(out.join("plots/energies.png").exists() && !out.join("frames").exists());
}

#[test]
fn bad_sizes_are_refused_with_what_is_expected() {
    for (arguments, expected) in [
        (["--render", "1280", "--out", "x"], "WIDTHxHEIGHT"),
        (["--range", "3,1", "--out", "x"], "ascending"),
        (["--colour", "heat", "--out", "x"], "strain"),
    ] {
        let done = dashpot(&[&["run", "bar"], &arguments[..]].concat());
        assert_eq!(done.status.code(), Some(2));
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains(expected), "{said}");
    }
    assert_eq!(dashpot(&["run", "bar", "--render", "64x64"]).status.code(), Some(2), "--out is needed");
}
