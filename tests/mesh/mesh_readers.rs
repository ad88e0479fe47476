//! Every format is read, what is odd is mended and reported.

use crate::mesh_samples::{CLOTHS, SOLIDS, write_all};
use dashpot::Vec3;
use dashpot::mesh::spec::{MeshFile, MeshSpec};
use dashpot::mesh::{LinkKind, Loaded, load, read};
use std::fs;
use std::path::Path;

fn read_text(name: &str, contents: &str) -> Loaded {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join(name);
    fs::write(&path, contents).expect("written");
    read::read(&path, 1.0).unwrap_or_else(|e| panic!("{e}"))
}

fn mentions(loaded: &Loaded, what: &str) -> bool {
    loaded.warnings.iter().any(|w| w.contains(what))
}

fn is_the_solid(loaded: &Loaded, name: &str) {
    let mesh = &loaded.mesh;
    let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.], [1., 1., 1.]].map(Vec3::from);
    assert_eq!(mesh.positions, corners, "{name}");
    assert_eq!(mesh.tets, [[0, 1, 2, 3], [1, 2, 3, 4]], "{name}");
    // 1/6 and 1/3, exact but for the division by six.
    assert!((mesh.volume() - 0.5).abs() < 1e-15, "{name}");
    assert!(mesh.triangles.is_empty() && mesh.links.is_empty(), "{name}");
    assert!(mentions(loaded, "1 tetrahedra were wound the wrong way"), "{name}: {:?}", loaded.warnings);
}

#[test]
fn every_format_gives_the_same_solid() {
    let folder = tempfile::tempdir().expect("folder");
    write_all(folder.path());
    for (name, _) in SOLIDS {
        let loaded = read::read(&folder.path().join(name), 1.0).unwrap_or_else(|e| panic!("{e}"));
        is_the_solid(&loaded, name);
        assert!(
            loaded.warnings.iter().all(|w| w.contains(name)),
            "warnings name the file: {:?}",
            loaded.warnings
        );
    }
    is_the_solid(&read::read(&folder.path().join("a.node"), 1.0).expect("by its other half"), "a.node");
}

#[test]
fn every_format_gives_the_same_cloth() {
    let folder = tempfile::tempdir().expect("folder");
    write_all(folder.path());
    for (name, _) in CLOTHS {
        let mesh = read::read(&folder.path().join(name), 1.0).unwrap_or_else(|e| panic!("{e}")).mesh;
        assert_eq!(mesh.positions.len(), 5, "{name}");
        let mut triangles = mesh.triangles.clone();
        triangles.sort_unstable();
        assert_eq!(triangles, [[0, 1, 2], [0, 2, 3], [1, 4, 2]], "{name}");
        assert_eq!(mesh.statistics().area, 1.5, "{name}");
    }
}

#[test]
fn line_ends_of_windows_blank_lines_and_a_byte_order_mark_do_not_matter() {
    let folder = tempfile::tempdir().expect("folder");
    write_all(folder.path());
    for (name, contents) in SOLIDS {
        let path = folder.path().join(name);
        let plain = read::read(&path, 1.0).expect("plain");
        let mut bytes = if name.ends_with(".vtk") { Vec::new() } else { b"\xEF\xBB\xBF".to_vec() };
        bytes.extend(contents.replace('\n', " \r\n\r\n").bytes());
        // The title of a VTK file is its second line, whatever it says.
        if !name.ends_with(".vtk") {
            fs::write(&path, bytes).expect("written");
            assert_eq!(read::read(&path, 1.0).unwrap_or_else(|e| panic!("{e}")), plain, "{name}");
        }
        fs::write(&path, contents.replace('\n', "\r\n")).expect("written");
        assert_eq!(read::read(&path, 1.0).unwrap_or_else(|e| panic!("{e}")), plain, "{name}");
    }
}

#[test]
fn paths_are_relative_to_the_scene_and_lengths_are_scaled() {
    let folder = tempfile::tempdir().expect("folder");
    write_all(folder.path());
    let spec = |scale| MeshSpec::File(MeshFile { file: "a.mesh".into(), scale, skin: None });
    let mesh = load(&spec(0.5), folder.path()).expect("read").mesh;
    assert!((mesh.volume() - 0.0625).abs() < 1e-16);
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e60] {
        let error = load(&spec(scale), folder.path()).expect_err("bad scale");
        assert!(error.exit_code() == 2 && error.to_string().contains("scale"), "{error}");
    }
    // So small that volumes vanish: refused, not simulated.
    load(&spec(1e-200), folder.path()).expect_err("vanishing");
}

#[test]
fn cells_that_are_not_tetrahedra_are_ignored_and_counted() {
    let loaded = read_text(
        "mixed.vtk",
        "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 8 float\n\
         0 0 0 1 0 0 0 1 0 0 0 1 1 1 0 1 0 1 0 1 1 1 1 1\nCELLS 4 24\n4 0 1 2 3\n8 0 1 2 3 4 5 6 7\n6 0 1 2 3 4 5\n2 6 7\n\
         CELL_TYPES 4\n10\n12\n13\n99\n",
    );
    assert_eq!(loaded.mesh.tets.len(), 1);
    for what in
        ["1 hexahedra ignored", "1 prisms ignored", "1 cells of type 99 ignored", "4 vertices belong to no"]
    {
        assert!(mentions(&loaded, what), "{what}: {:?}", loaded.warnings);
    }
}

