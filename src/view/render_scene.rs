//! The render scene of one simulation: its surfaces, strands, obstacles and attachments, in device buffers.

mod bind_surfaces;
mod draws;

use super::frame::{self, Frame, Shadows};
use super::memory::{small_storage, storage, uniform};
use super::scene_bounds::{self, SceneBounds};
use super::static_geometry::{self, MarkerItem, ObstacleItem};
use super::vertex_quantities::VertexQuantities;
use super::visible_geometry::VisibleGeometry;
use super::{Area, Bounds, Camera, Colour, Draws, Look, Renderer};
use crate::contact::{ContactPoint, Obstacle};
use crate::damping::{self, Damping};
use crate::gpu::layout::{Item, Small, Vertex, encode};
use crate::gpu::{Context, Readback};
use crate::model::Model;
use crate::scene::Scene;
use crate::step::backend::DeviceUse;
use crate::{Result, Vec3, gpu};
use draws::{held, linear, motions, vertices};
use std::sync::Arc;

/// Source of the vertex positions.
#[derive(Debug, Clone)]
pub enum Source {
    /// The host, by [`RenderScene::set_state`], whenever they change.
    Host,
    /// The backend on the same device, without a copy.
    Device(gpu::Shared),
}

/// A marker: a contact, or a vertex held by the mouse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marker {
    pub vertex: u32,
    /// A line from the vertex: an offset (m), or an end point if absolute.
    pub line: [f32; 3],
    /// Whether `line` is a point in world space.
    pub absolute: bool,
    /// sRGB.
    pub colour: [u8; 3],
}

impl Marker {
    /// sRGB of contacts.
    const TOUCH: [u8; 3] = [214, 48, 49];

    /// A contact: a line along its normal, ten times the penetration depth.
    pub fn contact(touched: &ContactPoint) -> Self {
        let line = (touched.normal * (10.0 * touched.depth)).map(|c| c as f32).into();
        Marker { vertex: touched.vertex, line, absolute: false, colour: Self::TOUCH }
    }
}

/// Positions and velocities on the device, in the solver's layout.
pub(super) struct State {
    pub vertices: wgpu::Buffer,
    pub motions: wgpu::Buffer,
}

/// Radius of a marker ball, relative to the scene's.
const BALL: f64 = 0.0075;

/// One simulation on the device, ready to be drawn.
pub struct RenderScene {
    context: Arc<Context>,
    on_device: bool,
    state: State,
    mass: Vec<f32>,
    scene_bounds: SceneBounds,
    obstacles: Vec<Obstacle>,
    /// The vertex of each attachment.
    held_vertices: Vec<u32>,
    held_points: Vec<Option<Vec3>>,
    time: f64,
    pub(super) draws: Draws,
    pub(super) quantities: VertexQuantities,
    shadows: Shadows,
    pub(super) frame: wgpu::Buffer,
    planes: wgpu::Buffer,
    obstacle_buffer: wgpu::Buffer,
    attachment_markers: wgpu::Buffer,
    markers: wgpu::Buffer,
    usage: DeviceUse,
    /// The ends of the colour map, in transit to the host.
    range_readback: Arc<Readback>,
    range_state: RangeReadback,
    range: Option<[f32; 2]>,
    largest: Option<f32>,
    /// The quantity measured last, and the quantity of the ends in transit.
    measured: Colour,
    asked: Colour,
}

/// State of a readback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RangeReadback {
    No,
    Recorded,
    Requested,
}

