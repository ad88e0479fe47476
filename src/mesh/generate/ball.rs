//! A solid ball, by isosurface stuffing (Labelle and Shewchuk 2007).
//!
//! Space is filled with the tetrahedra of a body-centred cubic lattice. Those inside stay as they are, all alike;
//! those that the surface cuts are cut. Lattice points too near the surface are first moved onto it,
//! so that no cut leaves a sliver. Dihedral angles come out between 18° and 144°.

use super::{affordable, at_least, length, orient};
use crate::Vec3;
use crate::error::InputError;
use crate::mesh::Mesh;
use std::collections::HashMap;

/// A lattice point is moved when the surface cuts an edge nearer than this share of the edge's length.
/// The two values of the paper ("safe" thresholds) for edges along the axes and for the shorter slanted ones.
const WARP_AXIS: f64 = 0.24999;
const WARP_SLANTED: f64 = 0.41189;

/// A ball of `radius` (m) about the origin, `cells` lattice cells across its diameter.
pub(super) fn ball(radius: f64, cells: usize) -> Result<Mesh, InputError> {
    length("radius", radius)?;
    at_least("cells", cells, 1)?;
    // Twelve tetrahedra a cell of the bounding cube; the ball fills half of them.
    affordable("cells", &[6, cells, cells, cells])?;
    Ok(Stuffing::new(radius, cells).fill())
}

/// The lattice about a ball: cubes of side `spacing`, with a point at each corner and each centre.
struct Stuffing {
    radius: f64,
    spacing: f64,
    /// Corner points along an axis; centres are one fewer.
    corners: usize,
    /// Of each lattice point: how deep it lies inside (m); 0 on the surface, negative outside.
    depth: Vec<f64>,
    /// Of each lattice point: where it is (m), moved or not.
    place: Vec<Vec3>,
    /// Where the surface cuts the edge between two lattice points: number of the new point.
    cuts: HashMap<(usize, usize), usize>,
    mesh: Mesh,
}

/// A lattice point: whole coordinates of its cube, and whether it is the cube's centre.
#[derive(Clone, Copy)]
struct Site {
    cube: [usize; 3],
    centre: bool,
}

impl Stuffing {
    fn new(radius: f64, cells: usize) -> Self {
        // One cube more on each side: the tetrahedra reach from centre to centre across a face.
        let corners = cells + 3;
        let mut stuffing = Stuffing {
            radius,
            spacing: 2.0 * radius / cells as f64,
            corners,
            depth: Vec::new(),
            place: Vec::new(),
            cuts: HashMap::new(),
            mesh: Mesh::default(),
        };
        for site in stuffing.sites() {
            let shift = if site.centre { 0.5 } else { 0.0 } - 1.0;
            // Measured from the middle, so that the lattice is exactly symmetric about the origin.
            let coordinate = |i: usize| (i as f64 + shift - cells as f64 / 2.0) * stuffing.spacing;
            let place = Vec3::from(site.cube.map(coordinate));
            // A point within rounding of the surface is on it.
            let depth = radius - place.norm();
            stuffing.depth.push(if depth.abs() < 1e-12 * radius { 0.0 } else { depth });
            stuffing.place.push(place);
        }
        stuffing
    }

    fn sites(&self) -> impl Iterator<Item = Site> + use<> {
        let corners = self.corners;
        [(false, corners), (true, corners - 1)].into_iter().flat_map(move |(centre, n)| {
            (0..n * n * n).map(move |s| Site { cube: [s % n, s / n % n, s / (n * n)], centre })
        })
    }

    fn number(&self, site: Site) -> usize {
        let n = if site.centre { self.corners - 1 } else { self.corners };
        let first = if site.centre { self.corners.pow(3) } else { 0 };
        let [i, j, k] = site.cube;
        first + i + n * (j + n * k)
    }

    /// The up to 14 neighbours of a point: six of its own kind along the axes, eight of the other kind.
    fn neighbours(&self, site: Site) -> impl Iterator<Item = (usize, f64)> {
        let same = if site.centre { self.corners - 1 } else { self.corners };
        let other = if site.centre { self.corners } else { self.corners - 1 };
        let along = (0..6).filter_map(move |s| {
            let mut cube = site.cube;
            let step = if s % 2 == 0 { 1 } else { -1 };
            cube[s / 2] = cube[s / 2].checked_add_signed(step).filter(|&i| i < same)?;
            Some((self.number(Site { cube, ..site }), WARP_AXIS))
        });
        let slanted = (0..8).filter_map(move |s| {
            let mut cube = site.cube;
            for (axis, i) in cube.iter_mut().enumerate() {
                // A centre has corners at +0 and +1 of its cube's number; a corner has centres at −1 and 0.
                let up = s >> axis & 1;
                *i = if site.centre { *i + up } else { (*i + up).checked_sub(1)? };
                if *i >= other {
                    return None;
                }
            }
            Some((self.number(Site { cube, centre: !site.centre }), WARP_SLANTED))
        });
        along.chain(slanted)
    }

    /// How far along from `a` to `b` the surface lies, 0 to 1: the root of |a + t(b−a)|² = radius².
    fn crossing(&self, a: usize, b: usize) -> f64 {
        let (from, way) = (self.place[a], self.place[b] - self.place[a]);
        let (p, q, r) = (way.norm_squared(), from.dot(&way), from.norm_squared() - self.radius * self.radius);
        let root = (q * q - p * r).max(0.0).sqrt();
        // From inside the exit is the larger root, from outside the entry is the smaller one.
        if self.depth[a] > 0.0 { (-q + root) / p } else { (-q - root) / p }
    }

