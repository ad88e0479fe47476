//! The bar of tests/reference/elasticity.json: its numbers, its model, its stiffness at rest and elsewhere.

use dashpot::linear::{BlockFactor, BlockMatrix, BlockPattern};
use dashpot::model::Model;
use dashpot::model::hessian::Curved;
use dashpot::scene::LoadedScene;
use dashpot::setup::{self, build};
use dashpot::{Mat3, Vec3};
use nalgebra::{DMatrix, SymmetricEigen};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::sync::LazyLock;

#[derive(Deserialize)]
pub struct Reference {
    pub size: [f64; 3],
    pub cells: [usize; 3],
    pub density: f64,
    pub mu: f64,
    pub lambda: f64,
    pub small_gravity: f64,
    pub large_gravity: f64,
    pub positions: Vec<[f64; 3]>,
    pub tets: Vec<[u32; 4]>,
    pub p1: Linear,
    pub p1_without_lambda: Linear,
    pub p1_finer: Vec<Linear>,
    pub p2: Vec<Linear>,
    pub large: BTreeMap<String, Large>,
    pub euler_bernoulli: Beam,
    pub timoshenko: Beam,
}

/// Small strains: of one mesh.
#[derive(Deserialize)]
pub struct Linear {
    pub cells: [usize; 3],
    /// Frequencies of the clamped bar (Hz).
    pub clamped_hz: Vec<f64>,
    /// Of the free bar, six of them zero (Hz).
    #[serde(default)]
    pub free_hz: Vec<f64>,
    /// Mean displacement of the end's four corners (m).
    pub tip_under_small_load: [f64; 3],
}

#[derive(Deserialize)]
pub struct Large {
    pub tip: [f64; 3],
    /// Of all vertices (m).
    pub displacements: Vec<[f64; 3]>,
}

#[derive(Deserialize)]
pub struct Beam {
    pub bending_y_hz: Vec<f64>,
    pub bending_z_hz: Vec<f64>,
    pub sag_under_small_load: f64,
}

pub static REFERENCE: LazyLock<Reference> =
    LazyLock::new(|| serde_json::from_str(include_str!("../reference/elasticity.json")).unwrap());

/// Materials with the reference's μ and λ at rest; `arap` has λ = 0.
pub const MATERIALS: [&str; 6] =
    ["arap", "corotated", "stvk", "neo-hookean", "corotated-linear", "valanis-landel"];

pub fn material(model: &str) -> String {
    let Reference { mu, lambda, density, .. } = &*REFERENCE;
    let parameters = match model {
        "arap" => format!("mu = {mu:?}"),
        // straight curves: f″ = 2μ, h″ = λ
        "valanis-landel" => format!(
            "curves = {{ f = [[0.5, {:?}], [1.5, {mu:?}]], h = [[0.5, {:?}], [1.5, {:?}]] }}",
            -mu,
            -lambda / 2.0,
            lambda / 2.0
        ),
        _ => format!("mu = {mu:?}, lambda = {lambda:?}"),
    };
    format!("{{ model = \"{model}\", {parameters}, density = {density:?} }}")
}

/// The bar of a material, cut into `cells`, by the program's own generator.
pub fn bar(model: &str, cells: [usize; 3], more: &str) -> LoadedScene {
    let text = format!(
        "{more}\n[[body]]\nmesh = {{ generate = \"box\", cells = {cells:?}, size = {:?} }}\nmaterial = {}\n\
         attach = [{{ select = {{ min = [-0.01, -1.0, -1.0], max = [0.01, 1.0, 1.0] }}, stiffness = {HOLD:?} }}]",
        REFERENCE.size,
        material(model)
    );
    setup::load_text("bar", &text, &[]).unwrap()
}

/// Stiffness of the attachments (N/m) where springs have to stand for the clamp: a share of E times a cell's size,
/// 1e5 N/m, over this is what they are too soft by, 1e-6.
pub const HOLD: f64 = 1e11;

