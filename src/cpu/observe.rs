//! Energies, momenta and strain of the state, in f64.

use crate::Vec3;
use crate::elastic::{Local, Scalar};
use crate::ledger::Observation;
use crate::linear::reduce::{sum, sums};
use crate::model::{Element, Model};

pub fn observe<T: Scalar>(
    model: &Model,
    local: &Local<T>,
    x: &[Vec3],
    v: &[Vec3],
    targets: &[Vec3],
) -> Observation {
    let [kinetic, gravity, mass, px, py, pz, lx, ly, lz, cx, cy, cz] = sums(x.len(), |i| {
        let (m, x, v) = (model.mass[i], x[i], v[i]);
        let (p, l, c) = (v * m, x.cross(&v) * m, x * m);
        let (kinetic, gravity) = (0.5 * v.dot(&p), -model.gravity.dot(&c));
        [kinetic, gravity, m, p.x, p.y, p.z, l.x, l.y, l.z, c.x, c.y, c.z]
    });
    let tets = local.observe_tets(x);
    let elastic = tets.energy + others(model, x);
    let attachment = sum(model.attachments.len(), |k| {
        let a = &model.attachments[k];
        0.5 * a.stiffness * (x[a.vertex as usize] - targets[k]).norm_squared()
    });
    Observation {
        kinetic,
        elastic,
        gravity,
        contact: 0.0,
        attachment,
        momentum: Vec3::new(px, py, pz),
        angular_momentum: Vec3::new(lx, ly, lz),
        centre: Vec3::new(cx, cy, cz) / mass,
        min_volume_ratio: if model.tets.is_empty() { 1.0 } else { tets.least_volume_ratio },
        inverted: tets.inverted,
    }
}

/// Elastic energy of all elements (J).
pub fn elastic<T: Scalar>(model: &Model, local: &Local<T>, x: &[Vec3]) -> f64 {
    local.observe_tets(x).energy + others(model, x)
}

/// Elastic energy of all elements but the tetrahedra (J).
fn others(model: &Model, x: &[Vec3]) -> f64 {
    let bending = sum(model.bendings.len(), |k| model.bendings[k].energy(x));
    energy(&model.triangles, x) + energy(&model.springs, x) + bending
}

fn energy<const N: usize, const R: usize, E: Element<N, R>>(elements: &[E], x: &[Vec3]) -> f64 {
    sum(elements.len(), |k| elements[k].energy(x))
}
