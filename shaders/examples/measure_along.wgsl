// Products of the shapes of a group with what the iterate does: first row (T U)^T v', v' from that of the group's first vertex, so that a
// body that flies keeps its digits; second row (T B)^T g.
//use shared/along.wgsl
//use shared/free_velocity.wgsl
//use shared/rotation.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> stage: ExampleStage;
@group(0) @binding(2) var<storage, read> chunks: array<ExampleChunk>;
@group(0) @binding(3) var<storage, read> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> target_offset: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> gradient: array<f32>;
@group(0) @binding(6) var<storage, read> forces: array<f32>;
@group(0) @binding(7) var<storage, read> solutions: array<f32>;
@group(0) @binding(8) var<storage, read> states: array<ExampleState>;
@group(0) @binding(9) var<storage, read_write> partials: array<array<f32, 32>>;

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
    let turn = rotation_of(states[chunk.group].turn);
    let base = new_velocity(chunk.origin);
    var rates: array<f32, SHAPES>;
    var along: array<f32, SHAPES>;
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        // a vector times a matrix is the transpose of the matrix times the vector
        let v = (new_velocity(i) - base) * turn;
        let g = vec3(gradient[3u * i], gradient[3u * i + 1u], gradient[3u * i + 2u]) * turn;
        for (var shape = 0u; shape < min(chunk.shapes, SHAPES); shape++) {
            let at = column_at(chunk, shape, i);
            rates[shape] += dot(vec3(forces[at], forces[at + 1u], forces[at + 2u]), v);
            let b = stage.solutions + at;
            along[shape] += dot(vec3(solutions[b], solutions[b + 1u], solutions[b + 2u]), g);
        }
    }
    add_up(lane, rates);
    if lane < SHAPES {
        partials[number][lane] = shape_sums[lane];
    }
    add_up(lane, along);
    if lane < SHAPES {
        partials[number][SHAPES + lane] = shape_sums[lane];
    }
}

fn new_velocity(i: u32) -> vec3<f32> {
    return free_velocity(motions[i]) + step.slope * target_offset[i].xyz;
}
