//! Excitation of each example shape in a deformation or velocity, in the frame of the rotated body.
//!
//!   u = Tᵀ (x − c) − (X − c₀),   χ = (X̃ᵀ M X̃)⁻¹ X̃ᵀ M u                             (Example paper, Section 4.2)
//!
//! X is the rest shape as placed; T and c are the rigid motion of the body:
//!
//! - For a body held at three or more points that are not collinear, T is the best rotation of these from rest to
//!   their current positions, c their centre. Attachments give: in a shape the held points move a little, too, and the
//!   fit removes that as a rigid motion of all vertices, so X̃ are the columns of X without it. For a body whose held
//!   points stand still this is the paper's χ.
//! - For a free body T is the best rotation of all vertices, c the centre of mass. The fit removes translation and
//!   rotation from a small deformation, so the same is removed from the shapes: X̃ are the columns of X without their
//!   rigid part.
//! - Where shapes do not follow, T = I, c = c₀ and X̃ = X.
//!
//! In each case χ is exact for small u = X χ.

use super::coupling::ShapeFactor;
use crate::linear::multi_vector::MultiVector;
use crate::{Mat3, Vec3};
use nalgebra::{Rotation3, SVD};

/// Points are collinear within rounding if the second singular value is below this fraction of the first.
const LINE: f64 = 1e-9;

/// What shapes follow.
#[derive(Debug, Clone, PartialEq)]
pub enum Follow {
    Nothing,
    /// These held vertices.
    Held(Vec<usize>),
    /// The whole body.
    Body,
}

/// Measures the excitations of a body's examples.
#[derive(Debug, Clone)]
pub struct Excitation {
    mass: Vec<f64>,
    total: f64,
    /// c₀ (m).
    centre: Vec3,
    /// X − c₀ (m).
    rest: Vec<Vec3>,
    follow: Follow,
    /// M X̃ (X̃ᵀ M X̃)⁻¹.
    weights: MultiVector,
}

/// The rigid motion of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// T.
    pub turn: Mat3,
    /// c (m).
    pub centre: Vec3,
}

impl Excitation {
    /// For `shapes` (m) of a body at rest at `rest` (m). `Err`: the first shape that is zero or linearly dependent.
    /// With too few held points, or collinear ones, shapes follow the whole body.
    pub fn new(
        mass: &[f64],
        rest: &[Vec3],
        shapes: &[Vec<Vec3>],
        follow: Follow,
    ) -> Result<Excitation, usize> {
        let follow = match follow {
            Follow::Held(points) if !spans_a_plane(rest, &points) => Follow::Body,
            other => other,
        };
        let total: f64 = mass.iter().sum();
        let centre = follow.centre(mass, rest);
        let rest: Vec<Vec3> = rest.iter().map(|x| x - centre).collect();
        let mut seen = shapes.to_vec();
        if let Some(weights) = follow.weights(mass) {
            seen.iter_mut().for_each(|shape| remove_rigid(&weights, &rest, shape));
        }
        let weigh = |shape: &Vec<Vec3>| shape.iter().zip(mass).map(|(x, m)| x * *m).collect::<Vec<_>>();
        let weighed: Vec<_> = seen.iter().map(weigh).collect();
        let mut products = MultiVector::products(&seen, &weighed);
        // a shape that is rigid up to rounding is no shape
        for (j, shape) in shapes.iter().enumerate() {
            if products[(j, j)] <= 1e-12 * product(mass, shape, shape) {
                products[(j, j)] = 0.0;
            }
        }
        let inverse = ShapeFactor::new(&products)?.inverse().clone();
        let weights = MultiVector::new(&MultiVector::combine(&weighed, &(&inverse * inverse.transpose())));
        Ok(Excitation { mass: mass.to_vec(), total, centre, rest, follow, weights })
    }

