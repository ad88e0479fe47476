//! Damping models that change the velocities after a step.

use super::Cpu;
use crate::damping::{Filter, Neighbours, direct, ether_drag, pbd, spring, strain_rate};
use crate::elastic::Scalar;

impl<T: Scalar> Cpu<T> {
    /// Changes v.
    pub(super) fn damp(&mut self, filter: &Filter) {
        let (model, x, v) = (&*self.model, &self.x[..], &mut self.v[..]);
        let known = &mut self.neighbours;
        match *filter {
            Filter::EtherDrag { coefficient } => ether_drag::filter(v, coefficient),
            Filter::Pbd { coefficient } => {
                for body in &model.bodies {
                    let range = body.vertices.clone();
                    let (mass, x) = (&model.mass[range.clone()], &x[range.clone()]);
                    pbd::filter(mass, x, &mut v[range], coefficient);
                }
            }
            Filter::Spring { gamma, sweeps, projected } => {
                let neighbours = known.get_or_insert_with(|| Neighbours::new(model));
                spring::filter(neighbours, &model.mass, x, v, (gamma, sweeps, projected));
            }
            Filter::Direct { gamma, global, local } => {
                let neighbours = &*known.get_or_insert_with(|| Neighbours::new(model));
                if let Some(torque) = global {
                    direct::global(model, neighbours, x, v, gamma, torque);
                }
                if let Some(torque) = local {
                    direct::local(neighbours, &model.mass, x, v, gamma, torque);
                }
            }
            Filter::StrainRate { viscosity } => {
                let parts = &*self
                    .viscous_parts
                    .get_or_insert_with(|| strain_rate::Parts::new(&self.given, viscosity));
                strain_rate::filter(parts, &model.mass, x, v, self.last_step);
            }
        }
    }
}
