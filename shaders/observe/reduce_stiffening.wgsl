// Adds the energy gained by a stiffness change (J) to the work in Report[1]: slot 2 of the partial sums of all elastic
// elements, which are contiguous.
//use shared/layout.wgsl
//use shared/reduce.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> partials: array<array<f32, SLOTS>>;
@group(0) @binding(2) var<storage, read_write> report: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    var mine = empty();
    for (var k = sizes.tet_partials + lane; k < sizes.attachment_partials; k += LANES) {
        mine[0] += partials[k][2];
    }
    combine(lane, mine);
    if lane == 0u {
        report[1] += lanes[0][0];
    }
}
