//! Validation of materials: which fields belong to which model on which kind of mesh, and their ranges.

use super::material::{MATERIALS, MaterialModel};
use crate::scene::check::{Checked, check_times, fault, known, not_negative, positive, refuse_if};
use crate::scene::{Keyframes, Material, MatterKind};
use std::ops::RangeInclusive;

/// Factors of stiffness: beyond these products of forces leave the floating-point numbers before a run says why.
const FACTORS: RangeInclusive<f64> = 1e-9..=1e9;

/// Validates a material on a kind of mesh. `at` is its path, such as `body.0.material`. While the kind is unknown
/// (`None`: a mesh file that has not been read) only what holds for every kind is checked.
pub fn check_material(at: &str, material: &Material, kind: Option<MatterKind>) -> Checked {
    let names: Vec<&str> = MATERIALS.iter().map(|model| model.name).collect();
    known(format!("{at}.model"), &material.model, &names)?;
    let Some(model) = MATERIALS.iter().find(|model| model.name == material.model) else { return Ok(()) };
    if let Some(kind) = kind.filter(|kind| !model.kinds.contains(kind)) {
        let fitting: Vec<_> = MATERIALS.iter().filter(|m| m.kinds.contains(&kind)).map(|m| m.name).collect();
        return fault(
            format!("{at}.model"),
            format!("`{}` does not fit {}; expected {}", model.name, kind.noun(), fitting.join(" or ")),
        );
    }
    check_membership(at, material, model, kind)?;
    check_elasticity(at, material, model)?;
    check_ranges(at, material)?;
    check_yield(at, material)?;
    material
        .keyframes
        .as_ref()
        .map_or(Ok(()), |keyframes| check_keyframes(&format!("{at}.keyframes"), keyframes))
}

/// What yields has a rest shape that is one, and a rate needs something to be the rate of.
fn check_yield(at: &str, material: &Material) -> Checked {
    if material.yield_stress.is_none() {
        let idle = material.creep_rate.is_some();
        return if idle { fault(format!("{at}.creep_rate"), "needs a `yield_stress`") } else { Ok(()) };
    }
    match material.strain_limits {
        Some(limits) if limits != [1.0, 1.0] => fault(
            format!("{at}.yield_stress"),
            "does not go with `strain_limits`: between them a cloth has no stress to yield to",
        ),
        _ => Ok(()),
    }
}

fn check_keyframes(at: &str, keyframes: &Keyframes) -> Checked {
    check_times(at, &keyframes.times, "factors", keyframes.factors.len())?;
    match keyframes.factors.iter().enumerate().find(|(_, factor)| !FACTORS.contains(factor)) {
        Some((i, factor)) => {
            let (least, largest) = (FACTORS.start(), FACTORS.end());
            fault(format!("{at}.factors.{i}"), format!("must be from {least:e} to {largest:e}, got {factor}"))
        }
        None => Ok(()),
    }
}

/// The optional fields that are given.
fn given(material: &Material) -> Vec<&'static str> {
    let m = material;
    let fields = [
        ("mu", m.mu.is_some()),
        ("lambda", m.lambda.is_some()),
        ("young_modulus", m.young_modulus.is_some()),
        ("poisson_ratio", m.poisson_ratio.is_some()),
        ("curves", m.curves.is_some()),
        ("thickness", m.thickness.is_some()),
        ("strain_limits", m.strain_limits.is_some()),
        ("bending", m.bending.is_some()),
        ("bending_rest", m.bending_rest.is_some()),
        ("stiffness", m.stiffness.is_some()),
        ("shear_stiffness", m.shear_stiffness.is_some()),
        ("bending_stiffness", m.bending_stiffness.is_some()),
        ("yield_stress", m.yield_stress.is_some()),
        ("creep_rate", m.creep_rate.is_some()),
    ];
    fields.into_iter().filter(|field| field.1).map(|field| field.0).collect()
}

