// u . L u of u = x_e - x_n = share d (J), with L at the bodies' stiffness: half of -L_ij |e|^2 for each pair whose edge changes by e. Slot
// 4 of the chunk's partial sum, slot 5 the sum of absolute values; the others stay.
//use shared/vertex.wgsl
//use shared/reduce.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> laplacian_starts: array<u32>;
@group(0) @binding(4) var<storage, read> laplacian_entries: array<Entry>;
@group(0) @binding(5) var<storage, read> viscosity: array<f32>;
@group(0) @binding(6) var<storage, read_write> partials: array<array<f32, SLOTS>>;
@group(0) @binding(7) var<storage, read> state: IterationState;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&chunks) || state.done != 0u {
        return;
    }
    let chunk = chunks[number];
    var mine = empty();
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        for (var k = laplacian_starts[i]; k < laplacian_starts[i + 1u]; k++) {
            let entry = laplacian_entries[k];
            let change = step.share * (iterate[entry.index].xyz - iterate[i].xyz);
            let strain = -0.5 * viscosity[i] * entry.value * dot(change, change);
            mine[4] += strain;
            mine[5] += abs(strain);
        }
    }
    combine(lane, mine);
    if lane == 0u {
        partials[number][4] = lanes[0][4];
        partials[number][5] = lanes[0][5];
    }
}
