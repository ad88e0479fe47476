//! Surfaces from files, whole and broken, filled with tetrahedra or refused with the place named.

use dashpot::Vec3;
use dashpot::error::InputError;
use dashpot::mesh::distance::{Distance, SurfaceDistance, close};
use dashpot::mesh::fill::{Filled, Fineness, fill_surface};
use dashpot::mesh::spec::{Generator, SurfaceFile};
use dashpot::mesh::{Mesh, double_area_normal, read, six_volumes};
use std::fs;
use std::path::Path;

/// The surface of a generated solid.
fn surface(generator: Generator) -> Mesh {
    let mut skin = generator.build().expect("generated").skin();
    skin.keep_referenced();
    skin
}

fn ball() -> Mesh {
    surface(Generator::Ball { radius: 0.5, cells: 12 })
}

fn cube() -> Mesh {
    surface(Generator::Box { cells: [4; 3], size: [1.0; 3] })
}

/// Enclosed volume (m³), by Gauss.
fn enclosed(surface: &Mesh) -> f64 {
    let of = |&t: &[u32; 3]| surface.triangle_corners(t);
    surface.triangles.iter().map(of).map(|[a, b, c]| six_volumes(&[Vec3::zeros(), a, b, c]) / 6.0).sum()
}

fn filled(surface: Mesh, tets: usize) -> (Filled, String) {
    let (filled, told) = fill_surface(surface, Fineness::Tets(tets)).expect("filled");
    let mesh = &filled.mesh;
    assert!(filled.report.angles.min >= 10.0, "{}", filled.report.angles.min);
    assert!(mesh.tets.iter().all(|&t| six_volumes(&mesh.tet_corners(t)) > 0.0));
    assert!((mesh.tets.len() as f64 / tets as f64 - 1.0).abs() < 0.05, "{}", mesh.tets.len());
    (filled, told.join("\n"))
}

fn same_volume(surface: Mesh, volume: f64) -> String {
    let (filled, told) = filled(surface, 4000);
    let off = filled.mesh.volume() / volume - 1.0;
    assert!(off.abs() < 0.02, "volume off by {off}: {told}");
    told
}

fn refused(surface: Mesh) -> String {
    fill_surface(surface, Fineness::Tets(2000)).expect_err("refused").to_string()
}

#[test]
fn whole_surfaces() {
    let (ball, cube) = (ball(), cube());
    let torus = surface(Generator::Torus { radius: 0.5, tube: 0.05, cells: [120, 8] });
    for surface in [ball, cube, torus] {
        let volume = enclosed(&surface);
        assert_eq!(same_volume(surface, volume), "");
    }
}

#[test]
fn distances_are_those_of_the_triangles() {
    let surface = ball();
    let distance = SurfaceDistance::new(&surface).expect("closed");
    assert!((distance.volume().expect("known") - enclosed(&surface)).abs() < 1e-12);
    let triangles: Vec<_> = surface.triangles.iter().map(|&t| surface.triangle_corners(t)).collect();
    for i in 0..200 {
        let angle = f64::from(i);
        let p = Vec3::new(angle.sin(), (1.7 * angle).cos(), (2.3 * angle).sin()) * (0.2 + 0.003 * angle);
        // The exact solid angles, by the sum of all.
        let exact: f64 =
            triangles.iter().map(|t| solid_angle(p, t)).sum::<f64>() / (4.0 * std::f64::consts::PI);
        // A dipole for what is three radii away: to a hundredth, and a half is what decides.
        assert!((distance.winding(p) - exact).abs() < 0.02, "{} {exact}", distance.winding(p));
        let (d, n) = distance.sample(p, 1e-6);
        assert_eq!(d, distance.distance(p));
        assert_eq!(d < 0.0, exact > 0.5);
        let nearest = |t: &[Vec3; 3]| samples(t).map(|q| (q - p).norm()).fold(f64::INFINITY, f64::min);
        let least = triangles.iter().map(nearest).fold(f64::INFINITY, f64::min);
        // Points of the triangles a fiftieth of an edge apart.
        assert!(d.abs() <= least + 1e-12 && d.abs() > least - 2e-3, "{d} {least}");
        assert!(distance.distance(p - n * d).abs() < 1e-9);
    }
}

fn solid_angle(p: Vec3, corners: &[Vec3; 3]) -> f64 {
    // By Girard from the angles between the three planes through p: not the formula of the program.
    let [a, b, c] = corners.map(|q| (q - p).normalize());
    let angle = |a: &Vec3, b: &Vec3, c: &Vec3| a.cross(b).angle(&a.cross(c));
    let excess = angle(&a, &b, &c) + angle(&b, &c, &a) + angle(&c, &a, &b) - std::f64::consts::PI;
    excess * a.dot(&b.cross(&c)).signum()
}

fn samples([a, b, c]: &[Vec3; 3]) -> impl Iterator<Item = Vec3> {
    let [a, b, c] = [*a, *b, *c];
    (0..=50).flat_map(move |i| {
        (0..=50 - i).map(move |j| {
            let (u, v) = (f64::from(i) / 50.0, f64::from(j) / 50.0);
            a * (1.0 - u - v) + b * u + c * v
        })
    })
}

#[test]
fn flipped_faces_are_turned() {
    for surface in [ball(), cube()] {
        let volume = enclosed(&surface);
        let mut some = surface.clone();
        some.triangles.iter_mut().step_by(3).for_each(|t| t.swap(0, 1));
        assert!(same_volume(some, volume).contains("turned"));
        let mut all = surface;
        all.triangles.iter_mut().for_each(|t| t.swap(0, 1));
        assert!(same_volume(all, volume).contains("inside out"));
    }
}

