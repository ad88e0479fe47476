// What the systems of a step are made of: first partial sum, slot 0 pi p, 1 to 3 pi w, 4 to 12 w_i Q_j; second one, 0 to 2 c p,
// 3 to 5 c x w, 6 c . A^-1 c; with p = A^-1 pi, w = A^-1 Q. Also lays out these directions vertex by vertex.
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> conserved: array<ConservedVertex>;
@group(0) @binding(2) var<storage, read> turn_solution: array<f32>;
@group(0) @binding(3) var<storage, read> drive_solution: array<f32>;
@group(0) @binding(4) var<storage, read> weight_solution: array<f32>;
@group(0) @binding(5) var<storage, read_write> directions: array<ConservedDirection>;
@group(0) @binding(6) var<storage, read_write> conservation_partials: array<array<f32, SLOTS>>;

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
    var drives = empty();
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let vertex = conserved[i];
        let at = 3u * vertex.column;
        let w = vec3(turn_solution[at], turn_solution[at + 1u], turn_solution[at + 2u]);
        let push = vec3(drive_solution[at], drive_solution[at + 1u], drive_solution[at + 2u]);
        let p = weight_solution[at];
        directions[i] = ConservedDirection(w, p, push, vertex.column);
        let about = cross(vertex.drive, w);
        slots[0] += vertex.weight * p;
        for (var axis = 0u; axis < 3u; axis++) {
            slots[1u + axis] += vertex.weight * w[axis];
            for (var other = 0u; other < 3u; other++) {
                slots[4u + 3u * axis + other] += w[axis] * vertex.turn[other];
            }
            drives[axis] += vertex.drive[axis] * p;
            drives[3u + axis] += about[axis];
        }
        drives[6] += dot(vertex.drive, push);
    }
    combine(lane, slots);
    if lane < 13u {
        conservation_partials[2u * number][lane] = lanes[0][lane];
    }
    workgroupBarrier();
    combine(lane, drives);
    if lane < 7u {
        conservation_partials[2u * number + 1u][lane] = lanes[0][lane];
    }
}
