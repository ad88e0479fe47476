//! Claims of *Laplacian Damping for Projective Dynamics*.

use super::{Axis, Bound, Claim, Curve, Figure, Panel, Study};
use crate::Result;

pub const CLAIMS: &[Claim] = &[Claim {
    id: "momentum",
    place: "Section 4",
    says: "Laplacian damping conserves linear momentum exactly, since L · 1 = 0.",
    runs: "A stretched cube that flies and spins, `cube` at α₂ = 1 ms, for 5 s.",
    quick: true,
    study: momentum,
    ..Claim::PHYSICS
}];

fn momentum(study: &mut Study) -> Result<()> {
    let settings = ["damping.stiffness=1e-3", "body.0.velocity=[1,2,0]", "gravity=[0,0,0]"];
    let motion = study.run("cube", &settings, 150)?;
    let of = |row: &crate::ledger::Row| nalgebra::Vector3::from(row.momentum);
    let (start, end) = (of(&motion.rows[0]), of(motion.last()));
    let lost = (end - start).norm() / start.norm();
    // rounding of 150 steps of some thousand additions
    study.measure("momentum lost", "0", lost, "of it", Bound::Below(1e-10));
    let damped = motion.last().damped / motion.rows[0].elastic;
    study.measure("taken by damping, of the elastic energy", "", damped, "", Bound::Above(0.1));
    let energies = vec![
        Curve::new("elastic", motion.over_time(|row| row.elastic)),
        Curve::new("taken by damping", motion.over_time(|row| row.damped)),
    ];
    let energies = Panel::over_time("Energies", Axis::linear("energy (J)"), energies);
    let away = motion.over_time(|row| (of(row) - start).norm() / start.norm() + 1e-17);
    let away = Panel::over_time("Momentum lost, of it", Axis::logarithmic(""), vec![Curve::new("", away)]);
    study.plot("energies", "Energies and momentum of the damped cube.", &Figure::new(vec![energies, away]))
}
