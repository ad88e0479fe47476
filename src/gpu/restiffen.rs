//! Bodies that become stiffer or softer while they move: their elements are sent anew.

use super::Gpu;
use super::buffer::{Buffer, Contents};
use super::contents;
use super::kernel::Id;
use crate::Result;
use crate::cpu::Scalar;
use crate::step::clock::Phase;
use crate::step::form::Form;
use crate::step::stiffness::Stiffness;
use std::sync::Arc;

/// The buffers that hold the weights of elements.
const ELEMENTS: [Buffer; 4] = [Buffer::Tets, Buffer::Triangles, Buffer::Springs, Buffer::Bendings];

/// Elements' energies into their partial sums: slot 0 all of it, slot 2 what they gained by the last change.
pub(super) const OBSERVE_ELEMENTS: [Id; 4] =
    [Id::observe_tet, Id::observe_triangle, Id::observe_spring, Id::observe_bending];

impl<T: Scalar> Gpu<T> {
    /// Sends the elements with their new weights. An element is told what share of its energy it has gained, (s' − s)/s',
    /// so that the device can sum up the work Σ (s' − s) E(x_n) by itself.
    pub(super) fn restiffen(&mut self, stiffness: &Stiffness, as_work: bool) -> Result<()> {
        if self.stiffness.factors != stiffness.factors {
            let pairs = stiffness.factors.iter().zip(&self.stiffness.factors);
            let gained: Vec<f64> = pairs.map(|(new, old)| (new - old) / new).collect();
            self.vertex_stiffness = self.given.by_vertex(&stiffness.factors);
            // the first time this makes a copy of its own; the model that others see stays as it was built
            Arc::make_mut(&mut self.model).set_weights(&self.given, &self.vertex_stiffness);
            self.send_elements(&self.given.by_vertex(&gained))?;
            if as_work {
                self.stream.phase(Phase::Predict);
                OBSERVE_ELEMENTS.into_iter().try_for_each(|id| self.stream.kernel(id))?;
                self.stream.kernel(Id::reduce_stiffening)?;
            }
        }
        if !as_work {
            // a new start
            self.stiffest.clone_from(&stiffness.metric);
        }
        for (stiffest, metric) in self.stiffest.iter_mut().zip(&stiffness.metric) {
            *stiffest = stiffest.max(*metric);
        }
        self.stiffness.clone_from(stiffness);
        Ok(())
    }

    /// Sends what a change of stiffness has changed once more, for the device may have forgotten it.
    pub(super) fn resend_elements(&mut self) -> Result<()> {
        match Arc::ptr_eq(&self.given, &self.model) {
            true => Ok(()),
            false => self.send_elements(&vec![0.0; self.model.vertex_count()]),
        }
    }

    fn send_elements(&mut self, gained: &[f64]) -> Result<()> {
        let mut all = Contents::empty();
        contents::elements(&self.model, gained, &mut all)?;
        contents::surfaces(&self.model, gained, &mut all)?;
        for buffer in ELEMENTS {
            if !all.bytes(buffer).is_empty() {
                self.stream.upload(buffer, all.bytes(buffer));
            }
        }
        self.laplacian_is_old = true;
        Ok(())
    }

    /// Sends L as stiff as the bodies are now, if the device has an older one and a step of this form reads it.
    pub(super) fn send_laplacian(&mut self, form: &Form) -> Result<()> {
        if self.laplacian_is_old && (self.is_resident() || form.stiffness_damping != 0.0) {
            let (_, entries) = contents::laplacian(&self.laplacian, &self.vertex_stiffness)?;
            if !entries.is_empty() {
                self.stream.upload(Buffer::LaplacianEntries, bytemuck::cast_slice(&entries));
            }
            self.laplacian_is_old = false;
        }
        Ok(())
    }
}
