//! Editing of curve points with the mouse: always in order and within the axes.

use crate::scene::Curve;
use egui::{Pos2, Rect, pos2};

/// Lower and upper end of the log₁₀ γ axis.
pub const LOGS: [f64; 2] = [-3.0, 3.0];

/// Minimum distance between two points, relative to the axis.
const GAP: f64 = 5e-3;

/// Axes: r from 0 to `right`, log₁₀ γ upwards, in a rectangle of the window (points).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axes {
    pub rect: Rect,
    /// r at the right end.
    pub right: f64,
}

impl Axes {
    /// Window position of (r, log₁₀ γ).
    pub fn to_window(self, [r, log]: [f64; 2]) -> Pos2 {
        let across = (r / self.right) as f32;
        let up = ((log - LOGS[0]) / (LOGS[1] - LOGS[0])) as f32;
        pos2(self.rect.min.x + across * self.rect.width(), self.rect.max.y - up * self.rect.height())
    }

    /// (r, log₁₀ γ) at a window position, clamped to the axes.
    pub fn of_window(self, at: Pos2) -> [f64; 2] {
        let across = f64::from((at.x - self.rect.min.x) / self.rect.width()).clamp(0.0, 1.0);
        let up = f64::from((self.rect.max.y - at.y) / self.rect.height()).clamp(0.0, 1.0);
        [across * self.right, LOGS[0] + up * (LOGS[1] - LOGS[0])]
    }

    /// The nearest point to a window position within `reach`.
    pub fn nearest(self, points: &[[f64; 2]], at: Pos2, reach: f32) -> Option<usize> {
        let distances = points.iter().map(|point| self.to_window(*point).distance(at)).enumerate();
        let (index, distance) = distances.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        (distance <= reach).then_some(index)
    }
}

/// Right end of the axis: a round number with room beyond the last point and for recent values.
pub fn right_end(points: &[[f64; 2]], reached: f64) -> f64 {
    let last = points.last().map_or(0.0, |point| point[0]);
    let own = if last > 0.0 { 1.2 * last } else { 1.0 };
    // one outlier must not squeeze the curve
    let wanted = if reached.is_finite() { own.max(reached.min(4.0 * own)) } else { own };
    let power = 10f64.powf(wanted.log10().floor());
    [1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0]
        .into_iter()
        .map(|digits| digits * power)
        .find(|end| *end >= wanted)
        .unwrap_or(10.0 * power)
}

/// Rounds to the digits visible on an axis that ends at `right`.
fn tidy([r, log]: [f64; 2], right: f64) -> [f64; 2] {
    let steps = 10f64.powf(3.0 - right.log10().floor());
    [(r * steps).round() / steps, (log * 100.0).round() / 100.0]
}

/// Moves a point; its neighbours stay and are not passed.
pub fn shift(curve: &mut Curve, index: usize, to: [f64; 2], right: f64) {
    let points = &mut curve.points;
    if index >= points.len() {
        return;
    }
    let gap = GAP * right;
    let low = if index == 0 { 0.0 } else { points[index - 1][0] + gap };
    let high = points.get(index + 1).map_or(f64::INFINITY, |next| next[0] - gap);
    let [r, log] = tidy(to, right);
    // no room between close neighbours: it stays between them
    let r = if low <= high { r.clamp(low, high) } else { points[index][0] };
    points[index] = [r, log.clamp(LOGS[0], LOGS[1])];
}

/// Adds a point and returns its index; `None` if there is no room.
pub fn add(curve: &mut Curve, at: [f64; 2], right: f64) -> Option<usize> {
    let gap = GAP * right;
    let [r, log] = tidy(at, right);
    let points = &mut curve.points;
    let index = points.partition_point(|point| point[0] <= r);
    let low = if index == 0 { 0.0 } else { points[index - 1][0] + gap };
    let high = points.get(index).map_or(f64::INFINITY, |next| next[0] - gap);
    if low > high || r < 0.0 || !r.is_finite() {
        return None;
    }
    points.insert(index, [r.clamp(low, high), log.clamp(LOGS[0], LOGS[1])]);
    Some(index)
}

/// Adds a point on the curve halfway to the next one, or beyond the last.
pub fn add_after(curve: &mut Curve, index: usize, right: f64) -> Option<usize> {
    let from = curve.points.get(index)?[0];
    let to = curve.points.get(index + 1).map_or(right.max(from), |next| next[0]);
    let r = 0.5 * (from + to);
    let log = curve.log_gamma(r);
    add(curve, [r, log], right)
}

