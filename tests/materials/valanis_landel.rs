//! The curves of Valanis and Landel's law: splines through their points, laws they can be, and what is refused.

use dashpot::model::law::Law;
use dashpot::model::law::curves::Curves;
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// The natural cubic spline through points and its slope, by a dense system for its second derivatives: another way than the
/// program's. Straight beyond the ends.
fn spline(points: [[f64; 2]; 5]) -> impl Fn(f64) -> [f64; 2] {
    let n = points.len();
    let mut matrix = DMatrix::<f64>::identity(n, n);
    let mut right = DVector::<f64>::zeros(n);
    let chord = move |k: usize| (points[k + 1][1] - points[k][1]) / (points[k + 1][0] - points[k][0]);
    for k in 1..n - 1 {
        let (before, after) = (points[k][0] - points[k - 1][0], points[k + 1][0] - points[k][0]);
        matrix[(k, k - 1)] = before;
        matrix[(k, k)] = 2.0 * (before + after);
        matrix[(k, k + 1)] = after;
        right[k] = 6.0 * (chord(k) - chord(k - 1));
    }
    let second = matrix.lu().solve(&right).expect("diagonally dominant");
    move |at: f64| {
        let inside = at.clamp(points[0][0], points[n - 1][0]);
        let k = (1..n - 1).filter(|&k| points[k][0] <= inside).count();
        let ([x0, y0], [x1, y1]) = (points[k], points[k + 1]);
        let w = x1 - x0;
        let (l, r) = ((x1 - inside) / w, (inside - x0) / w);
        let bend = (l * l * l - l) * second[k] + (r * r * r - r) * second[k + 1];
        let turn = (3.0 * r * r - 1.0) * second[k + 1] - (3.0 * l * l - 1.0) * second[k];
        let slope = chord(k) + w * turn / 6.0;
        [l * y0 + r * y1 + w * w * bend / 6.0 + slope * (at - inside), slope]
    }
}

#[test]
fn a_curve_is_the_natural_spline_through_its_points() {
    // Control points on both sides of rest, all above and all below it.
    let places = [
        [0.4, 0.7, 1.0, 1.5, 2.0],
        [0.4, 0.7, 0.9, 1.5, 2.0],
        [1.1, 1.2, 1.4, 1.9, 2.5],
        [0.2, 0.3, 0.5, 0.6, 0.9],
    ];
    for stretches in places {
        let points = stretches.map(|s: f64| [s, 8.0 * s.ln() + (3.0 * s).sin()]);
        let expected = spline(points);
        let rest = expected(1.0)[0];
        // g′ = 0, and a straight h′ takes the stress at rest away.
        let h = [[0.5, -rest - 50.0], [2.0, -rest + 100.0]];
        let curves = Curves::new(&points, &[[0.5, 0.0], [2.0, 0.0]], &h).expect("sound curves");
        let [mu, _] = curves.lame();
        let f = &curves.f;
        let integrate = |end: f64| {
            let h = end / 2000.0;
            let value = |t: f64| expected(1.0 + t)[0] - rest;
            let piece = |k: i32| {
                let from = h * f64::from(k);
                h / 6.0 * (value(from) + 4.0 * value(from + 0.5 * h) + value(from + h))
            };
            (0..2000).map(piece).sum::<f64>()
        };
        assert_eq!(f.at(0.0).integral, 0.0);
        for k in -20..40 {
            let strain = 0.05 * f64::from(k);
            let (found, [value, slope]) = (f.at(strain), expected(1.0 + strain));
            // Values up to 30, some roundings of each.
            assert!((mu * (found.value + f.at_rest) - value).abs() < 1e-12, "{strain} {points:?}");
            assert!((mu * found.slope - slope).abs() < 1e-11, "{strain} {points:?}");
            // Simpson's rule is exact for cubics; a knot within a piece costs a jump of the third derivative, up to 1e3, times h⁴.
            let integral = integrate(strain);
            assert!((mu * found.integral - integral).abs() < 1e-8, "{strain}: {found:?} {integral}");
        }
    }
}

