// Sums along the shapes of a group, in a fixed order: as many as it has shapes, all of them sums.
//use shared/layout.wgsl

const SHAPES: u32 = 16u;
// A group's numbers in ExampleShares: gamma, the factors of U in the gradient and of B in the direction.
const FORCES: u32 = 16u;
const SHARES: u32 = 32u;
// Where the second matrix of a group begins in ExampleCouplings.
const INVERSE: u32 = 256u;

// Contributions of the threads, shape by shape, with four words of padding, as in reduce.wgsl.
const SHAPE_PITCH: u32 = 68u;
var<workgroup> shape_given: array<f32, 1088>;
var<workgroup> shape_quarters: array<f32, 64>;
var<workgroup> shape_sums: array<f32, SHAPES>;

// Sums the contributions of all threads; the result is in `shape_sums` for all of them.
fn add_up(lane: u32, mine: array<f32, SHAPES>) {
    var slots = mine;
    for (var slot = 0u; slot < SHAPES; slot++) {
        shape_given[slot * SHAPE_PITCH + lane] = slots[slot];
    }
    workgroupBarrier();
    let first = (lane / 4u) * SHAPE_PITCH + lane % 4u;
    var whole = shape_given[first];
    for (var k = 4u; k < LANES; k += 4u) {
        whole += shape_given[first + k];
    }
    shape_quarters[lane] = whole;
    workgroupBarrier();
    if lane < SHAPES {
        let at = 4u * lane;
        shape_sums[lane] = (shape_quarters[at] + shape_quarters[at + 1u]) + (shape_quarters[at + 2u] + shape_quarters[at + 3u]);
    }
    workgroupBarrier();
}

// Where the vector of shape `shape` at vertex i begins.
fn column_at(chunk: ExampleChunk, shape: u32, i: u32) -> u32 {
    return chunk.columns + 3u * (shape * chunk.vertices + i - chunk.origin);
}
