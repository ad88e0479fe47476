// What a step shall make of a body: P, L and H at its end, in terms of the way e = d - w beyond a free flight of the centre.
//
//   w = h V + h^2/2 a     V' = V + h a     middle of the flight: w/2 from the centre, where weight has no torque
//   H without M |V|^2/2 and without the weight's energy of the centre is what free flights keep
//
// The sums of measure_spin are of a rigid motion without spin.
//use shared/inertia.wgsl
//use shared/pair.wgsl
//use shared/reduce.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> segments: array<Segment>;
@group(0) @binding(2) var<storage, read> partials: array<array<f32, SLOTS>>;
@group(0) @binding(3) var<storage, read> conservation_partials: array<array<f32, SLOTS>>;
@group(0) @binding(4) var<storage, read> rigids: array<Rigid>;
@group(0) @binding(5) var<storage, read> wishes: array<BodyWish>;
@group(0) @binding(6) var<storage, read> attachment_aims: array<AttachmentAim>;
@group(0) @binding(7) var<storage, read_write> aims: array<BodyAim>;

// A body at rest has no energy to compare errors with. Rounding moves it by some 1e-7 of its size in a step: that is 1e-4 of
// the energy of moving by this share of it.
const ROUNDING: f32 = 1e-5;

// Energy that gamma could not take is asked for again at this share of gamma: the spin that held it may have changed.
const UNREACHABLE_DECAY: f32 = 0.1;

struct Inertia {
    diagonal: vec3<f32>,
    products: vec3<f32>,
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let number = flat_workgroup(workgroup, workgroups);
    if number >= arrayLength(&aims) {
        return;
    }
    let segment = segments[number];
    var energies = empty();
    for (var k = segment.first + lane; k < segment.end; k += LANES) {
        energies[0] += conservation_partials[2u * k][0];
        energies[1] += conservation_partials[2u * k][1];
    }
    let first = wishes[number].first;
    let end = wishes[number].end;
    for (var k = first + lane; k < end; k += LANES) {
        let held = attachment_aims[k];
        energies[2] += 0.5 * held.stiffness * dot(held.pull, held.pull);
    }
    combine(lane, energies);
    let kinetic = lanes[0][0];
    let elastic = lanes[0][1];
    let attached = lanes[0][2];
    workgroupBarrier();
    var slots = empty();
    for (var k = segment.first + lane; k < segment.end; k += LANES) {
        for (var slot = 0u; slot < 15u; slot++) {
            slots[slot] += partials[k][slot];
        }
    }
    combine(lane, slots);
    if lane == 0u {
        aims[number] = aimed(number, kinetic, elastic, attached);
    }
}

fn three(slot: u32) -> vec3<f32> {
    return vec3(lanes[0][slot], lanes[0][slot + 1u], lanes[0][slot + 2u]);
}

fn asks(wish: BodyWish, what: u32) -> bool {
    return (wish.flags & what) != 0u;
}

// Energy of turning with an angular momentum about the centre (J)
fn turning(inertia: Inertia, spin: vec3<f32>) -> f32 {
    return 0.5 * dot(spin, spin_of(inertia.diagonal, inertia.products, spin));
}

fn aimed(number: u32, kinetic: f32, elastic: f32, attached: f32) -> BodyAim {
    let wish = wishes[number];
    let rigid = rigids[number];
    let inertia = Inertia(three(0u), three(3u));
    let offset = three(12u) / rigid.mass;
    let measured_velocity = (rigid.base + rigid.drift) + three(9u) / rigid.mass;
    let measured_spin = three(6u) - cross(offset, three(9u));
    var body = aims[number];
    if asks(wish, FORGETS) {
        body.known = 0u;
        body.unreachable = 0.0;
    }
    let mass = rigid.mass;
    var centre = Pair(measured_velocity, vec3<f32>());
    var spin = measured_spin;
    // the kinetic energy of the centre's motion before what the host did, less that of now
    var gained = 0.5 * mass * dot(body.centre_velocity - centre.high, body.centre_velocity + centre.high);
    if (body.known & KNOWS_MOMENTA) != 0u {
        centre = added(Pair(body.centre_velocity, body.centre_velocity_low), wish.impulse / mass);
        spin = body.spin + wish.angular_impulse;
        gained = -dot(wish.impulse, body.centre_velocity + (0.5 / mass) * wish.impulse);
    }
    var energy = Pair(vec3(kinetic + elastic + attached), vec3<f32>());
    if (body.known & KNOWS_ENERGY) != 0u {
        energy = added(Pair(vec3(body.energy), vec3(body.energy_low)), vec3(gained + wish.given + wish.stiffened * elastic));
    }
    body.centre_velocity = centre.high;
    body.centre_velocity_low = centre.low;
    body.spin = spin;
    body.energy = energy.high.x;
    body.energy_low = energy.low.x;
    body.mass = mass;
    body.inertia = 0.5 * (inertia.diagonal.x + inertia.diagonal.y + inertia.diagonal.z);
    body.offset = offset;
    body.flags = wish.flags;
    body.tolerance = wish.tolerance;
    body.first = wish.first;
    body.end = wish.end;
    let velocity = centre.high + centre.low;
    fly(&body, velocity, wish);
    set_energy(&body, velocity, wish, inertia);
    body.frame = vec3<f32>();
    body.rotation = vec3<f32>();
    if asks(wish, FREE) && asks(wish, HOLDS_MOMENTUM) && asks(wish, HOLDS_SPIN) {
        body.flags |= WITHOUT_RIGID;
        body.frame = rigid.base + rigid.drift;
        body.rotation = spin_of(inertia.diagonal, inertia.products, measured_spin);
    }
    let fall = step.h * length(step.gravity);
    let least = ROUNDING / step.h;
    body.floor = 0.5 * mass * fall * fall + least * least * body.inertia;
    body.turning = turning(inertia, body.new_spin);
    body.crossed = 0.0;
    body.settled = 0u;
    body.made = 0u;
    body.least = 0u;
    body.square = 0.0;
    body.excess = 0.0;
    body.error = 0.0;
    return body;
}

