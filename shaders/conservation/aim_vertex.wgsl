// The vertices as conservation sees them: r from the centre, and the derivatives of P, L and H.
//   C_P = pi e_k, pi = s m + what attachments add     C_L = Q x e_k, Q = m (q - s r)     C_H = g + c, c = m v_n/h
// Where the body's momenta are held as well, c is taken without its rigid motion: that is a sum of C_P and C_L, and most of c.
//use shared/rigid.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> chunks: array<Chunk>;
@group(0) @binding(2) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(3) var<storage, read> motions: array<Motion>;
@group(0) @binding(4) var<storage, read> rigids: array<Rigid>;
@group(0) @binding(5) var<storage, read> aims: array<BodyAim>;
@group(0) @binding(6) var<storage, read> position: array<u32>;
@group(0) @binding(7) var<storage, read> weights: array<f32>;
@group(0) @binding(8) var<storage, read_write> conserved: array<ConservedVertex>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&chunks) {
        return;
    }
    let chunk = chunks[number];
    let rigid = rigids[chunk.body];
    let without_rigid = (aims[chunk.body].flags & WITHOUT_RIGID) != 0u;
    let offset = aims[chunk.body].offset;
    let rotation = aims[chunk.body].rotation;
    let turn_offset = aims[chunk.body].turn_offset;
    for (var i = chunk.first + lane; i < chunk.end; i += LANES) {
        let mass = vertices[i].mass;
        let r = arm(rigid, vertices[i]) - offset;
        var v = motions[i].velocity;
        if without_rigid {
            v = rounded(beyond_drift(rigid, v), mass) - cross(rotation, r);
        }
        let turn = mass * (turn_offset - step.slope * r);
        conserved[i] = ConservedVertex(r, mass, turn, weights[3u * i], (mass / step.h) * v, position[i]);
    }
}
