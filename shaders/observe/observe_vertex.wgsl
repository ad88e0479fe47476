// Slots 0 kinetic energy (J), 1 potential of gravity -m g.x (J), 2 to 4 momentum (kg m/s), 5 to 7 angular momentum about the
// origin m x x v (kg m^2/s), 8 to 10 m x (kg m), 11 how many vertices have a place or velocity that is not finite.
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> motions: array<Motion>;
@group(0) @binding(4) var<storage, read_write> partials: array<array<f32, SLOTS>>;

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
    var slots = empty();
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let vertex = vertices[i];
        let velocity = motions[i].velocity;
        let place = vertex.position + vertex.low;
        let momentum = vertex.mass * velocity;
        let weighted = vertex.mass * place;
        let angular = cross(weighted, velocity);
        slots[0] += 0.5 * dot(momentum, velocity);
        slots[1] -= dot(step.gravity, weighted);
        for (var axis = 0u; axis < 3u; axis++) {
            slots[2u + axis] += momentum[axis];
            slots[5u + axis] += angular[axis];
            slots[8u + axis] += weighted[axis];
        }
        slots[11] += select(0.0, 1.0, is_not_finite(vertex.position) || is_not_finite(vertex.low) || is_not_finite(velocity));
    }
    combine(lane, slots);
    if lane < SLOTS {
        partials[number][lane] = lanes[0][lane];
    }
}

// Whether a component is infinite or NaN, by its bits: a compiler may assume that comparisons never see these.
fn is_not_finite(v: vec3<f32>) -> bool {
    let exponent = vec3(0x7f800000u);
    return any((bitcast<vec3<u32>>(v) & exponent) == exponent);
}
