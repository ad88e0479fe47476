// Uniforms shared by all drawing shaders: camera, light and colours. src/view/frame.rs has the same struct.

struct Frame {
    clip: mat4x4<f32>,       // from the world to the picture
    light_clip: mat4x4<f32>, // from the world to the shadow map
    eye: vec3<f32>,          // m
    pixel: f32,              // what a pixel covers at a depth of 1 m (m)
    right: vec3<f32>,
    radius: f32, // half the diagonal of the scene (m)
    up: vec3<f32>,
    texel: f32, // what a texel of the shadow map covers (m)
    back: vec3<f32>,
    softness: f32, // texels between the taps of the shadow
    light: vec3<f32>, // towards the light
    taps: i32,        // to each side
    centre: vec3<f32>, // of the scene (m)
    grid: f32,         // distance of grid lines (m)
    colour: u32, // 0: bodies; 1 to 4: strain, energy, speed, damping
    encode: u32, // 1 where the picture does not turn linear light into sRGB by itself
    bodies: u32,
    planes: u32,
    map: array<vec4<f32>, 6>,      // control points of the colour map, Oklab
    palette: array<vec4<f32>, 8>,  // linear light
}

// One convention for all targets: shaders compute in linear light.
fn output(frame_encode: u32, colour: vec3<f32>, alpha: f32) -> vec4<f32> {
    let light = clamp(colour, vec3(0.0), vec3(1.0));
    if frame_encode == 0u {
        return vec4(light, alpha);
    }
    let high = 1.055 * pow(light, vec3(1.0 / 2.4)) - 0.055;
    return vec4(select(high, 12.92 * light, light <= vec3(0.0031308)), alpha);
}

// The background at a height from -1 (below) to 1 (above) of the picture.
fn background(height: f32) -> vec3<f32> {
    let share = smoothstep(-0.6, 1.0, height);
    return mix(vec3(0.815, 0.835, 0.855), vec3(0.47, 0.575, 0.69), share);
}

// A number of the colour map, 0 to 1, as linear light.
fn mapped(map: array<vec4<f32>, 6>, s: f32) -> vec3<f32> {
    var points = map;
    let at = clamp(s, 0.0, 1.0) * 5.0;
    let first = min(u32(at), 4u);
    let lab = mix(points[first].xyz, points[first + 1u].xyz, at - f32(first));
    let long = lab.x + 0.39633778 * lab.y + 0.21580376 * lab.z;
    let middle = lab.x - 0.105561346 * lab.y - 0.06385417 * lab.z;
    let short = lab.x - 0.08948418 * lab.y - 1.2914855 * lab.z;
    let cone = vec3(long * long * long, middle * middle * middle, short * short * short);
    return vec3(
        dot(vec3(4.0767417, -3.3077116, 0.23096994), cone),
        dot(vec3(-1.268438, 2.6097574, -0.34131938), cone),
        dot(vec3(-0.0041960863, -0.7034186, 1.7076147), cone),
    );
}
