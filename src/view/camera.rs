//! An orbiting camera. Every operation returns a new camera, so that a window can undo and compare.

use crate::Vec3;
use nalgebra::Matrix4;

/// Largest pitch (rad): looking straight down has no up direction.
const STEEPEST: f64 = 1.55;
/// Margin around a framed box, as a factor.
const MARGIN: f64 = 1.08;

/// An axis-aligned box (m).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The corner with the least coordinates.
    pub low: Vec3,
    /// The corner with the greatest.
    pub high: Vec3,
}

impl Bounds {
    pub fn empty() -> Self {
        Bounds { low: Vec3::repeat(f64::INFINITY), high: Vec3::repeat(f64::NEG_INFINITY) }
    }

    /// The bounding box of points; non-finite ones are ignored.
    pub fn of<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> Self {
        points.into_iter().fold(Self::empty(), |bounds, point| bounds.with(point))
    }

    /// The box extended by a point.
    pub fn with(self, point: &Vec3) -> Self {
        if !point.iter().all(|c| c.is_finite()) {
            return self;
        }
        Bounds { low: self.low.inf(point), high: self.high.sup(point) }
    }

    pub fn union(self, other: &Bounds) -> Self {
        if other.is_empty() { self } else { self.with(&other.low).with(&other.high) }
    }

    /// Whether it holds no point.
    pub fn is_empty(&self) -> bool {
        !(0..3).all(|k| self.low[k] <= self.high[k])
    }

    /// The middle (m); the origin if it is empty.
    pub fn centre(&self) -> Vec3 {
        if self.is_empty() { Vec3::zeros() } else { (self.low + self.high) / 2.0 }
    }

    /// Half the diagonal (m); never zero, so that it is safe as a divisor.
    pub fn radius(&self) -> f64 {
        let radius = if self.is_empty() { 1.0 } else { (self.high - self.low).norm() / 2.0 };
        if radius > 1e-9 { radius } else { 1.0 }
    }

    pub fn corners(&self) -> [Vec3; 8] {
        let [low, high] = [self.low, self.high];
        std::array::from_fn(|k| {
            Vec3::from_fn(|axis, _| if k >> axis & 1 == 0 { low[axis] } else { high[axis] })
        })
    }
}

/// A ray.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// Where it begins (m).
    pub origin: Vec3,
    /// Unit vector.
    pub direction: Vec3,
}

impl Ray {
    /// The point at this distance along the ray (m).
    pub fn at(&self, distance: f64) -> Vec3 {
        self.origin + self.direction * distance
    }
}

/// A camera that orbits a target; y is up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// The target (m).
    pub target: Vec3,
    /// Distance from the target (m).
    pub distance: f64,
    /// Angle about y (rad); 0 looks along −z, increasing to the right of the target.
    pub yaw: f64,
    /// Angle above the horizon (rad).
    pub pitch: f64,
    /// Vertical angle of view (rad).
    pub field_of_view: f64,
}

impl Default for Camera {
    fn default() -> Self {
        Camera { target: Vec3::zeros(), distance: 5.0, yaw: 0.5, pitch: 0.3, field_of_view: 0.6 }
    }
}

impl Camera {
    /// Frames a box from its broad side, slightly from above, in a picture of this aspect ratio (width over height).
    pub fn framing(bounds: &Bounds, aspect: f64) -> Self {
        let extent = if bounds.is_empty() { Vec3::repeat(1.0) } else { bounds.high - bounds.low };
        let yaw = if extent.x >= extent.z { 0.42 } else { std::f64::consts::FRAC_PI_2 - 0.42 };
        Camera { yaw, pitch: 0.26, ..Camera::default() }.reframed(bounds, aspect)
    }

    /// The same direction, moved so that the whole box is in the picture.
    pub fn reframed(self, bounds: &Bounds, aspect: f64) -> Self {
        if bounds.is_empty() {
            return self;
        }
        let target = bounds.centre();
        let [right, up, back] = self.axes();
        let tangent = (self.field_of_view / 2.0).tan();
        let (across, along) = (tangent * aspect.max(0.01), tangent);
        let needed = bounds.corners().map(|corner| {
            let r = corner - target;
            let [x, y, z] = [right.dot(&r).abs(), up.dot(&r).abs(), back.dot(&r)];
            z + MARGIN * (x / across).max(y / along)
        });
        let distance = needed.into_iter().fold(0.1 * bounds.radius(), f64::max);
        Camera { target, distance, ..self }
    }

