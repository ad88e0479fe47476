//! Twins: every kernel a second time on the host, under the same name and on the same buffers.
//!
//! Inputs and outputs are the device's single-precision buffers; in between is double precision and, where available,
//! the production code of the CPU backend. For every number it writes, a twin returns the magnitude of the terms
//! behind it: that times a few ulps bounds the kernel's error.

mod conservation;
mod conserved_body;
mod conserved_solve;
mod contact;
mod direct;
mod examples;
mod explicit;
mod fronts;
mod iterations;
mod law;
mod merit;
mod pairs;
mod rigid;
mod search;
mod solve;
mod surface;
mod tet;
mod vertex;
mod whole;

pub use conservation::*;
pub use conserved_body::{aim_body, reduce_momenta};
pub use conserved_solve::*;
pub use contact::*;
pub use direct::*;
pub use examples::*;
pub use explicit::*;
pub use fronts::*;
pub use iterations::*;
pub use merit::*;
pub use pairs::*;
pub use rigid::*;
pub use search::*;
pub use solve::*;
pub use surface::*;
pub use tet::*;
pub use vertex::*;
use whole::NO_MINIMUM;
pub use whole::*;

use super::buffer::{Buffer, Contents};
use super::kernel::Magnitudes;
use super::layout::*;
use crate::Vec3;
use std::ops::Index;

/// A vector and the magnitude of the terms in its sum.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum {
    pub value: Vec3,
    /// Sum of the terms' lengths.
    pub size: f64,
}

impl Sum {
    pub fn add(&mut self, term: Vec3) {
        self.add_sized(term, term.norm());
    }

    /// The same, multiplied with a number that is not negative.
    pub fn times(&self, factor: f64) -> Sum {
        Sum { value: self.value * factor, size: self.size * factor }
    }

    /// Adds a term that is itself a sum of larger ones.
    pub fn add_sized(&mut self, term: Vec3, size: f64) {
        self.value += term;
        self.size += size;
    }
}

/// The output of a twin to one buffer.
pub struct Output {
    buffer: Buffer,
    magnitudes: Vec<f32>,
}

impl Output {
    /// For a buffer that has not been written yet.
    pub fn to(all: &Contents, buffer: Buffer) -> Self {
        Output { buffer, magnitudes: vec![0.0; all.items::<f32>(buffer).len()] }
    }

    /// Writes number `index` of the buffer, whose terms have size `magnitude`.
    pub fn number(&mut self, all: &mut Contents, index: usize, value: f64, magnitude: f64) {
        all.items_mut::<f32>(self.buffer)[index] = value as f32;
        self.magnitudes[index] = magnitude as f32;
    }

    /// Writes three numbers starting at `index`.
    pub fn vector(&mut self, all: &mut Contents, index: usize, sum: &Sum) {
        (0..3).for_each(|axis| self.number(all, index + axis, sum.value[axis], sum.size));
    }

    /// The magnitudes of everything written.
    pub fn done(self) -> Magnitudes {
        vec![(self.buffer, self.magnitudes)]
    }
}

/// A device vector in double precision.
pub fn wide(v: &(impl Index<usize, Output = f32> + ?Sized)) -> Vec3 {
    Vec3::new(f64::from(v[0]), f64::from(v[1]), f64::from(v[2]))
}

/// Position of a vertex (m).
pub fn place(vertex: &Vertex) -> Vec3 {
    wide(&vertex.position) + wide(&vertex.low)
}

/// The numbers of the step.
pub fn step(all: &Contents) -> Step {
    all.small(Buffer::Step, 0)
}

/// How far the iterations have come.
pub fn iteration_state(all: &Contents) -> IterationState {
    all.small(Buffer::IterationState, 0)
}

/// Whether the iterations of the step have ended: kernels of an iteration then do nothing.
pub fn is_over(all: &Contents) -> bool {
    all.small::<IterationState>(Buffer::IterationState, 0).done != 0
}

/// The counts of everything.
pub fn sizes(all: &Contents) -> Sizes {
    all.small(Buffer::Sizes, 0)
}