    /// T and c of a state (m).
    pub fn pose(&self, x: &[Vec3]) -> Pose {
        let centre = self.follow.centre(&self.mass, x);
        let arm = |i: usize| (x[i] - centre) * self.rest[i].transpose();
        let spread: Mat3 = match &self.follow {
            Follow::Nothing => return Pose { turn: Mat3::identity(), centre: self.centre },
            Follow::Held(points) => points.iter().map(|i| arm(*i)).sum(),
            Follow::Body => (0..x.len()).map(|i| arm(i) * self.mass[i]).sum(),
        };
        Pose { turn: closest_rotation(&spread), centre }
    }

    /// u at vertex i (m).
    #[inline]
    fn displacement(&self, pose: &Pose, x: &[Vec3], i: usize) -> Vec3 {
        pose.turn.tr_mul(&(x[i] - pose.centre)) - self.rest[i]
    }

    /// χ of a state.
    pub fn of(&self, pose: &Pose, x: &[Vec3]) -> Vec<f64> {
        self.weights.dot(&Mat3::identity(), |i| self.displacement(pose, x, i)).as_slice().to_vec()
    }

    /// χ̇ (1/s) of a state (m, m/s).
    pub fn rate(&self, pose: &Pose, x: &[Vec3], v: &[Vec3]) -> Vec<f64> {
        let v = self.relative(x, v);
        self.weights.dot(&pose.turn, |i| v[i]).as_slice().to_vec()
    }

    /// Σ m |u|² (kg m²).
    pub fn displacement_norm_squared(&self, x: &[Vec3]) -> f64 {
        let pose = self.pose(x);
        let parts = self.mass.iter().enumerate();
        parts.map(|(i, m)| m * self.displacement(&pose, x, i).norm_squared()).sum()
    }

    /// Σ m |v|² (J, twice), v without the rigid motion that shapes follow.
    pub fn velocity_norm_squared(&self, x: &[Vec3], v: &[Vec3]) -> f64 {
        let v = self.relative(x, v);
        product(&self.mass, &v, &v)
    }

    /// v without the rigid motion that shapes follow (m/s).
    fn relative(&self, x: &[Vec3], v: &[Vec3]) -> Vec<Vec3> {
        let mut left = v.to_vec();
        if let Some(weights) = self.follow.weights(&self.mass) {
            let centre = self.follow.centre(&self.mass, x);
            let here: Vec<Vec3> = x.iter().map(|x| x - centre).collect();
            remove_rigid(&weights, &here, &mut left);
        }
        left
    }

    /// X − c₀ (m), c₀ (m), and the weights of the vertices that shapes follow, `None` if they follow nothing.
    pub fn followed(&self) -> (&[Vec3], Vec3, Option<Vec<f64>>) {
        (&self.rest, self.centre, self.follow.weights(&self.mass))
    }

    /// M X̃ (X̃ᵀ M X̃)⁻¹, column by column.
    pub fn measures(&self) -> Vec<Vec<Vec3>> {
        self.weights.columns()
    }

    /// How well the points that shapes follow determine T: the least sum of two of the three singular values of Σ w r rᵀ, over that of
    /// all; 1 where T is given.
    pub fn spread(&self) -> f64 {
        let (rest, _, Some(weights)) = self.followed() else { return 1.0 };
        let moments: Mat3 = rest.iter().zip(&weights).map(|(r, w)| r * r.transpose() * *w).sum();
        let values = moments.symmetric_eigenvalues();
        (values.sum() - values.max()) / values.sum()
    }

    /// Mass (kg).
    pub fn total(&self) -> f64 {
        self.total
    }
}

impl Follow {
    /// The centre of what is followed, c₀ for points at rest (m).
    fn centre(&self, mass: &[f64], x: &[Vec3]) -> Vec3 {
        match self {
            Follow::Held(points) => points.iter().map(|i| x[*i]).sum::<Vec3>() / points.len() as f64,
            _ => x.iter().zip(mass).map(|(x, m)| x * *m).sum::<Vec3>() / mass.iter().sum::<f64>(),
        }
    }

