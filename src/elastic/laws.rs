//! Laws of elasticity in lanes: stress and energy of a stretch S = RᵀF, R the rotation closest to F.
//!
//! An isotropic law has P = R T with T = ∂W/∂S symmetric, and T commutes with S. Everything is written in e = S − I, so that
//! small strains keep their digits in single precision, too.

use super::matrix::{Symmetric, eigenvectors, product_transposed, triple};
use super::projection::unit_determinant;
use super::{Lane, Real, WIDTH};
use crate::model::law::Principal;
use crate::model::{Law, TetElement};
use pulp::Simd;

/// A law and the lanes of a block that obey it: 1 there, 0 elsewhere.
#[derive(Clone)]
pub struct Obeyed<T> {
    law: Law,
    lanes: [T; WIDTH],
}

/// The laws of a block of elements; none if all are projective, which has a faster way.
pub fn laws_of<T: Real>(members: &[TetElement]) -> Vec<Obeyed<T>> {
    let mut laws: Vec<Obeyed<T>> = Vec::new();
    if members.iter().all(|e| e.law.is_projective()) {
        return laws;
    }
    let last = members.len() - 1;
    for lane in 0..WIDTH {
        let law = &members[lane.min(last)].law;
        let number = laws.iter().position(|known| known.law == *law).unwrap_or_else(|| {
            laws.push(Obeyed { law: law.clone(), lanes: [T::default(); WIDTH] });
            laws.len() - 1
        });
        laws[number].lanes[lane] = T::of(1.0);
    }
    laws
}

/// μV and λV of elements with weights w_s = 2μV and w_v = 3λV (J).
#[derive(Clone, Copy)]
pub struct Moduli<S: Simd, T: Real> {
    mu: Lane<S, T>,
    lambda: Lane<S, T>,
}

impl<S: Simd, T: Real> Moduli<S, T> {
    /// From both weights.
    #[inline(always)]
    pub fn of(shape_weight: Lane<S, T>, volume_weight: Lane<S, T>) -> Self {
        let [half, third] = [0.5, 1.0 / 3.0].map(|share| shape_weight.constant(share));
        Moduli { mu: half * shape_weight, lambda: third * volume_weight }
    }
}

/// T (J) and W (J).
pub type Response<S, T> = (Symmetric<S, T>, Lane<S, T>);

/// T and W of the lanes from `at` on, each by its own law.
#[inline(always)]
pub fn respond<S: Simd, T: Real>(
    simd: S,
    laws: &[Obeyed<T>],
    stretch: &Symmetric<S, T>,
    moduli: Moduli<S, T>,
    at: usize,
) -> Response<S, T> {
    let zero = moduli.mu.constant(0.0);
    let mut all = (stretch.times(zero), zero);
    for (number, Obeyed { law, lanes }) in laws.iter().enumerate() {
        let (stress, energy) = by(simd, law, stretch, moduli);
        if number == 0 && laws.len() == 1 {
            return (stress, energy);
        }
        let obeys = zero.less(Lane::load(simd, &lanes[at..]));
        all = (Symmetric::select(obeys, &stress, &all.0), obeys.select(energy, all.1));
    }
    all
}

#[inline(always)]
fn by<S: Simd, T: Real>(simd: S, law: &Law, s: &Symmetric<S, T>, moduli: Moduli<S, T>) -> Response<S, T> {
    let e = s.minus_identity();
    match law {
        Law::Projective => projective(simd, s, &e, moduli),
        Law::StVenantKirchhoff => st_venant_kirchhoff(s, &e, moduli),
        Law::NeoHookean => neo_hookean(&e, moduli),
        Law::CorotatedLinear => linear(&e, moduli),
        Law::ValanisLandel(_) => by_stretches(simd, law, s, moduli),
    }
}

/// T = 2μ e + λ tr(e) I
#[inline(always)]
fn linear<S: Simd, T: Real>(e: &Symmetric<S, T>, Moduli { mu, lambda }: Moduli<S, T>) -> Response<S, T> {
    let [x, y, z] = e.diagonal;
    let trace = x + y + z;
    let pressure = lambda * trace;
    let energy = mu.times_plus(e.square(), mu.constant(0.5) * pressure * trace);
    (e.times(mu + mu).shifted(pressure), energy)
}

