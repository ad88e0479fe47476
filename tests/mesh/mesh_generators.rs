//! Generated shapes are proper solids, cloths and strands: right counts, right volumes, closed, conforming.

use dashpot::mesh::spec::Generator;
use dashpot::mesh::topology::{Faces, triangle_edges};
use dashpot::mesh::{LinkKind, Mesh, six_volumes};
use std::f64::consts::PI;

fn build(generator: Generator) -> Mesh {
    generator.build().expect("valid parameters")
}

fn solids() -> Vec<(&'static str, Mesh)> {
    vec![
        ("box", build(Generator::Box { cells: [3, 4, 5], size: [0.3, 1.0, 2.5] })),
        ("ball 1", build(Generator::Ball { radius: 0.7, cells: 1 })),
        ("ball 2", build(Generator::Ball { radius: 0.7, cells: 2 })),
        ("ball 9", build(Generator::Ball { radius: 0.7, cells: 9 })),
        ("ball 16", build(Generator::Ball { radius: 3.0, cells: 16 })),
        ("torus 1", build(Generator::Torus { radius: 1.0, tube: 0.2, cells: [3, 1] })),
        ("torus 4", build(Generator::Torus { radius: 1.0, tube: 0.3, cells: [24, 4] })),
        ("torus 5", build(Generator::Torus { radius: 1.0, tube: 0.3, cells: [24, 5] })),
        ("t-pipe", build(Generator::TPipe { lengths: [2.0, 1.1], width: 0.3, cells: 2 })),
        ("sheet", build(Generator::Sheet { cells: [40, 8], size: [2.0, 0.4], thickness: 0.02 })),
    ]
}

#[test]
fn solids_conform_and_are_closed() {
    for (name, mesh) in solids() {
        assert!(
            mesh.tets.iter().all(|&t| six_volumes(&mesh.tet_corners(t)) > 0.0),
            "{name}: positive volumes"
        );
        let faces = Faces::of(&mesh.tets);
        assert_eq!(faces.crowded, 0, "{name}: no face of three tetrahedra");
        assert_eq!(4 * mesh.tets.len(), faces.boundary.len() + 2 * faces.inner, "{name}: every face counted");
        assert!(
            triangle_edges(&faces.boundary).iter().all(|(_, count)| *count == 2),
            "{name}: every edge of the surface belongs to two triangles"
        );
        assert_eq!(mesh.components(), 1, "{name}: one part, no unused vertex");
        // The divergence theorem: the surface encloses the volume only if every face looks outward.
        let enclosed: f64 = faces
            .boundary
            .iter()
            .map(|&t| mesh.triangle_corners(t))
            .map(|[a, b, c]| a.dot(&b.cross(&c)) / 6.0)
            .sum();
        let volume = mesh.volume();
        // Sums of a few thousand terms of the size of the whole: rounding stays far below 1e-12.
        assert!((enclosed - volume).abs() < 1e-12 * volume.max(1.0), "{name}: {enclosed} ≠ {volume}");
    }
}

#[test]
fn a_ball_and_a_ring_are_topologically_right() {
    // Euler characteristic V − E + F of the surface: 2 for a sphere, 0 for a torus.
    for (name, mesh) in solids() {
        let surface = mesh.surface();
        let mut used: Vec<u32> = surface.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let euler = used.len() as i64 - triangle_edges(&surface).len() as i64 + surface.len() as i64;
        assert_eq!(euler, if name.starts_with("torus") { 0 } else { 2 }, "{name}");
    }
}

#[test]
fn right_angled_solids_have_exact_volumes() {
    for (mesh, volume) in [
        (build(Generator::Box { cells: [3, 4, 5], size: [0.3, 1.0, 2.5] }), 0.75),
        (build(Generator::Sheet { cells: [40, 8], size: [2.0, 0.4], thickness: 0.02 }), 0.016),
        (build(Generator::TPipe { lengths: [2.0, 1.1], width: 0.3, cells: 2 }), 0.09 * 3.1),
        // Lengths that are no whole number of cells: the cells give way, not the lengths.
        (build(Generator::TPipe { lengths: [1.77, 0.53], width: 0.25, cells: 3 }), 0.0625 * 2.3),
    ] {
        // Only rounding: a sum of some thousand positive terms.
        assert!((mesh.volume() / volume - 1.0).abs() < 1e-12, "{} ≠ {volume}", mesh.volume());
    }
}

