//! What is written can be read back, appears whole or not at all, and means to others what it means to us.

use clap::Parser;
use dashpot::Vec3;
use dashpot::cli::mesh::{MeshArgs, run};
use dashpot::mesh::spec::Generator;
use dashpot::mesh::{LinkKind, Mesh, read, write};
use dashpot::observe::motion::MotionWriter;
use dashpot::observe::npy::TrajectoryWriter;
use dashpot::observe::point_cache::PointCacheWriter;
use std::fs;
use std::path::Path;

fn ball() -> Mesh {
    Generator::Ball { radius: 0.4, cells: 4 }.build().expect("ball")
}

fn cloth() -> Mesh {
    Generator::Cloth { cells: [3, 2], size: [1.0, 0.7] }.build().expect("cloth")
}

fn hair() -> Mesh {
    Generator::Hair { strands: 5, segments: 4, length: 0.3, radius: 0.1 }.build().expect("hair")
}

fn there_and_back(folder: &Path, ending: &str, mesh: &Mesh) -> Mesh {
    let path = folder.join(format!("shape.{ending}"));
    write::write(&path, mesh, &mesh.positions).expect("written");
    read::read(&path, 1.0).unwrap_or_else(|e| panic!("{ending}: {e}")).mesh
}

fn structural(mesh: &Mesh) -> Vec<[u32; 2]> {
    mesh.links.iter().filter(|l| l.kind == LinkKind::Structural).map(|l| l.vertices).collect()
}

#[test]
fn solids_survive_a_round_trip_bit_for_bit() {
    let folder = tempfile::tempdir().expect("folder");
    let mesh = ball();
    for ending in ["vtk", "mesh", "msh"] {
        assert_eq!(there_and_back(folder.path(), ending, &mesh), mesh, "{ending}");
    }
}

#[test]
fn cloths_survive_a_round_trip_bit_for_bit() {
    let folder = tempfile::tempdir().expect("folder");
    let mesh = cloth();
    for ending in ["vtk", "mesh", "msh", "obj", "ply"] {
        let back = there_and_back(folder.path(), ending, &mesh);
        assert_eq!((&back.positions, &back.triangles), (&mesh.positions, &mesh.triangles), "{ending}");
    }
}

#[test]
fn strands_survive_a_round_trip_with_their_bending_links() {
    let folder = tempfile::tempdir().expect("folder");
    let mesh = hair();
    for ending in ["vtk", "mesh", "msh", "obj", "ply"] {
        let back = there_and_back(folder.path(), ending, &mesh);
        assert_eq!(back.positions, mesh.positions, "{ending}");
        assert_eq!(structural(&back), structural(&mesh), "{ending}");
        let sorted = |mesh: &Mesh| {
            let mut links: Vec<_> = mesh.links.iter().map(|l| (l.kind, l.vertices)).collect();
            links.sort_unstable();
            links
        };
        assert_eq!(sorted(&back), sorted(&mesh), "{ending}");
    }
}

#[test]
fn the_surface_of_a_solid_becomes_a_closed_cloth() {
    let folder = tempfile::tempdir().expect("folder");
    let mesh = ball();
    for ending in ["obj", "ply"] {
        let surface = there_and_back(folder.path(), ending, &mesh).statistics();
        assert_eq!((surface.open_edges, surface.components), (0, 1), "{ending}");
        // The same triangles summed in the same order: at most rounding.
        assert!((surface.area - mesh.statistics().area).abs() < 1e-14, "{ending}");
    }
}

#[test]
fn several_bodies_of_different_kinds_are_written_together() {
    let folder = tempfile::tempdir().expect("folder");
    let (ball, cloth, hair) = (ball(), cloth(), hair());
    let whole = Mesh::concat(&[ball.clone(), cloth.clone(), hair]);
    let triangles = ball.surface().len() + cloth.triangles.len();
    assert_eq!(whole.skin().surface().len(), triangles);
    let obj = folder.path().join("all.obj");
    write::write(&obj, &whole, &whole.positions).expect("written");
    let text = fs::read_to_string(&obj).expect("text");
    let lines = |lead: &str| text.lines().filter(|l| l.starts_with(lead)).count();
    assert_eq!((lines("v "), lines("f "), lines("l ")), (whole.positions.len(), triangles, 5));
    let vtk = folder.path().join("all.vtk");
    write::write(&vtk, &whole, &whole.positions).expect("written");
    let text = fs::read_to_string(&vtk).expect("text");
    let types: Vec<&str> = text.lines().skip_while(|l| !l.starts_with("CELL_TYPES")).skip(1).collect();
    let of_type = |kind: &str| types.iter().filter(|t| **t == kind).count();
    assert_eq!((of_type("10"), of_type("5"), of_type("3")), (ball.tets.len(), cloth.triangles.len(), 20));
}

