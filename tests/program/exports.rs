//! Exports hold the motion that was computed, after every frame, in the order of the mesh that they belong to.

use crate::common::{self, fails};

use clap::ValueEnum;
use dashpot::Vec3;
use dashpot::mesh::write::{VertexData, write, write_with_data};
use dashpot::mesh::{EmbeddedVertex, Embedding, Mesh, read};
use dashpot::model::Model;
use dashpot::observe::gltf::{self, GltfWriter};
use dashpot::observe::mesh_cache::MeshCacheWriter;
use dashpot::observe::motion::MotionWriter;
use dashpot::observe::output::Export;
use dashpot::observe::visible::Visible;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// A solid, another with a skin, strands; a third of the solid's vertices are inside.
fn model() -> Model {
    let scene = r#"
        [[body]]
        name = "block"
        mesh = { generate = "box", cells = [4, 3, 3], size = [0.4, 0.3, 0.3] }
        material = { model = "arap", mu = 1e4, density = 1000.0 }
        [[body]]
        name = "skinned"
        mesh = { generate = "box", cells = [1, 1, 1], size = [1.0, 1.0, 1.0] }
        material = { model = "arap", mu = 1e4, density = 1000.0 }
        position = [2.0, 0.0, 0.0]
        [[body]]
        name = "hair"
        mesh = { generate = "hair", strands = 2, segments = 3, length = 0.3, radius = 0.08 }
        material = { model = "spring", stiffness = 20.0, bending_stiffness = 0.5, mass = 0.05 }
    "#;
    let mut model = common::simulate(scene, &[]).model().clone();
    let vertices = model.bodies[1].mesh.tets[0];
    let embedded = |weights| EmbeddedVertex { vertices, weights };
    let corner = |k: usize| embedded([0, 1, 2, 3].map(|i| if i == k { 0.7 } else { 0.1 }));
    // vertex 1 is in no triangle, as it may be in a file
    let embedded_vertices = [0, 0, 1, 2, 3].map(corner).to_vec();
    let triangles = vec![[0, 3, 2], [0, 2, 4], [0, 4, 3], [2, 3, 4]];
    model.bodies[1].skin = Some(Arc::new(Embedding { triangles, embedded_vertices }));
    model
}

/// Where the vertices are at a frame: anywhere, but finite.
fn positions(model: &Model, frame: usize) -> Vec<Vec3> {
    let mut random = common::Random::new(frame as u64 + 1);
    model.initial_positions.iter().map(|p| p + random.vector() * 0.1).collect()
}

fn singles(points: &[Vec3]) -> Vec<f32> {
    points.iter().flat_map(|p| [p.x as f32, p.y as f32, p.z as f32]).collect()
}

#[test]
fn the_command_line_knows_all_exports() {
    assert_eq!(Export::value_variants(), Export::ALL);
}

#[test]
fn nothing_inside_and_nothing_loose_is_visible() {
    let model = model();
    let visible = Visible::of(&model);
    let names: Vec<_> = visible.parts.iter().map(|part| (part.name.as_str(), part.vertices.len())).collect();
    // 5 × 4 × 4 vertices, 3 × 2 × 2 of them inside
    assert_eq!(names, [("block", 68), ("skinned", 4), ("hair", 8)]);
    let mut used = vec![false; visible.vertex_count()];
    let ends = visible.mesh.links.iter().flat_map(|link| &link.vertices);
    visible.mesh.triangles.iter().flatten().chain(ends).for_each(|&v| used[v as usize] = true);
    assert!(used.iter().all(|used| *used));
    // the block keeps its order, the skin follows its tetrahedron
    let now = positions(&model, 3);
    let seen = visible.positions(&now);
    let block = &model.bodies[0];
    let outside = block.mesh.surface().into_iter().flatten().collect::<std::collections::BTreeSet<u32>>();
    assert!(outside.iter().map(|&v| now[v as usize]).eq(seen[..68].iter().copied()));
    let corners = model.bodies[1].mesh.tets[0].map(|v| now[model.bodies[1].vertices.start + v as usize]);
    let expected: Vec3 = corners.iter().zip([0.1, 0.1, 0.7, 0.1]).map(|(x, w)| x * w).sum();
    assert!((seen[70] - expected).norm() < 1e-15, "{} {expected}", seen[70]);
}

