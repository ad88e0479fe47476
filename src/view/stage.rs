//! What is drawn of one simulation: its surfaces, strands, obstacles and what holds it, in buffers on the device.

use super::camera::{Bounds, Camera};
use super::frame::{self, Frame, Shadows};
use super::look::{Colour, Look, to_linear};
use super::measure::Measures;
use super::memory::{indices, storage, uniform};
use super::props::{self, MarkerItem, PlacedItem};
use super::renderer::{Area, DEPTH, Draws, Renderer};
use super::room::{self, Room};
use super::skin::Skin;
use crate::contact::obstacle::Obstacle;
use crate::damping::{self, Damping};
use crate::gpu::context::Context;
use crate::gpu::layout::{Motion, Vertex};
use crate::gpu::readback::Readback;
use crate::gpu::{self, contents};
use crate::model::Model;
use crate::model::attachment::Attachment;
use crate::scene::Scene;
use crate::step::backend::DeviceUse;
use crate::{Result, Vec3};
use std::sync::Arc;

/// Where the places of vertices come from.
#[derive(Debug, Clone)]
pub enum Source {
    /// From the host, by [`Stage::set_state`], whenever they change.
    Host,
    /// From the backend on the same device; nothing crosses.
    Device(gpu::Shared),
}

/// Something to point at: a contact, a vertex that is held by the mouse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marker {
    /// The vertex.
    pub vertex: u32,
    /// A line from there: by this much (m), or to this point if it is absolute.
    pub line: [f32; 3],
    /// Whether `line` is a point of the world.
    pub absolute: bool,
    /// sRGB.
    pub colour: [u8; 3],
}

/// Places and velocities on the device, as the solver has them.
pub(super) struct State {
    pub vertices: wgpu::Buffer,
    pub motions: wgpu::Buffer,
}

/// Colour of what holds bodies (sRGB).
const HELD: [u8; 3] = [52, 58, 68];
/// Radius of a marker's ball, as a share of the scene's.
const BALL: f64 = 0.009;

/// One simulation on the device, ready to be drawn.
pub struct Stage {
    context: Arc<Context>,
    on_device: bool,
    state: State,
    mass: Vec<f32>,
    room: Room,
    obstacles: Vec<Obstacle>,
    attachments: Vec<Attachment>,
    time: f64,
    pub(super) draws: Draws,
    pub(super) measures: Measures,
    shadows: Shadows,
    pub(super) frame: wgpu::Buffer,
    planes: wgpu::Buffer,
    placed: wgpu::Buffer,
    holders: wgpu::Buffer,
    markers: wgpu::Buffer,
    usage: DeviceUse,
    /// The ends of the colour map on their way to the host.
    range_readback: Arc<Readback>,
    range_state: Asked,
    range: Option<[f32; 2]>,
}

/// How far a number is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    No,
    Recorded,
    Requested,
}

impl Stage {
    /// The model of a scene at its initial state.
    pub fn new(renderer: &Renderer, scene: &Scene, model: &Model, source: Source) -> Result<Self> {
        let context = renderer.context().clone();
        let mass: Vec<f32> = model.mass.iter().map(|m| *m as f32).collect();
        let (state, on_device) = match source {
            Source::Device(shared) => (State { vertices: shared.vertices, motions: shared.motions }, true),
            Source::Host => {
                let vertices = vertices(&mass, &model.initial_positions);
                let motions = motions(&model.initial_velocities);
                let vertices = storage(&context, "vertices", &vertices)?;
                (State { vertices, motions: storage(&context, "motions", &motions)? }, false)
            }
        };
        let friction = scene.contact.friction;
        let obstacles: Vec<Obstacle> = scene.obstacles.iter().map(|o| Obstacle::new(o, friction)).collect();
        let room = room::room(scene, model, &obstacles);
        let mut measures = Measures::new(&context, renderer.kernels(), scene, model, &state)?;
        let h = scene.time.step / scene.time.substeps.max(1) as f64;
        measures.set_damping(&damping::make(&scene.damping).unwrap_or_default(), h);
        let shadows = Shadows::suitable(context.adapter.software);
        let frame = uniform(&context, "frame", size_of::<Frame>())?;
        let planes = storage(&context, "planes", &props::planes(&obstacles, room.ground, &room.bounds, 0.0))?;
        let placed_now: Vec<PlacedItem> = props::placed(&obstacles, 0.0).into_iter().map(|p| p.1).collect();
        let placed = storage(&context, "obstacles", &placed_now)?;
        let holders = storage(&context, "attachments", &held(&model.attachments, 0.0, &room.bounds))?;
        let markers = storage(&context, "markers", &[MarkerItem::default()])?;
        let mut stage = Stage {
            draws: Draws::default(),
            on_device,
            mass,
            room,
            obstacles,
            attachments: model.attachments.clone(),
            time: 0.0,
            measures,
            shadows,
            frame,
            planes,
            placed,
            holders,
            markers,
            usage: DeviceUse::default(),
            range_readback: Readback::new(&context, 16),
            range_state: Asked::No,
            range: None,
            state,
            context,
        };
        stage.draws = stage.make_draws(renderer, &Skin::new(scene, model))?;
        stage.context.check()?;
        Ok(stage)
    }

