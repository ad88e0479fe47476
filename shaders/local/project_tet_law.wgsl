// Tetrahedra of which some obey another law than the projections: rows G^T (viscous w (F - F_n) + b P), F at x_e, P the stress.
//use shared/project_tet.wgsl
//use shared/tet_law.wgsl

@group(0) @binding(8) var<storage, read> tet_laws: array<u32>;
@group(0) @binding(9) var<storage, read> curves: array<CurvePiece>;

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
    let all = loaded(tet_laws[index], e, f, rotation_from_last(index, f));
    let viscous = step.viscous * (e.shape_weight + e.volume_weight);
    write_rows(index, e, viscous * change_of_deformation(e) + step.projection * all.stress, all.energy);
}
