//! F ↦ U, σ, V; stress and Hessian of an isotropic law.
