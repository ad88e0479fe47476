//! Materials: which elements a mesh becomes, by the name in the scene. A material is one line of [`MATERIALS`].

use super::bending::{self};
use super::law::curves::Curves;
use super::tet::signed_volume;
use super::{BendingElement, Law, SpringElement, TetElement, TriangleElement};
use crate::Vec3;
use crate::error::InputError;
use crate::mesh::{LinkKind, Mesh};
use crate::scene::MatterKind::{self, Cloth, Solid, Strands};
use crate::scene::{self, BendingRest, Material};
use std::sync::Arc;

/// The elastic elements of one body, vertices counted from zero.
#[derive(Debug, Default)]
pub struct Elements {
    pub tets: Vec<TetElement>,
    pub triangles: Vec<TriangleElement>,
    pub springs: Vec<SpringElement>,
    pub bendings: Vec<BendingElement>,
}

impl Elements {
    /// Counts vertices from `first` on.
    pub fn shift(&mut self, first: u32) {
        let tets = self.tets.iter_mut().flat_map(|e| &mut e.vertices);
        let triangles = self.triangles.iter_mut().flat_map(|e| &mut e.vertices);
        let springs = self.springs.iter_mut().flat_map(|e| &mut e.vertices);
        let bendings = self.bendings.iter_mut().flat_map(|e| &mut e.vertices);
        tets.chain(triangles).chain(springs).chain(bendings).for_each(|v| *v += first);
    }
}

/// Some fields and the kinds of mesh on which they mean something.
type Fields = (&'static [&'static str], &'static [MatterKind]);

/// A material model: the kinds of mesh it can be given to, and what it reads.
#[derive(Debug, Clone, Copy)]
pub struct MaterialModel {
    /// Name in a scene.
    pub name: &'static str,
    /// Kinds of mesh it fits.
    pub kinds: &'static [MatterKind],
    /// Its fields. `density` and `mass` belong to all.
    pub fields: &'static [Fields],
    /// Makes the elements of a mesh that it fits; an error names the field within `material`.
    pub build: fn(&Material, &Mesh) -> Result<Elements, InputError>,
}

const fn model(
    name: &'static str,
    kinds: &'static [MatterKind],
    fields: &'static [Fields],
    build: fn(&Material, &Mesh) -> Result<Elements, InputError>,
) -> MaterialModel {
    MaterialModel { name, kinds, fields, build }
}

/// The fields of a law of Lamé's parameters.
const LAME: &[Fields] = &[
    (&["mu", "lambda", "young_modulus", "poisson_ratio"], &[Solid, Cloth]),
    (&["thickness"], &[Cloth]),
    YIELD,
];
const YIELD: Fields = (&["yield_stress", "creep_rate"], &[Solid, Cloth]);

/// All material models: one entry each.
pub const MATERIALS: &[MaterialModel] = &[
    model(
        "arap",
        &[Solid, Cloth],
        &[
            (&["mu", "young_modulus", "poisson_ratio"], &[Solid, Cloth]),
            (&["thickness", "strain_limits", "bending", "bending_rest"], &[Cloth]),
            YIELD,
        ],
        arap,
    ),
    model(
        "corotated",
        &[Solid],
        &[(&["mu", "lambda", "young_modulus", "poisson_ratio", "yield_stress", "creep_rate"], &[Solid])],
        corotated,
    ),
    model("stvk", &[Solid, Cloth], LAME, |m, mesh| of_law(m, mesh, Law::StVenantKirchhoff)),
    model("neo-hookean", &[Solid, Cloth], LAME, |m, mesh| of_law(m, mesh, Law::NeoHookean)),
    model("corotated-linear", &[Solid, Cloth], LAME, |m, mesh| of_law(m, mesh, Law::CorotatedLinear)),
    model(
        "valanis-landel",
        &[Solid, Cloth],
        &[(&["curves"], &[Solid, Cloth]), (&["thickness"], &[Cloth]), YIELD],
        valanis_landel,
    ),
    model(
        "spring",
        &[Solid, Cloth, Strands],
        &[
            (&["stiffness"], &[Solid, Cloth, Strands]),
            (&["shear_stiffness"], &[Cloth]),
            (&["bending_stiffness", "thickness"], &[Cloth, Strands]),
        ],
        spring,
    ),
];

