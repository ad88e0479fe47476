// What kernels of direct damping have in common.

// A sum below this share of its terms is rounding.
const LEAST_SHARE: f32 = 1e-5;

// How much longer than nothing something is: as large as the minimum of nothing in reduce.wgsl.
const NO_RATIO: f32 = 3.4e38;
