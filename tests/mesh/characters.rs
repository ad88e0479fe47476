//! The characters: the numbers of the papers, good elements, the right volume, in one piece; their surfaces; the stored meshes.

use dashpot::Vec3;
use dashpot::mesh::characters::{Character, names};
use dashpot::mesh::distance::{Distance, Figure};
use dashpot::mesh::spec::CharacterSpec;
use dashpot::mesh::{Mesh, double_area_normal, six_volumes};
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::Path;

/// Vertices and tetrahedra of the papers' models. "Colliding bears" is two of them together: 1944 and 6805.
const PAPERS: [(&str, Option<usize>, usize); 9] = [
    ("bear", Some(3743), 14025),
    ("bear", Some(972), 3402),
    ("hippo", Some(2387), 8406),
    ("penguin", Some(1979), 6915),
    ("dummy", Some(4492), 16890),
    ("pig", Some(5122), 16505),
    ("koala", None, 11080),
    ("elephant", None, 10416),
    // Of no paper.
    ("bunny", None, 5000),
];

/// Volume by the points of a grid of 8 mm that are inside (m³). Of 10⁵ points some 10⁴ are at the surface, each wrong by
/// about half a point at random: below a thousandth. A ball of radius |d| is on one side, so many points are passed over.
fn counted_volume(figure: &Figure) -> f64 {
    let step = 0.008;
    let [low, high] = figure.bounds();
    let [nx, ny, nz] = [0, 1, 2].map(|axis| ((high - low)[axis] / step).ceil() as usize);
    let column = |i: usize| {
        let (x, y) = (low.x + step * ((i % nx) as f64 + 0.37), low.y + step * ((i / nx) as f64 + 0.61));
        let (mut k, mut inside) = (0, 0);
        while k < nz {
            let d = figure.distance(Vec3::new(x, y, low.z + step * (k as f64 + 0.53)));
            let same = 1 + (d.abs() / step) as usize;
            inside += if d < 0.0 { same } else { 0 };
            k += same;
        }
        inside
    };
    (0..nx * ny).into_par_iter().map(column).sum::<usize>() as f64 * step.powi(3)
}

fn share(value: usize, of: usize) -> f64 {
    value as f64 / of as f64 - 1.0
}

#[test]
fn every_character_has_the_numbers_of_its_paper_and_good_elements() {
    for (name, vertices, tets) in PAPERS {
        let character = Character::find(name).expect(name);
        let first = character.fits[0].tets == tets;
        let spec = CharacterSpec { target_tets: (!first).then_some(tets), ..CharacterSpec::new(name) };
        let filled = character.fill(&spec).expect(name);
        let mesh = &filled.mesh;
        let counts = (mesh.positions.len(), mesh.tets.len());
        assert!(share(counts.1, tets).abs() < 0.05, "{name}: {counts:?}");
        assert!(vertices.is_none_or(|v| share(counts.0, v).abs() < 0.05), "{name}: {counts:?}");

        let statistics = mesh.statistics();
        assert!(statistics.angles.min >= 10.0, "{name}: {:?}", statistics.angles);
        assert!(mesh.tets.iter().all(|&t| six_volumes(&mesh.tet_corners(t)) > 0.0), "{name}: inverted");
        assert_eq!((statistics.components, statistics.crowded, statistics.open_edges), (1, 0, 0), "{name}");
        assert_eq!(filled.report.warnings(), Vec::<String>::new(), "{name}");
        let volume = counted_volume(&character.figure);
        let off = mesh.volume() / volume - 1.0;
        assert!(off.abs() < 0.02, "{name}: volume off by {off}");
        // About 1 m, standing on the ground, its sides alike.
        let [low, high] = statistics.bounds;
        assert!(low.y.abs() < 0.01 && (0.85..1.1).contains(&high.y), "{name}: {low:?} {high:?}");
        assert!((low.x + high.x).abs() < 0.01, "{name}: {low:?} {high:?}");
        println!(
            "{name}: {} vertices ({}), {} tetrahedra ({tets}), angles {:.1} to {:.1}, volume {:+.2} %",
            counts.0,
            vertices.map_or("-".into(), |v| v.to_string()),
            counts.1,
            statistics.angles.min,
            statistics.angles.max,
            100.0 * off
        );
    }
}

/// Volume that triangles enclose, by the divergence theorem (m³).
fn enclosed(mesh: &Mesh) -> f64 {
    mesh.triangles
        .iter()
        .map(|&t| {
            let [a, b, c] = mesh.triangle_corners(t);
            a.cross(&b).dot(&c) / 6.0
        })
        .sum()
}

