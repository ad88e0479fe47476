// Tetrahedra: F = Ds Dm^-1, energy w_s/2 |F - R|^2 + w_v/2 |F - P|^2 or that of another law.
//use shared/layout.wgsl

// Dm^-T, without unit times 1/m: the rows of Dm^-1 as columns
fn transposed_inverse_rest(e: Tet) -> mat3x3<f32> {
    return mat3x3<f32>(e.rest_0, e.rest_1, e.rest_2);
}

// F from Ds, the edges from corner 0 (m)
fn deformation(e: Tet, edges: mat3x3<f32>) -> mat3x3<f32> {
    return edges * transpose(transposed_inverse_rest(e));
}

// |A|^2
fn norm_squared(a: mat3x3<f32>) -> f32 {
    return dot(a[0], a[0]) + dot(a[1], a[1]) + dot(a[2], a[2]);
}
