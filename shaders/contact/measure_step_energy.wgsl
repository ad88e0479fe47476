// Energies of a chunk of vertices in a step of backward Euler (J). Slots 0 elastic energy where the last local step was made, 1 kinetic
// energy of d/h, 2 kinetic energy of v_n, 3 work of gravity along d.
//use shared/vertex.wgsl
//use shared/reduce.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> energies: array<f32>;
@group(0) @binding(6) var<storage, read_write> partials: array<array<f32, SLOTS>>;

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
        let mass = vertices[i].mass;
        let d = iterate[i].xyz;
        let after = step.slope * d;
        let before = motions[i].velocity;
        mine[0] += energies[i];
        mine[1] += 0.5 * mass * dot(after, after);
        mine[2] += 0.5 * mass * dot(before, before);
        mine[3] += mass * dot(step.gravity, d);
    }
    combine(lane, mine);
    if lane == 0u {
        partials[number] = lanes[0];
    }
}
