// Rows of the metric A = inertia M + laplacian L + attachment_weight K, for a kernel that declares step, vertices,
// laplacian_starts, laplacian_entries and a function `unknown(i)`.
//use shared/layout.wgsl

struct Row {
    product: vec3<f32>, // (A s)_i
    diagonal: f32,      // A_ii
}

fn metric_row(i: u32) -> Row {
    let here = unknown(i);
    var stretched = vec3<f32>();
    var diagonal = 0.0;
    // L s from differences, L_ii from the row's sum: a translation gives exactly zero
    for (var k = laplacian_starts[i]; k < laplacian_starts[i + 1u]; k++) {
        let entry = laplacian_entries[k];
        stretched += entry.value * (unknown(entry.index) - here);
        diagonal -= entry.value;
    }
    let own = step.inertia * vertices[i].mass + step.attachment_weight * vertices[i].attachment_stiffness;
    return Row(own * here + step.laplacian * stretched, own + step.laplacian * diagonal);
}
