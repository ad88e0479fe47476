// A workgroup multiplies a tile of a front, some rows of its matrix, with the vectors at the matrix' columns. Lane l takes row
// l mod height and every (256 / height)-th quad of columns: lanes side by side read numbers side by side, and every sum has one order.

const FRONT_LANES: u32 = 256u;
// Columns at once: as many vectors as the workgroup's memory holds beside the partial sums.
const FRONT_COLUMNS: u32 = 704u;

var<workgroup> own: array<vec4<f32>, FRONT_COLUMNS>;
var<workgroup> parts: array<vec4<f32>, FRONT_LANES>;

// The lane's part of the product with columns begin .. begin + 4 quads, which `own` holds, zeros behind the last one.
fn multiply(task: FrontTask, begin: u32, quads: u32, lane: u32) -> vec3<f32> {
    let strips = FRONT_LANES / task.height;
    let strip = lane / task.height;
    var sum = vec3<f32>();
    if strip < strips {
        let at = task.panel + (begin / 4u) * task.height + lane % task.height;
        for (var q = strip; q < quads; q += strips) {
            let m = panel_quad(at + q * task.height);
            sum += m.x * own[4u * q].xyz + m.y * own[4u * q + 1u].xyz + m.z * own[4u * q + 2u].xyz + m.w * own[4u * q + 3u].xyz;
        }
    }
    return sum;
}

// The whole product of a row: its lanes' parts, in order.
fn product(task: FrontTask, row: u32) -> vec3<f32> {
    let used = (FRONT_LANES / task.height) * task.height;
    var sum = vec3<f32>();
    for (var lane = row; lane < used; lane += task.height) {
        sum += parts[lane].xyz;
    }
    return sum;
}
