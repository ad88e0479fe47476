//! Strands that hang from a round patch.

use super::{affordable, at_least, length};
use crate::Vec3;
use crate::error::InputError;
use crate::mesh::{Link, LinkKind, Mesh};

/// Strands down −y from a patch of radius `radius` in the xz plane about the origin.
///
/// Vertices go strand by strand from root to tip. The roots lie like the seeds of a sunflower:
/// root k of n at distance radius·√((k+½)/n), turned by the golden angle from the one before.
pub(super) fn hair(
    strands: usize,
    segments: usize,
    strand_length: f64,
    radius: f64,
) -> Result<Mesh, InputError> {
    at_least("strands", strands, 1)?;
    at_least("segments", segments, 1)?;
    length("length", strand_length)?;
    length("radius", radius)?;
    affordable("strands", &[strands, segments.saturating_add(1)])?;

    let golden_angle = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let mut mesh = Mesh::default();
    for strand in 0..strands {
        let distance = radius * ((strand as f64 + 0.5) / strands as f64).sqrt();
        let (sine, cosine) = (strand as f64 * golden_angle).sin_cos();
        let root = mesh.positions.len() as u32;
        mesh.positions.extend((0..=segments).map(|i| {
            Vec3::new(distance * cosine, -strand_length * i as f64 / segments as f64, distance * sine)
        }));
        let chain = |reach: u32, kind| {
            (root..=root + segments as u32 - reach).map(move |v| Link { vertices: [v, v + reach], kind })
        };
        mesh.links.extend(chain(1, LinkKind::Structural));
        if segments > 1 {
            mesh.links.extend(chain(2, LinkKind::Bending));
        }
    }
    Ok(mesh)
}
