//! Curves of Valanis and Landel's law: f′, g′ and h′ by their control points.

use crate::error::InputError;

/// f′, g′ and h′ over their stretches, as shares of the μ they have at rest: W = μ V Ŵ stays itself when a body is stiffened.
///
/// With f, g, h at 1, the law at rest has ∂²W/∂σ₁² = f″ + 2g″ + h″ = λ + 2μ and ∂²W/∂σ₁∂σ₂ = g′ + g″ + h′ + h″ = λ, so
/// μ = (f″ + g″ − g′ − h′)/2. The stress at rest is f′ + 2g′ + h′ = 0. Any isotropic law without stress at rest then resists
/// shear by ∂²W/∂σ₁² − ∂²W/∂σ₁∂σ₂ = 2μ, as a linear solid does, and a turn by nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves {
    /// f′ of a stretch σ_i.
    pub f: Curve,
    /// g′ of the stretch of a face, σ_iσ_j.
    pub g: Curve,
    /// h′ of the stretch of the volume, σ₁σ₂σ₃.
    pub h: Curve,
    lame: [f64; 2],
}

/// What the stress at rest may be as a share of the largest value: control points are written with some digits only.
const STRESS_AT_REST: f64 = 1e-6;

impl Curves {
    /// The natural cubic splines through control points (stretch, Pa), straight beyond the first and the last.
    ///
    /// Each needs two points or more, stretches above zero and ascending. Errors name `f`, `g` or `h`.
    pub fn new(f: &[[f64; 2]], g: &[[f64; 2]], h: &[[f64; 2]]) -> Result<Self, InputError> {
        for (name, points) in [("f", f), ("g", g), ("h", h)] {
            check(name, points)?;
        }
        let [mut f_curve, g_curve, h_curve] = [f, g, h].map(Curve::through);
        let values = || [f, g, h].into_iter().flatten().map(|point| point[1].abs());
        let largest = values().fold(0.0, f64::max);
        let stress = f_curve.at_rest + 2.0 * g_curve.at_rest + h_curve.at_rest;
        if stress.abs() > STRESS_AT_REST * largest {
            let message = format!(
                "f′(1) + 2 g′(1) + h′(1) is {stress} Pa: the material would not be at rest; expected 0, but for \
                 {STRESS_AT_REST:e} of the largest value"
            );
            return Err(InputError::field("f", message));
        }
        f_curve.at_rest -= stress;
        let [slope_f, slope_g, slope_h] = [&f_curve, &g_curve, &h_curve].map(|curve| curve.at(0.0).slope);
        let mu = 0.5 * (slope_f + slope_g - g_curve.at_rest - h_curve.at_rest);
        let lambda = g_curve.at_rest + slope_g + h_curve.at_rest + slope_h;
        // λ that vanishes in rounding is no λ
        let lambda =
            if lambda.abs() <= 1e-12 * (mu.abs() + slope_g.abs() + slope_h.abs()) { 0.0 } else { lambda };
        if !(mu > 0.0 && mu.is_finite() && lambda >= 0.0 && lambda.is_finite()) {
            let message = format!(
                "the curves have μ = {mu} Pa and λ = {lambda} Pa at rest; expected μ > 0 and λ ≥ 0, with \
                 μ = (f″ + g″ − g′ − h′)/2 and λ = g′ + g″ + h′ + h″ at 1"
            );
            return Err(InputError::field("f", message));
        }
        let [f, g, h] = [f_curve, g_curve, h_curve].map(|curve| curve.divided(mu));
        Ok(Curves { f, g, h, lame: [mu, lambda] })
    }

    /// Of curves that are shares of their μ already: [`Curves::lame`] are 1 and λ/μ.
    pub fn of_shares(f: Curve, g: Curve, h: Curve) -> Self {
        let lambda = g.at_rest + g.at(0.0).slope + h.at_rest + h.at(0.0).slope;
        Curves { f, g, h, lame: [1.0, lambda] }
    }

    /// Lamé's parameters μ and λ of small strains (Pa).
    pub fn lame(&self) -> [f64; 2] {
        self.lame
    }
}

fn check(name: &str, points: &[[f64; 2]]) -> Result<(), InputError> {
    let wrong = |message: String| Err(InputError::field(name, message));
    if points.len() < 2 {
        return wrong(format!("{} control points; expected two or more, [stretch, Pa]", points.len()));
    }
    for (k, [stretch, value]) in points.iter().enumerate() {
        if !stretch.is_finite() || !value.is_finite() || *stretch <= 0.0 {
            return wrong(format!(
                "control point {k} is [{stretch}, {value}]; expected finite numbers, the stretch above 0"
            ));
        }
    }
    match points.windows(2).position(|pair| pair[0][0] >= pair[1][0]) {
        Some(k) => {
            let [before, after] = [points[k][0], points[k + 1][0]];
            wrong(format!("the stretch {after} follows {before}; expected ascending stretches"))
        }
        None => Ok(()),
    }
}

/// A curve and its integral: a cubic between knots.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Its value at stretch 1.
    pub at_rest: f64,
    /// The pieces in ascending order. The first is for everything below its start, and for nothing else; every other one
    /// goes from its start to that of the next, the last on and on.
    pub pieces: Vec<Piece>,
}

