// Velocity change of a vertex from the impulses of its edges, in ascending order (m/s), and the ratio of the previous
// change's length to it; NO_RATIO where the sum is only rounding. An odd number is the second end of an edge.
//use shared/direct.wgsl
//use shared/direction.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read> ends: array<u32>;
@group(0) @binding(4) var<storage, read> rows: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> changes: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let i = flat(workgroup, workgroups, lane);
    if i >= sizes.vertices {
        return;
    }
    var sum = vec3(0.0);
    var size = 0.0;
    for (var k = starts[i]; k < starts[i + 1u]; k++) {
        let row = rows[ends[k] / 2u];
        sum += select(row.xyz, -row.xyz, ends[k] % 2u == 1u);
        size += row.w;
    }
    let mass = vertices[i].mass;
    let before = mass * polar(changes[i].xyz, vec3(0.0)).length;
    let after = polar(sum, vec3(0.0)).length;
    var ratio = NO_RATIO;
    if after > LEAST_SHARE * size {
        ratio = min(before / after, NO_RATIO);
    }
    changes[i] = vec4(sum / mass, ratio);
}