#[test]
fn doubled_vertices_flat_and_repeated_elements_are_dropped_and_counted() {
    // Vertex 6 is vertex 2 again, 7 lies within 1e-13 of vertex 3, 8 is used by nobody.
    let loaded = read_text(
        "dirty.mesh",
        "MeshVersionFormatted 1 Dimension 3 Vertices 8\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n1 1 1 0\n1 0 0 0\n1e-13 1 0 0\n\
         9 9 9 0\nTetrahedra 6\n1 2 3 4 0\n6 7 5 4 0\n1 1 2 3 0\n1 2 6 3 0\n4 3 2 1 0\n1 2 3 3 0\nEnd",
    );
    assert_eq!(loaded.mesh.tets, [[0, 1, 2, 3], [1, 2, 3, 4]]);
    assert_eq!(loaded.mesh.positions.len(), 5);
    for what in [
        "2 vertices lie where another",
        "3 tetrahedra are degenerate",
        "1 tetrahedra occur more than once",
        "1 tetrahedra were wound",
        "1 vertices belong to no element",
    ] {
        assert!(mentions(&loaded, what), "{what}: {:?}", loaded.warnings);
    }
}

#[test]
fn flat_is_meant_relative_to_the_size() {
    // A tetrahedron of a micrometre has a volume of 1e-19 m³ and is as good as any; one squashed to 1e-13 is not.
    for (size, height, good) in [(1e-6, 1e-6, true), (1e6, 1e6, true), (1.0, 1e-13, false), (1.0, 1e-6, true)]
    {
        let text = format!(
            "*VERTICES\n4 3\n1 0 0 0\n2 {size:e} 0 0\n3 0 {size:e} 0\n4 0 0 {height:e}\n*ELEMENTS\nTET\n1 4\n1 1 2 3 4\n"
        );
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.veg");
        fs::write(&path, text).expect("written");
        assert_eq!(read::read(&path, 1.0).is_ok(), good, "{size} {height}");
    }
}

#[test]
fn an_overlapping_solid_is_reported() {
    let loaded = read_text(
        "three.mesh",
        "MeshVersionFormatted 1 Dimension 3 Vertices 6\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 2 0\n0 0 -1 0\n\
         Tetrahedra 3\n1 2 3 4 0\n1 2 3 5 0\n1 2 3 6 0\nEnd",
    );
    assert!(mentions(&loaded, "1 faces belong to more than two tetrahedra"), "{:?}", loaded.warnings);
}

#[test]
fn lines_become_strands_with_bending() {
    let loaded =
        read_text("hair.obj", "v 0 0 0\nv 0 1 0\nv 0 2 0\nv 0 3 0\nv 1 0 0\nv 1 1 0\nl 1 2 3 4\nl 5 6\n");
    let links: Vec<_> = loaded.mesh.links.iter().map(|l| (l.vertices, l.kind)).collect();
    let (structural, bending) = (LinkKind::Structural, LinkKind::Bending);
    let expected = [
        ([0, 1], structural),
        ([1, 2], structural),
        ([2, 3], structural),
        ([4, 5], structural),
        ([0, 2], bending),
        ([1, 3], bending),
    ];
    assert_eq!(links, expected);
    assert_eq!(loaded.warnings, Vec::<String>::new());
}

#[test]
fn binary_ply_is_read_in_both_byte_orders() {
    for big in [false, true] {
        let order = if big { "big" } else { "little" };
        let mut bytes = format!(
            "ply\nformat binary_{order}_endian 1.0\nelement vertex 3\nproperty float x\nproperty double y\nproperty short z\n\
             element face 1\nproperty list uchar uint vertex_index\nend_header\n"
        )
        .into_bytes();
        for (x, y, z) in [(0f32, 0f64, 0i16), (1.0, 0.0, 0), (0.0, 2.0, -3)] {
            if big {
                bytes.extend(x.to_be_bytes());
                bytes.extend(y.to_be_bytes());
                bytes.extend(z.to_be_bytes());
            } else {
                bytes.extend(x.to_le_bytes());
                bytes.extend(y.to_le_bytes());
                bytes.extend(z.to_le_bytes());
            }
        }
        bytes.push(3);
        for v in [0u32, 1, 2] {
            bytes.extend(if big { v.to_be_bytes() } else { v.to_le_bytes() });
        }
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.ply");
        fs::write(&path, &bytes).expect("written");
        let mesh = read::read(&path, 1.0).unwrap_or_else(|e| panic!("{e}")).mesh;
        assert_eq!(mesh.positions[2], Vec3::new(0.0, 2.0, -3.0));
        assert_eq!(mesh.triangles, [[0, 1, 2]]);
        fs::write(&path, &bytes[..bytes.len() - 1]).expect("written");
        assert!(read::read(Path::new(&path), 1.0).is_err(), "one byte too few");
    }
}
