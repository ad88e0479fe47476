// The small system of a body at the iterate: how far it is from what is conserved, and which multiples of seven directions bring
// it there (src/step/parts/conservation/kkt.rs). Does nothing once the iterations have ended.
//use shared/conserved.wgsl
//use shared/vertex.wgsl

@group(0) @binding(0) var<uniform> step: Step;
@group(0) @binding(1) var<storage, read> segments: array<Segment>;
@group(0) @binding(2) var<storage, read> conservation_partials: array<array<f32, SLOTS>>;
@group(0) @binding(3) var<storage, read> attachment_aims: array<AttachmentAim>;
@group(0) @binding(4) var<storage, read> iterate: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> systems: array<BodySystem>;
@group(0) @binding(6) var<storage, read> state: IterationState;
@group(0) @binding(7) var<storage, read_write> aims: array<BodyAim>;

// The share of C_H that may lie in the span of the momenta's: single precision leaves so much of it.
const RIGID: f32 = 1e-6;
// A motion that is not rigid has at least this share of the energy: rounding of velocities has 1e-14 of it, that of forces 1e-11.
const LEAST_MOTION: f32 = 1e-10;
// Energies beyond that of the centre are sums in single precision: less of them is rounding.
const ENERGY_DIGITS: f32 = 1e-6;
// Energy beyond what is asked for of which an iteration leaves this share stays.
const LEAST_PROGRESS: f32 = 0.98;
// a step whose second-order part is less than this share of what moves says nothing of the curvature
const LEAST_SEEN: f32 = 1e-4;
// A multiplier of the energy beyond this is that of a body that hardly moves and shall.
const FAR: f32 = 1e3;

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
    if state.done != 0u {
        return;
    }
    sum_chunks(number, lane);
    let mu = three(0u);
    let turned = three(3u);
    let square = lanes[0][6];
    let elastic = lanes[0][7];
    let moved = three(8u);
    let torque = three(11u);
    let descended = lanes[0][14];
    workgroupBarrier();
    sum_attachments(number, lane);
    if lane == 0u {
        var body = aims[number];
        body.made += 1u;
        body.momentum_factor = vec3<f32>();
        body.spin_factor = vec3<f32>();
        body.energy_factor = 0.0;
        if !holds(body, ALONE) {
            var off = beyond(body, mu, turned, square, elastic);
            judge(&body, &off);
            correct(&body, off, number, Descent(moved, torque, descended, lanes[0][0]));
        }
        aims[number] = body;
    }
}

// The error, what gamma or the user took too much, and what the second-order part of H was misjudged by.
fn judge(body: ptr<function, BodyAim>, off: ptr<function, Beyond>) {
    let taken = (*body).damped + max(-(*body).given, 0.0);
    let before = (*body).excess;
    let may_stay = (*body).least != 0u && before > 0.0;
    let decays = holds(*body, DECAYS);
    // where gamma asks for less, what an iteration hardly lowers any more is the least there is
    let is_least = decays && may_stay && (*off).energy > LEAST_PROGRESS * before;
    if (may_stay && (*off).energy > 0.9 * before && taken > 0.0) || is_least {
        let back = select(min((*off).energy, taken), (*off).energy, is_least);
        let of_damping = select(min(back, (*body).damped), back, decays);
        (*body).target_energy += back;
        // the target is without the weight and the centre's motion: what is left of it beyond the spin is out of reach
        (*body).unreachable = max((*body).target_energy - (*body).turning, 0.0);
        (*body).damped -= of_damping;
        (*body).given += back - of_damping;
        (*off).energy -= back;
    }
    (*body).excess = (*off).energy;
    (*body).scale = (*off).scale;
    let expected = 0.5 * (*body).square;
    let crossed = (*body).crossed;
    let counted = select((*body).bend, crossed, crossed > 0.0);
    (*body).crossed = 0.0;
    // what rounding leaves of the energy says nothing of the curvature, and a small step little
    let is_seen = abs((*off).energy) > ENERGY_DIGITS * (*off).energies && expected > LEAST_SEEN * (*off).scale;
    if is_seen && holds(*body, HOLDS_ENERGY) {
        (*body).bend = clamp(counted + (*off).energy / expected, 0.0, 1.0);
        // with less than half of the curvature counted on, the least energy still lies ahead
        (*body).crossed = select(0.0, (*body).bend, crossed > 0.0 && (*body).bend < 0.5 * crossed);
    }
    let errors = shares(*body, *off);
    (*body).error = max(max(errors.x, errors.y), errors.z);
    (*body).settled = u32(is_least || (*body).error <= (*body).tolerance);
    (*body).worst = select(select(0u, 1u, errors.y > errors.x), 2u, errors.z > max(errors.x, errors.y));
}

