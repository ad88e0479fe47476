// Shared parts of the velocity filters.
//use shared/layout.wgsl
//use shared/reduce.wgsl
//use shared/vertex.wgsl

// m/2 (|v|^2 - |v'|^2) (J), as a product: a weak filter removes little from much
fn taken(mass: f32, velocity: vec3<f32>, filtered: vec3<f32>) -> f32 {
    return 0.5 * mass * dot(velocity - filtered, velocity + filtered);
}

// Integrators with history must see the filtered motion, too: v + change throughout.
fn shifted(motion: Motion, filtered: vec3<f32>, change: vec3<f32>, h: f32) -> Motion {
    return Motion(
        filtered,
        motion.filtered_x + change.x,
        motion.velocity_before + change,
        motion.filtered_y + change.y,
        motion.last_displacement + change * h,
        motion.filtered_z + change.z,
    );
}