    /// Moves every point that a cut comes too near onto the nearest such cut.
    fn warp(&mut self) {
        for site in self.sites() {
            let here = self.number(site);
            // Further than an edge from the surface nothing is cut.
            if self.depth[here] == 0.0 || self.depth[here].abs() > self.spacing {
                continue;
            }
            let too_near =
                self.neighbours(site).filter(|&(there, _)| self.depth[here] * self.depth[there] < 0.0);
            let nearest = too_near
                .filter_map(|(there, share)| {
                    let along = self.crossing(here, there);
                    let way = self.place[there] - self.place[here];
                    (along < share).then(|| (along * way.norm(), self.place[here] + way * along))
                })
                .min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, place)) = nearest {
                self.place[here] = place;
                self.depth[here] = 0.0;
            }
        }
    }

    /// Every tetrahedron of the lattice: two centres across a face, and an edge of that face.
    fn fill(mut self) -> Mesh {
        self.warp();
        let cubes = self.corners - 1;
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for s in 0..cubes * cubes * cubes {
                let cube = [s % cubes, s / cubes % cubes, s / (cubes * cubes)];
                let mut next = cube;
                next[axis] += 1;
                if next[axis] == cubes {
                    continue;
                }
                let centres = [cube, next].map(|cube| self.number(Site { cube, centre: true }));
                // The four corners of the face between them, one after the other round it.
                let rim = [[0, 0], [1, 0], [1, 1], [0, 1]].map(|[du, dv]| {
                    let mut corner = next;
                    corner[u] += du;
                    corner[v] += dv;
                    self.number(Site { cube: corner, centre: false })
                });
                for side in 0..4 {
                    self.cut([centres[0], centres[1], rim[side], rim[(side + 1) % 4]]);
                }
            }
        }
        self.finish()
    }

    /// Keeps the part of a lattice tetrahedron that lies inside.
    fn cut(&mut self, tet: [usize; 4]) {
        let choose = |test: fn(f64) -> bool| -> Vec<usize> {
            tet.into_iter().filter(|&v| test(self.depth[v])).collect()
        };
        let (inside, on, outside) = (choose(|d| d > 0.0), choose(|d| d == 0.0), choose(|d| d < 0.0));
        match (&inside[..], &on[..], &outside[..]) {
            ([], _, _) => {}
            (_, _, []) => self.mesh.tets.push(tet.map(|v| v as u32)),
            ([p], zeros, outs) => {
                let mut corners = vec![*p];
                corners.extend(zeros);
                corners.extend(outs.iter().map(|&n| self.cut_point(*p, n)));
                self.mesh.tets.push(std::array::from_fn(|i| corners[i] as u32));
            }
            ([p, q], [z], [n]) => {
                let (cp, cq) = (self.cut_point(*p, *n), self.cut_point(*q, *n));
                self.pyramid(*z, [*p, *q, cq, cp]);
            }
            ([p, q], _, [n, m]) => {
                let [pn, pm] = [self.cut_point(*p, *n), self.cut_point(*p, *m)];
                let [qn, qm] = [self.cut_point(*q, *n), self.cut_point(*q, *m)];
                self.prism([*p, pn, pm], [*q, qn, qm]);
            }
            (ins, _, [n, ..]) => {
                let bottom: [usize; 3] = std::array::from_fn(|i| ins[i]);
                let top = bottom.map(|p| self.cut_point(p, *n));
                self.prism(bottom, top);
            }
        }
    }

    fn cut_point(&mut self, inside: usize, outside: usize) -> usize {
        if let Some(&known) = self.cuts.get(&(inside, outside)) {
            return known;
        }
        let place =
            self.place[inside] + (self.place[outside] - self.place[inside]) * self.crossing(inside, outside);
        self.place.push(place);
        self.cuts.insert((inside, outside), self.place.len() - 1);
        self.place.len() - 1
    }

    /// Cuts a pyramid in two. As in a prism, the diagonal of a quadrilateral starts at the vertex made last:
    /// a rule of the quadrilateral alone, so its two neighbours agree.
    fn pyramid(&mut self, apex: usize, quad: [usize; 4]) {
        let last = (0..4).max_by_key(|&i| quad[i]).unwrap_or(0);
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| quad[(last + i) % 4] as u32);
        self.mesh.tets.extend([[apex as u32, a, b, c], [apex as u32, a, c, d]]);
    }

    /// Cuts a triangular prism in three, with the diagonals of its sides by the rule of the pyramid.
    fn prism(&mut self, bottom: [usize; 3], top: [usize; 3]) {
        let last = |triangle: [usize; 3]| (0..3).max_by_key(|&i| triangle[i]).unwrap_or(0);
        let (bottom, top) = if bottom[last(bottom)] > top[last(top)] { (bottom, top) } else { (top, bottom) };
        let turn = last(bottom);
        let a = [0, 1, 2].map(|i| bottom[(turn + i) % 3]);
        let b = [0, 1, 2].map(|i| top[(turn + i) % 3]);
        self.mesh.tets.push([a[0], b[0], b[1], b[2]].map(|v| v as u32));
        self.pyramid(a[0], [a[1], a[2], b[2], b[1]]);
    }

    /// Reorients all tetrahedra and keeps only the points they use, in lattice order.
    fn finish(mut self) -> Mesh {
        self.mesh.positions = self.place;
        self.mesh.keep_referenced();
        orient(&mut self.mesh);
        self.mesh
    }
}
