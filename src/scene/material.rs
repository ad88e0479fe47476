//! Materials of bodies.

use serde::{Deserialize, Serialize};

use super::{Generator, Keyframes, MeshSpec};

/// The material of a body. docs/scene-format.md lists the fields each model needs; others are refused.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// `arap`, `corotated`, `stvk`, `neo-hookean`, `corotated-linear`, `valanis-landel` or `spring`.
    pub model: String,
    /// Lamé's second parameter, the shear modulus μ (Pa).
    pub mu: Option<f64>,
    /// Lamé's first parameter λ (Pa): resistance to change of volume, or of area (all that have `mu` but `arap`).
    pub lambda: Option<f64>,
    /// Young's modulus E (Pa); with `poisson_ratio` instead of `mu` and `lambda`.
    pub young_modulus: Option<f64>,
    /// Poisson's ratio ν, 0 ≤ ν < 0.5.
    pub poisson_ratio: Option<f64>,
    /// Control points of `valanis-landel`.
    pub curves: Option<Curves>,
    /// Mass density of the matter (kg/m³). Default 1000.
    pub density: Option<f64>,
    /// Total mass of the body (kg), instead of `density`.
    pub mass: Option<f64>,
    /// Mass of each vertex (kg), instead of `density`: a body of equal points.
    pub vertex_mass: Option<f64>,
    /// Thickness of a cloth or diameter of a strand (m). Default 0.001.
    pub thickness: Option<f64>,
    /// Singular values of a triangle's deformation between which it costs nothing. Default [1, 1].
    pub strain_limits: Option<[f64; 2]>,
    /// Bending rigidity of a triangle cloth (N·m). Default 0.
    pub bending: Option<f64>,
    /// Whether a triangle cloth is at rest flat or in the curvature of its mesh. Default `flat`.
    pub bending_rest: Option<BendingRest>,
    /// Stiffness of the structural springs (N/m).
    pub stiffness: Option<f64>,
    /// Stiffness of the shear springs (N/m). Default: `stiffness`.
    pub shear_stiffness: Option<f64>,
    /// Stiffness of the bending springs (N/m). Default: a tenth of `stiffness`.
    pub bending_stiffness: Option<f64>,
    /// Yield limit (Pa): the size of the deviator of the Kirchhoff stress beyond which the rest shape flows. Default: none.
    pub yield_stress: Option<f64>,
    /// How fast the stress beyond the yield limit decays in a body that is held (1/s). Default: within a time step.
    pub creep_rate: Option<f64>,
    /// How all these stiffnesses change over time; Poisson's ratio and masses do not. Default: they stay.
    pub keyframes: Option<Keyframes>,
}

/// Derivatives of the three functions of Valanis and Landel's law, Σ f(σ_i) + Σ g(σ_i σ_j) + h(σ₁ σ₂ σ₃): control points
/// [stretch, Pa] of natural cubic splines, straight beyond their ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curves {
    /// f′ of a stretch.
    pub f: Vec<[f64; 2]>,
    /// g′ of the stretch of a face. Default: 0.
    #[serde(default = "no_curve")]
    pub g: Vec<[f64; 2]>,
    /// h′ of the stretch of the volume. Default: 0.
    #[serde(default = "no_curve")]
    pub h: Vec<[f64; 2]>,
}

fn no_curve() -> Vec<[f64; 2]> {
    vec![[0.5, 0.0], [1.5, 0.0]]
}

/// The rest state of bending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BendingRest {
    /// Flat: quadratic energy.
    Flat,
    /// The curvature of the mesh: its size is kept, its direction is free.
    Curved,
}

/// Kind of a mesh, which decides the fields a material may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatterKind {
    /// Tetrahedra.
    Solid,
    /// Triangles.
    Cloth,
    /// Links only.
    Strands,
}

impl MatterKind {
    /// The kind of a generated mesh; a file's kind is known only when it has been read.
    pub fn of(mesh: &MeshSpec) -> Option<MatterKind> {
        match mesh {
            MeshSpec::Generate(generator) => Some(match generator {
                Generator::Box { .. }
                | Generator::Ball { .. }
                | Generator::Torus { .. }
                | Generator::TPipe { .. }
                | Generator::Sheet { .. } => MatterKind::Solid,
                Generator::Cloth { .. }
                | Generator::Ribbon { .. }
                | Generator::Trapezoid { .. }
                | Generator::Annulus { .. } => MatterKind::Cloth,
                Generator::Hair { .. } => MatterKind::Strands,
            }),
            MeshSpec::File(_) => None,
            MeshSpec::Surface(_) | MeshSpec::Character(_) => Some(MatterKind::Solid),
        }
    }

    /// As it stands in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            MatterKind::Solid => "a solid of tetrahedra",
            MatterKind::Cloth => "a cloth of triangles",
            MatterKind::Strands => "strands",
        }
    }
}

impl Material {
    /// Density of a body that is given neither `density` nor `mass` (kg/m³): water, and most soft matter.
    pub const DEFAULT_DENSITY: f64 = 1000.0;
    /// Thickness of a cloth or diameter of a strand that is given none (m).
    pub const DEFAULT_THICKNESS: f64 = 0.001;
    /// Bending springs as a share of the structural ones, where nothing else is said.
    pub const DEFAULT_BENDING_SHARE: f64 = 0.1;

    /// Writes out the defaults that matter for this model on this kind of mesh. Those that depend on the kind stay
    /// open while it is unknown (`None`: a mesh file that has not been read).
    pub fn fill_defaults(&mut self, kind: Option<MatterKind>) {
        let by_volume = self.mass.is_none() && self.vertex_mass.is_none();
        if by_volume {
            self.density.get_or_insert(Self::DEFAULT_DENSITY);
        }
        let cloth = kind == Some(MatterKind::Cloth);
        if by_volume && (cloth || kind == Some(MatterKind::Strands)) || self.model != "spring" && cloth {
            self.thickness.get_or_insert(Self::DEFAULT_THICKNESS);
        }
        if self.model == "arap" && cloth {
            self.strain_limits.get_or_insert([1.0, 1.0]);
            self.bending.get_or_insert(0.0);
            self.bending_rest.get_or_insert(BendingRest::Flat);
        }
        if let (Some(stiffness), true) = (self.stiffness, self.model == "spring") {
            if cloth {
                self.shear_stiffness.get_or_insert(stiffness);
            }
            if matches!(kind, Some(MatterKind::Cloth | MatterKind::Strands)) {
                self.bending_stiffness.get_or_insert(Self::DEFAULT_BENDING_SHARE * stiffness);
            }
        }
    }
}
