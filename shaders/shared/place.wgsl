// A place as a rounded number and what rounding left of it, for a kernel that declares step.
//use shared/layout.wgsl

// The vertex at position + low + d.
fn moved_by(vertex: Vertex, d: vec3<f32>) -> Vertex {
    let high = vertex.position;
    let added = vertex.low + d;
    let sum = opaque(high + added);
    let taken = opaque(sum - high);
    let left = opaque(high - opaque(sum - taken)) + opaque(added - taken);
    return Vertex(sum, vertex.mass, left, vertex.attachment_stiffness);
}

// The same numbers, but no compiler can tell: many simplify (a + b) - a to b, which is what rounding makes untrue.
fn opaque(v: vec3<f32>) -> vec3<f32> {
    return bitcast<vec3<f32>>(bitcast<vec3<u32>>(v) ^ vec3(step.zero));
}
