// Energy of the springs (J): k/2 (|d| - r)^2, d = x_i - x_j, r the length at rest.
//use shared/energy.wgsl
//use shared/direction.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> springs: array<Spring>;
@group(0) @binding(3) var<storage, read_write> partials: array<array<f32, SLOTS>>;

fn elements() -> Elements {
    return Elements(sizes.springs, sizes.spring_partials);
}

fn stiffening_gain(index: u32) -> f32 {
    return springs[index].stiffening_gain;
}

fn energy(index: u32) -> f32 {
    let spring = springs[index];
    let d = difference(vertices[spring.vertices.x], vertices[spring.vertices.y]);
    let excess = polar(d, spring.rest_direction).length - spring.length;
    return 0.5 * spring.stiffness * excess * excess;
}