    /// Binds everything that is drawn.
    fn make_draws(&self, renderer: &Renderer, skin: &Skin) -> Result<Draws> {
        let context = &self.context;
        let (vertices, values, range) = (&self.state.vertices, &self.measures.values, &self.measures.range);
        let programs = renderer.programs();
        let normals = storage(context, "normals", &vec![[0f32; 4]; skin.corners.len()])?;
        let triangles = storage(context, "triangles", &skin.triangles)?;
        let starts = storage(context, "fan starts", &skin.starts)?;
        let fans = storage(context, "fans", &skin.fans)?;
        let corners = storage(context, "corners", &skin.corners)?;
        let pieces = storage(context, "pieces", &skin.pieces)?;
        let [ball, cuboid] = props::shapes();
        let (ball_end, box_end) = (ball.len() as u32, (ball.len() + cuboid.len()) as u32);
        let shapes = storage(context, "shapes", &[ball, cuboid].concat())?;
        let frame = &self.frame;
        let is_box = props::placed(&self.obstacles, 0.0).into_iter().map(|(is_box, _)| is_box);
        let (shadow, shadow_map) = self.shadow_map(renderer);
        let wire: Vec<u32> = skin.edges.iter().flatten().copied().collect();
        let balls: Vec<MarkerItem> = skin.loose.iter().map(|&v| self.loose_ball(v)).collect();
        let loose = storage(context, "loose vertices", &balls)?;
        Ok(Draws {
            normals: Some(
                renderer.kernels().normals().bind(context, &[vertices, &triangles, &starts, &fans, &normals]),
            ),
            drawn_vertices: skin.corners.len() as u32,
            background: Some(programs.background.bind(context, &[frame])),
            ground: Some(programs.ground.bind(context, &[frame, &self.planes])),
            planes: props::planes(&self.obstacles, self.room.ground, &self.room.bounds, 0.0).len() as u32,
            surface: Some(
                programs.surface.bind(context, &[frame, vertices, &corners, &normals, values, range]),
            ),
            triangles: Some(indices(context, "drawn", skin.drawn.as_flattened())?),
            triangle_indices: 3 * skin.drawn.len() as u32,
            ribbon: Some(programs.ribbon.bind(context, &[frame, vertices, &pieces, values, range])),
            pieces: skin.pieces.len() as u32,
            obstacle: Some(programs.obstacle.bind(context, &[frame, &shapes, &self.placed])),
            obstacles: is_box.map(|b| if b { ball_end..box_end } else { 0..ball_end }).collect(),
            holder: Some(programs.marker.bind(context, &[frame, vertices, &self.holders])),
            holders: self.attachments.len() as u32,
            loose: Some(programs.marker.bind(context, &[frame, vertices, &loose])),
            loose_count: skin.loose.len() as u32,
            marker: Some(programs.marker.bind(context, &[frame, vertices, &self.markers])),
            markers: 0,
            wire: Some(programs.wire.bind(context, &[frame, vertices])),
            edges: Some(indices(context, "edges", &wire)?),
            edge_indices: wire.len() as u32,
            shadow: Some(shadow),
            shadow_map: Some(shadow_map),
        })
    }