    /// How much each vertex counts in the rigid motion that is followed; `None` if nothing is.
    fn weights(&self, mass: &[f64]) -> Option<Vec<f64>> {
        match self {
            Follow::Nothing => None,
            Follow::Held(points) => {
                let mut held = vec![0.0; mass.len()];
                points.iter().for_each(|i| held[*i] = 1.0);
                Some(held)
            }
            Follow::Body => Some(mass.to_vec()),
        }
    }
}

/// Takes the rigid motion that is nearest in Σ w a·b off a small motion of points.
fn remove_rigid(weights: &[f64], points: &[Vec3], motion: &mut [Vec3]) {
    for rigid in rigid_motions(weights, points) {
        let share = product(weights, &rigid, motion);
        motion.iter_mut().zip(&rigid).for_each(|(x, rigid)| *x -= rigid * share);
    }
}

/// Whether points span a plane, with a margin for small motions of the attachments.
fn spans_a_plane(x: &[Vec3], points: &[usize]) -> bool {
    let Some(first) = points.first() else { return false };
    let far = |i: &&usize| (x[**i] - x[*first]).norm_squared();
    let Some(last) = points.iter().max_by(|a, b| far(a).total_cmp(&far(b))) else { return false };
    let line = x[*last] - x[*first];
    let off = |i: &usize| line.cross(&(x[*i] - x[*first])).norm();
    points.iter().any(|i| off(i) > 1e-2 * line.norm_squared())
}

/// Translations and rotations of points about their centre of mass, orthonormal in Σ m a·b, without those that move
/// nothing.
fn rigid_motions(mass: &[f64], points: &[Vec3]) -> Vec<Vec<Vec3>> {
    let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
    let shifts = axes.iter().map(|axis| vec![*axis; points.len()]);
    let turns = axes.iter().map(|axis| points.iter().map(|x| axis.cross(x)).collect::<Vec<Vec3>>());
    let mut motions: Vec<Vec<Vec3>> = Vec::new();
    for mut motion in shifts.chain(turns) {
        let size = product(mass, &motion, &motion);
        for known in &motions {
            let share = product(mass, known, &motion);
            motion.iter_mut().zip(known).for_each(|(x, known)| *x -= known * share);
        }
        let left = product(mass, &motion, &motion);
        if left > 1e-12 * size {
            let scale = left.sqrt().recip();
            motion.iter_mut().for_each(|x| *x *= scale);
            motions.push(motion);
        }
    }
    motions
}

fn product(mass: &[f64], a: &[Vec3], b: &[Vec3]) -> f64 {
    mass.iter().zip(a.iter().zip(b)).map(|(m, (a, b))| m * a.dot(b)).sum()
}

/// The rotation T with the largest tr(Tᵀ A); for collinear points that of the line, without twist.
pub(crate) fn closest_rotation(a: &Mat3) -> Mat3 {
    let svd = SVD::new(*a, true, true);
    let (Some(u), Some(v_t)) = (svd.u, svd.v_t) else { return Mat3::identity() };
    let order = {
        let mut order = [0, 1, 2];
        order.sort_by(|i, j| svd.singular_values[*j].total_cmp(&svd.singular_values[*i]));
        order
    };
    let [largest, second, _] = order.map(|i| svd.singular_values[i]);
    if largest.is_nan() || largest <= 0.0 {
        return Mat3::identity();
    }
    if second <= LINE * largest {
        let (from, to) = (v_t.row(order[0]).transpose(), u.column(order[0]).into_owned());
        return Rotation3::rotation_between(&from, &to).map_or(Mat3::identity(), |turn| *turn.matrix());
    }
    let mut u = u;
    if (u * v_t).determinant() < 0.0 {
        // flip the least significant direction
        u.column_mut(order[2]).neg_mut();
    }
    u * v_t
}

#[cfg(test)]
mod tests {
    use super::{Excitation, Follow, closest_rotation};
    use crate::{Mat3, Vec3};
    use nalgebra::Rotation3;

