// Where the watched vertices are, rounded and what rounding left (m): position of all of them, then low of all of them.
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> watched: array<u32>;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read_write> places: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = flat(workgroup, workgroups, lane);
    if k >= sizes.watched {
        return;
    }
    let vertex = vertices[watched[k]];
    for (var axis = 0u; axis < 3u; axis++) {
        places[3u * k + axis] = vertex.position[axis];
        places[3u * (sizes.watched + k) + axis] = vertex.low[axis];
    }
}
