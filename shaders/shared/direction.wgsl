// Lengths and directions of vectors of any size: squares of single-precision numbers overflow above 1e19.

// Below this a vector has no direction.
const NOTHING: f32 = 1e-30;

fn largest(v: vec3<f32>) -> f32 {
    return max(max(abs(v.x), abs(v.y)), abs(v.z));
}

// v = length times direction.
struct Polar {
    direction: vec3<f32>,
    length: f32,
}

// Along `otherwise` where v has no direction.
fn polar(v: vec3<f32>, otherwise: vec3<f32>) -> Polar {
    let scale = largest(v);
    if scale < NOTHING {
        return Polar(otherwise, 0.0);
    }
    let scaled = v / scale;
    let length = sqrt(dot(scaled, scaled)); // 1 to 1.8
    return Polar(scaled / length, scale * length);
}
