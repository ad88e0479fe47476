//! Draw calls of a render scene, bound to its buffers.

use super::{BALL, RenderScene};
use crate::colour::{body_colour, to_linear};
use crate::gpu::contents;
use crate::gpu::layout::{Motion, Vertex};
use crate::view::memory::{indices, small_storage};
use crate::view::pipelines::{Draws, Items, Shown};
use crate::view::program::Program;
use crate::view::scene_bounds::SceneBounds;
use crate::view::screen::{DEPTH, texture};
use crate::view::static_geometry::{self, MarkerItem};
use crate::view::visible_geometry::VisibleGeometry;
use crate::view::{Bounds, Renderer};
use crate::{Result, Vec3};
use nalgebra::Vector3;

/// Colour of attachments (sRGB).
const HELD: [u8; 3] = [52, 58, 68];

impl RenderScene {
    /// Binds everything that is drawn.
    pub(super) fn make_draws(&self, renderer: &Renderer, skin: &VisibleGeometry) -> Result<Draws> {
        let context = &self.context;
        let (vertices, values, range) =
            (&self.state.vertices, &self.quantities.values, &self.quantities.range);
        let programs = renderer.programs();
        let mut surfaces = Vec::new();
        surfaces.extend(self.bind_surface(renderer, Shown::Always, &skin.bare)?);
        surfaces.extend(self.bind_surface(renderer, Shown::WithoutSkins, &skin.covered)?);
        let (fine, places) = self.bind_skins(renderer, skin)?.unzip();
        surfaces.extend(fine);
        let pieces = small_storage(context, "pieces", &skin.pieces)?;
        let [ball, cuboid] = static_geometry::shapes();
        let (ball_end, box_end) = (ball.len() as u32, (ball.len() + cuboid.len()) as u32);
        let shapes = small_storage(context, "shapes", &[ball, cuboid].concat())?;
        let frame = &self.frame;
        let is_box =
            static_geometry::obstacle_items(&self.obstacles, 0.0).into_iter().map(|(is_box, _)| is_box);
        let (shadow, shadow_map) = self.shadow_map(renderer);
        let wire: Vec<u32> = skin.edges.iter().flatten().copied().collect();
        let balls: Vec<MarkerItem> = skin.loose.iter().map(|&v| self.loose_ball(v)).collect();
        let loose = small_storage(context, "loose vertices", &balls)?;
        let SceneBounds { ground, bounds, .. } = &self.scene_bounds;
        let planes = static_geometry::planes(&self.obstacles, *ground, bounds, 0.0);
        let items = |program: &Program, buffers: &[&wgpu::Buffer], count: usize| Items {
            group: Some(program.bind(context, buffers)),
            count: count as u32,
        };
        Ok(Draws {
            surfaces,
            skins: places.map(|places| (places, skin.embedded_vertices.len() as u32)),
            background: items(&programs.background, &[frame], 1),
            ground: items(&programs.ground, &[frame, &self.planes], planes.len()),
            ribbon: items(&programs.ribbon, &[frame, vertices, &pieces, values, range], skin.pieces.len()),
            obstacle: Some(programs.obstacle.bind(context, &[frame, &shapes, &self.obstacle_buffer])),
            obstacles: is_box.map(|b| if b { ball_end..box_end } else { 0..ball_end }).collect(),
            attachments: items(&programs.marker, &[frame, vertices, &self.attachment_markers], 0),
            loose: items(&programs.marker, &[frame, vertices, &loose], skin.loose.len()),
            markers: items(&programs.marker, &[frame, vertices, &self.markers], 0),
            wire: Some(programs.wire.bind(context, &[frame, vertices])),
            edges: Some(indices(context, "edges", &wire)?),
            edge_indices: wire.len() as u32,
            shadow: Some(shadow),
            shadow_map: Some(shadow_map),
        })
    }

    /// The shadow map, for reading and for rendering into.
    fn shadow_map(&self, renderer: &Renderer) -> (wgpu::BindGroup, wgpu::TextureView) {
        let usage = wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING;
        let texture = texture(&self.context.device, [self.shadows.size; 2], 1, DEPTH, usage);
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        (renderer.bind_shadow(&view), view)
    }

    fn loose_ball(&self, vertex: u32) -> MarkerItem {
        let radius = (4.0 * BALL * self.scene_bounds.bounds.radius()) as f32;
        MarkerItem { vertex, colour: linear(body_colour(0)), radius, ..MarkerItem::default() }
    }
}

/// sRGB to linear.
pub(super) fn linear(srgb: [u8; 3]) -> Vector3<f32> {
    srgb.map(|c| to_linear(f32::from(c) / 255.0)).into()
}

/// Positions in the solver's layout.
pub(super) fn vertices(mass: &[f32], positions: &[Vec3]) -> Vec<Vertex> {
    let vertex = |(x, &mass): (&Vec3, &f32)| {
        let (position, low) = contents::split(*x);
        Vertex { position, mass, low, attachment_stiffness: 0.0 }
    };
    positions.iter().zip(mass).map(vertex).collect()
}

/// Velocities in the solver's layout, and their change by filters; zero if that is empty.
pub(super) fn motions(velocities: &[Vec3], filtered: &[Vec3]) -> Vec<Motion> {
    let single = |v: &Vec3| v.map(|c| c as f32);
    let motion = |(i, v): (usize, &Vec3)| {
        let filtered = filtered.get(i).map(single).unwrap_or_default();
        Motion {
            velocity: single(v).into(),
            filtered_x: filtered.x,
            filtered_y: filtered.y,
            filtered_z: filtered.z,
            ..Motion::default()
        }
    };
    velocities.iter().enumerate().map(motion).collect()
}

/// Attachment markers: the targets, and lines to vertices that are away from them.
pub(super) fn held(vertices: &[u32], points: &[Option<Vec3>], bounds: &Bounds) -> Vec<MarkerItem> {
    let radius = (BALL * bounds.radius()) as f32;
    let item = |(&vertex, at): (&u32, &Option<Vec3>)| {
        let other = at.as_ref()?.map(|c| c as f32);
        let width = 0.25 * radius;
        Some(MarkerItem { other, vertex, colour: linear(HELD), flags: 3, radius, width })
    };
    vertices.iter().zip(points).filter_map(item).collect()
}
