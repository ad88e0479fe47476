// Projects tetrahedra of which some keep their volume too: rows G^T (w_s b (F - R) + w_v b (F - P) + (w_s + w_v) viscous (F - F_n)), F at x_e,
// R the closest rotation, P the closest matrix of unit determinant.
//use shared/project_tet.wgsl
//use shared/volume.wgsl

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat(workgroup, workgroups, lane);
    if index >= sizes.tets || state.done != 0u {
        return;
    }
    let e = tets[index];
    let f = deformation_at_iterate(e);
    let rotation = rotation_from_last(index, f);
    let strain = f - rotation;
    var weighted_strain = e.shape_weight * strain;
    var energy = 0.5 * e.shape_weight * norm_squared(strain);
    if e.volume_weight != 0.0 {
        let beyond = volume_excess(f, rotation);
        weighted_strain = weighted_strain + e.volume_weight * beyond;
        energy += 0.5 * e.volume_weight * norm_squared(beyond);
    }
    let viscous = step.viscous * (e.shape_weight + e.volume_weight);
    write_rows(index, e, viscous * change_of_deformation(e) + step.projection * weighted_strain, energy);
}
