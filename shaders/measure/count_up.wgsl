// Does next to nothing, but needs what the dispatch before it has written: many of them measure what a dispatch costs.

@group(0) @binding(0) var<storage, read_write> count: array<u32>;

@compute @workgroup_size(1)
fn main() {
    count[0] += 1u;
}
