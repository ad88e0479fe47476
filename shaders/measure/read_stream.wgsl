// Reads a buffer as fast as it can be read: every thread sums each (number of threads)-th vector.

@group(0) @binding(0) var<storage, read> numbers: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;

@compute @workgroup_size(256)
fn main(
    @builtin(global_invocation_id) thread: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
) {
    if thread.x >= arrayLength(&sums) {
        return;
    }
    var sum = vec4<f32>();
    for (var k = thread.x; k < arrayLength(&numbers); k += 256u * workgroups.x) {
        sum += numbers[k];
    }
    sums[thread.x] = sum.x + sum.y + sum.z + sum.w;
}
