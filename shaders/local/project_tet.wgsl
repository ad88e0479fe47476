// Projects tetrahedra that keep their shape only: rows G^T w_s (b (F - R) + viscous (F - F_n)), F at x_e, R the closest rotation.
//use shared/project_tet.wgsl

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
    let strain = f - rotation_from_last(index, f);
    let stress = e.shape_weight * (step.viscous * change_of_deformation(e) + step.projection * strain);
    write_rows(index, e, stress, 0.5 * e.shape_weight * norm_squared(strain));
}
