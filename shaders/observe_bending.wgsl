// Energy of the bending stencils (J): w/2 (|K| - K_0)^2, K = sum of c_k x_k the curvature (1/m).
//use shared/reduce.wgsl
//use shared/direction.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> bendings: array<Bending>;
@group(0) @binding(3) var<storage, read> corners: array<Entry>;
@group(0) @binding(4) var<storage, read_write> partials: array<array<f32, SLOTS>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = flat_workgroup(workgroup, workgroups);
    if block * BLOCK >= sizes.bendings {
        return;
    }
    var slots = empty();
    let end = min(sizes.bendings, (block + 1u) * BLOCK);
    for (var index = block * BLOCK + lane; index < end; index += LANES) {
        slots[0] += energy(index);
    }
    combine(lane, slots);
    if lane < SLOTS {
        partials[sizes.bending_partials + block][lane] = lanes[0][lane];
    }
}

fn energy(index: u32) -> f32 {
    let bending = bendings[index];
    let centre = vertices[corners[bending.first].index];
    var curvature = vec3(0.0);
    for (var k = bending.first + 1u; k < bending.end; k++) {
        curvature += corners[k].value * difference(vertices[corners[k].index], centre);
    }
    let excess = polar(curvature, bending.rest_direction).length - bending.rest_curvature;
    return 0.5 * bending.weight * excess * excess;
}
