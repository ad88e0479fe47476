// From the roots to the leaves: x = z + U^T x of the rows below.
//use shared/vertex.wgsl
//use shared/front.wgsl

@group(0) @binding(0) var<uniform> stage: FrontStage;
@group(0) @binding(1) var<storage, read> tasks: array<FrontTask>;
@group(0) @binding(2) var<storage, read> panels: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> places: array<u32>;
@group(0) @binding(4) var<storage, read_write> solution: array<f32>;
@group(0) @binding(5) var<storage, read> state: IterationState;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= stage.tasks || state.done != 0u {
        return;
    }
    let task = tasks[stage.first_task + number];
    var sum = vec3<f32>();
    for (var begin = 0u; begin < task.columns; begin += FRONT_COLUMNS) {
        let columns = min(FRONT_COLUMNS, task.columns - begin);
        let quads = (columns + 3u) / 4u;
        for (var c = lane; c < 4u * quads; c += FRONT_LANES) {
            var x = vec3<f32>();
            if c < columns {
                let i = 3u * places[task.list + begin + c];
                x = vec3(solution[i], solution[i + 1u], solution[i + 2u]);
            }
            own[c] = vec4(x, 0.0);
        }
        workgroupBarrier();
        sum += multiply(task, begin, quads, lane);
        workgroupBarrier();
    }
    parts[lane] = vec4(sum, 0.0);
    workgroupBarrier();
    if lane >= task.rows {
        return;
    }
    let all = product(task, lane);
    let at = 3u * (task.solution + task.first_row + lane);
    solution[at] += all.x;
    solution[at + 1u] += all.y;
    solution[at + 2u] += all.z;
}
