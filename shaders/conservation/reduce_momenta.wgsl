// The system of a body: S of P and L, its inverse where it has one, and what it has of c.
//   <pi e_i, p e_j>, <pi e_i, w x e_j>, <Q x e_i, w x e_j> = (Q . w) d_ij - w_i Q_j
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<storage, read> segments: array<Segment>;
@group(0) @binding(1) var<storage, read> conservation_partials: array<array<f32, SLOTS>>;
@group(0) @binding(2) var<storage, read> aims: array<BodyAim>;
@group(0) @binding(3) var<storage, read_write> systems: array<BodySystem>;

// Eigenvalues of S, scaled to a diagonal of ones, below this count as zero: sums and solves in single precision leave up to 2e-6
// where there is none. A body a three-hundredth as thick as long has as much.
const LEAST_EIGENVALUE: f32 = 1e-5;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&systems) {
        return;
    }
    let segment = segments[number];
    var drives = empty();
    for (var k = segment.first + lane; k < segment.end; k += LANES) {
        for (var slot = 0u; slot < 7u; slot++) {
            drives[slot] += conservation_partials[2u * k + 1u][slot];
        }
    }
    combine(lane, drives);
    if lane < 6u {
        systems[number].mixed[lane] = lanes[0][lane];
    }
    if lane == 6u {
        systems[number].energy = lanes[0][6];
    }
    workgroupBarrier();
    var slots = empty();
    for (var k = segment.first + lane; k < segment.end; k += LANES) {
        for (var slot = 0u; slot < 13u; slot++) {
            slots[slot] += conservation_partials[2u * k][slot];
        }
    }
    combine(lane, slots);
    if lane == 0u {
        var s = momenta();
        for (var k = 0u; k < 36u; k++) {
            systems[number].momenta[k] = s[k];
        }
        invert(&s, aims[number].flags);
        for (var k = 0u; k < 36u; k++) {
            systems[number].inverse[k] = s[k];
        }
    }
}

fn momenta() -> array<f32, 36> {
    var s: array<f32, 36>;
    let w = vec3(lanes[0][1], lanes[0][2], lanes[0][3]);
    let trace = lanes[0][4] + lanes[0][8] + lanes[0][12];
    for (var i = 0u; i < 3u; i++) {
        s[7u * i] = lanes[0][0];
        for (var j = 0u; j < 3u; j++) {
            let product = 0.5 * (lanes[0][4u + 3u * i + j] + lanes[0][4u + 3u * j + i]);
            s[6u * (3u + i) + 3u + j] = select(0.0, trace, i == j) - product;
        }
    }
    // e_j . (w x e_k)
    let mixed = array(vec3(0.0, -w.z, w.y), vec3(w.z, 0.0, -w.x), vec3(-w.y, w.x, 0.0));
    for (var j = 0u; j < 3u; j++) {
        let row = mixed[j];
        for (var k = 0u; k < 3u; k++) {
            s[6u * j + 3u + k] = row[k];
            s[6u * (3u + k) + j] = row[k];
        }
    }
    return s;
}

// s <- its inverse where it has one, for the rows that are held, by Jacobi's rotations.
fn invert(s: ptr<function, array<f32, 36>>, flags: u32) {
    var scale: array<f32, 6>;
    var axes: array<f32, 36>;
    for (var k = 0u; k < 6u; k++) {
        let is_held = (flags & select(HOLDS_MOMENTUM, HOLDS_SPIN, k >= 3u)) != 0u;
        let diagonal = (*s)[7u * k];
        scale[k] = 0.0;
        if is_held && diagonal > 0.0 && diagonal < LARGEST {
            scale[k] = inverseSqrt(diagonal);
        }
        axes[7u * k] = 1.0;
    }
    for (var i = 0u; i < 6u; i++) {
        for (var j = 0u; j < 6u; j++) {
            (*s)[6u * i + j] *= scale[i] * scale[j];
        }
    }
    // quadratic from the third sweep on
    for (var sweep = 0u; sweep < 7u; sweep++) {
        for (var p = 0u; p < 5u; p++) {
            for (var q = p + 1u; q < 6u; q++) {
                annihilate(s, &axes, p, q);
            }
        }
    }
    var inverse: array<f32, 6>;
    for (var k = 0u; k < 6u; k++) {
        let value = (*s)[7u * k];
        inverse[k] = 0.0;
        if value > LEAST_EIGENVALUE {
            inverse[k] = 1.0 / value;
        }
    }
    for (var i = 0u; i < 6u; i++) {
        for (var j = 0u; j < 6u; j++) {
            var sum = 0.0;
            for (var k = 0u; k < 6u; k++) {
                sum += axes[6u * k + i] * inverse[k] * axes[6u * k + j];
            }
            (*s)[6u * i + j] = scale[i] * scale[j] * sum;
        }
    }
}

// The rotation by less than pi/4 that makes a_pq zero; row k of `axes` is the k-th axis.
fn annihilate(a: ptr<function, array<f32, 36>>, axes: ptr<function, array<f32, 36>>, p: u32, q: u32) {
    let off = (*a)[6u * p + q];
    let gap = (*a)[7u * q] - (*a)[7u * p];
    let root = abs(gap) + sqrt(gap * gap + 4.0 * off * off);
    if !(root > 1e-30) {
        return;
    }
    let tangent = select(-2.0, 2.0, gap >= 0.0) * off / root;
    let cosine = 1.0 / sqrt(1.0 + tangent * tangent);
    let sine = tangent * cosine;
    for (var k = 0u; k < 6u; k++) {
        let along_p = (*axes)[6u * p + k];
        let along_q = (*axes)[6u * q + k];
        (*axes)[6u * p + k] = cosine * along_p - sine * along_q;
        (*axes)[6u * q + k] = sine * along_p + cosine * along_q;
        if k != p && k != q {
            let to_p = (*a)[6u * p + k];
            let to_q = (*a)[6u * q + k];
            (*a)[6u * p + k] = cosine * to_p - sine * to_q;
            (*a)[6u * q + k] = sine * to_p + cosine * to_q;
            (*a)[6u * k + p] = (*a)[6u * p + k];
            (*a)[6u * k + q] = (*a)[6u * q + k];
        }
    }
    (*a)[7u * p] -= tangent * off;
    (*a)[7u * q] += tangent * off;
    (*a)[6u * p + q] = 0.0;
    (*a)[6u * q + p] = 0.0;
}
