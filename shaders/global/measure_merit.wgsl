// What a line search asks of a chunk of vertices. Slots 0 m |d - target|^2 (kg m^2), 1 elastic energy (J), 2 the same without
// signs, 3 g . s (J), s the last correction, 6 |g|^2 (N^2).
//use shared/vertex.wgsl
//use shared/reduce.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> inertial_target: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> energies: array<f32>;
@group(0) @binding(5) var<storage, read> gradient: array<f32>;
@group(0) @binding(6) var<storage, read> correction: array<f32>;
@group(0) @binding(7) var<storage, read_write> partials: array<array<f32, SLOTS>>;

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
        let off = iterate[i].xyz - inertial_target[i].xyz;
        mine[0] += vertices[i].mass * dot(off, off);
        mine[1] += energies[i];
        mine[2] += abs(energies[i]);
        for (var k = 3u * i; k < 3u * i + 3u; k++) {
            mine[3] += gradient[k] * correction[k];
            mine[6] += gradient[k] * gradient[k];
        }
    }
    combine(lane, mine);
    if lane == 0u {
        partials[number] = lanes[0];
    }
}