#[test]
fn surfaces_are_closed_and_look_outward() {
    for name in names() {
        let character = Character::find(name).expect(name);
        let mesh = character.surface(12_000, 1.0).expect(name);
        assert!(share(mesh.triangles.len(), 12_000).abs() < 0.05, "{name}: {}", mesh.triangles.len());
        let mut edges: HashMap<[u32; 2], i32> = HashMap::new();
        for &[a, b, c] in &mesh.triangles {
            [[a, b], [b, c], [c, a]].into_iter().for_each(|edge| *edges.entry(edge).or_default() += 1);
        }
        // Each edge once in each direction: closed, no third triangle, neighbours wound alike.
        assert!(edges.iter().all(|([a, b], count)| *count == 1 && edges.contains_key(&[*b, *a])), "{name}");
        let off = enclosed(&mesh) / counted_volume(&character.figure) - 1.0;
        assert!(off.abs() < 0.01, "{name}: volume off by {off}");
        let outward = mesh.triangles.iter().filter(|&&t| {
            let corners = mesh.triangle_corners(t);
            let (_, normal) = character.figure.sample(corners.iter().sum::<Vec3>() / 3.0, 0.0);
            normal.dot(&double_area_normal(&corners)) > 0.0
        });
        // In creases narrower than a triangle the normal at its middle may be that of the other side.
        let inward = mesh.triangles.len() - outward.count();
        assert!(inward * 1000 <= mesh.triangles.len(), "{name}: {inward} look inward");
        let farthest = mesh.positions.iter().map(|&p| character.figure.distance(p).abs()).fold(0.0, f64::max);
        assert!(farthest < 1e-4, "{name}: a vertex is {farthest} m off the surface");
    }
}

#[test]
fn scale_cell_and_number() {
    let bear = Character::find("bear").expect("bear");
    let fill = |spec: CharacterSpec| bear.fill(&spec).expect("filled");
    let one = fill(CharacterSpec { cell: Some(0.1), ..CharacterSpec::new("bear") });
    let two = fill(CharacterSpec { cell: Some(0.2), scale: 2.0, ..CharacterSpec::new("bear") });
    assert_eq!(one.mesh.tets, two.mesh.tets);
    assert!(one.mesh.positions.iter().zip(&two.mesh.positions).all(|(p, q)| (p * 2.0 - q).norm() < 1e-12));
    assert!((two.report.volume / one.report.volume - 8.0).abs() < 1e-9 && two.report.cell == 0.2);
    let some = fill(CharacterSpec { target_tets: Some(2000), ..CharacterSpec::new("bear") });
    assert!(share(some.mesh.tets.len(), 2000).abs() < 0.05);
}

#[test]
fn what_cannot_be_made_is_refused_with_the_field() {
    let refused = |spec: CharacterSpec| {
        let error = Character::find(&spec.character).and_then(|character| character.fill(&spec));
        error.map(|_| ()).expect_err("refused")
    };
    let bear = || CharacterSpec::new("bear");
    let unknown = refused(CharacterSpec::new("haer"));
    assert_eq!(unknown.field.as_deref(), Some("character"));
    assert!(names().iter().all(|name| unknown.message.contains(name)), "{unknown}");
    assert!(refused(CharacterSpec::new("pinguin")).message.contains("did you mean `penguin`?"));
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(CharacterSpec { scale, ..bear() }).field.as_deref(), Some("scale"));
    }
    for cell in [0.0, -1.0, f64::NAN] {
        assert_eq!(refused(CharacterSpec { cell: Some(cell), ..bear() }).field.as_deref(), Some("cell"));
    }
    for tets in [0, usize::MAX] {
        let error = refused(CharacterSpec { target_tets: Some(tets), ..bear() });
        assert_eq!(error.field.as_deref(), Some("target_tets"));
    }
    assert!(refused(CharacterSpec { target_tets: Some(1000), cell: Some(0.1), ..bear() }).field.is_some());
    let bear = Character::find("bear").expect("bear");
    for triangles in [0, 10, usize::MAX] {
        assert_eq!(bear.surface(triangles, 1.0).expect_err("refused").field.as_deref(), Some("triangles"));
    }
}

/// What `dashpot mesh make NAME --tets N --out assets/meshes/NAME.mesh` wrote.
#[test]
fn stored_meshes_are_what_is_made_now() {
    for (name, tets) in [("bear", 3402), ("bunny", 3000), ("penguin", 2500)] {
        let path = format!("{}/assets/meshes/{name}.mesh", env!("CARGO_MANIFEST_DIR"));
        let stored = dashpot::mesh::read::read(Path::new(&path), 1.0).expect(name);
        assert_eq!(stored.warnings, Vec::<String>::new());
        let spec = CharacterSpec { target_tets: Some(tets), ..CharacterSpec::new(name) };
        let made = Character::find(name).expect(name).fill(&spec).expect(name).mesh;
        assert_eq!(stored.mesh.tets, made.tets, "{name}");
        // Written with all digits; sines of other machines may differ in the last one.
        let farthest = stored.mesh.positions.iter().zip(&made.positions).map(|(p, q)| (p - q).norm());
        assert!(farthest.fold(0.0, f64::max) < 1e-9, "{name}");
    }
}