#[test]
fn positions_may_differ_from_the_rest_shape() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("moved.vtk");
    let mesh = ball();
    let moved: Vec<Vec3> = mesh.positions.iter().map(|p| p * 2.0 + Vec3::new(1e-17, -1e20, 0.1)).collect();
    write::write(&path, &mesh, &moved).expect("written");
    let text = fs::read_to_string(&path).expect("text");
    let first = text.lines().nth(5).expect("first point");
    let numbers: Vec<f64> = first.split(' ').map(|n| n.parse().expect("number")).collect();
    assert_eq!(numbers, moved[0].as_slice());
}

#[test]
fn nothing_is_left_of_a_file_that_cannot_be_written() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("kept.obj");
    fs::write(&path, "good").expect("written");
    let failing = |out: &mut dyn std::io::Write| {
        out.write_all(b"half a resu")?;
        Err(std::io::Error::other("no space"))
    };
    let error = dashpot::disk::atomic::write(&path, failing).expect_err("fails");
    assert_eq!(error.exit_code(), 1);
    assert_eq!(fs::read_to_string(&path).expect("still there"), "good");
    assert_eq!(fs::read_dir(folder.path()).expect("folder").count(), 1, "no temporary file is left");

    let mesh = cloth();
    let unknown = write::write(&folder.path().join("a.stl"), &mesh, &mesh.positions).expect_err("ending");
    assert_eq!(unknown.exit_code(), 2);
    let nowhere =
        write::write(&folder.path().join("no/such/a.obj"), &mesh, &mesh.positions).expect_err("folder");
    assert_eq!(nowhere.exit_code(), 1);
}

fn frame(seed: f64) -> Vec<Vec3> {
    vec![Vec3::new(seed, 0.1, -2.0), Vec3::new(1.0 / 3.0, seed * seed, 1e-300)]
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("eight"))).collect()
}

#[test]
fn a_trajectory_is_what_numpy_expects_after_every_frame() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("trajectory.npy");
    let mut writer = TrajectoryWriter::create(&path, 2).expect("created");
    for count in 0..=12 {
        let bytes = fs::read(&path).expect("bytes");
        assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00", "magic, version 1.0, 118 bytes of head");
        let head = str::from_utf8(&bytes[10..128]).expect("text");
        assert!(
            head.ends_with('\n') && head.starts_with("{'descr': '<f8', 'fortran_order': False, 'shape': (")
        );
        let shape = head.split(['(', ')']).nth(1).expect("shape");
        let shape: Vec<&str> = shape.split(',').map(str::trim).collect();
        assert_eq!(shape, [&count.to_string(), "2", "3"]);
        let expected: Vec<f64> =
            (0..count).flat_map(|i| frame(f64::from(i))).flat_map(|p| [p.x, p.y, p.z]).collect();
        assert_eq!(doubles(&bytes[128..]), expected);
        writer.append(&frame(f64::from(count))).expect("appended");
        let head_before = &fs::read(&path).expect("bytes")[..128];
        assert_eq!(head_before, &bytes[..128], "told once it is on the disk");
        writer.update_header().expect("told");
    }
}

#[test]
fn a_resumed_trajectory_has_the_bytes_of_an_uninterrupted_one() {
    let folder = tempfile::tempdir().expect("folder");
    let (whole, resumed) = (folder.path().join("whole.npy"), folder.path().join("resumed.npy"));
    let fill = |writer: &mut TrajectoryWriter, frames: std::ops::Range<i32>| {
        frames.for_each(|i| writer.append(&frame(f64::from(i))).expect("appended"));
        writer.update_header().expect("told");
    };
    fill(&mut TrajectoryWriter::create(&whole, 2).expect("created"), 0..20);
    fill(&mut TrajectoryWriter::create(&resumed, 2).expect("created"), 0..15);
    // A run killed in the middle of writing a frame leaves half of it.
    let mut bytes = fs::read(&resumed).expect("bytes");
    bytes.extend([7; 20]);
    fs::write(&resumed, bytes).expect("written");
    let mut writer = TrajectoryWriter::resume(&resumed, 9, &frame(8.0)).expect("resumed");
    assert_eq!(writer.frames(), 9);
    fill(&mut writer, 9..20);
    assert_eq!(fs::read(&resumed).expect("bytes"), fs::read(&whole).expect("bytes"));

    // other vertices, too few frames, another run's motion
    for (frames, last) in [(9, vec![Vec3::zeros(); 3]), (21, frame(20.0).to_vec()), (9, frame(7.0).to_vec())]
    {
        let error = TrajectoryWriter::resume(&whole, frames, &last).expect_err("does not fit");
        assert_eq!(error.exit_code(), 2, "{error}");
    }
    assert_eq!(fs::metadata(&whole).expect("there").len(), 128 + 20 * 48, "a refused file is left alone");
    fs::write(&whole, "garbage").expect("written");
    TrajectoryWriter::resume(&whole, 1, &frame(0.0)).expect_err("garbage");
    TrajectoryWriter::resume(&folder.path().join("none.npy"), 1, &frame(0.0)).expect_err("missing");
}

