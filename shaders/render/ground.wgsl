// Planes: the ground and plane obstacles, with a fading grid and shadows.
//use render/frame.wgsl
//use render/lighting.wgsl

struct Plane {
    point: vec3<f32>, // the point next to the middle of the scene (m)
    extent: f32,      // m
    normal: vec3<f32>,
    kind: u32,      // 0: the ground; 1: a wall
    along: vec3<f32>,
    origin: f32, // where the grid begins (m)
    across: vec3<f32>,
    origin_across: f32,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> planes: array<Plane>;

struct Out {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) on_plane: vec2<f32>,
    @location(2) @interpolate(flat) number: u32,
    @location(3) height: f32,
}

@vertex
fn vertex(@builtin(vertex_index) k: u32, @builtin(instance_index) number: u32) -> Out {
    let plane = planes[number];
    // two triangles
    let corner = vec2(select(-1.0, 1.0, k == 1u || k == 2u || k == 4u), select(-1.0, 1.0, k == 2u || k == 4u || k == 5u));
    let on_plane = corner * plane.extent;
    let place = plane.point + plane.along * on_plane.x + plane.across * on_plane.y;
    let clip = frame.clip * vec4(place, 1.0);
    return Out(clip, place, on_plane, number, 0.0);
}

// Coverage of a grid line in this pixel.
fn line(at: f32, spacing: f32, width: f32) -> f32 {
    let u = at / spacing;
    let blur = max(fwidth(u), 1e-6);
    let distance = abs(fract(u - 0.5) - 0.5) / blur;
    // lines closer than a few pixels blend to grey
    let dense = clamp(1.0 - blur * 4.0, 0.0, 1.0);
    return clamp(width + 0.5 - distance, 0.0, 1.0) * dense;
}

@fragment
fn fragment(in: Out) -> @location(0) vec4<f32> {
    let plane = planes[in.number];
    let at = in.on_plane + vec2(plane.origin, plane.origin_across);
    let minor = max(line(at.x, frame.grid, 0.6), line(at.y, frame.grid, 0.6));
    let major = max(line(at.x, 5.0 * frame.grid, 0.9), line(at.y, 5.0 * frame.grid, 0.9));
    let away = length(in.on_plane) / plane.extent;
    let fade = 1.0 - smoothstep(0.12, 0.92, away);
    let above = dot(frame.eye - plane.point, plane.normal) > 0.0;
    let light = 1.0 - 0.46 * (1.0 - lit(in.place, plane.normal)) * (1.0 - smoothstep(0.3, 0.5, away));
    var colour = vec3(0.71, 0.725, 0.735);
    if plane.kind == 1u {
        colour = vec3(0.62, 0.66, 0.70);
    }
    colour = colour * (1.0 - 0.08 * minor - 0.13 * major) * mix(vec3(0.86, 0.9, 1.0), vec3(1.0), light) * light;
    let seen = select(0.25, select(1.0, 0.55, plane.kind == 1u), above);
    return output(frame.encode, colour, fade * seen);
}
