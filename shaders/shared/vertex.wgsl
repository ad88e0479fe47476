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
    return (a.position - b.position) + (a.low - b.low);
}
