// L-BFGS takes note of the last step: s = x' - x = -taken d, y = g' - g, and A^-1 y, from g and A^-1 g where it began. Then, for each pair j,
// products over a chunk of vertices: slots 0 s_j . g', 1 y_j . A^-1 g', 2 s_j . y, 3 s . y_j, 4 y_j . A^-1 y, 5 |s_j|^2, 6 |y_j|^2, 7 g' . A^-1 g'.
//use shared/pairs.wgsl
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<uniform> rule: IterationRule;
@group(0) @binding(2) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(3) var<storage, read> position: array<u32>;
@group(0) @binding(4) var<storage, read> solution: array<f32>;
@group(0) @binding(5) var<storage, read> state: IterationState;
@group(0) @binding(6) var<storage, read> gradient: array<f32>;
@group(0) @binding(7) var<storage, read> correction: array<f32>;
@group(0) @binding(8) var<storage, read_write> pairs: array<f32>;
@group(0) @binding(9) var<storage, read_write> partials: array<array<f32, SLOTS>>;

fn load(at: u32) -> vec3<f32> {
    return vec3(pairs[at], pairs[at + 1u], pairs[at + 2u]);
}

fn store(at: u32, v: vec3<f32>) {
    pairs[at] = v.x;
    pairs[at + 1u] = v.y;
    pairs[at + 2u] = v.z;
}

// The new pair, at one vertex.
fn learn(i: u32, next: u32) {
    let at = 3u * position[i];
    let solved = vec3(solution[at], solution[at + 1u], solution[at + 2u]);
    let g = vec3(gradient[3u * i], gradient[3u * i + 1u], gradient[3u * i + 2u]);
    let last = pair_at(pair_count(), RESPONSE, i);
    let last_solved = pair_at(pair_count(), SOLVED, i);
    // the first direction of a stage ends no step
    if state.iterations > 1u {
        let d = vec3(correction[3u * i], correction[3u * i + 1u], correction[3u * i + 2u]);
        store(pair_at(next, CHANGE, i), -state.taken * d);
        store(pair_at(next, RESPONSE, i), g - load(last));
        store(pair_at(next, SOLVED, i), solved - load(last_solved));
    }
    store(last, g);
    store(last_solved, solved);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&chunks) || (state.done | state.rejected) != 0u {
        return;
    }
    let chunk = chunks[number];
    let count = pair_count();
    let next = min(state.next_pair, count - 1u);
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        learn(i, next);
    }
    for (var j = 0u; j < count; j++) {
        var mine = empty();
        for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
            let g = load(pair_at(count, RESPONSE, i));
            let solved = load(pair_at(count, SOLVED, i));
            let s = load(pair_at(j, CHANGE, i));
            let y = load(pair_at(j, RESPONSE, i));
            let new_y = load(pair_at(next, RESPONSE, i));
            mine[0] += dot(s, g);
            mine[1] += dot(y, solved);
            mine[2] += dot(s, new_y);
            mine[3] += dot(load(pair_at(next, CHANGE, i)), y);
            mine[4] += dot(y, load(pair_at(next, SOLVED, i)));
            mine[5] += dot(s, s);
            mine[6] += dot(y, y);
            mine[7] += dot(g, solved);
        }
        combine(lane, mine);
        if lane < SLOTS {
            partials[number * count + j][lane] = lanes[0][lane];
        }
    }
}