/// Removes a point, but never the last one; returns whether it did.
pub fn remove(curve: &mut Curve, index: usize) -> bool {
    let possible = curve.points.len() > 1 && index < curve.points.len();
    if possible {
        curve.points.remove(index);
    }
    possible
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{CurveKind, Over};

    fn curve(points: &[[f64; 2]]) -> Curve {
        Curve { kind: CurveKind::Linear, over: Over::Deformation, points: points.to_vec() }
    }

    fn in_order(curve: &Curve) -> bool {
        curve.points.windows(2).all(|pair| pair[0][0] < pair[1][0])
            && curve.points.iter().all(|[r, log]| *r >= 0.0 && (LOGS[0]..=LOGS[1]).contains(log))
    }

    #[test]
    fn places_in_the_window_and_values_are_the_same_thing() {
        let axes = Axes { rect: Rect::from_min_max(pos2(40.0, 10.0), pos2(240.0, 130.0)), right: 2.0 };
        assert_eq!(axes.to_window([0.0, -3.0]), pos2(40.0, 130.0));
        assert_eq!(axes.to_window([2.0, 3.0]), pos2(240.0, 10.0));
        assert_eq!(axes.to_window([1.0, 0.0]), pos2(140.0, 70.0));
        let [r, log] = axes.of_window(pos2(90.0, 50.0));
        assert!((r - 0.5).abs() < 1e-6 && (log - 1.0).abs() < 1e-6, "{r} {log}");
        assert_eq!(axes.of_window(pos2(-500.0, 900.0)), [0.0, -3.0], "beyond the ends is the end");
        let points = [[0.0, 0.0], [1.0, 1.0]];
        assert_eq!(axes.nearest(&points, pos2(143.0, 52.0), 8.0), Some(1));
        assert_eq!(axes.nearest(&points, pos2(200.0, 52.0), 8.0), None);
    }

    #[test]
    fn points_cannot_pass_each_other_or_leave_the_axes() {
        let start = curve(&[[0.0, 0.0], [0.5, 1.0], [1.0, -1.0]]);
        for index in 0..4 {
            for r in [-1.0, 0.0, 0.4999, 0.5, 0.7, 1.0, 30.0] {
                for log in [-9.0, 0.25, 9.0] {
                    let mut moved = start.clone();
                    shift(&mut moved, index, [r, log], 2.0);
                    assert!(in_order(&moved), "{index} to {r}, {log}: {:?}", moved.points);
                    let others = (0..3).filter(|other| *other != index);
                    others.for_each(|other| assert_eq!(moved.points[other], start.points[other]));
                }
            }
        }
        let mut moved = start.clone();
        shift(&mut moved, 1, [0.70004, 0.4567], 2.0);
        assert_eq!(moved.points[1], [0.7, 0.46], "few digits");
        // too close to leave a gap: only γ moves
        let mut close = curve(&[[0.5, 0.0], [0.5001, 0.0], [0.5002, 0.0]]);
        shift(&mut close, 1, [0.9, 2.0], 2.0);
        assert_eq!(close.points[1], [0.5001, 2.0]);
    }

    #[test]
    fn points_are_added_in_order_and_the_last_one_stays() {
        let mut own = curve(&[[0.5, 1.0]]);
        assert_eq!(add(&mut own, [1.5, 0.0], 2.0), Some(1));
        assert_eq!(add(&mut own, [0.0, -7.0], 2.0), Some(0));
        assert_eq!(add(&mut own, [0.9, 0.3], 2.0), Some(2));
        assert!(in_order(&own) && own.points.len() == 4, "{:?}", own.points);
        assert_eq!(add(&mut own, [f64::NAN, 0.0], 2.0), None);
        // halfway between two points, on the curve
        let at = add_after(&mut own, 2, 2.0).unwrap();
        assert_eq!((at, own.points[at]), (3, [1.2, 0.15]));
        assert_eq!(add_after(&mut own, 4, 2.0), Some(5), "{:?}", own.points);
        for left in (1..6).rev() {
            assert!(remove(&mut own, 0) && own.points.len() == left);
        }
        assert!(!remove(&mut own, 0) && own.points.len() == 1);
        let mut none = curve(&[]);
        assert!(!remove(&mut none, 0) && add_after(&mut none, 0, 1.0).is_none());
    }

    #[test]
    fn no_room_no_point() {
        let mut tight = curve(&[[0.5, 0.0], [0.505, 0.0]]);
        assert_eq!(add(&mut tight, [0.502, 1.0], 2.0), None);
        assert_eq!(tight.points.len(), 2);
    }

    #[test]
    fn the_axis_ends_at_a_round_number_beyond_the_last_point() {
        assert_eq!(right_end(&[[0.0, 0.0], [1.0, 0.0]], 0.3), 1.5);
        assert_eq!(right_end(&[[0.0, 0.0]], 0.0), 1.0);
        assert_eq!(right_end(&[[0.0, 0.0], [1.0, 0.0]], 2.7), 3.0);
        assert_eq!(right_end(&[[0.0, 0.0], [1.0, 0.0]], 1e9), 5.0, "one wild swing");
        assert_eq!(right_end(&[[0.0, 0.0], [0.02, 0.0]], f64::NAN), 0.03);
    }
}