#[test]
fn straight_curves_are_the_neo_hookean_law() {
    let (mu, lambda) = (3e4, 7e4);
    // W = μ/2 Σσ² − μ J + (λ + μ)/2 (J − 1)²: f′ = μσ, h′ = (λ + μ)(J − 1) − μ.
    let h = |j: f64| [j, (lambda + mu) * (j - 1.0) - mu];
    let f = [[0.5, 0.5 * mu], [0.8, 0.8 * mu], [3.0, 3.0 * mu]];
    let curves = Curves::new(&f, &[[0.5, 0.0], [1.5, 0.0]], &[h(0.5), h(1.1), h(2.0)]).expect("sound");
    let [found_mu, found_lambda] = curves.lame();
    assert!((found_mu / mu - 1.0).abs() < 1e-14 && (found_lambda / lambda - 1.0).abs() < 1e-14);
    let law = Law::ValanisLandel(Arc::new(curves));
    for sigma in [[1.0, 1.0, 1.0], [1.5, 1.1, 0.6], [2.0, 0.3, -0.2], [9.0, 5.0, 0.1], [1.0 + 1e-6, 1.0, 1.0]]
    {
        // A stiffer body: twice the moduli.
        let (found, expected) =
            (law.principal(sigma, 2.0, 0.0), Law::NeoHookean.principal(sigma, 2.0, 2.0 * lambda / mu));
        let energy = expected.energy.abs();
        // Slopes of a spline through straight points are right to 1e-14.
        assert!(
            (found.energy - expected.energy).abs() <= 1e-13 * energy,
            "{sigma:?}: {found:?} {expected:?}"
        );
        let size = expected.curvature.iter().flatten().fold(0.0_f64, |most, c| most.max(c.abs()));
        for i in 0..3 {
            assert!((found.stress[i] - expected.stress[i]).abs() < 1e-13 * size);
            for j in 0..3 {
                assert!((found.curvature[i][j] - expected.curvature[i][j]).abs() < 1e-13 * size);
            }
        }
    }
}

#[test]
fn senseless_curves_are_refused_by_name() {
    let (f, g, h) = ([[0.5, -1.0], [1.5, 1.0]], [[0.5, 0.0], [2.0, 0.0]], [[0.5, -1.0], [1.5, 1.0]]);
    let refusal = |f: &[[f64; 2]], g: &[[f64; 2]], h: &[[f64; 2]]| {
        Curves::new(f, g, h).expect_err("refused").to_string()
    };
    assert!(Curves::new(&f, &g, &h).is_ok());
    assert!(refusal(&f[..1], &g, &h).starts_with("f: 1 control points; expected two or more"));
    assert!(refusal(&f, &[], &h).starts_with("g: 0 control points"));
    assert!(
        refusal(&f, &g, &[[1.0, 0.0], [1.0, 1.0]])
            .starts_with("h: the stretch 1 follows 1; expected ascending")
    );
    assert!(
        refusal(&f, &[[0.0, 1.0], [1.0, 1.0]], &h)
            .starts_with("g: control point 0 is [0, 1]; expected finite")
    );
    assert!(refusal(&f, &g, &[[0.5, 1.0], [1.0, f64::NAN]]).starts_with("h: control point 1 is [1, NaN]"));
    let lifted = f.map(|[s, v]| [s, v + 0.5]);
    assert!(refusal(&lifted, &g, &h).starts_with("f: f′(1) + 2 g′(1) + h′(1) is 0.5 Pa"));
    // No shear modulus, and a negative one; a body that swells when it is stretched sideways.
    let none = refusal(&[[0.5, 0.0], [1.5, 0.0]], &g, &h);
    assert!(
        none.starts_with("f: the curves have μ = 0 Pa and λ = 2 Pa at rest; expected μ > 0 and λ ≥ 0"),
        "{none}"
    );
    let swells = refusal(&f, &g, &[[0.5, 1.0], [1.5, -1.0]]);
    assert!(swells.contains("μ = 1 Pa and λ = -2 Pa"), "{swells}");
}
