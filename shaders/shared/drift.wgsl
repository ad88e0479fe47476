// v'(y), the velocity of a vertex under gravity alone, for a kernel that declares step. Written as v_n plus an
// increment: a freely flying body keeps its velocity to the last bit.
//use shared/layout.wgsl

fn drift(m: Motion) -> vec3<f32> {
    let others = step.drift_before * (m.velocity_before - m.velocity) + step.drift_moved * (m.moved / step.h - m.velocity);
    return m.velocity + (others + step.drift_acceleration * step.gravity);
}
