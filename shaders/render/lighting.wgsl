// Lighting of a surface, for a shader that declares `frame`, with the shadow map in group 1.
//use render/frame.wgsl

@group(1) @binding(0) var shadow_map: texture_depth_2d;
@group(1) @binding(1) var shadow_sampler: sampler_comparison;

// Fraction of the key light that reaches a point, 0 to 1. The mean of taps around it; skipped where the outermost
// agree.
fn lit(place: vec3<f32>, normal: vec3<f32>) -> f32 {
    // a slanted surface must not shadow itself: offset the point by the distance of its neighbours
    let slant = 1.0 - abs(dot(normal, frame.light));
    let reach = frame.texel * frame.softness * f32(frame.taps);
    let p = frame.light_clip * vec4(place + normal * (0.4 + slant) * reach, 1.0);
    let at = vec2(0.5 + 0.5 * p.x, 0.5 - 0.5 * p.y);
    if any(at < vec2(0.0)) || any(at > vec2(1.0)) || p.z > 1.0 {
        return 1.0;
    }
    let size = vec2<f32>(textureDimensions(shadow_map));
    let step = frame.softness / size;
    let n = f32(frame.taps);
    var sum = 0.0;
    var corners = vec2(0.0, 0.0);
    for (var k = 0; k < 4; k++) {
        let corner = vec2(f32(k % 2) * 2.0 - 1.0, f32(k / 2) * 2.0 - 1.0) * n * 0.8;
        sum += textureSampleCompareLevel(shadow_map, shadow_sampler, at + corner * step, p.z);
    }
    let middle = textureSampleCompareLevel(shadow_map, shadow_sampler, at, p.z);
    if (sum == 0.0 && middle == 0.0) || (sum == 4.0 && middle == 1.0) {
        return middle;
    }
    sum = 0.0;
    var weights = 0.0;
    for (var y = -frame.taps; y <= frame.taps; y++) {
        for (var x = -frame.taps; x <= frame.taps; x++) {
            let offset = vec2(f32(x), f32(y));
            let weight = max(1.0 - dot(offset, offset) / ((n + 1.0) * (n + 1.0)), 0.0);
            weights += weight;
            sum += weight * textureSampleCompareLevel(shadow_map, shadow_sampler, at + offset * step, p.z);
        }
    }
    return sum / weights;
}

// A surface of this colour (linear) with its normal towards the eye.
fn shaded(place: vec3<f32>, normal: vec3<f32>, colour: vec3<f32>, gloss: f32) -> vec3<f32> {
    let view = normalize(frame.eye - place);
    let facing = dot(normal, frame.light);
    var key = 0.0;
    if facing > -0.2 {
        // light wraps slightly around soft matter
        key = max((facing + 0.2) / 1.2, 0.0) * lit(place, normal);
    }
    let sky = 0.5 + 0.5 * normal.y;
    let ambient = mix(vec3(0.20, 0.185, 0.175), vec3(0.31, 0.335, 0.37), sky);
    let fill = 0.13 * max(dot(normal, view), 0.0);
    var light = ambient + vec3(fill) + vec3(0.70, 0.675, 0.64) * key;
    if frame.colour != 0u {
        // value colours must nearly match the legend
        light = mix(light, vec3(0.95), 0.5);
    }
    let diffuse = colour * light;
    let half_way = normalize(view + frame.light);
    let shine = gloss * pow(max(dot(normal, half_way), 0.0), 48.0) * key;
    let rim = 0.35 * gloss * pow(1.0 - max(dot(normal, view), 0.0), 4.0);
    return diffuse + vec3(shine + rim);
}
