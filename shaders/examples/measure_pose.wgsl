// What the rigid motion of a group is made of, with r and u place and velocity of a vertex from those of the group's first one and w its
// weight in what the shapes follow: 0 to 2 w r, 3 to 11 w r (X - c0)^T row by row, 12 to 14 w u, 15 to 17 w r x u,
// 18 to 23 inertia xx, yy, zz, yz, xz, xy.
//use shared/along.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<ExampleChunk>;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
@group(0) @binding(3) var<storage, read> rests: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> partials: array<array<f32, 32>>;

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
    let origin = vertices[chunk.origin];
    let base = motions[chunk.origin].velocity;
    var places: array<f32, SHAPES>;
    var velocities: array<f32, SHAPES>;
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let rest = rests[i];
        let r = difference(vertices[i], origin);
        let weighted = rest.w * r;
        let u = motions[i].velocity - base;
        let linear = rest.w * u;
        let angular = cross(weighted, u);
        let squares = weighted * r;
        let products = -weighted.yxx * r.zzy;
        for (var axis = 0u; axis < 3u; axis++) {
            places[axis] += weighted[axis];
            places[3u + 3u * axis] += weighted[axis] * rest.x;
            places[4u + 3u * axis] += weighted[axis] * rest.y;
            places[5u + 3u * axis] += weighted[axis] * rest.z;
            places[12u + axis] += linear[axis];
            velocities[axis] += angular[axis];
            velocities[6u + axis] += products[axis];
        }
        velocities[3] += squares.y + squares.z;
        velocities[4] += squares.x + squares.z;
        velocities[5] += squares.x + squares.y;
    }
    add_up(lane, places);
    if lane < 15u {
        partials[number][lane] = shape_sums[lane];
    }
    add_up(lane, velocities);
    if lane < 9u {
        partials[number][15u + lane] = shape_sums[lane];
    }
}
