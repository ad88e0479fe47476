// Vertices and packed vectors.
//use shared/layout.wgsl

// Global index of a thread in a dispatch of any size: workgroups beyond 65535 continue in the second dimension.
fn flat(workgroup: vec3<u32>, workgroups: vec3<u32>, lane: u32) -> u32 {
    return flat_workgroup(workgroup, workgroups) * LANES + lane;
}

fn flat_workgroup(workgroup: vec3<u32>, workgroups: vec3<u32>) -> u32 {
    return workgroup.y * workgroups.x + workgroup.x;
}

// a - b (m)
fn difference(a: Vertex, b: Vertex) -> vec3<f32> {
    return rounded(a.position - b.position, a.mass) + (a.low - b.low);
}

// The same numbers, but no compiler can tell, as none knows that masses are not negative and their sign's bit is 0: what is added
// next stays apart. Metal reorders sums by default, and (a + b) - (c + d) would lose all that `low` keeps.
fn rounded(v: vec3<f32>, mass: f32) -> vec3<f32> {
    return bitcast<vec3<f32>>(bitcast<vec3<u32>>(v) ^ vec3(bitcast<u32>(mass) >> 31u));
}
