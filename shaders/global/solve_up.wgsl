// From the leaves to the roots: y = g + what children hand on, z = D^-1 y, u = U y + what children hand on.
//use shared/vertex.wgsl
//use shared/front.wgsl

@group(0) @binding(0) var<uniform> stage: FrontStage;
@group(0) @binding(1) var<storage, read> tasks: array<FrontTask>;
@group(0) @binding(2) var<storage, read> panels: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> order: array<u32>;
@group(0) @binding(4) var<storage, read> gather: array<u32>;
@group(0) @binding(5) var<storage, read> gradient: array<f32>;
@group(0) @binding(6) var<storage, read_write> updates: array<f32>;
@group(0) @binding(7) var<storage, read_write> solution: array<f32>;
@group(0) @binding(8) var<storage, read> state: IterationState;

// What the children hand on to a row, in their order.
fn handed_on(row: u32) -> vec3<f32> {
    var sum = vec3<f32>();
    for (var k = gather[row]; k < gather[row + 1u]; k++) {
        let source = 3u * gather[k];
        sum += vec3(updates[source], updates[source + 1u], updates[source + 2u]);
    }
    return sum;
}

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
            var y = vec3<f32>();
            if c < columns {
                let i = 3u * order[task.solution + begin + c];
                y = vec3(gradient[i], gradient[i + 1u], gradient[i + 2u]) + handed_on(task.list + begin + c);
            }
            own[c] = vec4(y, 0.0);
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
    let row = task.first_row + lane;
    let all = product(task, lane);
    if row < task.columns {
        let at = 3u * (task.solution + row);
        solution[at] = all.x;
        solution[at + 1u] = all.y;
        solution[at + 2u] = all.z;
    } else {
        let at = 3u * (task.update + row - task.columns);
        let u = all + handed_on(task.list + row);
        updates[at] = u.x;
        updates[at + 1u] = u.y;
        updates[at + 2u] = u.z;
    }
}
