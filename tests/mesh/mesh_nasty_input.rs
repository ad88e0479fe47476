//! Broken mesh files: always a clear error or a usable mesh, never a panic, never a hang.

use crate::mesh_samples::{CLOTHS, NODE, SOLIDS, write_all};
use dashpot::error::InputError;
use dashpot::mesh::{Mesh, read, six_volumes};
use proptest::prelude::*;
use std::fs;
use std::path::Path;

fn attempt(folder: &Path, name: &str, bytes: &[u8]) -> Result<Mesh, InputError> {
    let path = folder.join(name);
    // A new file each time: some file systems flush to the disk when an old one is truncated and written again.
    let _ = fs::remove_file(&path);
    fs::write(&path, bytes).expect("written");
    read::read(&path, 1.0).map(|loaded| loaded.mesh)
}

/// Whatever was accepted can be simulated.
fn usable(mesh: &Mesh) {
    let count = mesh.positions.len();
    let vertices = mesh.tets.iter().flatten().chain(mesh.triangles.iter().flatten());
    assert!(vertices.chain(mesh.links.iter().flat_map(|l| &l.vertices)).all(|&v| (v as usize) < count));
    assert!(mesh.positions.iter().all(|p| p.iter().all(|x| x.is_finite())));
    assert!(mesh.tets.iter().all(|&t| six_volumes(&mesh.tet_corners(t)) > 0.0));
    assert!(mesh.tets.len() + mesh.triangles.len() + mesh.links.len() > 0);
    assert!(mesh.statistics().area.is_finite());
}

/// An error names the file, and its text is one line of printable characters.
fn clear(error: &InputError) {
    let text = error.to_string();
    assert!(error.file.is_some(), "no file: {text}");
    assert!(!text.contains(char::is_control) && text.len() < 600, "{text:?}");
}

fn never_worse_than_an_error(folder: &Path, name: &str, bytes: &[u8]) {
    match attempt(folder, name, bytes) {
        Ok(mesh) => usable(&mesh),
        Err(error) => clear(&error),
    }
}

/// A small generator of our own, so that a failure can be repeated.
fn next(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 33) as usize
}

#[test]
fn files_cut_off_anywhere() {
    let folder = tempfile::tempdir().expect("folder");
    write_all(folder.path());
    for (name, contents) in SOLIDS.iter().chain(&NODE).chain(&CLOTHS) {
        for end in 0..contents.len() {
            never_worse_than_an_error(folder.path(), name, &contents.as_bytes()[..end]);
        }
        fs::write(folder.path().join(name), contents).expect("restored for its partner");
    }
}

#[test]
fn files_with_lines_or_words_missing_doubled_or_exchanged() {
    let folder = tempfile::tempdir().expect("folder");
    write_all(folder.path());
    let mut seed = 1;
    for (name, contents) in SOLIDS.iter().chain(&NODE).chain(&CLOTHS) {
        let lines: Vec<&str> = contents.lines().collect();
        for i in 0..lines.len() {
            let mut missing = lines.clone();
            missing.remove(i);
            let mut doubled = lines.clone();
            doubled.insert(i, lines[i]);
            let mut exchanged = lines.clone();
            exchanged.swap(i, next(&mut seed) % lines.len());
            for variant in [missing, doubled, exchanged] {
                never_worse_than_an_error(folder.path(), name, variant.join("\n").as_bytes());
            }
        }
        for word in [
            "-1",
            "0",
            "99999999999",
            "99999999999999999999999",
            "nan",
            "inf",
            "1e300",
            "x",
            "\0",
            "ü",
            "$",
            "-",
        ] {
            let words: Vec<&str> = contents.split(' ').collect();
            for i in 0..words.len() {
                let mut other = words.clone();
                other[i] = word;
                never_worse_than_an_error(folder.path(), name, other.join(" ").as_bytes());
            }
        }
        fs::write(folder.path().join(name), contents).expect("restored for its partner");
    }
}

#[test]
fn files_with_random_bytes_changed() {
    let folder = tempfile::tempdir().expect("folder");
    write_all(folder.path());
    let mut seed = 2;
    for (name, contents) in SOLIDS.iter().chain(&NODE).chain(&CLOTHS) {
        for _ in 0..300 {
            let mut bytes = contents.as_bytes().to_vec();
            for _ in 0..1 + next(&mut seed) % 3 {
                let place = next(&mut seed) % bytes.len();
                bytes[place] = next(&mut seed) as u8;
            }
            never_worse_than_an_error(folder.path(), name, &bytes);
        }
        fs::write(folder.path().join(name), contents).expect("restored for its partner");
    }
}