/// Frames, vertices, times and positions of an MDD file, as far as its head tells.
fn read_mdd(path: &Path) -> (usize, Vec<f32>, Vec<f32>) {
    let bytes = fs::read(path).unwrap();
    let word = |at: usize| -> [u8; 4] { bytes[at..at + 4].try_into().unwrap() };
    let [frames, vertices] = [0, 4].map(|at| i32::from_be_bytes(word(at)) as usize);
    let numbers =
        |from: usize, count: usize| (0..count).map(|i| f32::from_be_bytes(word(from + 4 * i))).collect();
    (vertices, numbers(8, frames), numbers(8 + 4 * frames, 3 * frames * vertices))
}

#[test]
fn a_mesh_cache_is_valid_after_every_frame_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, part] = ["whole.mdd", "part.mdd"].map(|name| folder.path().join(name));
    let at =
        |frame: usize| vec![Vec3::new(frame as f64, 0.5, -1.0 / 3.0), Vec3::new(1.0, -(frame as f64), 2.0)];
    let times: Vec<f64> = (0..30).map(|k| f64::from(k) / 30.0).collect();
    let mut writer = MeshCacheWriter::create(&whole, 2).unwrap();
    for (frame, &time) in times.iter().enumerate() {
        writer.append(&at(frame), time).unwrap();
        writer.update_header().unwrap();
        let (vertices, told, positions) = read_mdd(&whole);
        assert_eq!(vertices, 2);
        assert!(3 * told.len() >= 2 * (frame + 1), "{} of {} frames", told.len(), frame + 1);
        let expected: Vec<f32> = (0..told.len()).flat_map(|frame| singles(&at(frame))).collect();
        assert_eq!(positions, expected);
        assert!(told.iter().zip(&times).all(|(a, b)| *a == *b as f32));
    }
    writer.finish().unwrap();
    assert_eq!((writer.frames(), read_mdd(&whole).1.len()), (30, 30));
    assert_eq!(fs::metadata(&whole).unwrap().len(), 8 + 30 * (4 + 24), "nothing behind the last frame");

    // killed after 20 frames, the head telling of fewer, and gone on with after 17 or 10
    for kept in [17, 10] {
        let mut writer = MeshCacheWriter::create(&part, 2).unwrap();
        (0..20).for_each(|frame| {
            writer.append(&at(frame), times[frame]).unwrap();
            writer.update_header().unwrap();
        });
        drop(writer);
        let mut writer = MeshCacheWriter::resume(&part, 2, &times[..kept]).unwrap();
        (kept..30).for_each(|frame| writer.append(&at(frame), times[frame]).unwrap());
        writer.finish().unwrap();
        assert!(fs::read(&part).unwrap() == fs::read(&whole).unwrap(), "after {kept}");
    }
    // other vertices, too few frames, other times, no such file at all
    let twice: Vec<f64> = times.iter().map(|t| 2.0 * t).collect();
    let many: Vec<f64> = (0..31).map(|k| f64::from(k) / 30.0).collect();
    for (vertices, times) in [(3, &times[..10]), (2, &many), (2, &twice[..10])] {
        assert_eq!(MeshCacheWriter::resume(&whole, vertices, times).unwrap_err().exit_code(), 2);
    }
    fs::write(&part, "garbage").unwrap();
    assert_eq!(MeshCacheWriter::resume(&part, 2, &times[..1]).unwrap_err().exit_code(), 2);
    assert_eq!(fs::metadata(&whole).unwrap().len(), 8 + 30 * (4 + 24), "a refused file is left alone");
}

