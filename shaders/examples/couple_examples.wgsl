// The damping along the shapes of a group in a stage, from how much of each there is:
//   gamma(|chi|),   P = R diag(gamma - 1) R^-1,   (I + w P S)^-1 w P,   w = d s
// Where gamma contradict each other, P + I would drive some motion: negative eigenvalues of its symmetric part are removed.
//use shared/along.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> stage: ExampleStage;
@group(0) @binding(2) var<storage, read> groups: array<ExampleGroup>;
@group(0) @binding(3) var<storage, read> laws: array<ExampleLaw>;
@group(0) @binding(4) var<storage, read> pieces: array<ExamplePiece>;
@group(0) @binding(5) var<storage, read> matrices: array<f32>;
@group(0) @binding(6) var<storage, read> partials: array<array<f32, 32>>;
@group(0) @binding(7) var<storage, read_write> shares: array<array<f32, 48>>;
@group(0) @binding(8) var<storage, read_write> couplings: array<array<f32, 512>>;

const SWEEPS: u32 = 8u;
const LOG2_OF_10: f32 = 3.321928;

var<workgroup> gammas: array<f32, SHAPES>;
var<workgroup> p: array<f32, 256>;       // P
var<workgroup> a: array<f32, 256>;       // its symmetric part + I, then I + w P S
var<workgroup> vectors: array<f32, 256>; // eigenvectors, then w P
var<workgroup> factors: array<f32, SHAPES>;
var<workgroup> definite: u32;

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
    var mine: array<f32, SHAPES>;
    for (var chunk = group.first_chunk + lane; chunk < group.end_chunk; chunk += LANES) {
        for (var slot = 0u; slot < SHAPES; slot++) {
            mine[slot] += partials[chunk][slot];
        }
    }
    add_up(lane, mine);
    if lane < k {
        let gamma = gamma_of(laws[group.laws + lane], abs(shape_sums[lane]));
        gammas[lane] = gamma;
        shares[number][lane] = gamma;
    }
    workgroupBarrier();
    for (var e = lane; e < k * k; e += LANES) {
        // both factors are upper triangles
        var sum = 0.0;
        for (var l = e / k; l <= e % k; l++) {
            sum += matrices[group.matrices + (e / k) * k + l] * (gammas[l] - 1.0) * matrices[group.matrices + k * k + l * k + e % k];
        }
        p[e] = sum;
    }
    workgroupBarrier();
    for (var e = lane; e < k * k; e += LANES) {
        a[e] = 0.5 * (p[e] + p[(e % k) * k + e / k]) + identity(e, k);
        vectors[e] = a[e];
    }
    workgroupBarrier();
    if lane == 0u {
        definite = u32(is_definite(k));
    }
    if workgroupUniformLoad(&definite) == 0u {
        remove_negative(lane, k);
    }
    invert(lane, k, group.matrices + (2u + stage.stage) * k * k);
    for (var e = lane; e < k * k; e += LANES) {
        couplings[number][e] = p[e];
        couplings[number][INVERSE + e] = vectors[e];
    }
}

fn identity(e: u32, k: u32) -> f32 {
    return select(0.0, 1.0, e / k == e % k);
}

fn gamma_of(law: ExampleLaw, chi: f32) -> f32 {
    if law.first == law.end {
        return law.gamma;
    }
    var piece = pieces[law.first];
    for (var k = law.first + 1u; k < law.end; k++) {
        if pieces[k].start <= chi {
            piece = pieces[k];
        }
    }
    let t = clamp((chi - piece.start) * piece.scale, 0.0, 1.0);
    let near = mix(piece.control.xyz, piece.control.yzw, t);
    let far = mix(near.xy, near.yz, t);
    return exp2(LOG2_OF_10 * mix(far.x, far.y, t));
}

// Whether the matrix has a Cholesky factor, which takes its place in vectors: the usual case.
fn is_definite(k: u32) -> bool {
    for (var j = 0u; j < k; j++) {
        var left = vectors[j * k + j];
        for (var l = 0u; l < j; l++) {
            left -= vectors[j * k + l] * vectors[j * k + l];
        }
        if !(left > 0.0) {
            return false;
        }
        let root = sqrt(left);
        vectors[j * k + j] = root;
        for (var i = j + 1u; i < k; i++) {
            var rest = vectors[i * k + j];
            for (var l = 0u; l < j; l++) {
                rest -= vectors[i * k + l] * vectors[j * k + l];
            }
            vectors[i * k + j] = rest / root;
        }
    }
    return true;
}

