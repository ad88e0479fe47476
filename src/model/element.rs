//! What every element of Projective Dynamics is: a linear operator, a manifold and a weight.
//!
//! E_j(x) = w/2 |G x − p(G x)|², p the closest point of the element's manifold (Laplacian paper, Eq. 9).
//! Because p is the closest point, ∇E_j = w Gᵀ(G x − p): the projection needs no derivative.

use crate::Vec3;

/// The linear part of an element with `N` corners and an operator of `R` rows, as used in the Laplacian.
pub trait Stencil<const N: usize, const R: usize>: Sync {
    /// The vertices at its corners.
    fn vertices(&self) -> [u32; N];
    /// The rows of G: how the corners combine to the `R` vectors that are projected.
    fn operator(&self) -> [[f64; N]; R];
    /// The weight w (J, when G x has no unit).
    fn weight(&self) -> f64;
}

/// An element: a stencil and the projection onto its manifold.
pub trait Element<const N: usize, const R: usize>: Stencil<N, R> {
    /// The closest point of the element's manifold to `deformation` = G x.
    fn project(&self, deformation: [Vec3; R]) -> [Vec3; R];

    /// G x.
    fn deformation(&self, x: &[Vec3]) -> [Vec3; R] {
        let vertices = self.vertices();
        let origin = x[vertices[0] as usize];
        // Differences to the first corner: the rows of G of elastic elements sum to zero, so this is G x,
        // and it does not lose digits far from the origin.
        let corners = vertices.map(|v| x[v as usize] - origin);
        self.operator().map(|row| (0..N).map(|k| corners[k] * row[k]).sum())
    }

    /// The energy (J) of a deformation whose projection is known: w/2 |G x − p|², except of a law that only looks like a
    /// projection, p = G x − P/w with the stress P.
    #[inline]
    fn energy_of(&self, deformation: [Vec3; R], projection: [Vec3; R]) -> f64 {
        0.5 * self.weight() * (0..R).map(|r| (deformation[r] - projection[r]).norm_squared()).sum::<f64>()
    }

    /// Its energy (J).
    fn energy(&self, x: &[Vec3]) -> f64 {
        let f = self.deformation(x);
        self.energy_of(f, self.project(f))
    }

    /// w Gᵀ(a G x − b p) for each corner: the elastic gradient where a = b = 1 (N);
    /// a > b carries Laplacian damping, see `step::coefficients`.
    fn gradient(&self, x: &[Vec3], a: f64, b: f64) -> [Vec3; N] {
        self.gradient_and_energy(x, a, b).0
    }

    /// The same, and the energy (J).
    #[inline]
    fn gradient_and_energy(&self, x: &[Vec3], a: f64, b: f64) -> ([Vec3; N], f64) {
        let g = self.operator();
        let f = self.deformation(x);
        let p = self.project(f);
        let stress: [Vec3; R] = std::array::from_fn(|r| (f[r] * a - p[r] * b) * self.weight());
        let gradient = std::array::from_fn(|k| (0..R).map(|r| stress[r] * g[r][k]).sum());
        (gradient, self.energy_of(f, p))
    }
}