/// The elements of a body.
pub fn elements(material: &Material, mesh: &Mesh) -> Result<Elements, InputError> {
    match MATERIALS.iter().find(|model| model.name == material.model) {
        Some(model) => (model.build)(material, mesh),
        None => Err(InputError::field("model", format!("no material `{}`", material.model))),
    }
}

/// Lamé's parameters (μ, λ) in Pa, from `mu` and `lambda` or from Young's modulus and Poisson's ratio:
/// μ = E / (2 (1 + ν)), λ = E ν / ((1 + ν)(1 − 2ν)); of `valanis-landel` those at rest. What is not given is zero.
pub fn lame(material: &Material) -> (f64, f64) {
    if let Some(scene::Curves { f, g, h }) = &material.curves {
        // what is wrong with them is told when the elements are made
        return Curves::new(f, g, h).map_or((0.0, 0.0), |curves| curves.lame().into());
    }
    match (material.young_modulus, material.poisson_ratio) {
        (Some(young), Some(poisson)) => {
            let mu = young / (2.0 * (1.0 + poisson));
            let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
            (mu, lambda)
        }
        _ => (material.mu.unwrap_or(0.0), material.lambda.unwrap_or(0.0)),
    }
}

/// As rigid as possible: W = μ V |F − R|² per tetrahedron, μ A t |F − R|² per triangle.
fn arap(material: &Material, mesh: &Mesh) -> Result<Elements, InputError> {
    let (mu, _) = lame(material);
    if !mesh.tets.is_empty() {
        return Ok(Elements { tets: tets(mesh, mu, 0.0)?, ..Elements::default() });
    }
    let limits = material.strain_limits.unwrap_or([1.0, 1.0]);
    let thickness = material.thickness.unwrap_or(Material::DEFAULT_THICKNESS);
    let triangles = triangles(mesh, |v, rest| TriangleElement::new(v, rest, mu, thickness, limits))?;
    let bendings = match material.bending.unwrap_or(0.0) {
        0.0 => Vec::new(),
        rigidity => bending::elements(mesh, rigidity, material.bending_rest.unwrap_or(BendingRest::Flat)),
    };
    Ok(Elements { triangles, bendings, ..Elements::default() })
}

/// ARAP with resistance to change of volume: for small strains the linear material with the same μ and λ.
fn corotated(material: &Material, mesh: &Mesh) -> Result<Elements, InputError> {
    let (mu, lambda) = lame(material);
    Ok(Elements { tets: tets(mesh, mu, lambda)?, ..Elements::default() })
}

/// A law of solids, with Lamé's parameters; of a planar body in plane strain.
fn of_law(material: &Material, mesh: &Mesh, law: Law) -> Result<Elements, InputError> {
    let (mu, lambda) = lame(material);
    with_moduli(material, mesh, &law, [mu, lambda])
}

/// Valanis and Landel's law, whose parameters at rest are those of its curves.
fn valanis_landel(material: &Material, mesh: &Mesh) -> Result<Elements, InputError> {
    let Some(given) = &material.curves else {
        return Err(InputError::field("curves", "is required by `valanis-landel`"));
    };
    let curves = Curves::new(&given.f, &given.g, &given.h).map_err(|e| e.within("curves"))?;
    let moduli = curves.lame();
    with_moduli(material, mesh, &Law::ValanisLandel(Arc::new(curves)), moduli)
}

fn with_moduli(
    material: &Material,
    mesh: &Mesh,
    law: &Law,
    [mu, lambda]: [f64; 2],
) -> Result<Elements, InputError> {
    if !mesh.tets.is_empty() {
        let mut tets = tets(mesh, mu, lambda)?;
        tets.iter_mut().for_each(|e| e.law = law.clone());
        return Ok(Elements { tets, ..Elements::default() });
    }
    let thickness = material.thickness.unwrap_or(Material::DEFAULT_THICKNESS);
    let triangles =
        triangles(mesh, |v, rest| TriangleElement::plane(v, rest, law.clone(), [mu, lambda], thickness))?;
    Ok(Elements { triangles, ..Elements::default() })
}

