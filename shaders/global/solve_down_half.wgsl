// From the roots to the leaves, with panels in half precision.
//use shared/solve_down.wgsl
//use shared/panel_half.wgsl
