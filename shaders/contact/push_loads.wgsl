// Explicit step: loads move their vertices by F/(inertia m), and x - y with them. The first item only says how many follow.
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> loads: array<Load>;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read_write> iterate: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> target_offset: array<vec4<f32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = flat(workgroup, workgroups, lane) + 1u;
    if k > loads[0].vertex {
        return;
    }
    let load = loads[k];
    let i = load.vertex;
    let way = load.force * (step.h * step.h / vertices[i].mass);
    iterate[i] = vec4(iterate[i].xyz + way, 0.0);
    target_offset[i] = vec4(target_offset[i].xyz + way, 0.0);
}
