// One inner iteration for A s = g, written over the iterate before the last:
//   s_next = s + momentum (s - s_before) + step D^-1 (g - A s),  D = diag A
//use shared/vertex.wgsl
//use shared/metric.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<uniform> inner: Inner;
@group(0) @binding(3) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(4) var<storage, read> laplacian_starts: array<u32>;
@group(0) @binding(5) var<storage, read> laplacian_entries: array<Entry>;
@group(0) @binding(6) var<storage, read> gradient: array<f32>;
@group(0) @binding(7) var<storage, read> correction: array<f32>;
@group(0) @binding(8) var<storage, read_write> correction_before: array<f32>;

fn unknown(i: u32) -> vec3<f32> {
    return vec3(correction[3u * i], correction[3u * i + 1u], correction[3u * i + 2u]);
}

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
    let row = metric_row(i);
    let g = vec3(gradient[3u * i], gradient[3u * i + 1u], gradient[3u * i + 2u]);
    let before = vec3(correction_before[3u * i], correction_before[3u * i + 1u], correction_before[3u * i + 2u]);
    let here = unknown(i);
    let next = here + inner.momentum * (here - before) + (inner.step / row.diagonal) * (g - row.product);
    correction_before[3u * i] = next.x;
    correction_before[3u * i + 1u] = next.y;
    correction_before[3u * i + 2u] = next.z;
}
