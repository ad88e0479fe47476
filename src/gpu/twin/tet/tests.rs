//! Closest rotation and closest unit determinant on the device, over deformation gradients of every sort: one element each,
//! with the unit tetrahedron as its rest shape.

use super::{EPSILON, rotation, shaken, unit_determinant};
use crate::elastic::sample::{Noise, deformations, signed_svd};
use crate::gpu::contents::split;
use crate::gpu::layout::*;
use crate::gpu::stream::Stream;
use crate::gpu::{Buffer, Contents, Context, Id, Library};
use crate::{Mat3, Vec3};
use nalgebra::{Quaternion, UnitQuaternion, Vector4};
use std::sync::Arc;

#[path = "../../../../tests/common/adapter.rs"]
mod adapter;

const IDENTITY: [f32; 4] = [1.0, 0.0, 0.0, 0.0];

/// An element for each F, of weights w_s = 0 and w_v = 1 (J), its search started from `starts`.
fn elements(f: &[Mat3], starts: &[[f32; 4]]) -> Contents {
    let vertex = |x: Vec3| {
        let (position, low) = split(x);
        Vertex { position, low, ..Vertex::default() }
    };
    let corners =
        |f: &Mat3| [0, 1, 2, 3].map(|k| if k == 0 { Vec3::zeros() } else { f.column(k - 1).into() });
    let vertices: Vec<Vertex> = f.iter().flat_map(corners).map(vertex).collect();
    let tet = |e: u32| Tet {
        vertices: [0, 1, 2, 3].map(|k| 4 * e + k),
        rest_0: [1.0, 0.0, 0.0],
        rest_1: [0.0, 1.0, 0.0],
        rest_2: [0.0, 0.0, 1.0],
        volume_weight: 1.0,
        ..Tet::default()
    };
    let count = f.len() as u32;
    let mut all = Contents::empty();
    all.set_small(Buffer::Step, &[Step { share: 1.0, viscous: 0.0, projection: 1.0, ..Step::default() }]);
    all.set_small(Buffer::Sizes, &[Sizes { vertices: 4 * count, tets: count, ..Sizes::default() }]);
    all.set_small(Buffer::Inner, &[Inner::default()]);
    all.set(Buffer::Iterate, &vec![[0.0f32; 4]; vertices.len()]);
    all.set(Buffer::Rows, &vec![[0.0f32; 4]; vertices.len()]);
    all.set(Buffer::Tets, &(0..count).map(tet).collect::<Vec<_>>());
    all.set(Buffer::Rotations, starts);
    all.set(Buffer::Vertices, &vertices);
    all
}

/// The quaternions and F − P that `project_tet_volume` finds.
fn on_device(context: Arc<Context>, f: &[Mat3], starts: &[[f32; 4]]) -> (Vec<[f32; 4]>, Vec<Mat3>) {
    let mut stream = Stream::new(context, &elements(f, starts), Library::BuiltIn).unwrap();
    stream.kernel(Id::project_tet_volume).unwrap();
    stream.submit().unwrap();
    let rotations = stream.read(Buffer::Rotations).unwrap();
    let rows = stream.read(Buffer::Rows).unwrap();
    let rows: &[f32] = bytemuck::cast_slice(&rows);
    let excess = |row: &[f32]| Mat3::from_fn(|i, j| f64::from(row[3 * j + i]));
    let rows = rows.chunks(TET_NUMBERS as usize).take(f.len());
    (bytemuck::cast_slice(&rotations).to_vec(), rows.map(excess).collect())
}

/// So many units in the last place: `mesa` of the driver in software, which rounds to nearest, and as many as WGSL allows of any other
/// (tests/gpu/tolerances.rs says how they are counted).
fn units(context: &Context, mesa: f64, wgsl: f64) -> f64 {
    EPSILON * if context.adapter.software { mesa } else { wgsl }
}

/// The samples as single precision has them.
fn samples() -> Vec<Mat3> {
    deformations().iter().map(|f| f.map(|entry| f64::from(entry as f32))).collect()
}

fn random_starts(count: usize) -> Vec<[f32; 4]> {
    let mut noise = Noise(3);
    (0..count)
        .map(|_| {
            let q = Vector4::from_fn(|_, _| noise.next()).normalize();
            [0, 1, 2, 3].map(|k| q[k] as f32)
        })
        .collect()
}

fn matrix_of(q: &[f32; 4]) -> Mat3 {
    let [w, x, y, z] = q.map(f64::from);
    UnitQuaternion::new_normalize(Quaternion::new(w, x, y, z)).to_rotation_matrix().into_inner()
}

