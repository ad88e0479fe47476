// Rows k (b (|d| - r) d/|d| + viscous (d - d_n)) and minus that of a spring (N), d = x_i - x_j at x_e, r its length at rest. Each end
// also has half of the energy (J).
//use shared/direction.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> springs: array<Spring>;
@group(0) @binding(5) var<storage, read_write> rows: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> state: IterationState;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = flat(workgroup, workgroups, lane);
    if index >= sizes.springs || state.done != 0u {
        return;
    }
    let spring = springs[index];
    let a = spring.vertices.x;
    let b = spring.vertices.y;
    let change = step.share * (iterate[a].xyz - iterate[b].xyz);
    let extent = polar(difference(vertices[a], vertices[b]) + change, spring.rest_direction);
    let excess = extent.length - spring.length;
    // a scalar times the direction: no torque
    let tension = spring.stiffness * step.projection * excess;
    let row = tension * extent.direction + spring.stiffness * step.viscous * change;
    let first = sizes.spring_rows + 2u * index;
    let part = 0.25 * spring.stiffness * excess * excess;
    rows[first] = vec4(row, part);
    rows[first + 1u] = vec4(-row, part);
}
