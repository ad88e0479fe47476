// |g|^2 of all vertices: Report[5]; the previous value moves to Report[4]. Measured at the first and the last local
// step of a frame's last time step, both end up side by side.
//use shared/layout.wgsl
//use shared/reduce.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> partials: array<array<f32, SLOTS>>;
@group(0) @binding(2) var<storage, read_write> report: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    var mine = empty();
    for (var k = lane; k < sizes.chunks; k += LANES) {
        mine[0] += partials[k][0];
    }
    combine(lane, mine);
    if lane == 0u {
        report[4] = report[5];
        report[5] = lanes[0][0];
    }
}
