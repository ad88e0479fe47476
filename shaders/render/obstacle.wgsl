// Sphere, box and capsule obstacles.
//use render/frame.wgsl
//use render/lighting.wgsl

// A corner of a unit shape; `end` is -1 or 1 for the two halves of a capsule.
struct Corner {
    place: vec3<f32>,
    end: f32,
    normal: vec3<f32>,
}

// x = centre + turn (size * place + stretch * end)
struct Placed {
    turn_0: vec3<f32>, // columns of the rotation
    turn_1: vec3<f32>,
    turn_2: vec3<f32>,
    size: vec3<f32>,    // m
    stretch: vec3<f32>, // m
    centre: vec3<f32>,  // m
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(0) @binding(1) var<storage, read> shapes: array<Corner>;
@group(0) @binding(2) var<storage, read> obstacles: array<Placed>;

struct Out {
    @builtin(position) clip: vec4<f32>,
    @location(0) place: vec3<f32>,
    @location(1) normal: vec3<f32>,
}

fn placed(k: u32, number: u32) -> vec3<f32> {
    let o = obstacles[number];
    let corner = shapes[k];
    let local = o.size * corner.place + o.stretch * corner.end;
    return o.centre + mat3x3<f32>(o.turn_0, o.turn_1, o.turn_2) * local;
}

@vertex
fn vertex(@builtin(vertex_index) k: u32, @builtin(instance_index) number: u32) -> Out {
    let o = obstacles[number];
    let place = placed(k, number);
    let normal = mat3x3<f32>(o.turn_0, o.turn_1, o.turn_2) * shapes[k].normal;
    return Out(frame.clip * vec4(place, 1.0), place, normal);
}

@fragment
fn fragment(in: Out) -> @location(0) vec4<f32> {
    return output(frame.encode, shaded(in.place, normalize(in.normal), vec3(0.40, 0.43, 0.47), 0.12), 1.0);
}

@vertex
fn shadow(@builtin(vertex_index) k: u32, @builtin(instance_index) number: u32) -> @builtin(position) vec4<f32> {
    return frame.light_clip * vec4(placed(k, number), 1.0);
}