    /// Corners and some points of a box, with two shapes, the second with a net rotation and translation.
    fn body() -> (Vec<f64>, Vec<Vec3>, Vec<Vec<Vec3>>) {
        let rest: Vec<Vec3> = (0..24)
            .map(|i| Vec3::new((i % 4) as f64, (i / 4 % 3) as f64 * 0.7, (i / 12) as f64 * 0.4))
            .collect();
        let mass = (0..24).map(|i| 1.0 + 0.1 * (i % 5) as f64).collect();
        let stretch = rest.iter().map(|x| Vec3::new(0.1 * x.x, 0.0, 0.0)).collect();
        let bend = rest.iter().map(|x| Vec3::new(0.0, 0.05 * x.x * x.x, 0.0)).collect();
        (mass, rest, vec![stretch, bend])
    }

    #[test]
    fn finds_how_much_of_each_shape_there_is_also_in_a_body_that_has_turned() {
        let (mass, rest, shapes) = body();
        let excitation = Excitation::new(&mass, &rest, &shapes, Follow::Body).expect("independent shapes");
        let turn = Rotation3::from_euler_angles(0.7, -2.0, 1.1);
        for share in [1e-3, 1e-4] {
            let chi = [share, -2.0 * share];
            let deformed = |i: usize| rest[i] + shapes[0][i] * chi[0] + shapes[1][i] * chi[1];
            let x: Vec<Vec3> =
                (0..rest.len()).map(|i| turn * deformed(i) + Vec3::new(3.0, 5.0, -7.0)).collect();
            let pose = excitation.pose(&x);
            for (found, chi) in excitation.of(&pose, &x).iter().zip(chi) {
                // the rotation of a deformed body is fitted: off by the square of the deformation
                assert!((found - chi).abs() < 3.0 * share * share, "{found} instead of {chi}");
            }
            let v: Vec<Vec3> = (0..rest.len()).map(|i| turn * (shapes[1][i] * 4.0)).collect();
            let rates = excitation.rate(&pose, &x, &v);
            assert!(rates[0].abs() < 20.0 * share && (rates[1] - 4.0).abs() < 20.0 * share, "{rates:?}");
        }
    }

    #[test]
    fn what_does_not_follow_is_measured_where_it_rests() {
        let (mass, rest, shapes) = body();
        let excitation = Excitation::new(&mass, &rest, &shapes, Follow::Nothing).expect("independent shapes");
        let x: Vec<Vec3> = rest.iter().zip(&shapes[1]).map(|(rest, shape)| rest + shape * 0.8).collect();
        let chi = excitation.of(&excitation.pose(&x), &x);
        assert!(chi[0].abs() < 1e-13 && (chi[1] - 0.8).abs() < 1e-13, "{chi:?}");
    }

    #[test]
    fn a_held_body_is_where_it_is_held() {
        let (mass, rest, mut shapes) = body();
        // the first four corners at x = 0 do not move in the shapes
        let held: Vec<usize> = (0..24).filter(|i| rest[*i].x == 0.0).collect();
        shapes[0].iter_mut().zip(&rest).for_each(|(s, x)| *s = Vec3::new(0.0, 0.0, 0.3 * x.x * x.x));
        let follow = || Follow::Held(held.clone());
        let excitation = Excitation::new(&mass, &rest, &shapes, follow()).expect("independent shapes");
        let turn = Rotation3::from_euler_angles(0.3, 1.0, -2.1);
        let deformed = |i: usize| rest[i] + shapes[0][i] * 0.7 - shapes[1][i] * 1.9;
        let x: Vec<Vec3> = (0..rest.len()).map(|i| turn * deformed(i) + Vec3::new(3.0, 5.0, -7.0)).collect();
        let chi = excitation.of(&excitation.pose(&x), &x);
        // exact, however large: what is followed is not deformed
        assert!((chi[0] - 0.7).abs() < 1e-12 && (chi[1] + 1.9).abs() < 1e-12, "{chi:?}");
        let line = Excitation::new(&mass, &rest, &shapes, Follow::Held(vec![0, 1, 2])).expect("shapes");
        assert_eq!(line.follow, Follow::Body);
    }

