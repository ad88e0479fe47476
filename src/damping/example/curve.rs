//! γ as a function of deformation or velocity (Example paper, Section 4.2): points in log₁₀ γ, so that γ is positive
//! and symmetric about 1.

use crate::scene::{Curve, CurveKind};

impl Curve {
    /// γ at r ≥ 0.
    pub fn gamma(&self, r: f64) -> f64 {
        10f64.powf(self.log_gamma(r))
    }

    /// log₁₀ γ at r ≥ 0; 0 if there are no points.
    pub fn log_gamma(&self, r: f64) -> f64 {
        let points = &self.points;
        let next = points.partition_point(|point| point[0] <= r);
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return 0.0 };
        if next == 0 {
            return first[1];
        }
        if next == points.len() {
            return last[1];
        }
        let ([from, start], [to, end]) = (points[next - 1], points[next]);
        let width = to - from;
        let t = (r - from) / width;
        match self.kind {
            CurveKind::Linear => start + (end - start) * t,
            CurveKind::Bezier => {
                let third = width / 3.0;
                let [out, into] = [next - 1, next].map(|i| self.slope(i) * third);
                bezier([start, start + out, end - into, end], t)
            }
        }
    }

    /// The curve in pieces, each with its start, 1 over its width and the control values of a Bézier polynomial of log₁₀ γ; constant
    /// before the first and behind the last one.
    pub fn pieces(&self) -> Vec<[f64; 6]> {
        let piece = |(i, pair): (usize, &[[f64; 2]])| {
            let [[from, start], [to, end]] = [pair[0], pair[1]];
            let width = to - from;
            let [out, into] = match self.kind {
                CurveKind::Linear => [(end - start) / 3.0; 2],
                CurveKind::Bezier => [i, i + 1].map(|i| self.slope(i) * width / 3.0),
            };
            [from, width.recip(), start, start + out, end - into, end]
        };
        match &self.points[..] {
            [] => vec![[0.0; 6]],
            [[from, value]] => vec![[*from, 0.0, *value, *value, *value, *value]],
            points => {
                points.windows(2).enumerate().filter(|(_, pair)| pair[1][0] > pair[0][0]).map(piece).collect()
            }
        }
    }

    /// Slope at a point: the harmonic mean of the adjacent secants, weighted by their lengths, and zero at extrema and
    /// at both ends (Fritsch and Butland 1984), so that no segment leaves the range of its end points.
    fn slope(&self, i: usize) -> f64 {
        let points = &self.points;
        if i == 0 || i + 1 >= points.len() {
            return 0.0;
        }
        let [a, b, c] = [points[i - 1], points[i], points[i + 1]];
        let widths = [b[0] - a[0], c[0] - b[0]];
        let slopes = [(b[1] - a[1]) / widths[0], (c[1] - b[1]) / widths[1]];
        if slopes[0] * slopes[1] <= 0.0 {
            return 0.0;
        }
        let weights = [2.0 * widths[1] + widths[0], widths[1] + 2.0 * widths[0]];
        (weights[0] + weights[1]) / (weights[0] / slopes[0] + weights[1] / slopes[1])
    }
}

/// A cubic Bézier polynomial with these control values (de Casteljau).
fn bezier(values: [f64; 4], t: f64) -> f64 {
    let between = |a: f64, b: f64| a + (b - a) * t;
    let [a, b, c] = [0, 1, 2].map(|i| between(values[i], values[i + 1]));
    between(between(a, b), between(b, c))
}

#[cfg(test)]
mod tests {
    use crate::scene::{Curve, CurveKind, Over};

    fn curve(kind: CurveKind) -> Curve {
        let points = vec![[0.1, -1.0], [0.5, 0.5], [1.0, 2.0], [3.0, 1.0]];
        Curve { kind, over: Over::Deformation, points }
    }

    #[test]
    fn goes_through_its_points_and_stays_beyond_them() {
        for kind in [CurveKind::Bezier, CurveKind::Linear] {
            let curve = curve(kind);
            for [r, log] in &curve.points {
                assert!((curve.log_gamma(*r) - log).abs() < 1e-14, "{kind:?} at {r}");
            }
            assert_eq!(curve.log_gamma(0.0), -1.0);
            assert_eq!(curve.gamma(9.0), 10.0);
        }
    }

    #[test]
    fn pieces_are_the_curve() {
        for kind in [CurveKind::Bezier, CurveKind::Linear] {
            let curve = curve(kind);
            for r in (0..400).map(|i| f64::from(i) * 0.01) {
                let pieces = curve.pieces();
                let [start, scale, control @ ..] = *pieces.iter().rfind(|p| p[0] <= r).unwrap_or(&pieces[0]);
                let value = super::bezier(control, ((r - start) * scale).clamp(0.0, 1.0));
                assert!((value - curve.log_gamma(r)).abs() < 1e-13, "{kind:?} at {r}");
            }
        }
        let flat = Curve { points: vec![[0.5, 2.0]], ..curve(CurveKind::Linear) };
        assert_eq!(flat.pieces(), [[0.5, 0.0, 2.0, 2.0, 2.0, 2.0]]);
        assert_eq!(Curve { points: Vec::new(), ..flat }.pieces(), [[0.0; 6]]);
    }

    #[test]
    fn lines_are_straight() {
        assert!((curve(CurveKind::Linear).log_gamma(2.0) - 1.5).abs() < 1e-15);
    }

    #[test]
    fn does_not_swing_over_and_has_no_kinks() {
        let curve = curve(CurveKind::Bezier);
        let all: Vec<f64> = (0..=4000).map(|i| curve.log_gamma(f64::from(i) * 1e-3)).collect();
        assert!(all.iter().all(|log| (-1.0..=2.0).contains(log)));
        let rise = all.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
        // slopes up to 4 over steps of 1e-3; they change by their own derivative, up to 30 times 1e-6, but never at once
        let jump = rise.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max);
        assert!(jump < 1e-4, "slope jumps by {jump}");
        assert!(all[100..1000].windows(2).all(|pair| pair[0] <= pair[1]), "rises between rising points");
    }
}