/// T = S (2μ G + λ tr(G) I) with G = e + e²/2
#[inline(always)]
fn st_venant_kirchhoff<S: Simd, T: Real>(
    s: &Symmetric<S, T>,
    e: &Symmetric<S, T>,
    moduli: Moduli<S, T>,
) -> Response<S, T> {
    let strain = e.plus(&e.commuting_product(e).times(moduli.mu.constant(0.5)));
    let (second, energy) = linear(&strain, moduli);
    (s.commuting_product(&second), energy)
}

/// T = μ (2e − tr(e) I − adj e) + (λ + μ)(J − 1) adj S, W = μ (|e|² − tr²e/2 − det e) + (λ + μ)/2 (J − 1)²: what remains of
/// μ/2 (|F|² − 3) − μ (J − 1) when the terms of first order have cancelled.
#[inline(always)]
fn neo_hookean<S: Simd, T: Real>(e: &Symmetric<S, T>, Moduli { mu, lambda }: Moduli<S, T>) -> Response<S, T> {
    let adjugate = e.adjugate();
    let (trace, half) = (adjugate.first, mu.constant(0.5));
    let growth = trace + adjugate.second + adjugate.third; // J − 1
    let bulk = (lambda + mu) * growth;
    // adj S = (1 + tr e) I − e + adj e
    let cofactor = adjugate.matrix.minus(e).shifted(trace + mu.constant(1.0));
    let shape = e.plus(e).minus(&adjugate.matrix).shifted(-trace);
    let stress = cofactor.times(bulk).plus(&shape.times(mu));
    let energy = mu * (e.square() - half * trace * trace - adjugate.third) + half * bulk * growth;
    (stress, energy)
}

/// T = w_s e + w_v (S − Q)
#[inline(always)]
fn projective<S: Simd, T: Real>(
    simd: S,
    s: &Symmetric<S, T>,
    e: &Symmetric<S, T>,
    Moduli { mu, lambda }: Moduli<S, T>,
) -> Response<S, T> {
    let (shape, volume) = (mu + mu, lambda * mu.constant(3.0));
    let beyond = s.minus(&unit_determinant(simd, s));
    let energy = mu.constant(0.5) * shape.times_plus(e.square(), volume * beyond.square());
    (e.times(shape).plus(&beyond.times(volume)), energy)
}

/// T = Q diag(∂W/∂σ) Qᵀ with the eigenvectors Q of S. Curves are looked up lane by lane: registers cannot.
#[inline(always)]
fn by_stretches<S: Simd, T: Real>(
    simd: S,
    law: &Law,
    s: &Symmetric<S, T>,
    moduli: Moduli<S, T>,
) -> Response<S, T> {
    let (sigma, q) = eigenvectors(s);
    let mut numbers = [[T::default(); WIDTH]; 4];
    sigma[0].store(&mut numbers[0]);
    sigma[1].store(&mut numbers[1]);
    sigma[2].store(&mut numbers[2]);
    moduli.mu.store(&mut numbers[3]);
    look_up(law, &mut numbers, T::lanes::<S>());
    let stress = triple!(k => Lane::load(simd, &numbers[k]));
    let scaled = triple!(i => triple!(k => q[i][k] * stress[k]));
    (Symmetric::part_of(&product_transposed(&scaled, &q)), Lane::load(simd, &numbers[3]))
}

/// The stretches and μV become ∂W/∂σ and W, in the first lanes.
#[inline(never)]
fn look_up<T: Real>(law: &Law, numbers: &mut [[T; WIDTH]; 4], lanes: usize) {
    for lane in 0..lanes {
        let [a, b, c, mu] = numbers.map(|row| row[lane].wide());
        // its λ is in the curves
        let Principal { energy, stress: [x, y, z], .. } = law.principal([a, b, c], mu, 0.0);
        numbers.iter_mut().zip([x, y, z, energy]).for_each(|(row, value)| row[lane] = T::of(value));
    }
}

#[cfg(test)]
mod tests;
