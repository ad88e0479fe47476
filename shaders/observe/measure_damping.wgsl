// Energy removed by damping inside the step, after `advance`: damping_force * last_displacement . D u, D = a1 M + a2 viscosity L.
// Slot x of the chunk's exchange; resets the others.
//use shared/vertex.wgsl
//use shared/reduce.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> laplacian_starts: array<u32>;
@group(0) @binding(5) var<storage, read> laplacian_entries: array<Entry>;
@group(0) @binding(6) var<storage, read_write> exchange: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read> viscosity: array<f32>;

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
        mine[0] += taken(i);
    }
    combine(lane, mine);
    if lane == 0u {
        exchange[number] = vec4(step.damping_force * lanes[0][0], 0.0, 0.0, 0.0);
    }
}

// The damped velocity u: v', blended with v_n where the step uses the start force, or, in an explicit step, whose
// gradient has no inertia, the mean velocity of the step.
fn damped(velocity: vec3<f32>, before: vec3<f32>, last_displacement: vec3<f32>) -> vec3<f32> {
    return select(velocity + step.start_share * (before - velocity), last_displacement / step.h, step.inertia == 0.0);
}

fn taken(i: u32) -> f32 {
    let here = motions[i];
    var work = 0.0;
    if step.mass_damping != 0.0 {
        work += step.mass_damping * vertices[i].mass * dot(here.last_displacement, damped(here.velocity, here.velocity_before, here.last_displacement));
    }
    if step.stiffness_damping != 0.0 {
        let damping = step.stiffness_damping * viscosity[i];
        // half of each pair's L_ij (v_j - v_i).(d_i - d_j): no cancellation, however fast the body flies
        for (var k = laplacian_starts[i]; k < laplacian_starts[i + 1u]; k++) {
            let entry = laplacian_entries[k];
            let there = motions[entry.index];
            let faster = damped(
                there.velocity - here.velocity,
                there.velocity_before - here.velocity_before,
                there.last_displacement - here.last_displacement,
            );
            let strain = dot(faster, here.last_displacement - there.last_displacement);
            work += 0.5 * damping * entry.value * strain;
        }
    }
    return work;
}
