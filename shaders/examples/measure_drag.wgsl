// After `advance`: products of the shapes with the way of the step, and with the velocity that damping acted on.
//use shared/along.wgsl
//use shared/rotation.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> chunks: array<ExampleChunk>;
@group(0) @binding(2) var<storage, read> motions: array<Motion>;
@group(0) @binding(3) var<storage, read> forces: array<f32>;
@group(0) @binding(4) var<storage, read> states: array<ExampleState>;
@group(0) @binding(5) var<storage, read_write> partials: array<array<f32, 32>>;

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
    var ways: array<f32, SHAPES>;
    var rates: array<f32, SHAPES>;
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let m = motions[i];
        let way = m.last_displacement * turn;
        let v = (m.velocity + step.start_share * (m.velocity_before - m.velocity)) * turn;
        for (var shape = 0u; shape < min(chunk.shapes, SHAPES); shape++) {
            let at = column_at(chunk, shape, i);
            let u = vec3(forces[at], forces[at + 1u], forces[at + 2u]);
            ways[shape] += dot(u, way);
            rates[shape] += dot(u, v);
        }
    }
    add_up(lane, ways);
    if lane < SHAPES {
        partials[number][lane] = shape_sums[lane];
    }
    add_up(lane, rates);
    if lane < SHAPES {
        partials[number][SHAPES + lane] = shape_sums[lane];
    }
}
