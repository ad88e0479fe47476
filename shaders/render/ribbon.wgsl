// Strands: camera-facing ribbons, shaded as if round.
//use render/frame.wgsl
//use render/lighting.wgsl
//use render/vertex_colour.wgsl
//use shared/layout.wgsl

struct Piece {
    vertices: vec4<u32>, // the piece is y to z; x and w are the neighbours along the strand, or y and z again
    body: u32,
    radius: f32, // m
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(2) var<storage, read> pieces: array<Piece>;
@group(0) @binding(3) var<storage, read> values: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> range: array<f32>;

struct Out {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) across: vec3<f32>,
    @location(2) side: f32,
    @location(3) value: f32,
    @location(4) @interpolate(flat) body: u32,
}

struct Corner {
    place: vec3<f32>,
    across: vec3<f32>,
    side: f32,
    vertex: u32,
}

// Corner k of two triangles, seen from the direction `towards` (not normalised).
fn corner_of(piece: Piece, k: u32, eye: vec3<f32>, parallel: vec3<f32>, radius_floor: f32) -> Corner {
    let end = k == 1u || k == 2u || k == 4u;
    let side = select(-1.0, 1.0, k == 2u || k == 4u || k == 5u);
    let v = piece.vertices;
    let vertex = select(v.y, v.z, end);
    let place = vertices[vertex].position;
    var tangent = select(
        vertices[v.z].position - vertices[v.x].position,
        vertices[v.w].position - vertices[v.y].position,
        end,
    );
    tangent = tangent + vec3(1e-12, 0.0, 0.0);
    let towards = select(eye - place, parallel, dot(parallel, parallel) > 0.0);
    let across = normalize(cross(tangent, towards) + vec3(0.0, 0.0, 1e-20));
    let radius = max(piece.radius, radius_floor * length(eye - place));
    return Corner(place + across * (side * radius), across, side, vertex);
}

@vertex
fn vertex(@builtin(vertex_index) k: u32, @builtin(instance_index) number: u32) -> Out {
    let piece = pieces[number];
    // at least one and a half pixels wide
    let corner = corner_of(piece, k, frame.eye, vec3(0.0), 0.75 * frame.pixel);
    let clip = frame.clip * vec4(corner.place, 1.0);
    return Out(clip, corner.place, corner.across, corner.side, value_at(corner.vertex), piece.body);
}

@fragment
fn fragment(in: Out) -> @location(0) vec4<f32> {
    let across = normalize(in.across);
    let towards = normalize(frame.eye - in.place);
    let out = normalize(towards - across * dot(across, towards));
    let normal = across * in.side + out * sqrt(max(1.0 - in.side * in.side, 0.0));
    return output(frame.encode, shaded(in.place, normal, colour_of(in.value, in.body), 0.3), 1.0);
}

@vertex
fn shadow(@builtin(vertex_index) k: u32, @builtin(instance_index) number: u32) -> @builtin(position) vec4<f32> {
    let piece = pieces[number];
    let corner = corner_of(piece, k, vec3(0.0), frame.light, 0.0);
    // at least one texel wide
    let wider = max(frame.texel - piece.radius, 0.0) * corner.side;
    return frame.light_clip * vec4(corner.place + corner.across * wider, 1.0);
}
