// Energy of the triangles (J): w/2 (sigma - clamp(sigma))^2 of both stretches.
//use shared/reduce.wgsl
//use shared/stretch.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> triangles: array<Triangle>;
@group(0) @binding(3) var<storage, read_write> partials: array<array<f32, SLOTS>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = flat_workgroup(workgroup, workgroups);
    if block * BLOCK >= sizes.triangles {
        return;
    }
    var slots = empty();
    let end = min(sizes.triangles, (block + 1u) * BLOCK);
    for (var index = block * BLOCK + lane; index < end; index += LANES) {
        slots[0] += energy(index);
    }
    combine(lane, slots);
    if lane < SLOTS {
        partials[sizes.triangle_partials + block][lane] = lanes[0][lane];
    }
}

fn energy(index: u32) -> f32 {
    let triangle = triangles[index];
    let corner = vertices[triangle.vertices.x];
    let edge_1 = difference(vertices[triangle.vertices.y], corner);
    let edge_2 = difference(vertices[triangle.vertices.z], corner);
    let sigma = stretch(deformation(edge_1, edge_2, triangle.inverse_rest)).sigma;
    let excess = sigma - clamp(sigma, vec2(triangle.limits.x), vec2(triangle.limits.y));
    return 0.5 * triangle.weight * dot(excess, excess);
}
