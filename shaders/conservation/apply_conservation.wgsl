// Global step with what conservation makes of it: d <- d - (u (1 + x) + A^-1 c x + p l_P + w x l_L), x, l_P and l_L the
// multipliers of the body. Iterations end, and the iterate stays, when the errors of all bodies are small enough.
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> aims: array<BodyAim>;
@group(0) @binding(2) var<storage, read> solution: array<f32>;
@group(0) @binding(3) var<storage, read> directions: array<ConservedDirection>;
@group(0) @binding(4) var<storage, read_write> iterate: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> target_offset: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> state: IterationState;

var<workgroup> ended: u32;

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
    if lane == 0u {
        ended = u32(is_enough());
        if number == 0u && ended != 0u {
            state.done = 1u;
        }
        if number == 0u && ended == 0u {
            state.iterations = aims[0].made;
        }
    }
    workgroupBarrier();
    if ended != 0u {
        return;
    }
    let chunk = chunks[number];
    let body = chunk.body;
    let along = aims[body].energy_factor;
    let shift = aims[body].momentum_factor;
    let turn = aims[body].spin_factor;
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let direction = directions[i];
        let at = 3u * direction.column;
        let u = vec3(solution[at], solution[at + 1u], solution[at + 2u]);
        let s = u + along * (u + direction.push) + direction.translation * shift + cross(direction.turned, turn);
        iterate[i] = vec4(iterate[i].xyz - s, 0.0);
        target_offset[i] = vec4(target_offset[i].xyz - s, 0.0);
    }
}

// Whether energy is held, an iteration was made, and no error is too large that can be lowered. (What is not a number is.)
fn is_enough() -> bool {
    if (aims[0].flags & HOLDS_ENERGY) == 0u || aims[0].made < 2u {
        return false;
    }
    for (var body = 0u; body < arrayLength(&aims); body++) {
        if aims[body].settled == 0u && (aims[body].flags & ALONE) == 0u {
            return false;
        }
    }
    return true;
}
