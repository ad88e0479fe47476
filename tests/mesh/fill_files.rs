//! Files of surfaces: every format gives the same body; broken ones an error of one line that names the file.

use base64::prelude::{BASE64_STANDARD, Engine};
use dashpot::Vec3;
use dashpot::error::InputError;
use dashpot::mesh::spec::{Generator, SurfaceFile};
use dashpot::mesh::{Mesh, read};
use std::fs;
use std::path::Path;

/// The surface of a generated solid.
fn surface(generator: Generator) -> Mesh {
    let mut skin = generator.build().expect("generated").skin();
    skin.keep_referenced();
    skin
}

fn attempt(path: &Path, tets: usize) -> Result<Mesh, InputError> {
    let spec =
        SurfaceFile { surface: path.into(), target_tets: Some(tets), cell: None, scale: 1.0, skin: false };
    read::read_filled(&spec, Path::new("")).map(|(loaded, _)| loaded.mesh)
}

fn binary_stl(surface: &Mesh) -> Vec<u8> {
    let mut bytes = vec![b's'; 80];
    bytes.extend((surface.triangles.len() as u32).to_le_bytes());
    for &t in &surface.triangles {
        bytes.extend([0; 12]);
        for x in surface.triangle_corners(t).iter().flatten() {
            bytes.extend((*x as f32).to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn text_stl(surface: &Mesh) -> String {
    let mut text = String::from("solid cube\n");
    for &t in &surface.triangles {
        text += "facet normal 0 0 nan\nouter loop\n";
        for p in surface.triangle_corners(t) {
            text += &format!("vertex {} {} {}\n", p.x, p.y, p.z);
        }
        text += "endloop\nendfacet\n";
    }
    text + "endsolid cube\n"
}

/// The JSON and the data of a glTF with one mesh, moved by a node and its parent by nothing in all.
fn gltf(surface: &Mesh, uri: Option<&str>) -> (String, Vec<u8>) {
    let mut data: Vec<u8> =
        surface.positions.iter().flatten().flat_map(|x| (*x as f32 + 1.0).to_le_bytes()).collect();
    let split = data.len();
    data.extend(surface.triangles.iter().flatten().flat_map(|&v| (v as u16).to_le_bytes()));
    let uri = uri.map_or(String::new(), |uri| format!(r#", "uri": "{uri}""#));
    let json = format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [1]}}],
        "nodes": [{{"mesh": 0, "translation": [-2, -2, -2], "scale": [2, 2, 2]}},
                  {{"children": [0], "scale": [0.5, 0.5, 0.5]}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "indices": 1}}]}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": {}}},
                      {{"bufferView": 1, "componentType": 5123, "type": "SCALAR", "count": {}}}],
        "bufferViews": [{{"buffer": 0, "byteLength": {split}}}, {{"buffer": 0, "byteOffset": {split}, "byteLength": 9}}],
        "buffers": [{{"byteLength": {}{uri}}}]}}"#,
        surface.positions.len(),
        3 * surface.triangles.len(),
        data.len()
    );
    (json, data)
}

fn glb(surface: &Mesh) -> Vec<u8> {
    let (json, data) = gltf(surface, None);
    let mut bytes = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, chunk) in [(b"JSON", json.as_bytes()), (b"BIN\0", &data)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

/// The same cube in every format: a good body each time.
fn samples_of_files(folder: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let surface = surface(Generator::Box { cells: [1; 3], size: [1.0; 3] });
    let (json, data) = gltf(&surface, Some("cube.bin"));
    let within = gltf(
        &surface,
        Some(&format!("data:application/octet-stream;base64,{}", BASE64_STANDARD.encode(&data))),
    )
    .0;
    fs::write(folder.join("cube.bin"), data).expect("written");
    let written = |name: &str| {
        dashpot::mesh::write::write(&folder.join(name), &surface, &surface.positions).expect("written");
        fs::read(folder.join(name)).expect("read")
    };
    vec![
        ("cube.obj", written("cube.obj")),
        ("cube.ply", written("cube.ply")),
        ("binary.stl", binary_stl(&surface)),
        ("text.stl", text_stl(&surface).into_bytes()),
        ("cube.gltf", json.into_bytes()),
        ("within.gltf", within.into_bytes()),
        ("cube.glb", glb(&surface)),
    ]
}

#[test]
fn every_format_is_read() {
    let folder = tempfile::tempdir().expect("folder");
    for (name, bytes) in samples_of_files(folder.path()) {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        let mesh = attempt(&path, 1000).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!((mesh.volume() - 1.0).abs() < 0.02, "{name}: {}", mesh.volume());
        let [low, high] = mesh.bounds();
        assert!(low.amax() < 0.05 && (high - Vec3::repeat(1.0)).amax() < 0.05, "{name}: {low} {high}");
    }
}

/// Cut off anywhere, or a byte changed anywhere: a body, or an error of one line that names the file.
#[test]
fn files_cut_off_or_changed_anywhere() {
    let folder = tempfile::tempdir().expect("folder");
    let broken = folder.path().join("broken");
    for (name, bytes) in samples_of_files(folder.path()) {
        let path = broken.with_extension(Path::new(name).extension().expect("ending"));
        for i in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[i] = changed[i].wrapping_add(1 + (i % 200) as u8);
            for bytes in [&bytes[..i], &changed] {
                let _ = fs::remove_file(&path);
                fs::write(&path, bytes).expect("written");
                // What is read is filled only now and then: that takes its time.
                let attempt = if i % 40 == 0 {
                    attempt(&path, 100).map(drop)
                } else {
                    read::read(&path, 1.0).map(drop)
                };
                if let Err(error) = attempt {
                    let text = error.to_string();
                    assert!(error.file.is_some(), "{text}");
                    assert!(!text.contains(char::is_control) && text.len() < 600, "{text:?}");
                }
            }
        }
    }
}