impl RenderScene {
    /// The model of a scene at its initial state.
    pub fn new(renderer: &Renderer, scene: &Scene, model: &Model, source: Source) -> Result<Self> {
        let context = renderer.context().clone();
        let mass: Vec<f32> = model.mass.iter().map(|m| *m as f32).collect();
        let (state, on_device) = match source {
            Source::Device(shared) => (State { vertices: shared.vertices, motions: shared.motions }, true),
            Source::Host => {
                let vertices = vertices(&mass, &model.initial_positions);
                let motions = motions(&model.initial_velocities, &[]);
                let vertices = storage(&context, "vertices", &vertices)?;
                (State { vertices, motions: storage(&context, "motions", &motions)? }, false)
            }
        };
        let friction = scene.contact.friction;
        let obstacles: Vec<Obstacle> = scene.obstacles.iter().map(|o| Obstacle::new(o, friction)).collect();
        let scene_bounds = scene_bounds::scene_bounds(scene, model, &obstacles);
        let mut quantities = VertexQuantities::new(&context, renderer.kernels(), scene, model, &state)?;
        let h = scene.time.step / scene.time.substeps.max(1) as f64;
        quantities.set_damping(&damping::make(&scene.damping).unwrap_or_default(), h);
        let shadows = Shadows::suitable(context.adapter.software);
        let frame = uniform::<Frame>(&context, "frame")?;
        let planes_now = static_geometry::planes(&obstacles, scene_bounds.ground, &scene_bounds.bounds, 0.0);
        let planes = small_storage(&context, "planes", &planes_now)?;
        let obstacles_now: Vec<ObstacleItem> =
            static_geometry::obstacle_items(&obstacles, 0.0).into_iter().map(|p| p.1).collect();
        let obstacle_buffer = small_storage(&context, "obstacles", &obstacles_now)?;
        let room_for_all = vec![MarkerItem::default(); model.attachments.len()];
        let attachment_markers = small_storage(&context, "attachments", &room_for_all)?;
        let markers = small_storage(&context, "markers", &[MarkerItem::default()])?;
        let mut render_scene = RenderScene {
            draws: Draws::default(),
            on_device,
            mass,
            scene_bounds,
            obstacles,
            held_vertices: model.attachments.iter().map(|a| a.vertex).collect(),
            held_points: Vec::new(),
            time: 0.0,
            quantities,
            shadows,
            frame,
            planes,
            obstacle_buffer,
            attachment_markers,
            markers,
            usage: DeviceUse::default(),
            range_readback: Readback::new(&context, 16),
            range_state: RangeReadback::No,
            range: None,
            largest: None,
            measured: Colour::Body,
            asked: Colour::Body,
            state,
            context,
        };
        render_scene.draws = render_scene.make_draws(renderer, &VisibleGeometry::new(scene, model))?;
        let at_start = model.attachments.iter().map(|a| (a.span(h)[0] == 0).then(|| a.target(0.0)));
        render_scene.set_held(&at_start.collect::<Vec<_>>());
        render_scene.context.check()?;
        Ok(render_scene)
    }

    /// Uploads positions (m) and velocities (m/s). No-op for [`Source::Device`].
    pub fn set_state(&mut self, positions: &[Vec3], velocities: &[Vec3]) {
        self.set_filtered_state(positions, velocities, &[]);
    }

    /// The same, with the velocity change by filters (m/s), for colouring by damping power; see
    /// [`crate::Simulation::filtered`].
    pub fn set_filtered_state(&mut self, positions: &[Vec3], velocities: &[Vec3], filtered: &[Vec3]) {
        if self.on_device || positions.len() != self.mass.len() || velocities.len() != self.mass.len() {
            return;
        }
        let vertices = vertices(&self.mass, positions);
        let motions = motions(velocities, filtered);
        self.send(&self.state.vertices.clone(), bytemuck::cast_slice(&vertices));
        self.send(&self.state.motions.clone(), bytemuck::cast_slice(&motions));
    }

    /// Moves obstacles and updates stiffnesses to this time (s).
    pub fn set_time(&mut self, time: f64) {
        if self.time == time {
            return;
        }
        let before = std::mem::replace(&mut self.time, time);
        self.usage.uploaded += self.quantities.set_time(&self.context, time);
        if self.obstacles.iter().any(|obstacle| obstacle.pose(time) != obstacle.pose(before)) {
            let SceneBounds { ground, bounds, .. } = &self.scene_bounds;
            let planes = static_geometry::planes(&self.obstacles, *ground, bounds, time);
            let obstacle_buffer: Vec<ObstacleItem> =
                static_geometry::obstacle_items(&self.obstacles, time).into_iter().map(|p| p.1).collect();
            self.send(&self.planes.clone(), &encode(&planes));
            self.send(&self.obstacle_buffer.clone(), &encode(&obstacle_buffer));
        }
    }

    /// The target of each attachment (m), `None` if inactive: only the simulation knows. See
    /// [`crate::Simulation::held_points`].
    pub fn set_held(&mut self, points: &[Option<Vec3>]) {
        if self.held_points == points {
            return;
        }
        self.held_points = points.to_vec();
        let attachment_markers = held(&self.held_vertices, points, &self.scene_bounds.bounds);
        self.draws.attachments.count = attachment_markers.len() as u32;
        self.send(&self.attachment_markers.clone(), &encode(&attachment_markers));
    }

    /// The damping whose power is shown, and the time step (s) in which its filter is applied once.
    pub fn set_damping(&mut self, damping: &Damping, step: f64) {
        self.quantities.set_damping(damping, step);
    }

    pub fn set_markers(&mut self, renderer: &Renderer, markers: &[Marker]) -> Result<()> {
        let radius = (BALL * self.scene_bounds.bounds.radius()) as f32;
        let in_model = markers.iter().filter(|marker| (marker.vertex as usize) < self.mass.len());
        let items: Vec<MarkerItem> = in_model
            .map(|marker| MarkerItem {
                other: marker.line.into(),
                vertex: marker.vertex,
                colour: linear(marker.colour),
                flags: u32::from(marker.absolute),
                radius,
                width: 0.3 * radius,
            })
            .collect();
        self.draws.markers.count = items.len() as u32;
        if (items.len() * MarkerItem::STRIDE) as u64 > self.markers.size() {
            // some more, so that the next few need no new buffer
            let scene_bounds = [items.clone(), vec![MarkerItem::default(); items.len()]].concat();
            self.markers = small_storage(&self.context, "markers", &scene_bounds)?;
            let buffers = [&self.frame, &self.state.vertices, &self.markers];
            self.draws.markers.group = Some(renderer.programs().marker.bind(&self.context, &buffers));
        }
        self.send(&self.markers.clone(), &encode(&items));
        Ok(())
    }

