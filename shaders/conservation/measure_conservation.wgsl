// Momenta and energies of a chunk at the iterate, from e = d - w, and what the descent u = A^-1 g does to them: the slots are
// those of conserved.wgsl.
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> conserved: array<ConservedVertex>;
@group(0) @binding(2) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> solution: array<f32>;
@group(0) @binding(4) var<storage, read> gradient: array<f32>;
@group(0) @binding(5) var<storage, read> energies: array<f32>;
@group(0) @binding(6) var<storage, read> aims: array<BodyAim>;
@group(0) @binding(7) var<storage, read_write> conservation_partials: array<array<f32, SLOTS>>;

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
    let reference = aims[chunk.body].reference;
    var slots = empty();
    var drives = empty();
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let vertex = conserved[i];
        let at = 3u * vertex.column;
        let u = vec3(solution[at], solution[at + 1u], solution[at + 2u]);
        let g = vec3(gradient[3u * i], gradient[3u * i + 1u], gradient[3u * i + 2u]);
        let e = iterate[i].xyz - reference;
        let carried = vertex.mass * e;
        let turned = cross(vertex.arm, carried);
        let descended = vertex.weight * u;
        let torque = cross(u, vertex.turn);
        for (var axis = 0u; axis < 3u; axis++) {
            slots[axis] += carried[axis];
            slots[3u + axis] += turned[axis];
            slots[8u + axis] += descended[axis];
            slots[11u + axis] += torque[axis];
        }
        slots[6] += dot(e, carried);
        slots[7] += energies[i];
        slots[14] += dot(g, u);
        drives[0] += dot(vertex.drive, u);
    }
    combine(lane, slots);
    if lane < 15u {
        conservation_partials[2u * number][lane] = lanes[0][lane];
    }
    workgroupBarrier();
    combine(lane, drives);
    if lane == 0u {
        conservation_partials[2u * number + 1u][0] = lanes[0][0];
    }
}