/// The JSON and the data of a `.glb` file.
fn chunks(path: &Path) -> (Value, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&bytes[..4], word(4), word(8)), (&b"glTF"[..], 2, bytes.len()));
    let json = word(12);
    assert_eq!((json % 4, &bytes[16..20], &bytes[24 + json..28 + json]), (0, &b"JSON"[..], &b"BIN\0"[..]));
    assert_eq!(word(20 + json), bytes.len() - 28 - json);
    (serde_json::from_slice(&bytes[20..20 + json]).unwrap(), bytes[28 + json..].to_vec())
}

/// The numbers of an accessor of floats, whose bounds must be right.
fn floats(json: &Value, data: &[u8], index: &Value) -> Vec<f32> {
    let accessor = &json["accessors"][index.as_u64().unwrap() as usize];
    let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let number = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let width = if accessor["type"] == "VEC3" { 3 } else { 1 };
    let (start, count) = (number(&accessor["byteOffset"]), width * number(&accessor["count"]));
    assert!(start + 4 * count <= number(&view["byteLength"]));
    let bytes = &data[number(&view["byteOffset"]) + start..][..4 * count];
    let all: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    for (k, low) in accessor["min"].as_array().into_iter().flatten().enumerate() {
        let own = all.iter().skip(k).step_by(width).copied();
        assert_eq!(low.as_f64().unwrap() as f32, own.clone().fold(f32::MAX, f32::min));
        assert_eq!(accessor["max"][k].as_f64().unwrap() as f32, own.fold(f32::MIN, f32::max));
    }
    all
}

/// The positions that the animation shows at its keyframes, all bodies one after the other.
fn shown(path: &Path) -> Vec<Vec<f32>> {
    let (json, data) = chunks(path);
    let sampler = &json["animations"][0]["samplers"][0];
    let frames = floats(&json, &data, &sampler["input"]).len();
    let weights = floats(&json, &data, &sampler["output"]);
    assert_eq!(weights.len() % frames, 0);
    let parts = json["meshes"].as_array().unwrap().iter().map(|mesh| &mesh["primitives"][0]);
    let parts: Vec<(Vec<f32>, Vec<Vec<f32>>)> = parts
        .map(|part| {
            let targets = part["targets"].as_array().unwrap();
            assert_eq!(targets.len(), weights.len() / frames);
            let of = |attributes: &Value| floats(&json, &data, &attributes["POSITION"]);
            (of(&part["attributes"]), targets.iter().map(of).collect())
        })
        .collect();
    let at = |weights: &[f32]| {
        let mut all = Vec::new();
        for (base, targets) in &parts {
            let moved = |i: usize| base[i] + weights.iter().zip(targets).map(|(w, t)| w * t[i]).sum::<f32>();
            all.extend((0..base.len()).map(moved));
        }
        all
    };
    weights.chunks_exact(weights.len() / frames).map(at).collect()
}