/// c₀ + c₁ u + c₂ u² + c₃ u³ with u = stretch − 1 − start, less the curve's value at 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// Where u = 0, as stretch − 1.
    pub start: f64,
    /// c₀ … c₃.
    pub coefficients: [f64; 4],
    /// The integral from 1 to the start.
    pub integral: f64,
}

/// A curve less its value at 1, somewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct At {
    /// Its integral from 1.
    pub integral: f64,
    /// The curve itself.
    pub value: f64,
    /// Its derivative.
    pub slope: f64,
}

impl Piece {
    /// u further than its start.
    fn at(&self, u: f64) -> At {
        let [a, b, c, d] = self.coefficients;
        At {
            integral: self.integral + u * (a + u * (b / 2.0 + u * (c / 3.0 + u * d / 4.0))),
            value: a + u * (b + u * (c + u * d)),
            slope: b + u * (2.0 * c + u * 3.0 * d),
        }
    }

    /// The same cubic, from elsewhere.
    fn moved(&self, start: f64) -> Piece {
        let u = start - self.start;
        let [_, _, c, d] = self.coefficients;
        let At { integral, value, slope } = self.at(u);
        Piece { start, coefficients: [value, slope, c + 3.0 * d * u, d], integral }
    }
}

impl Curve {
    /// The curve at the stretch 1 + `strain`.
    pub fn at(&self, strain: f64) -> At {
        let after = self.pieces[1..].partition_point(|piece| piece.start <= strain);
        let piece = &self.pieces[after];
        piece.at(strain - piece.start)
    }

    /// The natural cubic spline through two points or more with ascending stretches.
    fn through(points: &[[f64; 2]]) -> Self {
        let second = second_derivatives(points);
        let last = points.len() - 1;
        let mut pieces = Vec::with_capacity(points.len() + 2);
        for (k, pair) in points.windows(2).enumerate() {
            let [[x, y], [next_x, next_y]] = [pair[0], pair[1]];
            let width = next_x - x;
            let slope = (next_y - y) / width - width * (2.0 * second[k] + second[k + 1]) / 6.0;
            let bend = [second[k] / 2.0, (second[k + 1] - second[k]) / (6.0 * width)];
            pieces.push(Piece { start: x - 1.0, coefficients: [y, slope, bend[0], bend[1]], integral: 0.0 });
        }
        // straight beyond both ends: the second derivative is zero there already
        let straight = |mut piece: Piece| {
            piece.coefficients[2..].fill(0.0);
            piece
        };
        pieces.push(straight(pieces[last - 1].moved(points[last][0] - 1.0)));
        pieces.insert(0, straight(pieces[0]));
        Curve { at_rest: 0.0, pieces }.measured_at_rest()
    }

    /// Cuts the piece in which 1 lies, takes the value there off and integrates from there.
    fn measured_at_rest(mut self) -> Self {
        let here = self.pieces[1..].partition_point(|piece| piece.start <= 0.0);
        if here == 0 {
            // all control points lie above 1: the cut is the new end of the straight piece below
            let below = self.pieces[0].moved(0.0);
            self.pieces[0] = below;
            self.pieces.insert(1, below);
        } else if self.pieces[here].start < 0.0 {
            let cut = self.pieces[here].moved(0.0);
            self.pieces.insert(here + 1, cut);
        }
        let cut = self.pieces[1..].partition_point(|piece| piece.start <= 0.0);
        self.at_rest = self.pieces[cut].coefficients[0];
        self.pieces.iter_mut().for_each(|piece| piece.coefficients[0] -= self.at_rest);
        self.pieces[cut].integral = 0.0;
        for k in cut + 1..self.pieces.len() {
            let before = self.pieces[k - 1];
            self.pieces[k].integral = before.at(self.pieces[k].start - before.start).integral;
        }
        for k in (1..cut).rev() {
            let (piece, after) = (self.pieces[k], self.pieces[k + 1]);
            let gained = Piece { integral: 0.0, ..piece }.at(after.start - piece.start).integral;
            self.pieces[k].integral = after.integral - gained;
        }
        self.pieces[0].integral = self.pieces[1].integral;
        self
    }

    fn divided(mut self, by: f64) -> Self {
        self.at_rest /= by;
        for piece in &mut self.pieces {
            piece.integral /= by;
            piece.coefficients.iter_mut().for_each(|c| *c /= by);
        }
        self
    }
}

/// Second derivatives at the points, zero at both ends: a tridiagonal system, solved by elimination.
///
/// w_{k−1} m_{k−1} + 2 (w_{k−1} + w_k) m_k + w_k m_{k+1} = 6 (s_k − s_{k−1}), with widths w and slopes s of the chords.
fn second_derivatives(points: &[[f64; 2]]) -> Vec<f64> {
    let n = points.len();
    let width = |k: usize| points[k + 1][0] - points[k][0];
    let chord = |k: usize| (points[k + 1][1] - points[k][1]) / width(k);
    let (mut ratio, mut second) = (vec![0.0; n], vec![0.0; n]);
    for k in 1..n - 1 {
        let pivot = 2.0 * (width(k - 1) + width(k)) - width(k - 1) * ratio[k - 1];
        ratio[k] = width(k) / pivot;
        second[k] = (6.0 * (chord(k) - chord(k - 1)) - width(k - 1) * second[k - 1]) / pivot;
    }
    for k in (1..n - 1).rev() {
        second[k] -= ratio[k] * second[k + 1];
    }
    second
}
