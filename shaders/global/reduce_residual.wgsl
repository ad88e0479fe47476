// The translation of each body that removes the sum of its residual: then 1^T A s = 1^T g, and a free body's momentum
// is preserved for any number of inner iterations.
//use shared/vertex.wgsl
//use shared/reduce.wgsl

@group(0) @binding(0) var<storage, read> segments: array<Segment>;
@group(0) @binding(1) var<storage, read> partials: array<array<f32, SLOTS>>;
@group(0) @binding(2) var<storage, read_write> shifts: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let body = flat_workgroup(workgroup, workgroups);
    if body >= arrayLength(&shifts) {
        return;
    }
    let segment = segments[body];
    var mine = empty();
    for (var k = segment.first + lane; k < segment.end; k += LANES) {
        for (var slot = 0u; slot < 4u; slot++) {
            mine[slot] += partials[k][slot];
        }
    }
    combine(lane, mine);
    if lane == 0u {
        shifts[body] = vec4(lanes[0][0], lanes[0][1], lanes[0][2], 0.0) / lanes[0][3];
    }
}
