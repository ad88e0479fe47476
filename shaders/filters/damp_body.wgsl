// Velocity change proposed by direct damping: -gamma (v - v_cm), or its component along the line from the centre
// (m/s).
//use shared/direction.wgsl
//use shared/rigid.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> rigids: array<Rigid>;
@group(0) @binding(5) var<storage, read_write> changes: array<vec4<f32>>;

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
    let body = rigids[chunk.body];
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        var change = -step.filter_coefficient * beyond_drift(body, motions[i].velocity);
        if (step.filter_mode & RADIAL) != 0u {
            let n = polar(arm(body, vertices[i]), vec3(0.0)).direction;
            change = n * dot(change, n);
        }
        changes[i] = vec4(change, 0.0);
    }
}
