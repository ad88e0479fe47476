// Adds a step to the report: what gamma took and the user gave (J), the largest error and whose it is, iterations, and whether the
// error is beyond the tolerance.
//use shared/layout.wgsl

@group(0) @binding(0) var<storage, read> aims: array<BodyAim>;
@group(0) @binding(1) var<storage, read> state: IterationState;
@group(0) @binding(2) var<storage, read_write> report: array<f32>;

@compute @workgroup_size(1)
fn main() {
    var damped = 0.0;
    var given = 0.0;
    var error = 0.0;
    var owner = 0u;
    for (var k = 0u; k < arrayLength(&aims); k++) {
        damped += aims[k].damped;
        given += aims[k].given;
        // what is not a number is worse than all numbers
        if !(aims[k].error <= error) {
            error = aims[k].error;
            owner = 3u * k + aims[k].worst;
        }
    }
    report[0] += damped;
    report[1] += given;
    if !(error <= report[3]) {
        report[3] = error;
        report[15] = f32(owner);
    }
    report[6] += f32(state.iterations);
    if !(error <= aims[0].tolerance) {
        report[7] += 1.0;
    }
}
