// Shared parts of the direct-damping kernels.

// A sum below this fraction of its terms is rounding.
const LEAST_SHARE: f32 = 1e-5;

// Ratio of a length to zero: as large as the empty minimum in reduce.wgsl.
const NO_RATIO: f32 = 3.4e38;