#[test]
fn duplicated_vertices_are_merged() {
    let surface = ball();
    let volume = enclosed(&surface);
    let mut soup = Mesh::default();
    for (i, &t) in surface.triangles.iter().enumerate() {
        let first = soup.positions.len() as u32;
        // Rounded differently in every triangle, as in single precision.
        let rounding = Vec3::repeat(1e-8 * (i % 7) as f64);
        soup.positions.extend(surface.triangle_corners(t).map(|p| p + rounding));
        soup.triangles.push([first, first + 1, first + 2]);
    }
    assert!(same_volume(soup, volume).contains("merged"));
}

/// The surface without the triangles within `radius` of a point.
fn torn(mut surface: Mesh, at: Vec3, radius: f64) -> Mesh {
    let positions = surface.positions.clone();
    surface.triangles.retain(|t| t.iter().any(|&v| (positions[v as usize] - at).norm() > radius));
    surface
}

#[test]
fn a_small_hole_is_closed_and_told() {
    let top = Vec3::new(0.0, 0.5, 0.0);
    let surface = ball();
    let volume = enclosed(&surface);
    let hole = torn(surface.clone(), top, 0.1);
    assert!(hole.triangles.len() < surface.triangles.len());
    let told = same_volume(hole, volume);
    assert!(told.contains("a hole") && told.contains("closed"), "{told}");
}

#[test]
fn a_large_hole_is_refused_with_its_place() {
    let told = refused(torn(ball(), Vec3::new(0.0, 0.5, 0.0), 0.4));
    assert!(told.contains("open") && told.contains("hole"), "{told}");
    let sheet = Generator::Cloth { cells: [8, 8], size: [1.0, 1.0] }.build().expect("cloth");
    let told = refused(Mesh { links: Vec::new(), ..sheet });
    assert!(told.contains("open"), "{told}");
}

#[test]
fn a_wall_inside_is_refused_or_harmless() {
    // A wall across the cube whose hem is on the surface: three triangles meet along it.
    let mut surface = surface(Generator::Box { cells: [2; 3], size: [1.0; 3] });
    let wall: Vec<u32> =
        (0..surface.positions.len() as u32).filter(|&v| surface.positions[v as usize].x == 0.5).collect();
    let middle = surface.positions.len() as u32;
    surface.positions.push(Vec3::repeat(0.5));
    let mut ring = wall;
    let angle = |v: u32| {
        let p = surface.positions[v as usize];
        (p.z - 0.5).atan2(p.y - 0.5)
    };
    ring.sort_by(|&a, &b| angle(a).total_cmp(&angle(b)));
    for i in 0..ring.len() {
        surface.triangles.push([middle, ring[i], ring[(i + 1) % ring.len()]]);
    }
    let told = refused(surface);
    assert!(told.contains("cannot be told apart") && told.contains("walls"), "{told}");
}

#[test]
fn cavities_and_overlaps() {
    let move_by = |mut mesh: Mesh, scale: f64, by: f64| {
        mesh.positions.iter_mut().for_each(|p| *p = *p * scale + Vec3::repeat(by));
        mesh
    };
    let (ball, volume) = (ball(), enclosed(&ball()));
    let mut cavity = move_by(ball.clone(), 0.5, 0.0);
    cavity.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    same_volume(Mesh::concat(&[ball.clone(), cavity]), volume * 0.875);
    // A second body that is inside out and outside of the first.
    let mut apart = move_by(ball.clone(), 0.8, 2.0);
    apart.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    let told = same_volume(Mesh::concat(&[ball.clone(), apart]), volume * 1.512);
    assert!(told.contains("inside out") && told.contains("2 pieces"), "{told}");
    // Overlapping: the union. Two unit cubes, the second moved by (½, ½, ½).
    let pair = Mesh::concat(&[cube(), move_by(cube(), 1.0, 0.5)]);
    same_volume(pair, 2.0 - 0.125);
}

#[test]
fn flat_or_nothing() {
    assert!(refused(Mesh::default()).contains("no triangle"));
    let mut flat = cube();
    flat.positions.iter_mut().for_each(|p| p.y = 0.0);
    refused(flat);
    for size in [1e30, 1e-30] {
        let mut scaled = cube();
        scaled.positions.iter_mut().for_each(|p| *p *= size);
        let told = refused(scaled);
        assert!(told.contains("large"), "{told}");
    }
    let mut stretched = cube();
    stretched.positions[0].x = 1e30;
    refused(stretched);
}

fn attempt(path: &Path, tets: usize) -> Result<Mesh, InputError> {
    let spec = SurfaceFile { surface: path.into(), target_tets: Some(tets), cell: None, scale: 1.0 };
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

/// Orientation: every triangle of the closed surface points away from the middle of the ball.
#[test]
fn a_closed_surface_points_outward() {
    let mut surface = torn(ball(), Vec3::new(0.5, 0.0, 0.0), 0.1);
    surface.triangles.iter_mut().step_by(2).for_each(|t| t.swap(1, 2));
    let (closed, _) = close(surface).expect("closed");
    for &t in &closed.triangles {
        let corners = closed.triangle_corners(t);
        assert!(double_area_normal(&corners).dot(&corners[0]) > 0.0);
    }
}