#[test]
fn rotations_are_as_close_as_any() {
    let Some(context) = adapter::context() else { return };
    let f = samples();
    let near: Vec<[f32; 4]> = f.iter().map(|_| IDENTITY).collect();
    for starts in [near, random_starts(f.len())] {
        let (found, _) = on_device(context.clone(), &f, &starts);
        let (mut worst, mut worst_length, mut worst_gap) = (0.0f64, 0.0f64, 0.0f64);
        for (f, q) in f.iter().zip(&found) {
            let length = Vector4::from(q.map(f64::from)).norm();
            worst_length = worst_length.max((length - 1.0).abs());
            let sigma = signed_svd(f).1;
            let r = matrix_of(q);
            // tr(RᵀF) is at most σ1 + σ2 + σ3; what is missing is quadratic in the error of R, but for rounding.
            let missing = sigma.sum() - r.dot(f);
            worst_gap = worst_gap.max(missing / sigma[0].max(f64::MIN_POSITIVE));
            let gap = (sigma[1] + sigma[2]) / sigma[0].max(f64::MIN_POSITIVE);
            if gap > 1e-5 {
                worst = worst.max((r - rotation(f)).norm() * gap);
            }
        }
        // Normalising rounds each component once or twice; by WGSL's rules half a dot product's five roundings, a root's 4.5 and a quotient's 2.5.
        assert!(worst_length < units(&context, 2.0, 9.5), "{worst_length:e}");
        // Sums of nine products, each rounded, in units of σ1.
        assert!(worst_gap < units(&context, 4.0, 9.0), "{worst_gap:e}");
        // RᵀF is nine sums of three products, and H⁻¹ magnifies their rounding by 1/(σ2 + σ3): eight roundings to an entry of F, eight to one of RᵀF and its
        // gradient, as in `UNITS`, and eight of Newton's step.
        assert!(worst < units(&context, 8.0, 24.0), "{worst:e}");
    }
}

#[test]
fn nothing_and_no_number_give_the_identity() {
    let Some(context) = adapter::context() else { return };
    let mut f = vec![Mat3::zeros(), Mat3::repeat(f64::NAN), Mat3::repeat(f64::INFINITY), Mat3::identity()];
    f[3][(1, 2)] = f64::NEG_INFINITY;
    let (found, _) = on_device(context.clone(), &f, &[IDENTITY; 4]);
    assert_eq!(found, [IDENTITY; 4]);
}

#[test]
fn unit_determinants_are_as_close_as_any() {
    let Some(context) = adapter::context() else { return };
    let mut f = samples();
    let mut noise = Noise(9);
    // Swollen ones, which have several points that are closest or nearly so.
    for sigma in [
        [1.93, 1.92, 1.91],
        [1.96, 1.95, 1.94],
        [2.5, 2.4, 2.3],
        [5.0, 4.0, 0.5],
        [1.5, 1.5, 1.5],
        [9.0, 9.0, 0.01],
    ] {
        f.extend((0..20).map(|_| noise.with_stretches(sigma).map(|entry| f64::from(entry as f32))));
    }
    // And any others, half of them inverted.
    f.extend((0..2000).map(|k| {
        let [a, b, c] = [0; 3].map(|_| 10f64.powf(1.5 * noise.next()));
        let sigma = [a, b, if k % 2 == 0 { c } else { -c }];
        noise.with_stretches(sigma).map(|entry| f64::from(entry as f32))
    }));
    let starts = random_starts(f.len());
    let (_, found) = on_device(context.clone(), &f, &starts);
    let (mut worst, mut worst_distance, mut worst_determinant) = (0.0f64, 0.0f64, 0.0f64);
    for (f, excess) in f.iter().zip(&found) {
        let size = f.norm();
        let p = unit_determinant(f);
        let scale = size + p.norm();
        let distance = (f - p).norm();
        worst_distance = worst_distance.max((excess.norm() - distance) / scale);
        let allowed = scale + shaken(f, size.max(f64::from(f32::MIN_POSITIVE)), unit_determinant);
        worst = worst.max((f - excess - p).norm() / allowed);
        // det P changes by cof(P) · dP, cof(P) = P⁻ᵀ; of larger ones rounding leaves no digit.
        if let Some(cofactors) = p.try_inverse().filter(|_| scale < 100.0) {
            let off = ((f - excess).determinant() - 1.0).abs();
            worst_determinant = worst_determinant.max(off / (1.0 + cofactors.norm() * scale));
        }
    }
    // S = RᵀF, its turning into diagonal form and back: some five products of matrices, each rounded. By WGSL's rules nine turns of seven units each way, and R.
    let allowed = units(&context, 8.0, 160.0);
    assert!(worst < allowed, "{worst:e}");
    assert!(worst_distance < allowed, "{worst_distance:e}");
    assert!(worst_determinant < allowed, "{worst_determinant:e}");
}
