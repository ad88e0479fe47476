//! One triangle: the point of it that is nearest, and the solid angle under which it is seen.

use crate::Vec3;

/// The point of the triangle (a, b, c) nearest to `p`, by the region of the plane that `p` is above (m).
pub fn nearest(p: &Vec3, [a, b, c]: &[Vec3; 3]) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * (d2 / (d2 - d6));
    }
    let va = d3 * d6 - d5 * d4;
    let (u, v) = (d4 - d3, d5 - d6);
    if va <= 0.0 && u >= 0.0 && v >= 0.0 {
        return b + (c - b) * (u / (u + v));
    }
    let sum = va + vb + vc;
    a + ab * (vb / sum) + ac * (vc / sum)
}

/// The solid angle of the triangle seen from `p`, positive from behind its normal (sr): with a, b, c from `p`,
/// tan(Ω/2) = a·(b×c) / (|a||b||c| + (a·b)|c| + (b·c)|a| + (c·a)|b|) (Van Oosterom and Strackee 1983, eq. 8).
pub fn solid_angle(p: &Vec3, corners: &[Vec3; 3]) -> f64 {
    let [a, b, c] = corners.map(|corner| corner - p);
    let [la, lb, lc] = [a.norm(), b.norm(), c.norm()];
    let numerator = a.dot(&b.cross(&c));
    let denominator = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
    2.0 * numerator.atan2(denominator)
}
