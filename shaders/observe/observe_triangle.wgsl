// Energy of the triangles (J).
//use shared/energy.wgsl
//use shared/strain.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> triangles: array<Triangle>;
@group(0) @binding(3) var<storage, read_write> partials: array<array<f32, SLOTS>>;
@group(0) @binding(4) var<storage, read> curves: array<CurvePiece>;

fn elements() -> Elements {
    return Elements(sizes.triangles, sizes.triangle_partials);
}

fn stiffening_gain(index: u32) -> f32 {
    return triangles[index].stiffening_gain;
}

fn energy(index: u32) -> f32 {
    let triangle = triangles[index];
    let corner = vertices[triangle.vertices.x];
    let edge_1 = difference(vertices[triangle.vertices.y], corner);
    let edge_2 = difference(vertices[triangle.vertices.z], corner);
    let sigma = stretch(deformation(edge_1, edge_2, triangle.inverse_rest)).sigma;
    return strained(triangle, sigma).energy;
}
