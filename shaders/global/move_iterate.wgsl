// Moves the iterate along the host's correction s: d <- d + way s, and likewise x - y. The host does the same to its
// mirror: the product is rounded before it is added.
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> correction: array<f32>;
@group(0) @binding(3) var<storage, read_write> iterate: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> target_offset: array<vec4<f32>>;

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
    let s = vec3(correction[3u * i], correction[3u * i + 1u], correction[3u * i + 2u]);
    let way = opaque(step.correction_factor * s);
    iterate[i] = vec4(iterate[i].xyz + way, 0.0);
    target_offset[i] = vec4(target_offset[i].xyz + way, 0.0);
}

// The same numbers, but no compiler can tell: it does not make one rounding of a product and a sum.
fn opaque(v: vec3<f32>) -> vec3<f32> {
    return bitcast<vec3<f32>>(bitcast<vec3<u32>>(v) ^ vec3(step.zero));
}