fn check_membership(
    at: &str,
    material: &Material,
    model: &MaterialModel,
    kind: Option<MatterKind>,
) -> Checked {
    for name in given(material) {
        let field = format!("{at}.{name}");
        match (model.fields.iter().find(|fields| fields.0.contains(&name)), kind) {
            (None, _) => {
                let fields: Vec<_> = model.fields.iter().flat_map(|fields| fields.0).copied().collect();
                let reads = fields.join(", ");
                return fault(field, format!("does not belong to `{}`, which reads {reads}", model.name));
            }
            (Some((_, kinds)), Some(kind)) if !kinds.contains(&kind) => {
                return fault(field, format!("means nothing for {}", kind.noun()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Stiffness must be given, and in one way only.
fn check_elasticity(at: &str, material: &Material, model: &MaterialModel) -> Checked {
    let missing = |name: &str, why: &str| fault(format!("{at}.{name}"), format!("is required {why}"));
    if model.name == "spring" {
        return if material.stiffness.is_some() { Ok(()) } else { missing("stiffness", "by `spring`") };
    }
    if model.name == "valanis-landel" {
        return if material.curves.is_some() { Ok(()) } else { missing("curves", "by `valanis-landel`") };
    }
    match (material.young_modulus, material.poisson_ratio) {
        (Some(_), None) => return missing("poisson_ratio", "with `young_modulus`"),
        (None, Some(_)) => return missing("young_modulus", "with `poisson_ratio`"),
        (Some(_), Some(_)) => {
            let doubled = [("mu", material.mu), ("lambda", material.lambda)];
            return match doubled.iter().find(|lame| lame.1.is_some()) {
                Some((name, _)) => fault(
                    format!("{at}.{name}"),
                    "follows from `young_modulus` and `poisson_ratio`: give one way",
                ),
                None => Ok(()),
            };
        }
        (None, None) => {}
    }
    if material.mu.is_none() {
        return missing("mu", &format!("by `{}`, or `young_modulus` with `poisson_ratio`", model.name));
    }
    let reads_lambda = model.fields.iter().any(|fields| fields.0.contains(&"lambda"));
    if reads_lambda && material.lambda.is_none() {
        return missing("lambda", &format!("by `{}` with `mu`", model.name));
    }
    Ok(())
}

fn check_ranges(at: &str, material: &Material) -> Checked {
    let message = "give `density` or `mass`, not both";
    refuse_if(material.density.is_some() && material.mass.is_some(), format!("{at}.mass"), message)?;
    if material.vertex_mass.is_some() && (material.density.is_some() || material.mass.is_some()) {
        return fault(format!("{at}.vertex_mass"), "give `density`, `mass` or `vertex_mass`, one of them");
    }
    let m = material;
    let above_zero = [
        ("mu", m.mu),
        ("young_modulus", m.young_modulus),
        ("density", m.density),
        ("mass", m.mass),
        ("vertex_mass", m.vertex_mass),
        ("thickness", m.thickness),
        ("stiffness", m.stiffness),
        ("yield_stress", m.yield_stress),
        ("creep_rate", m.creep_rate),
    ];
    for (name, value) in above_zero {
        value.map_or(Ok(()), |value| positive(format!("{at}.{name}"), value))?;
    }
    let from_zero = [
        ("lambda", m.lambda),
        ("bending", m.bending),
        ("shear_stiffness", m.shear_stiffness),
        ("bending_stiffness", m.bending_stiffness),
    ];
    for (name, value) in from_zero {
        value.map_or(Ok(()), |value| not_negative(format!("{at}.{name}"), value))?;
    }
    if let Some(poisson) = m.poisson_ratio.filter(|poisson| !(0.0..0.5).contains(poisson)) {
        return fault(format!("{at}.poisson_ratio"), format!("must be from 0 to below 0.5, got {poisson}"));
    }
    match m.strain_limits {
        Some([low, high]) if !((0.0..=1.0).contains(&low) && high >= 1.0) => fault(
            format!("{at}.strain_limits"),
            format!("must be [low, high] with 0 ≤ low ≤ 1 ≤ high, got [{low}, {high}]"),
        ),
        _ => Ok(()),
    }
}