    /// Right, up and back: the camera's axes in the world.
    pub fn axes(&self) -> [Vec3; 3] {
        let (sin_yaw, cos_yaw) = self.yaw.sin_cos();
        let (sin_pitch, cos_pitch) = self.pitch.sin_cos();
        let back = Vec3::new(cos_pitch * sin_yaw, sin_pitch, cos_pitch * cos_yaw);
        let right = Vec3::new(cos_yaw, 0.0, -sin_yaw);
        [right, back.cross(&right), back]
    }

    /// Position (m).
    pub fn eye(&self) -> Vec3 {
        self.target + self.axes()[2] * self.distance
    }

    /// Near and far plane distances (m).
    pub fn depths(&self) -> [f64; 2] {
        [self.distance * 0.02, self.distance * 200.0]
    }

    /// From the world to the camera: x right, y up, looking along −z.
    pub fn view(&self) -> Matrix4<f64> {
        let [right, up, back] = self.axes();
        let eye = self.eye();
        let mut view = Matrix4::identity();
        for (row, axis) in [right, up, back].iter().enumerate() {
            view.fixed_view_mut::<1, 3>(row, 0).copy_from(&axis.transpose());
            view[(row, 3)] = -axis.dot(&eye);
        }
        view
    }

    /// Camera to clip space, depth 0 (near) to 1 (far) as in wgpu.
    pub fn projection(&self, aspect: f64) -> Matrix4<f64> {
        let [near, far] = self.depths();
        let scale = 1.0 / (self.field_of_view / 2.0).tan();
        let mut projection = Matrix4::zeros();
        projection[(0, 0)] = scale / aspect.max(1e-6);
        projection[(1, 1)] = scale;
        projection[(2, 2)] = far / (near - far);
        projection[(2, 3)] = near * far / (near - far);
        projection[(3, 2)] = -1.0;
        projection
    }

    /// From the world to clip space.
    pub fn matrix(&self, aspect: f64) -> Matrix4<f64> {
        self.projection(aspect) * self.view()
    }

    /// The ray through a pixel, measured from the upper left corner of a picture of this size.
    pub fn ray(&self, pixel: [f64; 2], size: [f64; 2]) -> Ray {
        let [right, up, back] = self.axes();
        let tangent = (self.field_of_view / 2.0).tan();
        let x = (2.0 * pixel[0] / size[0].max(1.0) - 1.0) * tangent * size[0] / size[1].max(1.0);
        let y = (1.0 - 2.0 * pixel[1] / size[1].max(1.0)) * tangent;
        Ray { origin: self.eye(), direction: (right * x + up * y - back).normalize() }
    }

    /// The pixel of a point and its depth along the view direction (m); `None` behind the camera.
    pub fn project(&self, point: &Vec3, size: [f64; 2]) -> Option<([f64; 2], f64)> {
        let [right, up, back] = self.axes();
        let r = point - self.eye();
        let depth = -back.dot(&r);
        if depth <= 0.0 {
            return None;
        }
        let scale = size[1] / 2.0 / (self.field_of_view / 2.0).tan() / depth;
        Some(([size[0] / 2.0 + right.dot(&r) * scale, size[1] / 2.0 - up.dot(&r) * scale], depth))
    }

    /// Size of a pixel at the target (m), in a picture of this height (pixels).
    pub fn pixel(&self, height: f64) -> f64 {
        2.0 * self.distance * (self.field_of_view / 2.0).tan() / height.max(1.0)
    }

    /// Turned about the target (rad).
    pub fn orbited(self, yaw: f64, pitch: f64) -> Self {
        let yaw = (self.yaw + yaw).rem_euclid(std::f64::consts::TAU);
        Camera { yaw, pitch: (self.pitch + pitch).clamp(-STEEPEST, STEEPEST), ..self }
    }

    /// Shifted so that the target follows a pointer displacement in pixels (y down), in a picture of this height.
    pub fn panned(self, [dx, dy]: [f64; 2], height: f64) -> Self {
        let [right, up, _] = self.axes();
        let pixel = self.pixel(height);
        Camera { target: self.target - right * (dx * pixel) + up * (dy * pixel), ..self }
    }

