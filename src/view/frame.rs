//! Per-frame uniforms of all drawing shaders: `Frame` of `shaders/render/frame.wgsl`.

use super::look::{Colour, Look, MAP};
use super::{Area, Bounds, Camera};
use crate::Vec3;
use crate::colour::{PALETTE, to_linear};
use crate::gpu::layout::small_structs;
use nalgebra::{Matrix4, Vector3, Vector4};

small_structs! {
    /// As the shaders have it; a test compares every field.
    pub(super) struct Frame {
        clip: Matrix4<f32>,
        light_clip: Matrix4<f32>,
        eye: Vector3<f32>,
        pixel: f32,
        right: Vector3<f32>,
        radius: f32,
        up: Vector3<f32>,
        texel: f32,
        back: Vector3<f32>,
        softness: f32,
        light: Vector3<f32>,
        taps: i32,
        centre: Vector3<f32>,
        grid: f32,
        colour: u32,
        encode: u32,
        bodies: u32,
        planes: u32,
        map: [Vector4<f32>; 6],
        palette: [Vector4<f32>; 8],
    }
}

/// Light direction: from the left of the initial view, well above the horizon.
const LIGHT_YAW: f64 = -0.75;
const LIGHT_PITCH: f64 = 0.95;

/// Shadow map size (pixels per side) and filtering.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shadows {
    pub size: u32,
    /// Taps on each side of the centre.
    pub taps: i32,
    /// Texels between them.
    pub softness: f32,
}

impl Shadows {
    /// For a hardware or software adapter.
    pub fn suitable(software: bool) -> Self {
        if software {
            Shadows { size: 512, taps: 3, softness: 1.6 }
        } else {
            Shadows { size: 1024, taps: 6, softness: 1.6 }
        }
    }
}

/// Direction towards the light, for a scene whose initial view has this yaw.
fn light(yaw: f64) -> Vec3 {
    let (yaw, pitch) = (yaw + LIGHT_YAW, LIGHT_PITCH);
    Vec3::new(pitch.cos() * yaw.sin(), pitch.sin(), pitch.cos() * yaw.cos())
}

/// World to shadow map: covers the scene's bounding ball and what lies behind it in the light.
fn light_clip(light: &Vec3, centre: &Vec3, radius: f64) -> Matrix4<f64> {
    let right = Vec3::y().cross(light).normalize();
    let up = light.cross(&right);
    let row = |axis: Vec3, scale: f64, offset: f64| {
        Vector4::new(axis.x * scale, axis.y * scale, axis.z * scale, offset - axis.dot(centre) * scale)
            .transpose()
    };
    // depth 0 at four radii towards the light, 1 at twelve behind
    let depth = row(-light, 1.0 / (16.0 * radius), 0.25);
    Matrix4::from_rows(&[
        row(right, 1.0 / radius, 0.0),
        row(up, 1.0 / radius, 0.0),
        depth,
        Vector4::new(0.0, 0.0, 0.0, 1.0).transpose(),
    ])
}

/// 1, 2 or 5 times a power of ten, about a sixth of the radius.
fn grid(radius: f64) -> f64 {
    let wanted = radius / 5.0;
    let power = 10f64.powf(wanted.log10().floor());
    let digits = wanted / power;
    power
        * if digits < 2.0 {
            1.0
        } else if digits < 5.0 {
            2.0
        } else {
            5.0
        }
}

/// Largest extent with shadows, in scene radii.
const SHADOW_ROOM: f64 = 1.3;

/// The uniforms of a pane.
pub(super) fn frame(
    camera: &Camera,
    look: &Look,
    area: &Area,
    bounds: &Bounds,
    shadows: &Shadows,
    srgb: bool,
) -> Frame {
    let narrow = |v: Vec3| v.map(|c| c as f32);
    let columns = |m: Matrix4<f64>| m.map(|c| c as f32);
    let [right, up, back] = camera.axes();
    let (centre, radius) = (bounds.centre(), bounds.radius());
    let light = light(Camera::framing(bounds, 1.0).yaw);
    let room = SHADOW_ROOM * radius;
    let wide = |[a, b, c]: [f32; 3]| Vector4::new(a, b, c, 0.0);
    Frame {
        clip: columns(camera.matrix(area.aspect())),
        light_clip: columns(light_clip(&light, &centre, room)),
        eye: narrow(camera.eye()),
        pixel: (camera.pixel(f64::from(area.height)) / camera.distance) as f32,
        right: narrow(right),
        radius: radius as f32,
        up: narrow(up),
        texel: (2.0 * room / f64::from(shadows.size)) as f32,
        back: narrow(back),
        softness: shadows.softness,
        light: narrow(light),
        taps: shadows.taps,
        centre: narrow(centre),
        grid: grid(radius) as f32,
        colour: Colour::ALL.iter().position(|colour| *colour == look.colour).unwrap_or(0) as u32,
        encode: u32::from(!srgb),
        bodies: 0,
        planes: 0,
        map: MAP.map(wide),
        palette: PALETTE.map(|colour| wide(colour.map(|c| to_linear(f32::from(c) / 255.0)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::layout::tests::compare;
    use crate::view::vertex_quantities::{self, QuantityParams};
    use crate::view::{static_geometry, visible_geometry};
    use encase::ShaderType;

    #[test]
    fn structs_lie_on_the_device_as_the_shaders_declare_them() {
        compare("render/surface", &samples());
        compare("render/measure_tet", &vertex_quantities::samples());
        for sample in static_geometry::samples().into_iter().chain(visible_geometry::samples()) {
            let shader = match sample.name {
                "Plane" => "render/ground",
                "Marker" => "render/marker",
                "Piece" => "render/ribbon",
                "EmbeddedVertex" => "render/skin_positions",
                _ => "render/obstacle",
            };
            compare(shader, &[sample]);
        }
        Frame::assert_uniform_compat();
        QuantityParams::assert_uniform_compat();
    }

    #[test]
    fn the_shadow_map_holds_the_scene() {
        let light = light(0.3);
        let centre = Vec3::new(3.0, -2.0, 5.0);
        let matrix = light_clip(&light, &centre, 2.0);
        for direction in [Vec3::x(), -Vec3::y(), light, -light, Vec3::z()] {
            let p = centre + direction * 1.99;
            let q = matrix * Vector4::new(p.x, p.y, p.z, 1.0);
            assert!(q.x.abs() < 1.0 && q.y.abs() < 1.0 && q.z > 0.0 && q.z < 1.0, "{q}");
        }
    }

    #[test]
    fn grid_lines_are_at_round_numbers() {
        for (radius, spacing) in [(1.0, 0.2), (3.0, 0.5), (0.04, 0.005), (70.0, 10.0)] {
            assert!((grid(radius) / spacing - 1.0).abs() < 1e-12, "{}", grid(radius));
        }
    }
}