#[test]
fn a_gltf_is_valid_after_every_frame_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let [whole, part] = ["whole.glb", "part.glb"].map(|name| folder.path().join(name));
    let model = model();
    let visible = Visible::of(&model);
    let at = |frame: usize| visible.positions(&positions(&model, frame));
    let times: Vec<f64> = (0..7).map(|k| f64::from(k) * 0.04).collect();
    let mut writer = GltfWriter::create(&whole, &visible, 7).unwrap();
    for (frame, &time) in times.iter().enumerate() {
        writer.append(&at(frame), time).unwrap();
        assert_eq!(chunks(&whole).0["extras"]["frames"].as_u64(), Some(frame as u64), "not told yet");
        writer.update_header().unwrap();
        let shown = shown(&whole);
        assert_eq!((shown.len(), writer.frames()), (frame + 1, frame + 1));
        for (k, points) in shown.iter().enumerate() {
            let expected = singles(&at(k));
            assert_eq!(points.len(), expected.len());
            // coordinates up to 3.1 and displacements up to 0.2, each to half a unit in the last place, and their sum
            assert!(points.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 3e-7), "frame {k}");
        }
    }
    // our own reader sees the triangles at the first frame
    let back = read::read(&whole, 1.0).unwrap().mesh;
    assert_eq!(back.triangles, visible.mesh.triangles);
    let solid = visible.parts[1].vertices.end;
    assert!(singles(&back.positions[..solid]) == singles(&at(0)[..solid]));
    assert!(gltf::LARGEST > fs::metadata(&whole).unwrap().len());

    // a shorter one, killed, becomes the long one; and the long one is cut
    for (frames, made, kept) in [(4, 4, 3), (7, 6, 2), (1, 1, 1)] {
        let mut writer = GltfWriter::create(&part, &visible, frames).unwrap();
        (0..made).for_each(|frame| writer.append(&at(frame), times[frame]).unwrap());
        drop(writer);
        let mut writer = GltfWriter::resume(&part, &visible, 7, &times[..kept]).unwrap();
        (kept..7).for_each(|frame| writer.append(&at(frame), times[frame]).unwrap());
        writer.finish().unwrap();
        assert!(fs::read(&part).unwrap() == fs::read(&whole).unwrap(), "{made} of {frames}, {kept} kept");
    }
    let before = fs::read(&whole).unwrap();
    let fewer = Visible::of(&Model { bodies: model.bodies[..1].to_vec(), ..model.clone() });
    let twice: Vec<f64> = times.iter().map(|t| 2.0 * t).collect();
    let eight: Vec<f64> = (0..8).map(|k| f64::from(k) * 0.04).collect();
    for (visible, times) in [(&fewer, &times), (&visible, &twice), (&visible, &eight)] {
        assert_eq!(GltfWriter::resume(&whole, visible, 9, times).unwrap_err().exit_code(), 2);
    }
    assert!(before == fs::read(&whole).unwrap(), "a refused file is left alone");
    for garbage in
        [&b"garbage"[..], b"glTF\x02\0\0\0\xff\xff\xff\xff\xff\xff\xff\xffJSON{", &before[..before.len() / 2]]
    {
        fs::write(&part, garbage).unwrap();
        assert_eq!(GltfWriter::resume(&part, &visible, 9, &times).unwrap_err().exit_code(), 2);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing half-made is left");
}

#[test]
fn what_is_known_of_vertices_does_not_disturb_the_mesh() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.vtk");
    let model = model();
    let meshes: Vec<Mesh> = model.bodies.iter().map(|body| body.mesh.clone()).collect();
    let mesh = Mesh::concat(&meshes);
    let bodies: Vec<u32> = (0..).zip(&meshes).flat_map(|(b, mesh)| vec![b; mesh.positions.len()]).collect();
    let known = VertexData { velocities: &model.initial_positions, bodies: &bodies };
    write_with_data(&path, &mesh, &mesh.positions, known).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let cells = mesh.tets.len() + mesh.strand_pieces().len();
    let (_, data) =
        text.split_once(&format!("CELL_DATA {cells}\nSCALARS body int 1\nLOOKUP_TABLE default\n")).unwrap();
    let (numbers, velocities) = data.split_once(&format!("POINT_DATA {}\n", bodies.len())).unwrap();
    let count = |body: &str| numbers.lines().filter(|line| *line == body).count();
    assert_eq!(["0", "1", "2"].map(count), [meshes[0].tets.len(), meshes[1].tets.len(), 6]);
    assert_eq!(velocities.lines().count(), 1 + bodies.len());
    let back = read::read(&path, 1.0).unwrap();
    write(&path, &mesh, &mesh.positions).unwrap();
    assert!(back == read::read(&path, 1.0).unwrap(), "as without it");
}

#[test]
fn a_gltf_too_large_to_be_loaded_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = ["run", "bar", "--frames", "60000", "--out", "r", "--export", "gltf"];
    fails(folder.path(), &run, 2, &["--export", "MB", "use --every 8"]);
    assert!(!folder.path().join("r").exists());
    fails(folder.path(), &[&run[..], &["--every", "3"]].concat(), 2, &["use --every 9"]);
}
