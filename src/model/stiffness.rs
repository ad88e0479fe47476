//! The weights of a model whose bodies are stiffer or softer than it gives them.

use super::Model;

impl Model {
    /// The factor of its body for every vertex, of factors one a body.
    pub fn by_vertex(&self, factors: &[f64]) -> Vec<f64> {
        let mut all = vec![1.0; self.vertex_count()];
        for (body, factor) in self.bodies.iter().zip(factors) {
            all[body.vertices.clone()].fill(*factor);
        }
        all
    }

    /// Sets the weights of all elastic elements to those of `given` times the factor of the element's vertices: E = s w/2
    /// |G x − p|². Attachments stay, see [`Model::set_active_attachments`].
    ///
    /// `self` is a copy of `given` that a backend computes with; the model of a simulation itself never changes.
    pub(crate) fn set_weights(&mut self, given: &Model, by_vertex: &[f64]) {
        // an element's vertices are all of one body; where bodies are joined, all factors are 1
        let factor = |vertex: u32| by_vertex[vertex as usize];
        for (e, from) in self.tets.iter_mut().zip(&given.tets) {
            let s = factor(e.vertices[0]);
            (e.shape_weight, e.volume_weight) = (s * from.shape_weight, s * from.volume_weight);
        }
        for (e, from) in self.triangles.iter_mut().zip(&given.triangles) {
            e.weight = factor(e.vertices[0]) * from.weight;
        }
        for (e, from) in self.springs.iter_mut().zip(&given.springs) {
            e.weight = factor(e.vertices[0]) * from.weight;
        }
        for (e, from) in self.bendings.iter_mut().zip(&given.bendings) {
            e.weight = factor(e.vertices[0]) * from.weight;
        }
    }

    /// Sets the stiffnesses of attachments to those of `given`, or to 0 where they do not hold.
    pub(crate) fn set_active_attachments(&mut self, given: &Model, active: &[bool]) {
        for ((a, from), holds) in self.attachments.iter_mut().zip(&given.attachments).zip(active) {
            a.stiffness = if *holds { from.stiffness } else { 0.0 };
        }
    }
}