// The way of the centre, the pivot, and what the user changes the momenta by.
fn fly(body: ptr<function, BodyAim>, velocity: vec3<f32>, wish: BodyWish) {
    let g = step.gravity;
    let s = step.slope;
    let mass = (*body).mass;
    let own = (step.free_velocity_gravity - s * step.target_acceleration) * g; // v' = s d + own
    let way = step.h * velocity + (0.5 * step.h * step.h) * g;
    let end_velocity = velocity + step.h * g;
    // s (way + late) + own = end_velocity: late = by_velocity V + by_gravity a, which is nothing but rounding for a ballistic row
    let by_velocity = unless_rounding(1.0 / s - step.h, step.h);
    let by_gravity = unless_rounding(
        (step.h - (step.free_velocity_gravity - s * step.target_acceleration)) / s - 0.5 * step.h * step.h,
        step.h * step.h,
    );
    let late = by_velocity * velocity + by_gravity * g;
    // where P is held, L about any other point is held as well: the centre keeps the most digits
    let pivot = select(0.5 * way, vec3<f32>(), asks(wish, HOLDS_MOMENTUM));
    let fallen = mass * end_velocity;
    var push = vec3<f32>();
    var spin = (*body).spin;
    if asks(wish, WISHES_SPIN) {
        spin = wish.spin;
    }
    var turned = spin - (*body).spin;
    if asks(wish, WISHES_MOMENTUM) {
        push = wish.momentum - fallen;
        turned += cross(late, wish.momentum) + 0.5 * cross(way, push) + cross(push, fallen) / (mass * s);
    }
    (*body).reference = way + late;
    (*body).velocity = end_velocity;
    (*body).kinetic = 0.5 * mass * dot(end_velocity, end_velocity);
    (*body).pivot = pivot;
    (*body).pivot_shift = 0.5 * way - pivot;
    (*body).turn_offset = (own - (0.5 * step.h) * g) + s * pivot;
    (*body).push = push;
    (*body).new_spin = spin;
    // M late x way/h, which is along V x a
    let sideways = (mass * (0.5 * step.h * by_velocity - by_gravity)) * cross(velocity, g);
    (*body).torque = sideways - ((*body).spin + turned) - cross(0.5 * way - pivot, push);
}

fn unless_rounding(value: f32, size: f32) -> f32 {
    return select(0.0, value, abs(value) > 1e-6 * size);
}

// H at the end: what the body has, less what gamma takes, or what the user wishes.
fn set_energy(body: ptr<function, BodyAim>, velocity: vec3<f32>, wish: BodyWish, inertia: Inertia) {
    let mass = (*body).mass;
    let push = (*body).push;
    let spin = (*body).spin;
    let had = (*body).energy + (*body).energy_low;
    let turning_before = turning(inertia, spin);
    (*body).unreachable -= UNREACHABLE_DECAY * wish.decay * (*body).unreachable;
    let damped = max((had - turning_before - (*body).unreachable) * wish.decay, 0.0);
    let natural = had - damped;
    let way = step.h * velocity + (0.5 * step.h * step.h) * step.gravity;
    let climb = select(0.0, -dot(step.gravity, push) / step.slope, asks(wish, FREE));
    let pushed = dot((*body).velocity, push) + 0.5 * dot(push, push) / mass + climb;
    var target_energy = natural;
    if asks(wish, WISHES_ENERGY) {
        target_energy = wish.energy - mass * dot(step.gravity, way) - 0.5 * mass * dot(velocity, velocity) + climb;
    } else if asks(wish, WISHES_MOMENTUM | WISHES_SPIN) {
        target_energy += pushed + (turning(inertia, (*body).new_spin) - turning_before);
    }
    // only a wish can be out of reach: what a body has, it can have
    if asks(wish, FREE) && asks(wish, HOLDS_ENERGY) && asks(wish, WISHES_ENERGY | WISHES_MOMENTUM | WISHES_SPIN) {
        target_energy = max(target_energy, pushed + turning(inertia, (*body).new_spin));
    }
    (*body).damped = damped;
    (*body).given = target_energy - natural;
    (*body).target_energy = target_energy;
}
