//! What cannot be tried yet: rigs, orthotropic elasticity, fits to recordings.

use super::super::Claim;

pub(super) const FIG_1: Claim = Claim::open(
    "fig-1",
    "Figure 1",
    "Nonlinear anisotropic damping, fitted to videos, matches the motion of a real leaf.",
    "There is no recording of a leaf to compare with and nothing that fits curves to one. What such a fit needs is there: curves over \
     velocity, growing in one direction and falling in the other (`leaf`), and inverse design from unloading tests (example/fig-2c).",
);

pub(super) const FIG_5: Claim = Claim::open(
    "fig-5",
    "Figure 5",
    "Orthotropic elasticity cannot mimic anisotropic damping: it changes the frequencies.",
    "There is no orthotropic material to compare with. The other half, damping that changes in two directions while the frequencies \
     stay, is example/fig-3; `bar-directions` has the figure's scales, 0.1 and 5.",
);

pub(super) const FIG_11: Claim = Claim::open(
    "fig-11-rig",
    "Figure 11",
    "On an elephant that walks by keyframes three damping designs change the secondary motion of its trunk and ears.",
    "There are no rigs: no skeleton with keyframes drives a body. The three designs are tried on an elephant whose body is moved to and \
     fro by paths of its attachments: example/fig-11.",
);

pub(super) const FIG_12: Claim = Claim::open(
    "fig-12",
    "Figure 12",
    "Elastic material and damping of a 3D-printed dragon are fitted to load tests and a video.",
    "There is neither a recording nor a fit. The law that the fit found, less damping at large deformation than at small, so that the \
     mouth recovers fast and then slowly, is that of example/fig-2c.",
);

pub(super) const FIG_13: Claim = Claim::open(
    "fig-13",
    "Figure 13",
    "Damping designed once works on a rig-driven koala under motions that were not used for the design.",
    "There are no rigs. That a designed curve goes with the body, not with the test, is seen in `koala-design`, which hops under the \
     curves that its unloading tests gave.",
);

pub(super) const FIG_14: Claim = Claim::open(
    "fig-14",
    "Figure 14",
    "Material, rest shape and damping of a leaf are fitted to load tests and recorded motion.",
    "There is neither a recording nor a fit of materials and rest shapes. The mechanism, γ over the velocity of each direction, is in `leaf`.",
);