    #[test]
    fn a_line_does_not_tell_how_it_is_turned_about_itself() {
        let (mass, rest, _) = body();
        let solid = Excitation::new(&mass, &rest, &[], Follow::Body).expect("no shapes");
        assert!((0.01..0.7).contains(&solid.spread()), "{}", solid.spread());
        let thin: Vec<Vec3> = rest.iter().map(|x| Vec3::new(x.x, 1e-3 * x.y, 0.0)).collect();
        assert!(Excitation::new(&mass, &thin, &[], Follow::Body).expect("no shapes").spread() < 1e-5);
        let free = Excitation::new(&mass, &thin, &[], Follow::Nothing).expect("no shapes");
        assert_eq!(free.spread(), 1.0);
    }

    /// What attachments hold moves a little in a shape; the fit takes that for a turn of the whole body.
    #[test]
    fn shapes_in_which_the_held_points_give_are_found_as_well() {
        let (mass, rest, shapes) = body();
        let held: Vec<usize> = (0..24).filter(|i| rest[*i].x == 0.0).collect();
        // a bend about the held face, which turns it; the other is as large far away
        let lean: Vec<Vec3> = rest.iter().map(|x| Vec3::new(-0.02 * x.y, 0.02 * x.x, 0.0)).collect();
        let shapes: Vec<Vec<Vec3>> = [1, 0]
            .map(|k| {
                shapes[k].iter().zip(&lean).map(|(shape, lean)| shape + lean * (1.0 + k as f64)).collect()
            })
            .into();
        let excitation =
            Excitation::new(&mass, &rest, &shapes, Follow::Held(held)).expect("independent shapes");
        for share in [1e-3, 1e-4] {
            let chi = [share, -2.0 * share];
            let deformed = |i: usize| rest[i] + shapes[0][i] * chi[0] + shapes[1][i] * chi[1];
            let x: Vec<Vec3> = (0..rest.len()).map(deformed).collect();
            let pose = excitation.pose(&x);
            for (found, chi) in excitation.of(&pose, &x).iter().zip(chi) {
                // the turn is fitted: off by the square of the deformation
                assert!((found - chi).abs() < 3.0 * share * share, "{found} instead of {chi}");
            }
            let v: Vec<Vec3> = shapes[1].iter().map(|x| x * 4.0).collect();
            let rates = excitation.rate(&pose, &x, &v);
            assert!(rates[0].abs() < 20.0 * share && (rates[1] - 4.0).abs() < 20.0 * share, "{rates:?}");
        }
    }

    #[test]
    fn rigid_motion_is_no_shape_and_no_unrest() {
        let (mass, rest, shapes) = body();
        let spin = Vec3::new(0.3, 1.0, -2.0);
        let turning: Vec<Vec3> = rest.iter().map(|x| spin.cross(x) + Vec3::new(1.0, 2.0, 3.0)).collect();
        let rigid = vec![shapes[0].clone(), turning.clone()];
        assert_eq!(Excitation::new(&mass, &rest, &rigid, Follow::Body).map(|_| ()), Err(1));
        let excitation = Excitation::new(&mass, &rest, &shapes, Follow::Body).expect("independent shapes");
        let whole: f64 = mass.iter().zip(&turning).map(|(m, v)| m * v.norm_squared()).sum();
        assert!(excitation.velocity_norm_squared(&rest, &turning) < 1e-12 * whole);
    }

    #[test]
    fn the_rotation_of_a_line_has_no_twist() {
        let line = Vec3::new(1.0, 2.0, 0.5);
        let turn = Rotation3::from_axis_angle(&nalgebra::Unit::new_normalize(Vec3::new(2.0, -1.0, 0.0)), 0.4);
        let found = closest_rotation(&((turn * line) * line.transpose()));
        assert!((found - turn.matrix()).norm() < 1e-9, "{found}");
        assert_eq!(closest_rotation(&Mat3::zeros()), Mat3::identity());
    }
}
