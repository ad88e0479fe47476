// From the leaves to the roots, with panels in single precision.
//use shared/solve_up.wgsl
//use shared/panel_single.wgsl