#[test]
fn one_format_under_the_name_of_another() {
    let folder = tempfile::tempdir().expect("folder");
    write_all(folder.path());
    for (from, contents) in SOLIDS.iter().chain(&CLOTHS) {
        for ending in ["mesh", "msh", "veg", "vtk", "obj", "ply", "node", "ele"] {
            let original = from.rsplit('.').next().expect("ending");
            if ending != original {
                let stem = if ending == "ele" { "a" } else { "other" };
                let name = format!("{stem}.{ending}");
                let error = attempt(folder.path(), &name, contents.as_bytes())
                    .expect_err(&format!("{original} read as {ending}"));
                assert!(error.line.is_some(), "{original} read as {ending}: {error}");
            }
        }
    }
}

#[test]
fn faults_are_pointed_at() {
    let medit = |body: &str| format!("MeshVersionFormatted 1\nDimension 3\n{body}");
    let table: Vec<(&str, String, usize, &str)> = vec![
        ("a.mesh", String::new(), 1, "empty"),
        ("a.mesh", " \n\n".into(), 1, "empty"),
        ("a.mesh", medit("Vertices 99999999999\n0 0 0 0\n"), 4, "vertex 2 of 99999999999"),
        ("a.mesh", medit("Vertices -3\n"), 3, "-3 is no number of vertices"),
        ("a.mesh", medit("Vertices 1\n0 nan 0 0\n"), 4, "`nan` for y"),
        ("a.mesh", medit("Vertices 1\n0 0 1e999 0\n"), 4, "`1e999` for z"),
        ("a.mesh", medit("Vertices 1\n0 0 zero 0\n"), 4, "found `zero`"),
        ("a.mesh", medit("Vertices 1\n0 0 0 0\nTetrahedra 1\n1 1 1 2 0\n"), 6, "no vertex 2"),
        ("a.mesh", medit("Tetrahedra 1\n1 1 1 2 0\n"), 4, "before any vertex"),
        ("a.mesh", medit("Tetrahedrons 1\n"), 3, "`Tetrahedrons` is no section"),
        ("a.mesh", medit("Dimension 4\n"), 3, "expected 2 or 3"),
        ("a.msh", "$MeshFormat\n4.1 1 8\n".into(), 2, "binary"),
        ("a.msh", "$MeshFormat\n4 0 8\n".into(), 2, "2.2 or 4.1"),
        ("a.msh", "$NOD\n1\n".into(), 1, "$MeshFormat"),
        (
            "a.msh",
            "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n1 0 0 1\n".into(),
            7,
            "defined twice",
        ),
        ("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0\n".into(), 6, "expected z"),
        ("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n".into(), 6, "node 2 of 2"),
        ("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n0\n$EndNodes\n".into(), 6, "$Elements"),
        ("a.vtk", "# vtk DataFile Version 3.0\nt\nBINARY\n".into(), 3, "binary"),
        (
            "a.vtk",
            "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_GRID\n".into(),
            4,
            "STRUCTURED_GRID",
        ),
        ("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 3\n".into(), 3, "no vertex 3"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2 -3\n".into(), 3, "-3 goes back"),
        ("a.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n".into(), 3, "three or more"),
        ("a.obj", "v 0 0\n".into(), 1, "expected z"),
        ("a.obj", "v 0 0 0\n\u{7f}ELF\n".into(), 2, "no statement"),
        (
            "a.ply",
            "ply\nformat ascii 1.0\nelement vertex 99999999999\nproperty float q\nend_header\n".into(),
            5,
            "x, y",
        ),
        ("a.veg", "*VERTICES\n1 3 0 0\n5 0 0 0\n".into(), 3, "expected number 1"),
        ("a.veg", "*VERTICES\n1 3 0 0\n1 0 0 0\n*INCLUDE b.veg\n".into(), 4, "INCLUDE"),
    ];
    let folder = tempfile::tempdir().expect("folder");
    for (name, contents, line, what) in table {
        let error = attempt(folder.path(), name, contents.as_bytes()).expect_err(&contents);
        assert_eq!(error.line, Some(line), "{contents:?}: {error}");
        assert!(error.message.contains(what), "{contents:?}: {error}");
        clear(&error);
    }
}

#[test]
fn files_that_are_none() {
    let folder = tempfile::tempdir().expect("folder");
    fs::create_dir(folder.path().join("folder.mesh")).expect("made");
    fs::write(folder.path().join("lonely.ele"), "1 4 0\n1 1 2 3 4\n").expect("written");
    for (name, what) in [
        ("folder.mesh", "a folder"),
        ("none.mesh", "cannot be read"),
        ("lonely.ele", "lonely.node: cannot be read"),
        ("shape.blend", "no mesh format has the ending `.blend`"),
        ("shape", "no mesh format has the ending `.`"),
    ] {
        let error = read::read(&folder.path().join(name), 1.0).expect_err(name);
        clear(&error);
        assert!(error.to_string().contains(what), "{error}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("endless.mesh")).expect("link");
        let error = read::read(&folder.path().join("endless.mesh"), 1.0).expect_err("endless");
        assert!(error.message.contains("not a regular file"), "{error}");
    }
}

#[test]
fn a_mesh_of_which_nothing_is_left_is_refused() {
    let folder = tempfile::tempdir().expect("folder");
    for (contents, what) in [
        ("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", "all 1 triangles are degenerate"),
        ("v 0 0 0\nv 1 0 0\nv 2 0 0\n", "no tetrahedra, triangles or lines"),
        ("v 0 0 0\np 1\n", "only 1 points"),
        ("v 5 5 5\nv 5 5 5\nl 1 2\n", "all 1 lines are degenerate"),
    ] {
        let error = attempt(folder.path(), "a.obj", contents.as_bytes()).expect_err(contents);
        assert!(error.message.contains(what), "{error}");
        clear(&error);
    }
}

#[test]
fn announced_sizes_cost_nothing() {
    // Would need hours or terabytes if the counts were believed.
    let folder = tempfile::tempdir().expect("folder");
    let huge = "9000000000000000000";
    for (name, contents) in [
        (
            "a.ply",
            format!(
                "ply\nformat binary_little_endian 1.0\nelement nothing {huge}\nelement vertex 1\nproperty char x\nproperty char y\nproperty char z\nend_header\n\0\0\0"
            ),
        ),
        (
            "a.ply",
            format!(
                "ply\nformat ascii 1.0\nelement face {huge}\nproperty list uchar int vertex_index\nend_header\n{huge}\n"
            ),
        ),
        (
            "a.vtk",
            format!(
                "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {huge} float\n0 0 0\n"
            ),
        ),
        (
            "a.vtk",
            format!(
                "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 0\nCELLS {huge} {huge}\nOFFSETS i\n0"
            ),
        ),
        (
            "a.vtk",
            format!(
                "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 0\nCELLS 0 0\nCELL_TYPES {huge}\n"
            ),
        ),
        (
            "a.msh",
            format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n{huge} {huge} 1 1\n0 0 0 {huge}\n1\n"),
        ),
        (
            "a.msh",
            format!(
                "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 4 {huge} 1\n"
            ),
        ),
        ("a.node", format!("{huge} 3 0 0\n1 0 0 0\n")),
    ] {
        clear(&attempt(folder.path(), name, contents.as_bytes()).expect_err(&contents));
    }
}

#[test]
fn points_crowded_into_a_corner_do_not_make_reading_slow() {
    // All but one of the vertices lie so near together that a coarse search grid would hold them in one cell.
    let mut text = String::from("v 1 1 1\n");
    for i in 0..20_000 {
        text += &format!("v {:e} {:e} 0\n", f64::from(i) * 1e-11, f64::from(i * i % 101) * 1e-11);
    }
    text += "f 1 2 3\n";
    let folder = tempfile::tempdir().expect("folder");
    let start = std::time::Instant::now();
    usable(&attempt(folder.path(), "a.obj", text.as_bytes()).expect("read"));
    // Takes milliseconds; comparing all pairs would take minutes in the worst case.
    assert!(start.elapsed().as_secs() < 20);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), which in 0usize..14) {
        let folder = tempfile::tempdir().expect("folder");
        write_all(folder.path());
        let (name, contents) = SOLIDS.iter().chain(&NODE).chain(&CLOTHS).nth(which).expect("sample");
        never_worse_than_an_error(folder.path(), name, &bytes);
        // Behind a valid beginning the garbage reaches further into the reader.
        let half = &contents.as_bytes()[..contents.len() * (bytes.len() % 97) / 97];
        never_worse_than_an_error(folder.path(), name, &[half, &bytes[..]].concat());
    }
}
