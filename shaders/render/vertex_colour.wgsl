// The colour of a body or of a vertex value, for a shader that declares `frame`, `values` and `range`.
//use render/frame.wgsl

fn value_at(vertex: u32) -> f32 {
    if frame.colour == 0u {
        return 0.0;
    }
    return values[vertex][frame.colour - 1u];
}

fn colour_of(value: f32, body: u32) -> vec3<f32> {
    if frame.colour == 0u {
        return frame.palette[body % 8u].xyz;
    }
    return mapped(frame.map, (value - range[0]) / max(range[1] - range[0], 1e-30));
}