pub fn model_of(model: &str, cells: [usize; 3]) -> Model {
    build(&bar(model, cells, "")).unwrap().model
}

pub fn clamped(model: &Model) -> Vec<bool> {
    model.initial_positions.iter().map(|x| x.x == 0.0).collect()
}

/// Mean displacement of the end's four corners (m).
pub fn tip(model: &Model, u: &[Vec3]) -> Vec3 {
    let [length, height, width] = REFERENCE.size;
    let corner =
        |x: &Vec3| x.x > length - 1e-9 && [0.0, height].contains(&x.y) && (x.z < 1e-9 || x.z > width - 1e-9);
    let corners: Vec<Vec3> =
        model.initial_positions.iter().zip(u).filter(|(x, _)| corner(x)).map(|(_, u)| *u).collect();
    assert_eq!(corners.len(), 4);
    corners.iter().sum::<Vec3>() / 4.0
}

/// The stiffness matrix at x (N/m) and its factor, with what holds the clamped vertices.
pub struct Stiffness {
    pub matrix: BlockMatrix,
    pub factor: BlockFactor,
    pub clamp: Vec<f64>,
}

impl Stiffness {
    /// The clamp is a spring of stiffness `hold` (N/m) at each vertex; an infinite one takes its degrees of freedom away.
    pub fn new(model: &Model, hold: f64) -> Self {
        let pattern = BlockPattern::new(model.vertex_count(), model.tets.iter().map(|e| e.vertices)).unwrap();
        let matrix = BlockMatrix::zeros(&pattern);
        let factor = BlockFactor::new(&matrix).unwrap();
        // 1e15 times the stiffness of an element is as good as infinite
        let clamp = clamped(model).iter().map(|held| if *held { hold.min(1e20) } else { 0.0 }).collect();
        Stiffness { matrix, factor, clamp }
    }

    pub fn at(&mut self, model: &Model, x: &[Vec3]) -> &mut Self {
        let blocks: Vec<Mat3> =
            model.tets.iter().flat_map(|e| e.hessian(x).as_flattened().to_vec()).collect();
        self.matrix.assemble(&self.clamp, None, 1.0, &blocks);
        self.factor.factor(&self.matrix).unwrap();
        self
    }
}

/// The frequencies (Hz) of the dense K u = ω² M u at rest, ascending, and the vectors u of the free vertices as columns.
pub fn dense_modes(model: &Model, free: &[usize]) -> (Vec<f64>, DMatrix<f64>) {
    let place: Vec<Option<usize>> =
        (0..model.vertex_count()).map(|v| free.iter().position(|f| *f == v)).collect();
    let mut k = DMatrix::<f64>::zeros(3 * free.len(), 3 * free.len());
    for element in &model.tets {
        let blocks = element.hessian(&model.initial_positions);
        for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))) {
            let [va, vb] = [a, b].map(|corner: usize| element.vertices[corner] as usize);
            if let (Some(i), Some(j)) = (place[va], place[vb]) {
                let weight = (model.mass[va] * model.mass[vb]).sqrt();
                let mut block = k.fixed_view_mut::<3, 3>(3 * i, 3 * j);
                block += blocks[a][b] / weight;
            }
        }
    }
    let SymmetricEigen { eigenvalues, mut eigenvectors } = SymmetricEigen::new(k);
    let mut order: Vec<usize> = (0..eigenvalues.len()).collect();
    order.sort_by(|a, b| eigenvalues[*a].total_cmp(&eigenvalues[*b]));
    for (i, v) in free.iter().enumerate() {
        let mut rows = eigenvectors.rows_mut(3 * i, 3);
        rows /= model.mass[*v].sqrt();
    }
    let hertz = order.iter().map(|i| eigenvalues[*i].abs().sqrt() / TAU).collect();
    (hertz, eigenvectors.select_columns(&order))
}