/// Springs along the mesh's links, each kind with its own stiffness.
fn spring(material: &Material, mesh: &Mesh) -> Result<Elements, InputError> {
    let structural = material.stiffness.unwrap_or(0.0);
    let shear = material.shear_stiffness.unwrap_or(structural);
    let bending = material.bending_stiffness.unwrap_or(Material::DEFAULT_BENDING_SHARE * structural);
    let mut springs = Vec::new();
    for link in mesh.springs() {
        let stiffness = match link.kind {
            LinkKind::Structural => structural,
            LinkKind::Shear => shear,
            LinkKind::Bending => bending,
        };
        if stiffness == 0.0 {
            continue;
        }
        let rest = link.vertices.map(|i| mesh.positions[i as usize]);
        let [a, b] = link.vertices;
        springs.push(
            SpringElement::new(link.vertices, rest, stiffness)
                .ok_or_else(|| InputError::field("model", format!("the spring {a}–{b} has no length")))?,
        );
    }
    Ok(Elements { springs, ..Elements::default() })
}

fn triangles(
    mesh: &Mesh,
    make: impl Fn([u32; 3], [Vec3; 3]) -> Option<TriangleElement>,
) -> Result<Vec<TriangleElement>, InputError> {
    let triangle = |(k, &v): (usize, &[u32; 3])| {
        make(v, v.map(|i| mesh.positions[i as usize]))
            .ok_or_else(|| InputError::field("model", format!("triangle {k} has no area")))
    };
    mesh.triangles.iter().enumerate().map(triangle).collect()
}

fn tets(mesh: &Mesh, mu: f64, lambda: f64) -> Result<Vec<TetElement>, InputError> {
    let tet = |(k, &v): (usize, &[u32; 4])| {
        TetElement::new(v, &v.map(|i| mesh.positions[i as usize]), mu, lambda)
            .ok_or_else(|| InputError::field("model", format!("tetrahedron {k} has no volume")))
    };
    mesh.tets.iter().enumerate().map(tet).collect()
}

/// Lumped masses (kg): a quarter of each tetrahedron's mass to each corner, a third of each triangle's,
/// half of each strand segment's; scaled to `mass` where the scene gives it, or all of them `vertex_mass`.
pub fn lumped_masses(material: &Material, mesh: &Mesh) -> Vec<f64> {
    if let Some(mass) = material.vertex_mass {
        return vec![mass; mesh.positions.len()];
    }
    let density = material.density.unwrap_or(Material::DEFAULT_DENSITY);
    let thickness = material.thickness.unwrap_or(Material::DEFAULT_THICKNESS);
    let at = |i: u32| mesh.positions[i as usize];
    let mut mass = vec![0.0; mesh.positions.len()];
    let mut share = |vertices: &[u32], total: f64| {
        vertices.iter().for_each(|&v| mass[v as usize] += total / vertices.len() as f64);
    };
    for tet in &mesh.tets {
        share(tet, density * signed_volume(&tet.map(at)));
    }
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(at);
        share(triangle, density * thickness * 0.5 * (b - a).cross(&(c - a)).norm());
    }
    if mesh.tets.is_empty() && mesh.triangles.is_empty() {
        let cross_section = std::f64::consts::PI * 0.25 * thickness * thickness;
        for link in mesh.links.iter().filter(|l| l.kind == LinkKind::Structural) {
            let [a, b] = link.vertices.map(at);
            share(&link.vertices, density * cross_section * (b - a).norm());
        }
    }
    if let Some(total) = material.mass {
        let sum: f64 = mass.iter().sum();
        mass.iter_mut().for_each(|m| *m *= total / sum);
    }
    mass
}