#[test]
fn a_point_cache_has_the_head_of_pc2() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("body.pc2");
    let mut writer = PointCacheWriter::create(&path, 2, 1.0, 0.5).expect("created");
    writer.append(&frame(1.5), 0.0).expect("appended");
    writer.append(&frame(2.5), 0.1).expect("appended");
    assert_eq!(writer.frames(), 2);
    assert_eq!(&fs::read(&path).expect("bytes")[28..32], 0i32.to_le_bytes(), "not told yet");
    writer.update_header().expect("told");
    let bytes = fs::read(&path).expect("bytes");
    assert_eq!(&bytes[..12], b"POINTCACHE2\0");
    assert_eq!(&bytes[12..16], 1i32.to_le_bytes());
    assert_eq!(&bytes[16..20], 2i32.to_le_bytes());
    assert_eq!(&bytes[20..24], 1f32.to_le_bytes());
    assert_eq!(&bytes[24..28], 0.5f32.to_le_bytes());
    assert_eq!(&bytes[28..32], 2i32.to_le_bytes());
    let data: Vec<f32> =
        bytes[32..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().expect("four"))).collect();
    let expected: Vec<f32> =
        [1.5, 2.5].into_iter().flat_map(frame).flat_map(|p| [p.x as f32, p.y as f32, p.z as f32]).collect();
    assert_eq!(data, expected);
}

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    mesh: MeshArgs,
}

fn command(words: &[&str]) -> dashpot::Result<()> {
    run(&Command::try_parse_from(["mesh"].iter().chain(words)).expect("parsed").mesh)
}

#[test]
fn the_command_generates_converts_and_scales() {
    let folder = tempfile::tempdir().expect("folder");
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let table = r#"{ generate = "box", cells = [2, 2, 2], size = [1.0, 1.0, 1.0] }"#;
    command(&["--generate", table, "--out", &at("cube.mesh"), "--scale", "2"]).expect("generated");
    command(&[&at("cube.mesh"), "--out", &at("cube.msh"), "--scale", "0.25"]).expect("converted");
    let cube = read::read(Path::new(&at("cube.msh")), 1.0).expect("read").mesh;
    assert_eq!((cube.tets.len(), cube.bounds()[1]), (48, Vec3::repeat(0.5)));

    let before = fs::read(at("cube.mesh")).expect("bytes");
    let same_by_another_way = folder.path().join(".").join("cube.mesh").to_string_lossy().into_owned();
    for words in [
        vec![at("cube.mesh"), "--out".into(), same_by_another_way],
        vec![at("cube.mesh"), "--out".into(), at("cube.stl")],
        vec![at("none.mesh")],
        vec![at("cube.mesh"), "--scale".into(), "0".into()],
        vec![at("cube.mesh"), "--scale".into(), "1e300".into()],
        vec!["--generate".into(), r#"{ generate = "cube" }"#.into()],
        vec!["--generate".into(), r#"{ generate = "ball", radius = 1.0, cels = 3 }"#.into()],
        vec!["--generate".into(), r#"{ file = "cube.mesh" }"#.into()],
        vec!["--generate".into(), "} = [".into()],
        vec!["--generate".into(), table.into(), "--scale".into(), "nan".into()],
    ] {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let error = command(&words).expect_err("refused");
        assert_eq!(error.exit_code(), 2, "{words:?}: {error}");
    }
    assert_eq!(fs::read(at("cube.mesh")).expect("bytes"), before);
    assert!(Command::try_parse_from(["mesh"]).is_err(), "neither a file nor a generator");
}
