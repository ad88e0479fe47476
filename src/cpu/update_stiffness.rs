//! Bodies that become stiffer or softer while they move or get other rest shapes, attachments that take hold or let go.

use super::{Cpu, observe};
use crate::Result;
use crate::elastic::Scalar;
use crate::model::rest::RestShapes;
use crate::solve::stiffness::Stiffness;
use std::sync::Arc;

impl<T: Scalar> Cpu<T> {
    /// Sets the weights of all elements, and which attachments hold. The work is Σ (s' − s) E(x_n): the energy of elements that weigh s' − s.
    pub(super) fn update_stiffness(&mut self, stiffness: &Stiffness, as_work: bool) {
        if self.stiffness.factors != stiffness.factors {
            if as_work {
                let change =
                    stiffness.factors.iter().zip(&self.stiffness.factors).map(|(new, old)| new - old);
                self.set_weights(&change.collect::<Vec<f64>>());
                self.exchanged.work += observe::elastic(&self.model, &self.local, &self.x);
            }
            self.set_weights(&stiffness.factors);
            self.forces.forget();
        }
        if self.stiffness.active != stiffness.active {
            self.forces.forget();
            Arc::make_mut(&mut self.model).set_active_attachments(&self.given, &stiffness.active);
        }
        self.stiffness.clone_from(stiffness);
    }

    /// Gives the elements other rest shapes; with `metric` L follows.
    pub(super) fn update_rest_shapes(&mut self, shapes: &RestShapes, metric: bool) -> Result<()> {
        self.forces.forget();
        let model = Arc::make_mut(&mut self.model);
        model.set_rest_shapes(shapes);
        self.local.set_rest_shapes(model);
        if metric {
            self.laplacian = self.given.laplacian_of(shapes)?;
            self.rest += 1;
            self.viscous = None; // products with the L before
        }
        Ok(())
    }

    fn set_weights(&mut self, factors: &[f64]) {
        self.vertex_stiffness = self.given.by_vertex(factors);
        // the first time this makes a copy of its own; the model that others see stays as it was built
        Arc::make_mut(&mut self.model).set_weights(&self.given, &self.vertex_stiffness);
        self.local.set_weights(&self.model);
    }
}
