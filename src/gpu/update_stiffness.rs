//! Re-uploads data that changes during a run: stiffness, rest shapes, and attachments that switch on or off.

use super::{Buffer, Contents, Gpu, Id, Vertex, contents};
use crate::Result;
use crate::elastic::Scalar;
use crate::model::rest::RestShapes;
use crate::solve::stiffness::Stiffness;
use crate::step::{Phase, StepCoefficients};
use std::sync::Arc;

/// The buffers with element weights.
const ELEMENTS: [Buffer; 4] = [Buffer::Tets, Buffer::Triangles, Buffer::Springs, Buffer::Bendings];

/// Sums of element energies: slot 0 all of it, slot 2 the gain by the last stiffness change.
pub(super) const OBSERVE_ELEMENTS: [Id; 4] =
    [Id::observe_tet, Id::observe_triangle, Id::observe_spring, Id::observe_bending];

impl<T: Scalar> Gpu<T> {
    /// Uploads the elements with new weights. Each element also gets the fraction of its energy that it gained, (s' −
    /// s)/s', so that the device can sum the work Σ (s' − s) E(x_n).
    pub(super) fn update_stiffness(&mut self, stiffness: &Stiffness, as_work: bool) -> Result<()> {
        if self.stiffness.factors != stiffness.factors {
            self.has_force = false;
            let pairs = stiffness.factors.iter().zip(&self.stiffness.factors);
            let gained: Vec<f64> = pairs.map(|(new, old)| (new - old) / new).collect();
            let by_vertex = self.given.by_vertex(&stiffness.factors);
            // the first change makes a private copy; the model that others see stays as built
            Arc::make_mut(&mut self.model).set_weights(&self.given, &by_vertex);
            self.send_elements(&self.given.by_vertex(&gained))?;
            if as_work {
                self.stream.phase(Phase::Predict);
                OBSERVE_ELEMENTS.into_iter().try_for_each(|id| self.stream.kernel(id))?;
                self.stream.kernel(Id::reduce_stiffening)?;
            }
        }
        if !as_work {
            // restart
            self.max_stiffness_factors.clone_from(&stiffness.metric.factors);
        }
        for (stiffest, metric) in self.max_stiffness_factors.iter_mut().zip(&stiffness.metric.factors) {
            *stiffest = stiffest.max(*metric);
        }
        let (active, held) = (&stiffness.active, &stiffness.metric.active);
        if self.stiffness.active != *active || self.stiffness.metric.active != *held {
            self.has_force = false;
            Arc::make_mut(&mut self.model).set_active_attachments(&self.given, active);
            self.send_attachments(held)?;
        }
        self.stiffness.clone_from(stiffness);
        Ok(())
    }

    /// Uploads the elements with new rest shapes; with `metric`, L follows.
    pub(super) fn update_rest_shapes(&mut self, shapes: &RestShapes, metric: bool) -> Result<()> {
        self.has_force = false;
        Arc::make_mut(&mut self.model).set_rest_shapes(shapes);
        self.send_elements(&vec![0.0; self.model.vertex_count()])?;
        if metric {
            self.laplacian = self.given.laplacian_of(shapes)?;
            self.rest += 1;
            self.laplacian_sent.clear();
        }
        Ok(())
    }

    /// Uploads the stiffness of all attachments and each vertex's share in the metric; `held` marks the active ones.
    fn send_attachments(&mut self, held: &[bool]) -> Result<()> {
        let mut all = Contents::empty();
        contents::attachments(&self.model, &mut all)?;
        self.send(Buffer::Attachments, all.bytes(Buffer::Attachments));
        self.stream.submit()?;
        let mut vertices = self.stream.read_items::<Vertex>(Buffer::Vertices)?;
        let stiffness = self.given.stiffness_of(|number| held[number]);
        vertices
            .iter_mut()
            .zip(stiffness)
            .for_each(|(vertex, held)| vertex.attachment_stiffness = held as f32);
        self.stream.write(Buffer::Vertices, bytemuck::cast_slice(&vertices));
        Ok(())
    }

    /// Re-uploads stiffness-dependent data that the device may have lost.
    pub(super) fn resend_stiffness(&mut self) -> Result<()> {
        for sent in [&mut self.laplacian_sent, &mut self.viscosity_sent] {
            if sent.iter().any(|factor| *factor != 1.0) {
                sent.clear();
            }
        }
        if self.rest > 0 {
            self.laplacian_sent.clear();
        }
        match Arc::ptr_eq(&self.given, &self.model) {
            true => Ok(()),
            false => {
                self.send_elements(&vec![0.0; self.model.vertex_count()])?;
                let held = self.stiffness.metric.active.clone();
                self.send_attachments(&held)
            }
        }
    }

    fn send_elements(&mut self, gained: &[f64]) -> Result<()> {
        let mut all = Contents::empty();
        contents::elements(&self.model, gained, &mut all)?;
        contents::surfaces(&self.model, gained, &mut all)?;
        ELEMENTS.into_iter().for_each(|buffer| self.send(buffer, all.bytes(buffer)));
        Ok(())
    }

    fn send(&mut self, buffer: Buffer, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.stream.upload(buffer, bytes);
        }
    }

    /// Uploads L at the metric's stiffness, and its factors in the damping, if they changed and a step of this form
    /// uses them.
    pub(super) fn send_laplacian(&mut self, coefficients: &StepCoefficients) -> Result<()> {
        let metric = &self.stiffness.metric.factors;
        let damped = coefficients.stiffness_damping != 0.0;
        // a factor on the device has L in it
        if (!self.inner.is_empty() || damped) && self.laplacian_sent != *metric {
            let (_, entries) = contents::laplacian(&self.laplacian, &self.given.by_vertex(metric))?;
            self.laplacian_sent.clone_from(metric);
            self.send(Buffer::LaplacianEntries, bytemuck::cast_slice(&entries));
        }
        let viscosity =
            self.stiffness.factors.iter().zip(&self.stiffness.metric.factors).map(|(s, metric)| s / metric);
        let viscosity: Vec<f64> = viscosity.collect();
        if damped && self.viscosity_sent != viscosity {
            let rows = self.given.by_vertex(&viscosity).into_iter().map(|factor| factor as f32);
            self.send(Buffer::Viscosity, bytemuck::cast_slice(&rows.collect::<Vec<f32>>()));
            self.viscosity_sent = viscosity;
        }
        Ok(())
    }
}