    /// The shadow map: to be read, and to be drawn.
    fn shadow_map(&self, renderer: &Renderer) -> (wgpu::BindGroup, wgpu::TextureView) {
        let texture = self.context.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("shadow map"),
            size: wgpu::Extent3d {
                width: self.shadows.size,
                height: self.shadows.size,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: DEPTH,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        (renderer.bind_shadow(&view), view)
    }

    fn loose_ball(&self, vertex: u32) -> MarkerItem {
        let radius = (4.0 * BALL * self.room.bounds.radius()) as f32;
        MarkerItem { vertex, colour: linear(super::look::body_colour(0)), radius, ..MarkerItem::default() }
    }

    /// Sends places (m) and velocities (m/s) to the device. Nothing to do for [`Source::Device`].
    pub fn set_state(&mut self, positions: &[Vec3], velocities: &[Vec3]) {
        if self.on_device || positions.len() != self.mass.len() || velocities.len() != self.mass.len() {
            return;
        }
        let vertices = vertices(&self.mass, positions);
        let motions = motions(velocities);
        self.send(&self.state.vertices.clone(), bytemuck::cast_slice(&vertices));
        self.send(&self.state.motions.clone(), bytemuck::cast_slice(&motions));
    }

    /// Moves obstacles, attachments' points and stiffnesses to where they are at this time (s).
    pub fn set_time(&mut self, time: f64) {
        if self.time == time {
            return;
        }
        self.time = time;
        self.usage.uploaded += self.measures.set_time(&self.context, time);
        if self.obstacles.iter().any(|obstacle| obstacle.pose(time) != obstacle.pose(0.0)) || time == 0.0 {
            let planes = props::planes(&self.obstacles, self.room.ground, &self.room.bounds, time);
            let placed: Vec<PlacedItem> =
                props::placed(&self.obstacles, time).into_iter().map(|p| p.1).collect();
            self.send(&self.planes.clone(), bytemuck::cast_slice(&planes));
            self.send(&self.placed.clone(), bytemuck::cast_slice(&placed));
        }
        if self.attachments.iter().any(|attachment| attachment.path.is_some()) {
            let holders = held(&self.attachments, time, &self.room.bounds);
            self.send(&self.holders.clone(), bytemuck::cast_slice(&holders));
        }
    }

    /// The damping whose power is shown, and the time step (s) that its filter is applied once in.
    pub fn set_damping(&mut self, damping: &Damping, step: f64) {
        self.measures.set_damping(damping, step);
    }

    /// What to point at.
    pub fn set_markers(&mut self, renderer: &Renderer, markers: &[Marker]) -> Result<()> {
        let radius = (BALL * self.room.bounds.radius()) as f32;
        let in_model = markers.iter().filter(|marker| (marker.vertex as usize) < self.mass.len());
        let items: Vec<MarkerItem> = in_model
            .map(|marker| MarkerItem {
                other: marker.line,
                vertex: marker.vertex,
                colour: linear(marker.colour),
                flags: u32::from(marker.absolute),
                radius,
                width: 0.3 * radius,
                ..MarkerItem::default()
            })
            .collect();
        self.draws.markers = items.len() as u32;
        if size_of_val(&items[..]) as u64 > self.markers.size() {
            // some more, so that the next few need no new buffer
            let room = [items.clone(), vec![MarkerItem::default(); items.len()]].concat();
            self.markers = storage(&self.context, "markers", &room)?;
            let buffers = [&self.frame, &self.state.vertices, &self.markers];
            self.draws.marker = Some(renderer.programs().marker.bind(&self.context, &buffers));
        }
        self.send(&self.markers.clone(), bytemuck::cast_slice(&items));
        Ok(())
    }

    /// The box that everything is in at the start, with room for what will swing and fall: what a camera should see.
    pub fn bounds(&self) -> Bounds {
        self.room.bounds
    }

    /// Ends of the colour map when last drawn and told of; `None` before that, or where colours tell bodies. To be called
    /// after the commands of a drawing were submitted. With `wait` it is that of the drawing submitted last.
    pub fn range(&mut self, wait: bool) -> Result<Option<[f32; 2]>> {
        if self.range_state == Asked::Recorded {
            self.range_readback.request();
            self.range_state = Asked::Requested;
        }
        if self.range_state == Asked::Requested {
            if wait {
                self.context.wait()?;
            } else {
                self.context.poll()?;
            }
            if wait || self.range_readback.arrived() {
                let ends: Vec<f32> = self.range_readback.take(bytemuck::pod_collect_to_vec)?;
                self.range = Some([ends[0], ends[1]]);
                self.range_state = Asked::No;
            }
        }
        Ok(self.range)
    }

    /// Strain, energy density (J/m³), speed (m/s) and damping power density (W/m³) of every vertex when colours last told
    /// one of them. Waits for the device.
    pub fn values(&mut self) -> Result<Vec<[f32; 4]>> {
        let bytes = 16 * self.mass.len() as u64;
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let readback = Readback::new(&self.context, bytes);
        let device = &self.context.device;
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(&self.measures.values, 0, readback.buffer(), 0, bytes);
        self.context.queue.submit([encoder.finish()]);
        readback.request();
        self.context.wait()?;
        self.usage.downloaded += bytes;
        readback.take(bytemuck::pod_collect_to_vec)
    }

    /// Forgets the largest value so far.
    pub fn reset_range(&mut self) {
        self.measures.reset_range();
    }

    /// What crossed between host and device for drawing since the start.
    pub fn usage(&self) -> DeviceUse {
        self.usage
    }

    /// Tells the shaders what they need to know of a pane.
    pub(super) fn set_frame(&mut self, camera: &Camera, look: &Look, area: &Area, srgb: bool) {
        let frame = frame::frame(camera, look, area, &self.room.bounds, &self.shadows, srgb);
        self.send(&self.frame.clone(), bytemuck::bytes_of(&frame));
    }

    /// Measures what a look shows, and has the ends of the colour map sent.
    pub(super) fn measure(&mut self, renderer: &Renderer, encoder: &mut wgpu::CommandEncoder, look: &Look) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        if let (Some(group), 1..) = (&self.draws.normals, self.draws.drawn_vertices) {
            renderer.kernels().dispatch_normals(&mut pass, group, self.draws.drawn_vertices);
        }
        self.usage.uploaded += self.measures.measure(&self.context, renderer.kernels(), &mut pass, look);
        drop(pass);
        if look.colour == Colour::Body {
            self.range = None;
        } else if self.range_state != Asked::Requested {
            let to = self.range_readback.buffer();
            encoder.copy_buffer_to_buffer(&self.measures.range, 0, to, 0, 16);
            self.range_state = Asked::Recorded;
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

fn linear(srgb: [u8; 3]) -> [f32; 3] {
    srgb.map(|c| to_linear(f32::from(c) / 255.0))
}

fn vertices(mass: &[f32], positions: &[Vec3]) -> Vec<Vertex> {
    let vertex = |(x, &mass): (&Vec3, &f32)| {
        let (position, low) = contents::split(*x);
        Vertex { position, mass, low, held: 0.0 }
    };
    positions.iter().zip(mass).map(vertex).collect()
}

fn motions(velocities: &[Vec3]) -> Vec<Motion> {
    let motion = |v: &Vec3| Motion { velocity: [v.x as f32, v.y as f32, v.z as f32], ..Motion::default() };
    velocities.iter().map(motion).collect()
}

/// Where attachments hold, and a line to the vertices that are not there.
fn held(attachments: &[Attachment], time: f64, bounds: &Bounds) -> Vec<MarkerItem> {
    let radius = (BALL * bounds.radius()) as f32;
    let item = |attachment: &Attachment| {
        let at = attachment.target(time);
        MarkerItem {
            other: [at.x as f32, at.y as f32, at.z as f32],
            vertex: attachment.vertex,
            colour: linear(HELD),
            flags: 3,
            radius,
            width: 0.25 * radius,
            ..MarkerItem::default()
        }
    };
    attachments.iter().map(item).collect()
}
