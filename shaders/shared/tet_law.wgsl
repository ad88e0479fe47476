// Stress and energy of a tetrahedron by its law, for a kernel that declares `curves`.
//use shared/law.wgsl
//use shared/tet.wgsl
//use shared/volume.wgsl

struct Loaded {
    stress: mat3x3<f32>, // P (J)
    energy: f32,         // W (J)
}

fn loaded(law: u32, e: Tet, f: mat3x3<f32>, rotation: mat3x3<f32>) -> Loaded {
    if law == PROJECTIVE {
        return projected(e, f, rotation);
    }
    // R^T F - I, so that near rest only F - R cancels
    let strain = transpose(rotation) * (f - rotation);
    // w_s = 2 mu V, w_v = 3 lambda V
    let mu = 0.5 * e.shape_weight;
    let lambda = e.volume_weight / 3.0;
    let scale = min(scale_of(f), 1.0);
    if scale == 0.0 {
        // F vanishes: any axes are valid
        let response = respond(law, vec3<f32>(strain[0].x, strain[1].y, strain[2].z), mu, lambda);
        let t = response.stress;
        return Loaded(mat3x3<f32>(t.x * rotation[0], t.y * rotation[1], t.z * rotation[2]), response.energy);
    }
    let principal = principal_stretches(scale * strain);
    let response = respond(law, principal.stretches / scale, mu, lambda);
    let axes = principal.axes;
    let t = response.stress;
    let along = mat3x3<f32>(t.x * axes[0], t.y * axes[1], t.z * axes[2]);
    return Loaded(rotation * (along * transpose(axes)), response.energy);
}

// w_s (F - R) + w_v (F - P), P of unit determinant
fn projected(e: Tet, f: mat3x3<f32>, rotation: mat3x3<f32>) -> Loaded {
    let strain = f - rotation;
    var all = Loaded(e.shape_weight * strain, 0.5 * e.shape_weight * norm_squared(strain));
    if e.volume_weight != 0.0 {
        let beyond = volume_excess(f, rotation);
        all.stress = all.stress + e.volume_weight * beyond;
        all.energy += 0.5 * e.volume_weight * norm_squared(beyond);
    }
    return all;
}
