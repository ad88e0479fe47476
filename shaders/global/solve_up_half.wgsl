// From the leaves to the roots, with panels in half precision.
//use shared/solve_up.wgsl
//use shared/panel_half.wgsl
