// Energy of the bending stencils (J): w/2 (|K| - K_0)^2, K = sum of c_k x_k the curvature (1/m).
//use shared/energy.wgsl
//use shared/direction.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> bendings: array<Bending>;
@group(0) @binding(3) var<storage, read> corners: array<Entry>;
@group(0) @binding(4) var<storage, read_write> partials: array<array<f32, SLOTS>>;

fn elements() -> Elements {
    return Elements(sizes.bendings, sizes.bending_partials);
}

fn stiffening_gain(index: u32) -> f32 {
    return bendings[index].stiffening_gain;
}

fn energy(index: u32) -> f32 {
    let bending = bendings[index];
    let centre = vertices[corners[bending.first].index];
    var curvature = vec3(0.0);
    for (var k = bending.first + 1u; k < bending.end; k++) {
        curvature += corners[k].value * difference(vertices[corners[k].index], centre);
    }
    let excess = polar(curvature, bending.rest_direction).length - bending.rest_curvature;
    return 0.5 * bending.weight * excess * excess;
}
