// Tetrahedra at x_n, one block per workgroup: energy (J), the number with det F <= 0, the energy gained by the last
// stiffness change (J), and the smallest det F. Rotations are only the starting point of the search: observing changes
// nothing.
//use shared/reduce.wgsl
//use shared/tet_law.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> tets: array<Tet>;
@group(0) @binding(3) var<storage, read> rotations: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> partials: array<array<f32, SLOTS>>;
@group(0) @binding(5) var<storage, read> tet_laws: array<u32>;
@group(0) @binding(6) var<storage, read> curves: array<CurvePiece>;

fn edge(to: u32, origin: u32) -> vec3<f32> {
    return difference(vertices[to], vertices[origin]);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = flat_workgroup(workgroup, workgroups);
    if block * BLOCK >= sizes.tets {
        return;
    }
    var mine = empty();
    for (var index = block * BLOCK + lane; index < min((block + 1u) * BLOCK, sizes.tets); index += LANES) {
        let e = tets[index];
        let v = e.vertices;
        let f = deformation(e, mat3x3<f32>(edge(v.y, v.x), edge(v.z, v.x), edge(v.w, v.x)));
        let rotation = rotation_of(closest_rotation(f, rotations[index]));
        let stored = loaded(tet_laws[index], e, f, rotation).energy;
        mine[0] += stored;
        mine[2] += e.stiffening_gain * stored;
        let ratio = determinant(f);
        mine[1] += select(0.0, 1.0, ratio <= 0.0);
        mine[15] = min(mine[15], ratio);
    }
    combine(lane, mine);
    if lane < SLOTS {
        partials[sizes.tet_partials + block][lane] = lanes[0][lane];
    }
}
