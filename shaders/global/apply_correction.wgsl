// Global step: d <- d - s - the body's shift. The target_offset x - y takes the same steps from zero: the velocity is made of it,
// and rounding of a large d would be felt there. The inner iterates start from zero again.
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(1) var<storage, read> shifts: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> iterate: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> target_offset: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> correction: array<f32>;
@group(0) @binding(5) var<storage, read_write> correction_before: array<f32>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&chunks) {
        return;
    }
    let chunk = chunks[number];
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let s = vec3(correction[3u * i], correction[3u * i + 1u], correction[3u * i + 2u]);
        let way = s + shifts[chunk.body].xyz;
        iterate[i] = vec4(iterate[i].xyz - way, 0.0);
        target_offset[i] = vec4(target_offset[i].xyz - way, 0.0);
        for (var k = 3u * i; k < 3u * i + 3u; k++) {
            correction[k] = 0.0;
            correction_before[k] = 0.0;
        }
    }
}