// P without negative eigenvalues of a, by Jacobi's cyclic rotations.
fn remove_negative(lane: u32, k: u32) {
    for (var e = lane; e < k * k; e += LANES) {
        vectors[e] = identity(e, k);
    }
    workgroupBarrier();
    for (var sweep = 0u; sweep < SWEEPS; sweep++) {
        for (var i = 0u; i + 1u < k; i++) {
            for (var j = i + 1u; j < k; j++) {
                rotate(lane, k, i, j);
            }
        }
    }
    for (var e = lane; e < k * k; e += LANES) {
        var more = 0.0;
        for (var l = 0u; l < k; l++) {
            more -= min(a[l * k + l], 0.0) * vectors[(e / k) * k + l] * vectors[(e % k) * k + l];
        }
        p[e] += more;
    }
    workgroupBarrier();
}

// The rotation by less than pi/4 that makes a_ij zero.
fn rotate(lane: u32, k: u32, i: u32, j: u32) {
    let off = a[i * k + j];
    let gap = a[j * k + j] - a[i * k + i];
    let root = abs(gap) + sqrt(gap * gap + 4.0 * off * off);
    let tangent = select(0.0, select(-2.0, 2.0, gap >= 0.0) * off / root, root > 1e-30);
    let cosine = 1.0 / sqrt(1.0 + tangent * tangent);
    let sine = tangent * cosine;
    workgroupBarrier();
    if lane < k {
        let row = lane * k;
        let v = vec2(vectors[row + i], vectors[row + j]);
        vectors[row + i] = cosine * v.x - sine * v.y;
        vectors[row + j] = sine * v.x + cosine * v.y;
        if lane == i {
            a[i * k + i] -= tangent * off;
            a[j * k + j] += tangent * off;
            a[i * k + j] = 0.0;
            a[j * k + i] = 0.0;
        } else if lane != j {
            let b = vec2(a[row + i], a[row + j]);
            a[row + i] = cosine * b.x - sine * b.y;
            a[row + j] = sine * b.x + cosine * b.y;
            a[i * k + lane] = a[row + i];
            a[j * k + lane] = a[row + j];
        }
    }
    workgroupBarrier();
}

// vectors = (I + w P S)^-1 w P by elimination with pivots, a thread a column.
fn invert(lane: u32, k: u32, s: u32) {
    let w = step.dissipation * step.inertia * step.slope;
    for (var e = lane; e < k * k; e += LANES) {
        var product = 0.0;
        for (var l = 0u; l < k; l++) {
            product += p[(e / k) * k + l] * matrices[s + l * k + e % k];
        }
        a[e] = identity(e, k) + w * product;
        vectors[e] = w * p[e];
    }
    workgroupBarrier();
    for (var c = 0u; c < k; c++) {
        var pivot = c;
        for (var r = c + 1u; r < k; r++) {
            if abs(a[r * k + c]) > abs(a[pivot * k + c]) {
                pivot = r;
            }
        }
        if lane < k {
            factors[lane] = a[lane * k + c];
        }
        workgroupBarrier();
        if lane < k {
            eliminate_a(lane, k, c, pivot);
        } else if lane < 2u * k {
            eliminate_b(lane - k, k, c, pivot);
        }
        workgroupBarrier();
    }
}

// What a row has in column c once rows c and pivot have changed places.
fn factor_of(row: u32, c: u32, pivot: u32) -> f32 {
    return factors[select(row, c, row == pivot)];
}

fn scaled_by_pivot(value: f32, pivot: u32) -> f32 {
    return select(0.0, value / factors[pivot], factors[pivot] != 0.0);
}

fn eliminate_a(column: u32, k: u32, c: u32, pivot: u32) {
    let top = scaled_by_pivot(a[pivot * k + column], pivot);
    a[pivot * k + column] = a[c * k + column];
    a[c * k + column] = top;
    for (var r = 0u; r < k; r++) {
        if r != c {
            a[r * k + column] -= factor_of(r, c, pivot) * top;
        }
    }
}

fn eliminate_b(column: u32, k: u32, c: u32, pivot: u32) {
    let top = scaled_by_pivot(vectors[pivot * k + column], pivot);
    vectors[pivot * k + column] = vectors[c * k + column];
    vectors[c * k + column] = top;
    for (var r = 0u; r < k; r++) {
        if r != c {
            vectors[r * k + column] -= factor_of(r, c, pivot) * top;
        }
    }
}
