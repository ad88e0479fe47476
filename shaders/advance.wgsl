// The iterate becomes the new position, v' = v'(y) + slope (x - y) its velocity.
//use shared/vertex.wgsl
//use shared/drift.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read_write> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read_write> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> excess: array<vec4<f32>>;

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
    let d = iterate[i].xyz;
    let m = motions[i];
    let v = drift(m) + step.slope * excess[i].xyz;
    motions[i] = Motion(v, 0.0, m.velocity, 0.0, d, 0.0);
    // position + low + d, again as a rounded number and what rounding left of it
    let high = vertices[i].position;
    let added = vertices[i].low + d;
    let sum = opaque(high + added);
    let taken = opaque(sum - high);
    vertices[i].position = sum;
    vertices[i].low = (high - opaque(sum - taken)) + (added - taken);
}

// The same numbers, but no compiler can tell: many simplify (a + b) - a to b, which is what rounding makes untrue.
fn opaque(v: vec3<f32>) -> vec3<f32> {
    return bitcast<vec3<f32>>(bitcast<vec3<u32>>(v) ^ vec3(step.zero));
}
