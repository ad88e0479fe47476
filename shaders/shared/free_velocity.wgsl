// v'(y), the velocity of a vertex under gravity alone, for a kernel that declares step. Written as v_n plus an
// increment: a freely flying body keeps its velocity to the last bit.
//use shared/layout.wgsl

fn free_velocity(m: Motion) -> vec3<f32> {
    let others = step.free_velocity_before * (m.velocity_before - m.velocity) + step.free_velocity_displacement * (m.last_displacement / step.h - m.velocity);
    return m.velocity + (others + step.free_velocity_gravity * step.gravity);
}
