// Markers: a small ball, and a line to a vertex.
//use render/frame.wgsl
//use shared/layout.wgsl

struct Marker {
    other: vec3<f32>, // a point of the world, or from the vertex (m)
    vertex: u32,
    colour: vec3<f32>, // linear light
    flags: u32,        // 1: `other` is a point of the world; 2: the ball is there, not at the vertex
    radius: f32,       // of the ball (m)
    width: f32,        // half the line's (m)
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> markers: array<Marker>;

struct Out {
    @builtin(position) clip: vec4<f32>,
    @location(0) on_ball: vec2<f32>,
    @location(1) @interpolate(flat) colour: vec3<f32>,
    @location(2) @interpolate(flat) line: u32,
}

// Six corners of the ball's square, then six of the line.
@vertex
fn vertex(@builtin(vertex_index) corner: u32, @builtin(instance_index) number: u32) -> Out {
    let marker = markers[number];
    let here = vertices[marker.vertex].position;
    let other = select(here + marker.other, marker.other, (marker.flags & 1u) != 0u);
    let k = corner % 6u;
    let a = select(-1.0, 1.0, k == 1u || k == 2u || k == 4u);
    let b = select(-1.0, 1.0, k == 2u || k == 4u || k == 5u);
    var place: vec3<f32>;
    var line = 0u;
    if corner < 6u {
        let centre = select(here, other, (marker.flags & 2u) != 0u);
        let radius = max(marker.radius, 2.2 * frame.pixel * length(frame.eye - centre));
        place = centre + (frame.right * a + frame.up * b) * radius;
    } else {
        line = 1u;
        let end = select(here, other, a > 0.0);
        let across = normalize(cross(other - here, frame.eye - end) + vec3(0.0, 1e-20, 0.0));
        place = end + across * (b * max(marker.width, 0.8 * frame.pixel * length(frame.eye - end)));
    }
    // drawn in front of the surface it lies on
    var clip = frame.clip * vec4(place + normalize(frame.eye - place) * marker.radius, 1.0);
    return Out(clip, vec2(a, b), marker.colour, line);
}

@fragment
fn fragment(in: Out) -> @location(0) vec4<f32> {
    if in.line == 1u {
        return output(frame.encode, in.colour, 1.0);
    }
    let square = dot(in.on_ball, in.on_ball);
    if square > 1.0 {
        discard;
    }
    let normal = frame.right * in.on_ball.x + frame.up * in.on_ball.y + frame.back * sqrt(1.0 - square);
    let light = 0.55 + 0.45 * max(dot(normal, frame.light), 0.0);
    return output(frame.encode, in.colour * light, 1.0);
}