#[test]
fn round_solids_converge_to_their_volume() {
    let ball = |cells| build(Generator::Ball { radius: 0.5, cells }).volume() / (PI / 6.0) - 1.0;
    let torus = |n: usize| {
        let ring = build(Generator::Torus { radius: 1.0, tube: 0.3, cells: [8 * n, 2 * n] });
        ring.volume() / (2.0 * PI * PI * 0.09) - 1.0
    };
    for (name, coarse, fine) in [("ball", ball(8), ball(16)), ("torus", torus(2), torus(4))] {
        // Inscribed flat faces: always too small, and the error falls with the square of the cell, so by 4;
        // 3 leaves room for how the lattice happens to meet the sphere.
        assert!(coarse < 0.0 && fine < 0.0 && coarse / fine > 3.0, "{name}: {coarse:e}, {fine:e}");
        assert!(fine.abs() < 0.02, "{name}: {fine:e}");
    }
}

#[test]
fn the_vertices_of_a_ball_lie_on_it() {
    let mesh = build(Generator::Ball { radius: 0.5, cells: 10 });
    let surface = mesh.surface();
    for &v in surface.iter().flatten() {
        // The crossing of an edge is a closed formula: a few roundings.
        assert!((mesh.positions[v as usize].norm() - 0.5).abs() < 1e-14);
    }
}

#[test]
fn elements_are_well_shaped() {
    for cells in 1..=20 {
        let angles = build(Generator::Ball { radius: 1.0, cells }).statistics().angles;
        // Measured up to 40 cells: 18.0° to 143.3°. The paper promises 10.7° to 164.8° with its own diagonals.
        assert!(angles.min > 17.0 && angles.max < 145.0, "ball of {cells}: {angles:?}");
    }
    for across in 1..=8 {
        let ring = build(Generator::Torus { radius: 1.0, tube: 0.3, cells: [10 * across, across] });
        let quality = ring.statistics();
        // Cells about as long as wide; measured up to 12 across: 24.6° to 138.4°, radius ratio 0.495.
        assert!(
            quality.angles.min > 24.0 && quality.angles.max < 140.0,
            "torus {across}: {:?}",
            quality.angles
        );
        assert!(quality.worst_radius_ratio > 0.48, "torus {across}: {}", quality.worst_radius_ratio);
    }
}

#[test]
fn sizes_of_the_papers_are_reachable() {
    let sheet = build(Generator::Sheet { cells: [40, 8], size: [2.0, 0.4], thickness: 0.02 });
    assert_eq!((sheet.positions.len(), sheet.tets.len()), (738, 1920));
    let ribbon = build(Generator::Ribbon { cells: [182, 2], size: [3.0, 0.03] });
    assert_eq!((ribbon.positions.len(), ribbon.triangles.len()), (549, 728));
    let hair = build(Generator::Hair { strands: 100, segments: 18, length: 0.3, radius: 0.1 });
    assert_eq!(hair.positions.len(), 1900);
    let pipe = build(Generator::TPipe { lengths: [5.3, 5.2], width: 0.3, cells: 3 });
    // The paper's has 1,686 and 5,779.
    assert_eq!((pipe.positions.len(), pipe.tets.len()), (1696, 5670));
    let cube = build(Generator::Box { cells: [2, 3, 4], size: [1.0; 3] });
    assert_eq!((cube.positions.len(), cube.tets.len()), (3 * 4 * 5, 6 * 24));
}

#[test]
fn a_box_starts_at_the_origin_and_counts_x_first() {
    let mesh = build(Generator::Box { cells: [2, 3, 4], size: [1.0, 2.0, 3.0] });
    assert_eq!(mesh.positions[1], dashpot::Vec3::new(0.5, 0.0, 0.0));
    assert_eq!(mesh.bounds(), [dashpot::Vec3::zeros(), dashpot::Vec3::new(1.0, 2.0, 3.0)]);
}

