//! The projections of Projective Dynamics as functions of the stretches.
