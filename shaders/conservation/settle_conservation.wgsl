// What is conserved of a body from now on. The energy of the centre's motion and weight is not in H:
//   H <- H^ + W + a . mu - [M |V|^2/2 of the next step - M |V'|^2/2]
//use shared/conserved.wgsl
//use shared/pair.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> segments: array<Segment>;
@group(0) @binding(2) var<storage, read> conservation_partials: array<array<f32, SLOTS>>;
@group(0) @binding(3) var<storage, read> attachment_aims: array<AttachmentAim>;
@group(0) @binding(4) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> state: IterationState;
@group(0) @binding(6) var<storage, read_write> aims: array<BodyAim>;

// Energy that is missing or too much, as a share of what there is, that a step may leave to the next one.
const MOST_OFF: f32 = 0.01;

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
    sum_chunks(number, lane);
    let mu = three(0u);
    let turned = three(3u);
    let square = lanes[0][6];
    let elastic = lanes[0][7];
    workgroupBarrier();
    sum_attachments(number, lane);
    if lane == 0u {
        var body = aims[number];
        let off = beyond(body, mu, turned, square, elastic);
        if holds(body, WISHES_ENERGY | WISHES_MOMENTUM | WISHES_SPIN) && !holds(body, ALONE) {
            take_back(&body, off);
        }
        // what the iterations were too few for
        body.too_much = 0.0;
        if state.done == 0u && holds(body, HOLDS_ENERGY) && body.excess > MOST_OFF * body.scale {
            body.too_much = max(off.energy, 0.0);
        }
        body.end_kinetic = off.kinetic;
        keep(&body, off);
        aims[number] = body;
    }
}

// Energy that the user wished for and the body has not got was not given; a little less is what the next step makes good.
fn take_back(body: ptr<function, BodyAim>, off: Beyond) {
    let errors = shares(*body, off);
    (*body).error = max(max(errors.x, errors.y), errors.z);
    (*body).worst = select(select(0u, 1u, errors.y > errors.x), 2u, errors.z > max(errors.x, errors.y));
    let missing = -off.energy;
    if holds(*body, HOLDS_ENERGY) && missing > MOST_OFF * off.scale {
        let back = max(min(missing, (*body).given), 0.0);
        (*body).target_energy -= back;
        (*body).given -= back;
    }
}

fn keep(body: ptr<function, BodyAim>, off: Beyond) {
    let is_free = holds(*body, FREE);
    let mass = (*body).mass;
    let change = select(step.slope * off.moved, (*body).push, is_free);
    let gained = dot((*body).velocity, change) + 0.5 * dot(change, change) / mass;
    // what the target differs from the conserved energy by is added, so that rounding does not add up
    let exact = added(Pair(vec3((*body).energy), vec3((*body).energy_low)), vec3((*body).given - (*body).damped));
    let energy = added(exact, vec3(off.work + dot(step.gravity, off.moved) - gained));
    (*body).energy = energy.high.x;
    (*body).energy_low = energy.low.x;
    if is_free {
        let fall = multiplied(step.h, step.gravity);
        var centre = added(Pair((*body).centre_velocity, (*body).centre_velocity_low), fall.high);
        centre = added(centre, fall.low + (*body).push / mass);
        (*body).centre_velocity = centre.high;
        (*body).centre_velocity_low = centre.low;
    } else {
        (*body).centre_velocity = (*body).velocity + change / mass;
        (*body).centre_velocity_low = vec3<f32>();
    }
    (*body).spin = (*body).new_spin;
    (*body).known = KNOWS_ENERGY | select(0u, KNOWS_MOMENTA, is_free);
    (*body).work = off.work;
}