#[test]
fn a_cloth_has_structural_shear_and_bending_links() {
    let mesh = build(Generator::Cloth { cells: [59, 59], size: [1.0, 1.0] });
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (3600, 2 * 59 * 59));
    let length = |kind: LinkKind| {
        let of_kind: Vec<f64> = mesh
            .links
            .iter()
            .filter(|l| l.kind == kind)
            .map(|l| (mesh.positions[l.vertices[0] as usize] - mesh.positions[l.vertices[1] as usize]).norm())
            .collect();
        // All links of a kind are equally long in a square cloth, up to rounding.
        assert!(of_kind.iter().all(|l| (l - of_kind[0]).abs() < 1e-14));
        (of_kind.len(), of_kind[0] * 59.0)
    };
    for (kind, count, cells_long) in [
        (LinkKind::Structural, 2 * 60 * 59, 1.0),
        (LinkKind::Shear, 2 * 59 * 59, 2f64.sqrt()),
        (LinkKind::Bending, 2 * 60 * 58, 2.0),
    ] {
        let (found, measured) = length(kind);
        assert_eq!(found, count, "{kind:?}");
        assert!((measured - cells_long).abs() < 1e-12, "{kind:?}: {measured} cells long");
    }
    let up = mesh.triangles.iter().map(|&t| dashpot::mesh::double_area_normal(&mesh.triangle_corners(t)));
    assert!(up.into_iter().all(|n| n.y > 0.0 && n.x == 0.0 && n.z == 0.0), "all triangles face up");
    let quality = mesh.statistics();
    assert!((quality.area - 1.0).abs() < 1e-12, "one square metre: {}", quality.area);
    assert_eq!((quality.open_edges, quality.components), (4 * 59, 1));
}

#[test]
fn hair_hangs_in_separate_strands() {
    let mesh = build(Generator::Hair { strands: 100, segments: 18, length: 0.3, radius: 0.1 });
    assert_eq!(mesh.components(), 100);
    let count = |kind| mesh.links.iter().filter(|l| l.kind == kind).count();
    assert_eq!((count(LinkKind::Structural), count(LinkKind::Bending)), (1800, 1700));
    let strands = mesh.strands();
    assert_eq!(strands.len(), 100);
    assert!(strands.iter().all(|s| s.len() == 19));
    assert!((mesh.statistics().strand_length - 30.0).abs() < 1e-12);
    let roots: Vec<_> = strands.iter().map(|s| mesh.positions[s[0] as usize]).collect();
    assert!(roots.iter().all(|r| r.y == 0.0 && r.norm() < 0.1));
    let nearest = roots.iter().enumerate().flat_map(|(i, a)| roots[..i].iter().map(move |b| (a - b).norm()));
    // A hundred roots on a disc of radius 0.1 are at most 0.02 apart; a sunflower comes near that everywhere.
    assert!(nearest.fold(f64::INFINITY, f64::min) > 0.012);
    let single = build(Generator::Hair { strands: 2, segments: 1, length: 0.3, radius: 0.1 });
    assert_eq!(single.links.len(), 2);
}

#[test]
fn springs_are_derived_where_no_links_are_laid_out() {
    let cube = build(Generator::Box { cells: [1, 1, 1], size: [1.0; 3] });
    // 12 edges, 6 diagonals of faces, 1 of the cube.
    let springs = cube.springs();
    assert_eq!(springs.len(), 19);
    assert!(springs.iter().all(|l| l.kind == LinkKind::Structural));

    let mut cloth = build(Generator::Cloth { cells: [2, 1], size: [2.0, 1.0] });
    assert_eq!(cloth.springs(), cloth.links);
    cloth.links.clear();
    let springs = cloth.springs();
    let count = |kind| springs.iter().filter(|l| l.kind == kind).count();
    // 4 triangles: 9 edges, 3 of them inner; the opposite vertices of each inner edge are not joined otherwise.
    assert_eq!((count(LinkKind::Structural), count(LinkKind::Bending)), (9, 3));

    // The surface of a tetrahedron: opposite vertices are joined by an edge already.
    let tetrahedron = Mesh {
        positions: vec![dashpot::Vec3::zeros(); 4],
        triangles: vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]],
        ..Mesh::default()
    };
    assert_eq!(tetrahedron.springs().len(), 6);
}