// S lambda = r, with lambda_H the root of a quadratic equation.
fn correct(body: ptr<function, BodyAim>, off: Beyond, number: u32, descent: Descent) {
    let energy_is_held = holds(*body, HOLDS_ENERGY);
    var mixed: array<f32, 6>;
    var descended: array<f32, 6>;
    var error: array<f32, 6>;
    for (var k = 0u; k < 3u; k++) {
        descended[k] = descent.moved[k];
        descended[3u + k] = descent.turned[k];
        error[k] = off.momentum[k] - descent.moved[k];
        error[3u + k] = off.angular_momentum[k] - descent.turned[k];
    }
    for (var k = 0u; k < 6u; k++) {
        mixed[k] = select(0.0, descended[k] + systems[number].mixed[k], energy_is_held);
    }
    let energy = descent.square + 2.0 * descent.driven + systems[number].energy;
    let along = descent.square + descent.driven;
    let rigid = dot((*body).frame, off.momentum) + dot((*body).rotation, off.angular_momentum);
    let energy_error = off.energy - rigid - along;
    let lean = multiplied(number, mixed);
    let plain = multiplied(number, error);
    let quadratic = product(plain, times_momenta(number, plain));
    var square = descent.square + 2.0 * product(plain, descended) + quadratic;
    let rest = energy - product(mixed, lean);
    var factor = 0.0;
    if !energy_is_held || !(rest > RIGID * energy + LEAST_MOTION * off.scale) || !(rest < LARGEST) {
        let whole = energy_error + dot((*body).frame, off.momentum - descent.moved)
            + dot((*body).rotation, off.angular_momentum - descent.turned);
        (*body).least = select(0u, 1u, whole > 0.0);
    } else {
        let across = along - product(lean, descended);
        let left = energy_error - product(lean, error);
        // so far from rest into motion no iteration has shown the curvature yet: take it for its bound, and overshoot less
        let curvature = select((*body).bend, 1.0, abs(left) > FAR * rest);
        let found = root(along_step(curvature, left, square, across, rest));
        factor = found.x;
        (*body).least = u32(found.y);
        // from rest, and where a swing turns, the near root is where the body is: see Side of kkt.rs
        let stressed = off.elastic > STRESSED * off.scale;
        let stalled = (*body).made == 1u && stressed && abs(factor + 1.0) <= 0.5;
        let goes_on = (*body).crossed > 0.0 && !stalled;
        (*body).crossed = 0.0;
        if stalled || goes_on {
            let share = select(curvature, 1.0, stalled);
            let other = far_root(along_step(share, left, square, across, rest));
            if other.y > 0.0 {
                factor = other.x;
                (*body).least = 0u;
                (*body).crossed = share;
            }
        }
        square += factor * (2.0 * across + factor * rest);
    }
    (*body).square = square;
    (*body).energy_factor = factor;
    (*body).momentum_factor = vec3(plain[0], plain[1], plain[2]) - factor * vec3(lean[0], lean[1], lean[2]);
    (*body).spin_factor = vec3(plain[3], plain[4], plain[5]) - factor * vec3(lean[3], lean[4], lean[5]);
}

fn multiplied(number: u32, vector_in: array<f32, 6>) -> array<f32, 6> {
    var vector = vector_in;
    var result: array<f32, 6>;
    for (var i = 0u; i < 6u; i++) {
        for (var j = 0u; j < 6u; j++) {
            result[i] += systems[number].inverse[6u * i + j] * vector[j];
        }
    }
    return result;
}

fn times_momenta(number: u32, vector_in: array<f32, 6>) -> array<f32, 6> {
    var vector = vector_in;
    var result: array<f32, 6>;
    for (var i = 0u; i < 6u; i++) {
        for (var j = 0u; j < 6u; j++) {
            result[i] += systems[number].momenta[6u * i + j] * vector[j];
        }
    }
    return result;
}

fn product(a: array<f32, 6>, b: array<f32, 6>) -> f32 {
    var left = a;
    var right = b;
    var sum = 0.0;
    for (var k = 0u; k < 6u; k++) {
        sum += left[k] * right[k];
    }
    return sum;
}

// H - H^ along the step, as a polynomial of the multiplier.
fn along_step(curvature: f32, left: f32, square: f32, across: f32, rest: f32) -> vec3<f32> {
    return vec3(left + 0.5 * curvature * square, curvature * across - rest, 0.5 * curvature * rest);
}

// The larger root of a + b x + c x^2, and 1; 0 where there is none.
fn far_root(polynomial: vec3<f32>) -> vec2<f32> {
    let c = polynomial.z;
    let discriminant = polynomial.y * polynomial.y - 4.0 * polynomial.x * c;
    if !(discriminant > 0.0 && c > 0.0) {
        return vec2(0.0, 0.0);
    }
    let root = (sqrt(discriminant) - polynomial.y) / (2.0 * c);
    return vec2(root, select(0.0, 1.0, abs(root) < LARGEST));
}

// The root of a + b x + c x^2 that x = 0 leads to, c >= 0; where there is none, the least value and 1.
fn root(polynomial: vec3<f32>) -> vec2<f32> {
    let a = polynomial.x;
    let b = polynomial.y;
    let c = polynomial.z;
    let discriminant = b * b - 4.0 * a * c;
    if discriminant <= 0.0 {
        if c > 0.0 {
            return vec2(-b / (2.0 * c), 1.0);
        }
        return vec2(0.0, 0.0);
    }
    let far = sqrt(discriminant);
    return vec2(-2.0 * a / (b + select(far, -far, b < 0.0)), 0.0);
}
