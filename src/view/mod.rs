//! Pictures of a simulation, rendered on the device that computes it.
//!
//! A [`Renderer`] holds the pipelines for a device and a texture format. A [`RenderScene`] is what is drawn of one
//! simulation: it reads the GPU backend's positions in place, or receives those of the CPU backend. A [`Pane`] is such
//! a scene seen by a camera in a part of a picture; several panes make one picture.
//!
//! Architecture invariant: drawing reads the state of a simulation and never writes it.

pub mod annotate;
pub mod camera;
pub mod canvas;
pub(crate) mod chart;
pub mod cost_chart;
mod frame;
pub mod look;
mod memory;
pub mod pick;
mod pipelines;
pub mod plot;
mod program;
pub mod record;
pub mod render_scene;
pub mod renderer;
mod scene_bounds;
pub mod screen;
mod static_geometry;
mod vertex_quantities;
mod visible_geometry;

pub use camera::{Bounds, Camera, Ray};
pub use canvas::{Canvas, Picture};
pub use look::{Colour, Look};
pub use pick::{Hit, Picker};
use pipelines::{Draws, Kernels};
pub use render_scene::{Marker, RenderScene, Source};
pub use renderer::Renderer;
pub use screen::{Area, Pane, Screen};
