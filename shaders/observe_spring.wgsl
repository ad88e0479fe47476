// Energy of the springs (J): k/2 (|d| - r)^2, d = x_i - x_j, r the length at rest.
//use shared/reduce.wgsl
//use shared/direction.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> springs: array<Spring>;
@group(0) @binding(3) var<storage, read_write> partials: array<array<f32, SLOTS>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = flat_workgroup(workgroup, workgroups);
    if block * BLOCK >= sizes.springs {
        return;
    }
    var slots = empty();
    let end = min(sizes.springs, (block + 1u) * BLOCK);
    for (var index = block * BLOCK + lane; index < end; index += LANES) {
        slots[0] += energy(index);
    }
    combine(lane, slots);
    if lane < SLOTS {
        partials[sizes.spring_partials + block][lane] = lanes[0][lane];
    }
}

fn energy(index: u32) -> f32 {
    let spring = springs[index];
    let d = difference(vertices[spring.vertices.x], vertices[spring.vertices.y]);
    let excess = polar(d, spring.rest_direction).length - spring.length;
    return 0.5 * spring.stiffness * excess * excess;
}
