// Direct damping of a single element: the impulses at its corners (kg m/s), with the torque removed according to the
// mode.
//use shared/direct.wgsl
//use shared/direction.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<uniform> sizes: Sizes;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> clusters: array<Cluster>;
@group(0) @binding(5) var<storage, read_write> rows: array<vec4<f32>>;

struct Corners {
    count: u32,
    whole: f32,               // mass (kg)
    mass: array<f32, 4>,      // kg
    arm: array<vec3<f32>, 4>, // from the centre (m)
    velocity: array<vec3<f32>, 4>, // relative to the centre (m/s)
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat(workgroup, workgroups, lane);
    if number >= sizes.clusters {
        return;
    }
    var corners = corners_of(clusters[number]);
    var p: array<vec3<f32>, 4>;
    for (var k = 0u; k < corners.count; k++) {
        p[k] = -step.filter_coefficient * corners.mass[k] * corners.velocity[k];
        if (step.filter_mode & RADIAL) != 0u {
            let n = polar(corners.arm[k], vec3(0.0)).direction;
            p[k] = n * dot(p[k], n);
        }
    }
    if (step.filter_mode & SCALED) != 0u {
        project_on_edges(&corners, &p);
    }
    var mean = vec3(0.0);
    for (var k = 0u; k < corners.count; k++) {
        mean += p[k];
    }
    mean /= corners.whole;
    for (var k = 0u; k < 4u; k++) {
        rows[4u * number + k] = vec4(p[k] - corners.mass[k] * mean, 0.0);
    }
}

// Positions and velocities are relative to the first corner before the centre's are subtracted.
fn corners_of(cluster: Cluster) -> Corners {
    var corners: Corners;
    let origin = vertices[cluster.vertices.x];
    let base = motions[cluster.vertices.x].velocity;
    var place = vec3(0.0);
    var drift = vec3(0.0);
    for (var k = 0u; k < 4u; k++) {
        let i = cluster.vertices[k];
        if i == NO_VERTEX {
            break;
        }
        corners.count = k + 1u;
        let mass = vertices[i].mass * cluster.parts[k];
        corners.mass[k] = mass;
        corners.arm[k] = difference(vertices[i], origin);
        corners.velocity[k] = motions[i].velocity - base;
        corners.whole += mass;
        place += mass * corners.arm[k];
        drift += mass * corners.velocity[k];
    }
    for (var k = 0u; k < corners.count; k++) {
        corners.arm[k] -= place / corners.whole;
        corners.velocity[k] -= drift / corners.whole;
    }
    return corners;
}

// Replaces impulses by sums of impulses along edges, scaled by one factor so that none exceeds its original, nor the
// one that removes most energy.
fn project_on_edges(corners: ptr<function, Corners>, p: ptr<function, array<vec3<f32>, 4>>) {
    var sums: array<vec3<f32>, 4>;
    var terms: array<f32, 4>;
    for (var i = 0u; i < (*corners).count; i++) {
        for (var j = i + 1u; j < (*corners).count; j++) {
            let a = (*corners).mass[i];
            let b = (*corners).mass[j];
            let n = polar((*corners).arm[i] - (*corners).arm[j], vec3(0.0)).direction;
            let along = dot((*p)[i] / a - (*p)[j] / b, n) * (a * (b / (a + b)));
            sums[i] += along * n;
            sums[j] -= along * n;
            terms[i] += abs(along);
            terms[j] += abs(along);
        }
    }
    var ratio = NO_RATIO;
    var given = 0.0;
    var square = 0.0;
    for (var k = 0u; k < (*corners).count; k++) {
        let after = polar(sums[k], vec3(0.0)).length;
        if after > LEAST_SHARE * terms[k] {
            ratio = min(ratio, polar((*p)[k], vec3(0.0)).length / after);
        }
        given += dot(sums[k], (*corners).velocity[k]);
        square += dot(sums[k], sums[k] / (*corners).mass[k]);
    }
    var factor = 0.0;
    if square > 0.0 && given < 0.0 && ratio < NO_RATIO {
        factor = min(ratio, -given / square);
    }
    for (var k = 0u; k < (*corners).count; k++) {
        (*p)[k] = factor * sums[k];
    }
}
