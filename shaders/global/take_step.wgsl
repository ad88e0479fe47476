// Global step of a line search: d <- d - s along the direction s that L-BFGS has chosen, and the parts of g . s of a block of vertices. A
// step that was too long goes back by a share of it instead. The target offset x - y takes the same steps.
//use shared/pairs.wgsl
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<uniform> rule: IterationRule;
@group(0) @binding(2) var<storage, read> state: IterationState;
@group(0) @binding(3) var<storage, read> pairs: array<f32>;
@group(0) @binding(4) var<storage, read> curvature: array<f32>;
@group(0) @binding(5) var<storage, read> gradient: array<f32>;
@group(0) @binding(6) var<storage, read_write> correction: array<f32>;
@group(0) @binding(7) var<storage, read_write> iterate: array<vec4<f32>>;
@group(0) @binding(8) var<storage, read_write> target_offset: array<vec4<f32>>;
@group(0) @binding(9) var<storage, read_write> slopes: array<f32>;

fn load(at: u32) -> vec3<f32> {
    return vec3(pairs[at], pairs[at + 1u], pairs[at + 2u]);
}

fn direction(i: u32) -> vec3<f32> {
    let count = pair_count();
    var s = load(pair_at(count, SOLVED, i));
    // pairs that do not count may hold anything
    for (var age = 0u; age < state.pairs; age++) {
        let j = (state.next_pair + 2u * count - 1u - age) % count;
        s += curvature[CHANGE_SHARES + j] * load(pair_at(j, CHANGE, i))
            - curvature[SOLVED_SHARES + j] * load(pair_at(j, SOLVED, i));
    }
    return s;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = flat_workgroup(workgroup, workgroups);
    if block * BLOCK >= sizes.vertices || (state.done != 0u && state.rejected == 0u) {
        return;
    }
    let end = min(sizes.vertices, (block + 1u) * BLOCK);
    if state.rejected != 0u {
        for (var i = block * BLOCK + lane; i < end; i += LANES) {
            let back = state.way * vec3(correction[3u * i], correction[3u * i + 1u], correction[3u * i + 2u]);
            iterate[i] = vec4(iterate[i].xyz + back, 0.0);
            target_offset[i] = vec4(target_offset[i].xyz + back, 0.0);
        }
        return;
    }
    var mine = empty();
    for (var i = block * BLOCK + lane; i < end; i += LANES) {
        let s = direction(i);
        correction[3u * i] = s.x;
        correction[3u * i + 1u] = s.y;
        correction[3u * i + 2u] = s.z;
        iterate[i] = vec4(iterate[i].xyz - s, 0.0);
        target_offset[i] = vec4(target_offset[i].xyz - s, 0.0);
        mine[0] += dot(vec3(gradient[3u * i], gradient[3u * i + 1u], gradient[3u * i + 2u]), s);
    }
    combine(lane, mine);
    if lane == 0u {
        slopes[block] = lanes[0][0];
    }
}
