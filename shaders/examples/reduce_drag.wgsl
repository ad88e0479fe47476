// Energy that the damping along shapes took in the step, beyond that of all motion: damping_force d.U P U^T v, added to what the first
// chunk of the group exchanged.
//use shared/along.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> groups: array<ExampleGroup>;
@group(0) @binding(2) var<storage, read> partials: array<array<f32, 32>>;
@group(0) @binding(3) var<storage, read> couplings: array<array<f32, 512>>;
@group(0) @binding(4) var<storage, read_write> exchange: array<vec4<f32>>;

var<workgroup> way: array<f32, SHAPES>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&groups) {
        return;
    }
    let group = groups[number];
    let k = min(group.shapes, SHAPES);
    var ways: array<f32, SHAPES>;
    var rates: array<f32, SHAPES>;
    for (var chunk = group.first_chunk + lane; chunk < group.end_chunk; chunk += LANES) {
        for (var slot = 0u; slot < SHAPES; slot++) {
            ways[slot] += partials[chunk][slot];
            rates[slot] += partials[chunk][SHAPES + slot];
        }
    }
    add_up(lane, ways);
    if lane < SHAPES {
        way[lane] = shape_sums[lane];
    }
    add_up(lane, rates);
    if lane == 0u {
        var taken = 0.0;
        for (var i = 0u; i < k; i++) {
            var sum = 0.0;
            for (var j = 0u; j < k; j++) {
                sum += couplings[number][i * k + j] * shape_sums[j];
            }
            taken += way[i] * sum;
        }
        exchange[group.exchange].x += step.damping_force * taken;
    }
}