#[test]
fn several_bodies_become_one() {
    let cube = build(Generator::Box { cells: [1, 1, 1], size: [1.0; 3] });
    let cloth = build(Generator::Cloth { cells: [2, 2], size: [1.0, 1.0] });
    let whole = Mesh::concat(&[cube.clone(), cloth.clone(), cube.clone()]);
    assert_eq!(whole.positions.len(), 8 + 9 + 8);
    assert_eq!(whole.components(), 3);
    assert_eq!(whole.tets[6], cube.tets[0].map(|v| v + 17));
    assert_eq!(whole.triangles[0], cloth.triangles[0].map(|v| v + 8));
    assert_eq!(whole.links[0].vertices, cloth.links[0].vertices.map(|v| v + 8));
}

#[test]
fn impossible_parameters_are_named() {
    let cube = |cells, size| Generator::Box { cells, size };
    let ring = |radius, tube, cells| Generator::Torus { radius, tube, cells };
    let pipe = |lengths, width, cells| Generator::TPipe { lengths, width, cells };
    let hair = |strands, segments, length, radius| Generator::Hair { strands, segments, length, radius };
    let huge = usize::MAX;
    for (generator, field) in [
        (cube([0, 1, 1], [1.0; 3]), "cells"),
        (cube([huge, huge, 2], [1.0; 3]), "cells"),
        (cube([1000, 1000, 1000], [1.0; 3]), "cells"),
        (cube([1, 1, 1], [1.0, -1.0, 1.0]), "size"),
        (cube([1, 1, 1], [1.0, f64::NAN, 1.0]), "size"),
        (cube([1, 1, 1], [f64::INFINITY, 1.0, 1.0]), "size"),
        (Generator::Ball { radius: 0.0, cells: 4 }, "radius"),
        (Generator::Ball { radius: 1.0, cells: 0 }, "cells"),
        (Generator::Ball { radius: 1.0, cells: huge }, "cells"),
        (ring(1.0, 1.0, [8, 2]), "tube"),
        (ring(1.0, 0.2, [2, 2]), "cells"),
        (ring(1.0, 0.2, [huge, 2]), "cells"),
        (pipe([0.2, 1.0], 0.3, 2), "lengths"),
        (pipe([1e9, 1.0], 1e-9, 2), "lengths"),
        (pipe([1.0, 1.0], -0.3, 2), "width"),
        (pipe([1.0, 1.0], 0.3, 0), "cells"),
        (Generator::Sheet { cells: [4, 0], size: [1.0; 2], thickness: 0.1 }, "cells"),
        (Generator::Sheet { cells: [4, 4], size: [1.0; 2], thickness: 0.0 }, "thickness"),
        (Generator::Cloth { cells: [4, huge], size: [1.0; 2] }, "cells"),
        (Generator::Ribbon { cells: [4, 4], size: [1.0, 1e300] }, "size"),
        (hair(0, 3, 1.0, 1.0), "strands"),
        (hair(huge, huge, 1.0, 1.0), "strands"),
        (hair(3, 0, 1.0, 1.0), "segments"),
        (hair(3, 3, f64::NAN, 1.0), "length"),
        (hair(3, 3, 1.0, 0.0), "radius"),
    ] {
        let error = generator.build().expect_err(&format!("{generator:?}"));
        assert_eq!(error.field.as_deref(), Some(field), "{generator:?}: {error}");
    }
    // Each length is possible, the two together are not: the tube vanishes in the rounding of the radius.
    let error = ring(1e9, 1e-9, [8, 2]).build().expect_err("flat");
    assert!(error.message.contains("extreme"), "{error}");
}
