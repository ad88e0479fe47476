//! How stiff the bodies are, in the forces and in the metric A.

use crate::model::Model;

/// What a metric is made for.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricParams {
    /// Factors of the weights of all elastic elements, one a body.
    pub factors: Vec<f64>,
    /// Which attachments hold, in the order of the model.
    pub active: Vec<bool>,
}

impl MetricParams {
    /// As the model says, all attachments active.
    pub fn as_given(model: &Model) -> Self {
        MetricParams { factors: vec![1.0; model.bodies.len()], active: vec![true; model.attachments.len()] }
    }
}

/// How stiff the bodies are: factors of the weights of all elastic elements of the model, one a body, and which attachments
/// hold. Masses do not change.
#[derive(Debug, Clone, PartialEq)]
pub struct Stiffness {
    /// In the gradient, the energy and the damping.
    pub factors: Vec<f64>,
    /// Which attachments hold, in the order of the model.
    pub active: Vec<bool>,
    /// In the metric A of the next step: factors are nearly the true ones.
    pub metric: MetricParams,
    /// In the metric that will be asked for after this one, so that it can be made ready meanwhile.
    pub next_metric: Option<MetricParams>,
}

impl Stiffness {
    /// As the model says.
    pub fn as_given(model: &Model) -> Self {
        let metric = MetricParams::as_given(model);
        Stiffness {
            factors: metric.factors.clone(),
            active: metric.active.clone(),
            metric,
            next_metric: None,
        }
    }
}
