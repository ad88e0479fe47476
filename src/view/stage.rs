//! What is drawn of one simulation: its surfaces, strands, obstacles and what holds it, in buffers on the device.

use super::camera::Bounds;
use super::renderer::Renderer;
use crate::damping::Damping;
use crate::gpu;
use crate::model::Model;
use crate::scene::Scene;
use crate::step::backend::DeviceUse;
use crate::{Result, Vec3};

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

/// One simulation on the device, ready to be drawn.
pub struct Stage {
    bounds: Bounds,
    usage: DeviceUse,
}

impl Stage {
    /// The model of a scene at its initial state.
    pub fn new(_renderer: &Renderer, _scene: &Scene, model: &Model, _source: Source) -> Result<Self> {
        Ok(Stage { bounds: Bounds::of(&model.initial_positions), usage: DeviceUse::default() })
    }

    /// Sends places (m) and velocities (m/s) to the device. Nothing to do for [`Source::Device`].
    pub fn set_state(&mut self, _positions: &[Vec3], _velocities: &[Vec3]) {}

    /// Moves obstacles, attachments' points and stiffnesses to where they are at this time (s).
    pub fn set_time(&mut self, _time: f64) {}

    /// The damping whose power is shown, and the time step (s) that its filter is applied once in.
    pub fn set_damping(&mut self, _damping: &Damping, _step: f64) {}

    /// What to point at.
    pub fn set_markers(&mut self, _markers: &[Marker]) {}

    /// The box that everything is in at the start, with room for what will swing and fall: what a camera should see.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Ends of the colour map when last drawn and told of; `None` before that, or where colours tell bodies.
    /// With `wait` it is that of the drawing submitted last.
    pub fn range(&mut self, _wait: bool) -> Result<Option<[f32; 2]>> {
        Ok(None)
    }

    /// Forgets the largest value so far.
    pub fn reset_range(&mut self) {}

    /// What crossed between host and device for drawing since the start.
    pub fn usage(&self) -> DeviceUse {
        self.usage
    }
}