#[test]
fn numbers_that_are_none() {
    let folder = tempfile::tempdir().expect("folder");
    let surface = surface(Generator::Box { cells: [1; 3], size: [1.0; 3] });
    for (i, bad) in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].into_iter().enumerate() {
        let mut bytes = binary_stl(&surface);
        bytes[84 + 12..84 + 16].copy_from_slice(&bad.to_le_bytes());
        let path = folder.path().join(format!("bad{i}.stl"));
        fs::write(&path, bytes).expect("written");
        let told = attempt(&path, 1000).expect_err("refused").to_string();
        assert!(told.contains("triangle 0") && told.contains("bad"), "{told}");
    }
    let path = folder.path().join("bad.obj");
    fs::write(&path, "v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n").expect("written");
    let told = attempt(&path, 1000).expect_err("refused").to_string();
    assert!(told.contains("bad.obj:2"), "{told}");
    let path = folder.path().join("empty.stl");
    fs::write(&path, "").expect("written");
    assert!(attempt(&path, 1000).expect_err("refused").to_string().contains("empty"));
}

/// A glTF from elsewhere must not make us read other files, nor visit a node more than once.
#[test]
fn a_gltf_reads_only_what_is_beside_it_and_its_nodes_form_trees() {
    let folder = tempfile::tempdir().expect("folder");
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).expect("made");
    let surface = surface(Generator::Box { cells: [1; 3], size: [1.0; 3] });
    let data = gltf(&surface, None).1;
    for place in ["cube.bin", "inner/cube.bin"] {
        fs::write(folder.path().join(place), &data).expect("written");
    }
    let read = |json: String| {
        fs::write(inner.join("cube.gltf"), json).expect("written");
        attempt(&inner.join("cube.gltf"), 1000).map_err(|error| error.to_string())
    };
    assert!(read(gltf(&surface, Some("./cube.bin")).0).is_ok());
    let absolute = folder.path().join("cube.bin").display().to_string();
    let mut outside = vec!["../cube.bin".to_string(), absolute, "file:///etc/passwd".into()];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path().join("cube.bin"), inner.join("link.bin")).expect("linked");
        outside.push("link.bin".into());
    }
    for uri in outside {
        let refused = read(gltf(&surface, Some(&uri)).0).expect_err(&uri);
        assert!(refused.contains("not in the folder of the file"), "{uri}: {refused}");
    }
    // a chain of nodes, each of which names the next one twice
    let chain: Vec<String> =
        (0..40).map(|n| format!(r#"{{"children": [{next}, {next}]}}"#, next = n + 1)).collect();
    let nodes = format!(r#""nodes": [{}, {{"mesh": 0}}]"#, chain.join(", "));
    let json = gltf(&surface, Some("cube.bin")).0.replace(r#""nodes": [1]"#, r#""nodes": [0]"#);
    let (head, rest) = json.split_once(r#""nodes": [{"#).expect("nodes");
    let tail = &rest[rest.find(r#""meshes""#).expect("meshes")..];
    let refused = read(format!("{head}{nodes},\n{tail}")).expect_err("a diamond");
    assert!(refused.contains("two places"), "{refused}");
}
