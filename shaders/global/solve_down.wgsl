// From the roots to the leaves, with panels in single precision.
//use shared/solve_down.wgsl
//use shared/panel_single.wgsl
