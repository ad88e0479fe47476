// The inner iterations' residual in a body's translation: sums of r = g - A s in slots 0 to 2, and 1^T A 1 in slot 3.
//use shared/vertex.wgsl
//use shared/metric.wgsl
//use shared/reduce.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> laplacian_starts: array<u32>;
@group(0) @binding(4) var<storage, read> laplacian_entries: array<Entry>;
@group(0) @binding(5) var<storage, read> gradient: array<f32>;
@group(0) @binding(6) var<storage, read> correction: array<f32>;
@group(0) @binding(7) var<storage, read_write> partials: array<array<f32, SLOTS>>;

fn unknown(i: u32) -> vec3<f32> {
    return vec3(correction[3u * i], correction[3u * i + 1u], correction[3u * i + 2u]);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&chunks) {
        return;
    }
    let chunk = chunks[number];
    var mine = empty();
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let product = metric_row(i).product;
        mine[0] += gradient[3u * i] - product.x;
        mine[1] += gradient[3u * i + 1u] - product.y;
        mine[2] += gradient[3u * i + 2u] - product.z;
        mine[3] += step.inertia * vertices[i].mass + step.attachment_weight * vertices[i].attachment_stiffness;
    }
    combine(lane, mine);
    if lane == 0u {
        partials[number] = lanes[0];
    }
}
