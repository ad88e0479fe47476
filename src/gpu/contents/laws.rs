//! Laws of elasticity by their numbers, and the curves of Valanis and Landel's.

use super::Range;
use crate::Result;
use crate::gpu::buffer::{Buffer, Contents};
use crate::gpu::layout::{CurvePiece, law};
use crate::model::law::curves::Curves;
use crate::model::{Law, Model, TriangleLaw};
use std::sync::Arc;

/// The numbers of a model's laws, the same for as long as its elements obey the same ones.
pub struct Laws {
    /// Sets of curves and their numbers.
    sets: Vec<(Arc<Curves>, u32)>,
    next: u32,
}

impl Laws {
    /// Of all elements.
    pub fn of(model: &Model) -> Self {
        let mut laws = Laws { sets: Vec::new(), next: law::VALANIS_LANDEL };
        model.tets.iter().for_each(|e| laws.know(&e.law));
        for e in &model.triangles {
            if let TriangleLaw::Plane { law, .. } = &e.law {
                laws.know(law);
            }
        }
        laws
    }

    fn know(&mut self, law: &Law) {
        if let Law::ValanisLandel(curves) = law
            && self.find(curves).is_none()
        {
            self.sets.push((curves.clone(), self.next));
            self.next +=
                [&curves.f, &curves.g, &curves.h].map(|curve| curve.pieces.len() as u32).iter().sum::<u32>();
        }
    }

    fn find(&self, curves: &Arc<Curves>) -> Option<u32> {
        let same = |known: &Arc<Curves>| Arc::ptr_eq(known, curves) || known == curves;
        self.sets.iter().find(|(known, _)| same(known)).map(|(_, number)| *number)
    }

    /// The number of one of them.
    pub fn number(&self, of: &Law) -> u32 {
        match of {
            Law::Projective => law::PROJECTIVE,
            Law::StVenantKirchhoff => law::ST_VENANT_KIRCHHOFF,
            Law::NeoHookean => law::NEO_HOOKEAN,
            Law::CorotatedLinear => law::COROTATED_LINEAR,
            Law::ValanisLandel(curves) => self.find(curves).unwrap_or(law::VALANIS_LANDEL),
        }
    }
}

/// The laws of the tetrahedra, and all curves: for every set f′, g′ and h′.
pub fn laws(model: &Model, all: &mut Contents) -> Result<()> {
    let laws = Laws::of(model);
    let mut pieces = Vec::new();
    for (number, (curves, _)) in laws.sets.iter().enumerate() {
        let range = Range { what: "set of curves", number };
        for curve in [&curves.f, &curves.g, &curves.h] {
            let end = (pieces.len() + curve.pieces.len()) as u32;
            for piece in &curve.pieces {
                range.check("coefficient", piece.coefficients.iter())?;
                pieces.push(CurvePiece {
                    coefficients: piece.coefficients.map(|c| c as f32),
                    start: range.of("stretch", piece.start)?,
                    integral: range.of("integral", piece.integral)?,
                    at_rest: range.of("value at rest", curve.at_rest)?,
                    end,
                });
            }
        }
    }
    let numbers: Vec<u32> = model.tets.iter().map(|e| laws.number(&e.law)).collect();
    all.set(Buffer::TetLaws, &numbers);
    all.set(Buffer::Curves, &pieces);
    Ok(())
}
