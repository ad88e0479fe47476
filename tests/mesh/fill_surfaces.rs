//! Surfaces, whole and broken, filled with tetrahedra or refused with the place named.

use dashpot::Vec3;
use dashpot::mesh::distance::{Distance, SurfaceDistance, close};
use dashpot::mesh::fill::{Filled, Fineness, fill_surface};
use dashpot::mesh::spec::Generator;
use dashpot::mesh::{Mesh, double_area_normal, six_volumes};

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
    let (filled, _, told) = fill_surface(surface, Fineness::Tets(tets)).expect("filled");
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
