// What the update of a group adds to the gradient, U c with c = d P U^T v', and by how much of B the direction of that gradient then
// differs: A^-1 g - B (I + w P S)^-1 w P (B^T g + S c), g without U c (Woodbury).
//use shared/along.wgsl
//use shared/free_velocity.wgsl
//use shared/rotation.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> stage: ExampleStage;
@group(0) @binding(2) var<storage, read> groups: array<ExampleGroup>;
@group(0) @binding(3) var<storage, read> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> target_offset: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> matrices: array<f32>;
@group(0) @binding(6) var<storage, read> states: array<ExampleState>;
@group(0) @binding(7) var<storage, read> partials: array<array<f32, 32>>;
@group(0) @binding(8) var<storage, read> couplings: array<array<f32, 512>>;
@group(0) @binding(9) var<storage, read_write> shares: array<array<f32, 48>>;

var<workgroup> rate: array<f32, SHAPES>;
var<workgroup> along: array<f32, SHAPES>;
var<workgroup> force: array<f32, SHAPES>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&groups) {
        return;
    }
    let group = groups[number];
    let k = min(group.shapes, SHAPES);
    var rates: array<f32, SHAPES>;
    var products: array<f32, SHAPES>;
    for (var chunk = group.first_chunk + lane; chunk < group.end_chunk; chunk += LANES) {
        for (var slot = 0u; slot < SHAPES; slot++) {
            rates[slot] += partials[chunk][slot];
            products[slot] += partials[chunk][SHAPES + slot];
        }
    }
    add_up(lane, rates);
    if lane < k {
        // what was left out: all vertices with the velocity of the first one
        let at = group.matrices + 4u * k * k + 3u * lane;
        let base = (free_velocity(motions[group.first]) + step.slope * target_offset[group.first].xyz) * rotation_of(states[number].turn);
        rate[lane] = shape_sums[lane] + dot(vec3(matrices[at], matrices[at + 1u], matrices[at + 2u]), base);
    }
    add_up(lane, products);
    if lane < k {
        along[lane] = shape_sums[lane];
        var sum = 0.0;
        for (var j = 0u; j < k; j++) {
            sum += couplings[number][lane * k + j] * rate[j];
        }
        force[lane] = step.dissipation * step.inertia * sum;
        shares[number][FORCES + lane] = force[lane];
    }
    workgroupBarrier();
    if lane < k {
        var sum = along[lane];
        let row = group.matrices + (2u + stage.stage) * k * k + lane * k;
        for (var j = 0u; j < k; j++) {
            sum += matrices[row + j] * force[j];
        }
        rate[lane] = sum;
    }
    workgroupBarrier();
    if lane < k {
        var sum = 0.0;
        for (var j = 0u; j < k; j++) {
            sum -= couplings[number][INVERSE + lane * k + j] * rate[j];
        }
        shares[number][SHARES + lane] = sum;
    }
}