    /// Bounds of the initial scene, with room for swinging and falling bodies: what a camera should frame.
    pub fn bounds(&self) -> Bounds {
        self.scene_bounds.bounds
    }

    /// Ends of the colour map of the last drawing that has reported them; `None` before that, or when coloured by
    /// body. Call after submitting a drawing. With `wait`, those of the last drawing.
    pub fn range(&mut self, wait: bool) -> Result<Option<[f32; 2]>> {
        if self.range_state == RangeReadback::Recorded {
            self.range_readback.request();
            self.range_state = RangeReadback::Requested;
        }
        if self.range_state == RangeReadback::Requested {
            if wait {
                self.context.wait()?;
            } else {
                self.context.poll()?;
            }
            if wait || self.range_readback.arrived() {
                let ends: Vec<f32> = self.range_readback.take(bytemuck::pod_collect_to_vec)?;
                self.range_state = RangeReadback::No;
                // otherwise they belong to the previous quantity
                if self.asked == self.measured {
                    (self.range, self.largest) = (Some([ends[0], ends[1]]), Some(ends[3]));
                }
            }
        }
        Ok(self.range)
    }

    /// Largest value so far of the displayed quantity, regardless of the colour map's ends; as recent as
    /// [`RenderScene::range`].
    pub fn largest(&self) -> Option<f32> {
        self.largest
    }

    /// Strain, energy density (J/m³), speed (m/s) and damping power density (W/m³) of every vertex, as last measured.
    /// Waits for the device.
    pub fn values(&mut self) -> Result<Vec<[f32; 4]>> {
        self.fetch(&self.quantities.values.clone(), self.mass.len())
    }

    /// Positions of all skin vertices when last drawn (m), body by body. Waits for the device.
    pub fn skin_positions(&mut self) -> Result<Vec<Vec3>> {
        let Some((places, count)) = self.draws.skins.clone() else { return Ok(Vec::new()) };
        let places: Vec<Vertex> = self.fetch(&places, count as usize)?;
        let wide = |v: [f32; 3]| Vec3::from(v.map(f64::from));
        Ok(places.iter().map(|place| wide(place.position) + wide(place.low)).collect())
    }

    /// Fetches `count` items of a buffer.
    fn fetch<T: bytemuck::Pod>(&mut self, buffer: &wgpu::Buffer, count: usize) -> Result<Vec<T>> {
        let bytes = (size_of::<T>() * count) as u64;
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let readback = Readback::new(&self.context, bytes);
        let device = &self.context.device;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, 0, readback.buffer(), 0, bytes);
        self.context.queue.submit([encoder.finish()]);
        readback.request();
        self.context.wait()?;
        self.usage.downloaded += bytes;
        readback.take(bytemuck::pod_collect_to_vec)
    }

    /// Transfers between host and device for drawing since the start.
    pub fn usage(&self) -> DeviceUse {
        self.usage
    }

    /// Uploads the frame uniforms of a pane.
    pub(super) fn set_frame(&mut self, camera: &Camera, look: &Look, area: &Area, srgb: bool) {
        let frame = frame::frame(camera, look, area, &self.scene_bounds.bounds, &self.shadows, srgb);
        self.send(&self.frame.clone(), &frame.bytes());
    }

    /// Measures the quantity of a look and requests the ends of the colour map.
    pub(super) fn measure(&mut self, renderer: &Renderer, encoder: &mut wgpu::CommandEncoder, look: &Look) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        let kernels = renderer.kernels();
        self.usage.uploaded += self.quantities.measure(&self.context, kernels, &mut pass, look);
        self.draws.seen(look).for_each(|sheet| kernels.prepare(&mut pass, sheet));
        drop(pass);
        if look.colour != self.measured {
            (self.measured, self.range, self.largest) = (look.colour, None, None);
        }
        if look.colour == Colour::Body {
            return;
        }
        if self.range_state != RangeReadback::Requested {
            let to = self.range_readback.buffer();
            encoder.copy_buffer_to_buffer(&self.quantities.range, 0, to, 0, 16);
            (self.range_state, self.asked) = (RangeReadback::Recorded, look.colour);
            self.usage.downloaded += 16;
        }
    }

    fn send(&mut self, buffer: &wgpu::Buffer, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.context.queue.write_buffer(buffer, 0, bytes);
            self.usage.uploaded += bytes.len() as u64;
        }
    }
}