    /// Zoomed in (factor below 1) or out, within limits.
    pub fn zoomed(self, factor: f64) -> Self {
        let factor = if factor.is_finite() && factor > 0.0 { factor } else { 1.0 };
        Camera { distance: (self.distance * factor).clamp(1e-6, 1e9), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector4;

    const SIZE: [f64; 2] = [1280.0, 720.0];

    fn camera() -> Camera {
        Camera { target: Vec3::new(1.0, 2.0, -3.0), distance: 4.0, yaw: 0.7, pitch: 0.4, field_of_view: 0.8 }
    }

    fn clip(camera: &Camera, point: &Vec3) -> Vec3 {
        let p = camera.matrix(SIZE[0] / SIZE[1]) * Vector4::new(point.x, point.y, point.z, 1.0);
        Vec3::new(p.x / p.w, p.y / p.w, p.z / p.w)
    }

    #[test]
    fn depth_is_zero_at_the_near_plane_and_one_at_the_far() {
        let camera = camera();
        let middle = camera.ray([640.0, 360.0], SIZE);
        for (distance, depth) in camera.depths().into_iter().zip([0.0, 1.0]) {
            // the far plane is 10^4 times the near one: the quotient keeps 12 digits
            assert!((clip(&camera, &middle.at(distance)).z - depth).abs() < 1e-9);
        }
    }

    #[test]
    fn a_ray_passes_through_what_is_seen_at_its_pixel() {
        let camera = camera();
        for pixel in [[0.0, 0.0], [640.0, 360.0], [1000.0, 50.0]] {
            let ray = camera.ray(pixel, SIZE);
            let ([x, y], depth) = camera.project(&ray.at(2.5), SIZE).unwrap();
            assert!((x - pixel[0]).abs() < 1e-9 && (y - pixel[1]).abs() < 1e-9, "{x} {y}");
            assert!(depth > 0.0 && depth <= 2.5 + 1e-12);
            let seen = clip(&camera, &ray.at(2.5));
            assert!((seen.x - (2.0 * pixel[0] / SIZE[0] - 1.0)).abs() < 1e-12);
            assert!((seen.y - (1.0 - 2.0 * pixel[1] / SIZE[1])).abs() < 1e-12);
        }
        assert_eq!(camera.project(&(camera.eye() + camera.axes()[2]), SIZE), None);
    }

    #[test]
    fn a_framed_box_is_seen_as_a_whole_and_not_from_afar() {
        for size in [Vec3::new(2.0, 0.4, 0.4), Vec3::new(0.1, 5.0, 3.0), Vec3::new(1e3, 2e3, 1e3)] {
            let bounds = Bounds { low: Vec3::new(-3.0, 1.0, 2.0), high: Vec3::new(-3.0, 1.0, 2.0) + size };
            let camera = Camera::framing(&bounds, SIZE[0] / SIZE[1]);
            let seen = bounds.corners().map(|corner| clip(&camera, &corner));
            let farthest = seen.iter().map(|p| p.x.abs().max(p.y.abs())).fold(0.0, f64::max);
            // the margin is 8 %, and perspective makes the nearest corner the one that counts
            assert!((0.8..=1.0).contains(&farthest), "{farthest}");
        }
    }

    #[test]
    fn orbiting_keeps_the_target_in_the_middle_and_never_tips_over() {
        let turned = camera().orbited(10.0, 5.0);
        let ([x, y], depth) = turned.project(&turned.target, SIZE).unwrap();
        assert!((x - 640.0).abs() < 1e-9 && (y - 360.0).abs() < 1e-9 && (depth - 4.0).abs() < 1e-12);
        assert!(turned.pitch < std::f64::consts::FRAC_PI_2 && turned.axes()[1].y > 0.0);
        assert!((turned.eye() - turned.target).norm() - 4.0 < 1e-12);
    }

    #[test]
    fn panning_moves_the_target_with_the_pointer() {
        let before = camera();
        let after = before.panned([30.0, -12.0], SIZE[1]);
        let ([x, y], _) = after.project(&before.target, SIZE).unwrap();
        assert!((x - 670.0).abs() < 1e-9 && (y - 348.0).abs() < 1e-9, "{x} {y}");
    }

    #[test]
    fn zooming_there_and_back_changes_nothing() {
        let camera = camera();
        assert!((camera.zoomed(3.0).zoomed(1.0 / 3.0).distance - camera.distance).abs() < 1e-12);
        assert_eq!(camera.zoomed(f64::NAN), camera);
        assert_eq!(camera.zoomed(0.0), camera);
    }

    #[test]
    fn bounds_leave_out_what_is_not_finite() {
        let bounds = Bounds::of(&[Vec3::zeros(), Vec3::repeat(f64::NAN), Vec3::new(1.0, 2.0, 3.0)]);
        assert_eq!(bounds.high, Vec3::new(1.0, 2.0, 3.0));
        assert!(Bounds::empty().is_empty() && Bounds::empty().radius() == 1.0);
    }
}
