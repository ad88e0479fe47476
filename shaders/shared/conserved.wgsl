// How far a body is from what is conserved, for a kernel that declares step, segments, conservation_partials, attachment_aims,
// iterate and aims.
//use shared/reduce.wgsl

// What the descent of an iteration does to momenta and energy.
struct Descent {
    moved: vec3<f32>,  // sum of pi u (kg m/s)
    turned: vec3<f32>, // sum of u x Q (kg m^2/s)
    square: f32,       // g . u (J)
    driven: f32,       // c . u (J)
}

// c of a body: what it has at the iterate beyond what it shall have.
struct Beyond {
    momentum: vec3<f32>,
    angular_momentum: vec3<f32>, // about the pivot
    energy: f32,                 // J
    scale: f32,                  // energy that it is compared with (J)
    work: f32,                   // of attachments that move (J)
    moved: vec3<f32>,            // mu: sum of m (d - w) (kg m)
    kinetic: f32,                // J
    energies: f32,               // all but that of the centre (J)
    elastic: f32,                // J
}

// Elastic energy beyond this share of all makes a body one that is let go under stress: see STRESSED of measure.rs.
const STRESSED: f32 = 0.5;

// The share of the spin's energy that errors are compared with at least: beyond this, single precision cannot tell.
const SPIN_SHARE: f32 = 0.1;

fn three(slot: u32) -> vec3<f32> {
    return vec3(lanes[0][slot], lanes[0][slot + 1u], lanes[0][slot + 2u]);
}

// Sums of the body's chunks: slots 0 to 2 mu, 3 to 5 r x m e, 6 m |e|^2, 7 elastic energy, 8 to 10 pi u, 11 to 13 u x Q, 14 g . u.
fn sum_chunks(number: u32, lane: u32) {
    let segment = segments[number];
    var slots = empty();
    for (var k = segment.first + lane; k < segment.end; k += LANES) {
        for (var slot = 0u; slot < 15u; slot++) {
            slots[slot] += conservation_partials[2u * k][slot];
        }
    }
    combine(lane, slots);
}

// Slot 0 c . u; of the attachments 1 to 3 k (T - x) (N), 4 to 6 its torque about the pivot, 7 energy, 8 work (J).
fn sum_attachments(number: u32, lane: u32) {
    let segment = segments[number];
    var slots = empty();
    for (var k = segment.first + lane; k < segment.end; k += LANES) {
        slots[0] += conservation_partials[2u * k + 1u][0];
    }
    let first = aims[number].first;
    let end = aims[number].end;
    let pivot = aims[number].pivot;
    for (var k = first + lane; k < end; k += LANES) {
        let held = attachment_aims[k];
        let d = iterate[held.vertex].xyz;
        let stretch = (held.travel - held.pull) - d;
        let force = held.stiffness * stretch;
        let torque = cross((held.arm - pivot) + d, force);
        for (var axis = 0u; axis < 3u; axis++) {
            slots[1u + axis] += force[axis];
            slots[4u + axis] += torque[axis];
        }
        slots[7] += 0.5 * dot(force, stretch);
        slots[8] += dot(force, held.travel);
    }
    combine(lane, slots);
}

// c from the sums of both: `chunks` are mu, r x m e, m |e|^2 and elastic energy.
fn beyond(body: BodyAim, mu: vec3<f32>, turned: vec3<f32>, square: f32, elastic: f32) -> Beyond {
    let s = step.slope;
    let impulse_of_force = s * step.h * step.h * step.projection;
    let along = s * dot(body.velocity, mu) + 0.5 * s * s * square;
    let held = lanes[0][7];
    let work = lanes[0][8];
    // of a free body what is beyond its rigid motion
    let free = max(along - (1.0 - SPIN_SHARE) * body.turning, 0.0);
    let counted = select(body.kinetic + along, free, holds(body, FREE));
    return Beyond(
        s * mu - body.push - impulse_of_force * three(1u),
        s * turned + cross(mu, body.turn_offset) + body.torque - impulse_of_force * three(4u),
        along + elastic - dot(step.gravity, mu) - body.target_energy + held - work,
        counted + elastic + body.floor + held,
        work,
        mu,
        body.kinetic + along,
        along + elastic + body.floor + held,
        elastic,
    );
}

fn holds(body: BodyAim, what: u32) -> bool {
    return (body.flags & what) != 0u;
}

// Errors of P, L and H as shares of what the body's energy could make of them; 0 of what is not held.
fn shares(body: BodyAim, off: Beyond) -> vec3<f32> {
    let about_middle = off.angular_momentum - cross(body.pivot_shift, off.momentum);
    return vec3(
        share(body, HOLDS_MOMENTUM, length(off.momentum), sqrt(2.0 * body.mass * off.scale)),
        share(body, HOLDS_SPIN, length(about_middle), sqrt(2.0 * body.inertia * off.scale)),
        share(body, HOLDS_ENERGY, abs(off.energy), off.scale),
    );
}

fn share(body: BodyAim, what: u32, off: f32, scale: f32) -> f32 {
    return select(0.0, off / scale, holds(body, what) && off > 0.0);
}
